//! One call: its request, its arguments, and how it ends.

mod argument;
mod argument_error;
mod arguments;
mod carrier;
mod dependencies;
mod outbox;
mod param;
mod parking;
mod record;
mod request_info;
mod teardown;
mod utf8_bytes;

use std::{
    any::Any,
    fmt,
    sync::{Arc, Mutex, OnceLock},
};

use tokio_util::sync::CancellationToken;

use crate::{
    ask::Question,
    error::CallError,
    graph::{Doubles, Ran, Unasked},
};

pub use argument::Argument;
pub(crate) use argument::SentArgument;
pub(crate) use argument_error::{ArgumentError, ArgumentErrors, without_position};
#[doc(hidden)]
pub use arguments::ReadParams;
pub(crate) use arguments::{ArgumentSet, Members, SentArguments, Unknown, read_arguments};
pub(crate) use carrier::{AnswerCheck, Carriage, Carrier, Parked};
pub(crate) use dependencies::Dependencies;
pub(crate) use outbox::{Emitted, Outbox};
pub use param::CompletionRequest;
#[doc(hidden)]
pub use param::{Completes, Default, Param};
pub(crate) use record::{CallRecord, InputResponses, round_trip};
pub(crate) use request_info::{ClientInfo, ProgressToken};
pub use request_info::{Era, Level, RequestInfo};
pub use teardown::CallEnd;
pub(crate) use utf8_bytes::Utf8Bytes;

/// One call, as everything that runs for it shares it.
///
/// Cheap to clone. When the call is over, however it ended, its cancellation token is cancelled.
#[derive(Clone)]
pub struct Call(Arc<CallParts>);

struct CallParts {
    facts: RequestInfo,
    dependencies: Arc<Dependencies>,
    outbox: Outbox,
    carrier: Option<Box<dyn Carrier>>,
    // Made when it is first needed: most calls ask nothing.
    record: OnceLock<Box<Mutex<CallRecord>>>,
    /// How many bytes the steps of the record may take.
    record_limit: usize,
    /// Who asks a question.
    asking: parking::Turns,
    /// Who takes a step.
    steps: parking::Turns,
    parking: parking::Parking,
    deferred: teardown::Stack,
    // Made when it is first needed: most calls never do.
    cancelled: OnceLock<CancellationToken>,
}

impl Call {
    /// Starts a call; without a carrier it cannot ask.
    pub(crate) fn new(facts: RequestInfo, dependencies: Arc<Dependencies>, carriage: Option<Carriage>) -> Self {
        let (carrier, record, record_limit) = match carriage {
            None => (None, None, 0),
            Some(Carriage { carrier, record, record_limit }) => (Some(carrier), record, record_limit),
        };
        Self(Arc::new(CallParts {
            facts,
            dependencies,
            outbox: Outbox::default(),
            carrier,
            record: record.map(|record| Box::new(Mutex::new(record))).map_or_else(OnceLock::new, OnceLock::from),
            record_limit,
            asking: parking::Turns::default(),
            steps: parking::Turns::default(),
            parking: parking::Parking::default(),
            deferred: teardown::Stack::default(),
            cancelled: OnceLock::new(),
        }))
    }

    /// The client cannot be asked under that key; a test that watches is told what it is.
    pub(crate) fn cannot_ask(&self, key: &str, question: &Question, is_typed: bool, refused: CallError) -> CallError {
        if let Some(ran) = self.extension::<Ran>() {
            ran.note_unasked(Unasked { key: key.to_owned(), question: question.clone(), is_typed });
        }
        refused
    }

    /// A call of nobody, for tests of what only needs one to exist.
    pub fn detached() -> Self {
        Self::new(RequestInfo::default(), Arc::default(), None)
    }

    /// What the request said of itself.
    pub fn facts(&self) -> &RequestInfo {
        &self.0.facts
    }

    /// Where the call's notifications wait for the transport.
    pub(crate) fn outbox(&self) -> &Outbox {
        &self.0.outbox
    }

    /// A provided service.
    pub fn dependency<T: ?Sized + Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.0.dependencies.get::<T>()
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
        // Before the look at the token, so that whoever makes one meanwhile sees that it is over.
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
        f.debug_struct("Call").field("facts", &self.0.facts).finish_non_exhaustive()
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
    fn who_asks_for_the_token_when_the_call_is_over_gets_one_that_is_cancelled() {
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
    fn where_nobody_can_be_asked_the_client_is_told_so() {
        let capabilities = serde_json::from_value(serde_json::json!({ "elicitation": {} })).expect("capabilities");
        let call = Call::new(RequestInfo { capabilities, ..RequestInfo::default() }, Arc::default(), None);
        let ctx = Context::from_call(&call, "ctx")
            .now_or_never()
            .expect("nothing is awaited")
            .expect("a context of any call");
        let asked = ctx.ask("sure", Ask::confirm("Sure?")).now_or_never().expect("nobody is waited for").unwrap_err();
        let by_hand = call.hand_on(NextRound::default()).unwrap_err();
        let told = "this call has no client to ask; in a test, call through `testing::Client`";
        for error in [asked, by_hand] {
            assert!(matches!(error.kind(), CallErrorKind::Message(text) if text == told), "{error}");
        }
    }
}
