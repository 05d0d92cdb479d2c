//! One call: how it asks, what it records and emits, and how it ends.

mod background;
mod carrier;
mod completion_request;
mod dependencies;
mod halt;
mod outbox;
mod parking;
mod record;
mod step;
mod teardown;
mod test_trace;
mod utf8_bytes;

use std::{
    any::{Any, TypeId},
    fmt,
    sync::{Arc, Mutex, OnceLock, atomic::AtomicUsize},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    digest::{SHA256, digest},
    rand::{SecureRandom, SystemRandom},
};
use tokio_util::sync::CancellationToken;

use crate::{ask::Question, error::CallError, request::SharedValues};

pub use crate::{
    argument::{Argument, FieldError, IntoFieldError},
    request::{Capabilities, Era, Level, RequestInfo},
};
pub(crate) use background::{AfterReply, BackgroundState, ServerBackground};
pub use background::{BackgroundStatus, BackgroundTask, WorkFuture, WorkOutput};
pub(crate) use carrier::{Carrier, Parked, RunOfTask};
pub use completion_request::CompletionRequest;
pub(crate) use dependencies::Dependencies;
#[doc(hidden)]
pub use halt::Halt;
pub use outbox::Amount;
pub(crate) use outbox::{Emitted, Outbox};
pub(crate) use record::{CallRecord, InputResponses, RecordRules, StepRecord, round_trip};
pub use step::{CallKey, Step, StepFn, StepValue};
pub use teardown::CallEnd;
pub(crate) use teardown::{Deferred, RunningTeardown};
pub(crate) use test_trace::{CallTrace, CallTraces, FollowedCall, Traced};
pub(crate) use utf8_bytes::{Utf8Bytes, count_values, held_as_values};

/// One call, shared by everything that runs for it.
///
/// It is cheap to clone. When the call ends, its cancellation token is cancelled.
#[derive(Clone)]
pub struct Call(Arc<CallParts>);

struct CallParts {
    request: RequestInfo,
    dependencies: Arc<Dependencies>,
    outbox: Arc<Outbox>,
    // Set when the gates of the item are open, because a gate cannot ask.
    carrier: OnceLock<(Box<dyn Carrier>, Arc<RecordRules>)>,
    // Made when it is first needed: most calls do not ask.
    record: OnceLock<Box<Mutex<CallRecord>>>,
    /// How many questions the client of a session has to answer.
    open_questions: AtomicUsize,
    parking: Mutex<parking::RoundEnd>,
    teardown: Mutex<teardown::Teardown>,
    // Made when they are first needed: most calls never need them.
    background: OnceLock<Box<Mutex<background::RoundBackground>>>,
    cancelled: OnceLock<CancellationToken>,
    /// What the functions of this round share: its states, and the outcomes of its resolvers.
    shared: SharedValues,
}

impl Call {
    /// A call that cannot ask until it has a [carrier](Self::carry).
    pub(crate) fn new(request: RequestInfo, dependencies: Arc<Dependencies>, outbox: Arc<Outbox>) -> Self {
        Self(Arc::new(CallParts {
            request,
            dependencies,
            outbox,
            carrier: OnceLock::new(),
            record: OnceLock::new(),
            open_questions: AtomicUsize::new(0),
            parking: Mutex::default(),
            teardown: Mutex::default(),
            background: OnceLock::new(),
            cancelled: OnceLock::new(),
            shared: SharedValues::default(),
        }))
    }

    /// Gives the call its carrier, what its record may hold, and what earlier rounds recorded.
    pub(crate) fn carry(&self, carrier: Box<dyn Carrier>, rules: Arc<RecordRules>, record: Option<CallRecord>) {
        // An error means that it was done before.
        let _ = self.0.carrier.set((carrier, rules));
        if let Some(record) = record {
            let _ = self.0.record.set(Box::new(Mutex::new(record)));
        }
    }

    /// What a test follows the call with.
    pub(crate) fn trace(&self) -> Option<CallTrace> {
        if !cfg!(feature = "testing") {
            return None;
        }
        let trace = self.0.dependencies.traces_of_tests()?.of(&self.0.request.request_id)?;
        Some(if self.run_of_task().is_some() { trace.of_task() } else { trace })
    }

    /// Records for tests that the client cannot be asked this, and returns the reason.
    pub(crate) fn cannot_ask(&self, key: &str, question: &Question, is_typed: bool, refused: CallError) -> CallError {
        if let Some(trace) = self.trace() {
            trace.lock().unanswered.push(test_trace::answer_to(key, question, is_typed));
        }
        refused
    }

    /// The body of the function starts; an error if it does not run in this round.
    #[doc(hidden)]
    pub fn enter(&self) -> Result<(), Halt> {
        if self.0.carrier.get().is_some_and(|(carrier, _)| carrier.ends_before_function()) {
            return Err(Halt::Pending);
        }
        if let Some(trace) = self.trace() {
            trace.lock().runs += 1;
        }
        Ok(())
    }

