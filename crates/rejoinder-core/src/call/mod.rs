//! One call and what it knows.

mod argument;
mod argument_set;
mod bad_arguments;
mod default;
mod deferred;
mod dependencies;
mod facts;
mod members;
mod missing;
mod outbox;
mod param;
mod slot;
mod texts;

use std::{
    any::Any,
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio_util::sync::CancellationToken;

use crate::{
    ask::{Carrier, NextRound, Posed},
    error::{Halt, ToolError},
    graph::{Doubles, Ran, Resolved, Resolver},
};

pub use argument::Argument;
pub use argument_set::{ArgumentSet, ReadParams, read_arguments};
pub(crate) use argument_set::{REQUIRED, path};
pub use bad_arguments::{BadArgument, BadArguments};
pub use default::{Default, DefaultOf, Shown, default_of, show_default};
pub use deferred::Ending;
pub use dependencies::Dependencies;
pub use facts::{ClientInfo, Era, Facts, Level, ProgressToken};
pub use members::Members;
pub use outbox::{Emitted, Outbox};
pub use param::{Complete, Completes, Completing, Param, complete_with};
pub use slot::Slot;
pub use texts::Texts;

/// One call, as everything that runs for it shares it.
///
/// Cheap to clone. When the call is over, however it ended, its cancellation token is cancelled.
#[derive(Clone)]
pub struct Call(Arc<Inner>);

struct Inner {
    facts: Facts,
    dependencies: Arc<Dependencies>,
    outbox: Outbox,
    carrier: OnceLock<Arc<dyn Carrier>>,
    new_carrier: Option<fn() -> Arc<dyn Carrier>>,
    parked: AtomicBool,
    deferred: deferred::Stack,
    /// What the resolvers of a tool that was made at run time have made.
    resolved: OnceLock<Box<Resolved>>,
    // Made when somebody first asks for it: most calls never do.
    cancelled: OnceLock<CancellationToken>,
}

impl Call {
    /// Starts a call.
    pub fn new(facts: Facts, dependencies: Arc<Dependencies>) -> Self {
        Self::carried(facts, dependencies, Carriage::Nobody)
    }

    /// Starts a call whose questions travel this way.
    pub fn carried(facts: Facts, dependencies: Arc<Dependencies>, carriage: Carriage) -> Self {
        let (carrier, new_carrier) = match carriage {
            Carriage::Nobody => (OnceLock::new(), None),
            Carriage::With(carrier) => (OnceLock::from(carrier), None),
            Carriage::Fresh(new) => (OnceLock::new(), Some(new)),
        };
        Self(Arc::new(Inner {
            facts,
            dependencies,
            outbox: Outbox::default(),
            carrier,
            new_carrier,
            parked: AtomicBool::new(false),
            deferred: deferred::Stack::default(),
            resolved: OnceLock::new(),
            cancelled: OnceLock::new(),
        }))
    }

    /// How the call's questions travel, if there is anybody to ask.
    pub fn carrier(&self) -> Option<&dyn Carrier> {
        match (self.0.carrier.get(), self.0.new_carrier) {
            (Some(carrier), _) => Some(&**carrier),
            (None, Some(new)) => Some(&**self.0.carrier.get_or_init(new)),
            (None, None) => None,
        }
    }

    /// Says that the function waits for an answer that comes in another round.
    fn park(&self) {
        self.0.parked.store(true, Ordering::Release);
    }

    /// Ends the call with an error, or waits for an answer that comes in another round.
    pub(crate) async fn halt<T>(&self, halt: Halt) -> Result<T, ToolError> {
        match halt.into_error() {
            Some(error) => Err(error),
            None => {
                self.park();
                std::future::pending().await
            }
        }
    }

    /// Ends a round that is made by hand, and waits for the next.
    ///
    /// # Errors
    ///
    /// If there cannot be one.
    pub async fn next_round<T>(&self, next: NextRound) -> Result<T, ToolError> {
        for Posed { key, question, .. } in &next.questions {
            if let Some(missing) = question.missing_capability(&self.facts().capabilities) {
                return Err(self.cannot_ask(key, missing));
            }
        }
        let carrier = self.carrier().ok_or_else(ToolError::nobody_to_ask)?;
        carrier.hand_on(next).await?;
        self.park();
        std::future::pending().await
    }

    /// The client cannot be asked under that key; a test that watches is told which one it is.
    pub(crate) fn cannot_ask(&self, key: &str, missing: serde_json::Value) -> ToolError {
        if let Some(ran) = self.extension::<Ran>() {
            ran.note_unasked(key);
        }
        ToolError::missing_capability(missing)
    }

    /// Says that the function, which waited for another round, runs again.
    pub fn unpark(&self) {
        self.0.parked.store(false, Ordering::Release);
    }

    /// Whether the function waits for an answer that comes in another round.
    pub fn is_parked(&self) -> bool {
        self.0.parked.load(Ordering::Acquire)
    }

    /// A call of nobody, for tests of what only needs one to exist.
    pub fn detached() -> Self {
        Self::new(Facts::default(), Arc::default())
    }

    /// What the request said of itself.
    pub fn facts(&self) -> &Facts {
        &self.0.facts
    }

    /// Where the call's notifications wait for the transport.
    pub fn outbox(&self) -> &Outbox {
        &self.0.outbox
    }

    /// A provided service.
    pub fn dependency<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.0.dependencies.get::<T>()
    }

    /// Keeps what the resolvers of a tool that was made at run time have made.
    pub(crate) fn keep_resolved(&self, resolved: Resolved) {
        // A call resolves once in a round; a second round over a session finds the same.
        let _ = self.0.resolved.set(Box::new(resolved));
    }

    /// What a resolver has made, if it is one that the tool was given at run time.
    pub(crate) fn resolved<R: Resolver>(&self) -> Option<&R::Output> {
        self.0.resolved.get()?.get::<R>()
    }

    /// What stands in for resolvers, in a test.
    pub(crate) fn doubles(&self) -> Option<&Doubles> {
        self.0.dependencies.doubles()
    }

    /// The value of a request header, if there is one and it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.0.facts.headers()?.get(name)?.to_str().ok()
    }

    /// Something that a layer in front of the server attached to the HTTP request.
    pub fn extension<T: Any + Send + Sync + Clone>(&self) -> Option<&T> {
        self.0.facts.extensions()?.get::<T>()
    }

    /// Cancelled when the client gave up or the call is over.
    pub fn cancellation(&self) -> &CancellationToken {
        self.0.cancelled.get_or_init(CancellationToken::new)
    }

    /// Ends the call: from now on it emits nothing, and its cancellation token is cancelled.
    pub fn end(&self) {
        self.0.outbox.close();
        if let Some(token) = self.0.cancelled.get() {
            token.cancel();
        }
    }

    /// Ends the call when the guard is dropped.
    pub fn end_on_drop(&self) -> EndOnDrop {
        EndOnDrop(self.clone())
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("facts", &self.0.facts).finish_non_exhaustive()
    }
}

/// How a call's questions travel.
pub enum Carriage {
    /// There is nobody to ask.
    Nobody,
    /// With this carrier.
    With(Arc<dyn Carrier>),
    /// With a carrier that is made when something is first asked: most calls ask nothing.
    Fresh(fn() -> Arc<dyn Carrier>),
}

impl fmt::Debug for Carriage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Carriage")
    }
}

/// Ends its call when it is dropped; see [`Call::end_on_drop`].
#[derive(Debug)]
pub struct EndOnDrop(Call);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.end();
    }
}