    /// The same text in every run and attempt of this call, and in no other call.
    pub(crate) fn idempotency_key(&self, of: &str) -> String {
        let mut record = self.record();
        let seed = record.seed().unwrap_or_else(|| match self.run_of_task() {
            Some(run) => URL_SAFE_NO_PAD.encode(run.seed()),
            None => {
                let mut seed = [0; 16];
                SystemRandom::new().fill(&mut seed).expect("the system has randomness");
                let seed = URL_SAFE_NO_PAD.encode(seed);
                record.plant(&seed);
                seed
            }
        });
        let digest = digest(&SHA256, format!("{seed} {of}").as_bytes());
        URL_SAFE_NO_PAD.encode(&digest.as_ref()[..16])
    }

    /// A call without a request, for unit tests.
    pub fn detached() -> Self {
        Self::new(RequestInfo::default(), Arc::default(), Arc::default())
    }

    /// What the request says about itself.
    pub fn request(&self) -> &RequestInfo {
        &self.0.request
    }

    /// Where the call's notifications wait for the transport.
    pub(crate) fn outbox(&self) -> &Outbox {
        &self.0.outbox
    }

    /// Sends a notification to the client. After the end of the call it is dropped; the first one is logged, unless the call was
    /// cancelled or ran out of time: then its function could not wait for what sends it.
    pub(crate) async fn emit(&self, emitted: Emitted) {
        let is_first_late = self.0.outbox.send(emitted).await;
        if is_first_late && !matches!(self.ending(), Some(CallEnd::Cancelled | CallEnd::TimedOut)) {
            let request = &*String::from_utf8_lossy(&self.request().request_id);
            tracing::warn!(
                request,
                "a future has sent progress or a log message to the client after its call had ended, so it was dropped: await \
                 the future before the function returns, or log with `tracing` in it"
            );
        }
    }

    /// A provided service.
    pub fn dependency<T: ?Sized + Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.0.dependencies.get::<T>()
    }

    /// What the functions of this round share under the type `K`, which begins as the default.
    pub(crate) fn shared<K: 'static, T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        self.0.shared.get::<K, T>()
    }

    /// Drops what the functions of the round share. These are values of the author, whose `Drop` may panic.
    pub(crate) fn forget_shared(&self) {
        self.0.shared.forget();
    }

    /// What a test has put in the place of a resolver.
    pub(crate) fn replaced<D: 'static>(&self, resolver: TypeId) -> Option<&D> {
        self.0.dependencies.replaced(resolver)
    }

    /// The value of a request header, if it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.0.request.header(name)
    }

    /// Something that a layer in front of the server attached to the HTTP request.
    pub fn extension<T: Any + Send + Sync + Clone>(&self) -> Option<&T> {
        self.0.request.extensions()?.get::<T>()
    }

    /// Returns a token that is cancelled when the client cancels or disconnects, or the call ends.
    pub fn cancellation(&self) -> &CancellationToken {
        let token = self.0.cancelled.get_or_init(CancellationToken::new);
        if self.is_over() {
            token.cancel();
        }
        token
    }

    /// Whether the call has ended.
    pub fn is_over(&self) -> bool {
        self.0.outbox.is_closed()
    }

    /// Ends the call: from now on it emits nothing, and its cancellation token is cancelled.
    pub fn end(&self) {
        // First, so that a token that is made meanwhile is cancelled too.
        self.0.outbox.close();
        if let Some(token) = self.0.cancelled.get() {
            token.cancel();
        }
        if self.0.record.get().is_some() {
            self.record().cancel_round();
        }
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("request", &self.0.request).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;
    use crate::{
        ask::{Ask, NextRound},
        error::CallErrorKind,
        inject::{Context, FromCall},
    };

    #[test]
    fn a_token_that_is_made_after_the_end_is_cancelled() {
        let call = Call::detached();
        let before = call.cancellation().clone();
        assert!(!before.is_cancelled() && !call.is_over());
        call.end();
        assert!(before.is_cancelled() && call.is_over());
        let late = Call::detached();
        late.end();
        assert!(late.cancellation().is_cancelled());
    }

    #[test]
    fn a_call_without_a_client_cannot_ask() {
        let capabilities = Capabilities { forms: true, ..Capabilities::default() };
        let call = Call::new(RequestInfo { capabilities, ..RequestInfo::default() }, Arc::default(), Arc::default());
        let ctx = Context::from_call(&call, "ctx")
            .now_or_never()
            .expect("nothing is awaited")
            .expect("a context of any call");
        let asked = ctx.ask("sure", Ask::confirm("Sure?")).now_or_never().expect("nobody is waited for").unwrap_err();
        let by_hand = call.hand_on(NextRound::default()).unwrap_err();
        let expected = "this call has no client to ask; in a test, call through `testing::Client`";
        for error in [asked, by_hand] {
            assert!(matches!(error.kind(), CallErrorKind::Message(text) if text == expected), "{error}");
        }
    }
}
