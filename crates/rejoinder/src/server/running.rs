//! A call while it runs: its function, what it emits, its teardown.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use tokio::runtime::Handle;

use super::{
    Contents, RunningCall, ServerHandle,
    door::{Prepared, Refusal, Source},
};
use crate::{
    BoxFuture,
    ask::{Carrier, Question},
    call::{Call, CallEnd, Emitted, EndOnDrop, Utf8Bytes},
    error::{CallError, Halt},
    item::Output,
    rounds::Bound,
};

/// A function that is being called. Dropping it cancels the call.
pub(crate) struct Running {
    stage: Stage,
    /// What the call deferred, while it runs.
    teardown: Option<BoxFuture<'static, ()>>,
    /// The tool, prompt or resource that is called.
    target: Utf8Bytes,
    pub(super) is_tool: bool,
    contents: Option<Contents>,
    /// What the state of the next round is bound to, where questions travel with the reply.
    pub(super) bound: Option<Bound>,
    /// What the function is read from again, where it may run several times in one call.
    pub(super) source: Option<Source>,
    call: Call,
    _end: EndOnDrop,
    /// Freed when teardown is counted.
    _slot: RunningCall,
}

/// How far a call has got. What follows the function starts when teardown is over.
enum Stage {
    /// Something must be done before the arguments are read.
    Before(BoxFuture<'static, Result<Prepared, Refusal>>),
    /// The function runs.
    Function(BoxFuture<'static, Result<Output, Halt>>),
    /// It returned with a question open, while steps that it spawned are being taken.
    Steps,
    /// It asks over the session, and then runs again.
    Asking(BoxFuture<'static, Result<(), CallError>>),
    /// There is something to report.
    Ended(Event),
    /// It has been reported.
    Over,
}

/// What comes out of a running call.
pub(crate) enum Event {
    /// A notification for the client; there may be more.
    Emitted(Emitted),
    /// The call does not run.
    Refused(Refusal),
    /// The call waits for answers that come with a retry.
    InputRequired {
        /// What is asked, by key, in the order in which it was.
        questions: Vec<(Arc<str>, Question)>,
        /// The `requestState`.
        state: String,
    },
    /// The call is over.
    Done(Result<Output, Failed>),
}

/// Why a call gave no result.
#[derive(Debug)]
pub(crate) enum Failed {
    /// Its function, or something that it needs, returned an error.
    Error(CallError),
    /// The author's code panicked; the panic's own message is in the log.
    Panicked,
}

impl Running {
    /// A call in which nothing runs yet.
    pub(super) fn new(target: Utf8Bytes, call: Call, slot: RunningCall) -> Self {
        let (bound, source, contents) = (None, None, None);
        let _end = call.end_on_drop();
        Self {
            stage: Stage::Over,
            teardown: None,
            target,
            is_tool: false,
            contents,
            bound,
            source,
            call,
            _end,
            _slot: slot,
        }
    }

    /// Runs a function.
    pub(super) fn run(&mut self, prepared: Prepared) {
        self.contents = prepared.contents;
        self.stage = Stage::Function(prepared.ready.run(self.call.clone()));
    }

    /// Runs a function once it is prepared.
    pub(super) fn run_after(&mut self, preparing: BoxFuture<'static, Result<Prepared, Refusal>>) {
        self.stage = Stage::Before(preparing);
    }

    /// Runs what is not an item.
    pub(super) fn run_future(&mut self, future: BoxFuture<'static, Result<Output, Halt>>) {
        self.stage = Stage::Function(future);
    }

    pub(crate) fn call(&self) -> &Call {
        &self.call
    }

    /// The tool, prompt or resource that is called.
    pub(crate) fn target(&self) -> &str {
        &self.target
    }

    /// Whether it is a tool that is called.
    pub(crate) fn is_tool(&self) -> bool {
        self.is_tool
    }

    /// What the reply says about the contents of a resource.
    pub(crate) fn contents(&self) -> Option<&Contents> {
        self.contents.as_ref()
    }

    /// The next event; what was emitted comes before the end, and so does teardown.
    pub(crate) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Event> {
        if self.poll_stage(cx).is_pending() {
            let emitted = self.call.outbox().poll_take(cx);
            if emitted.is_pending() && self.waits_for_function() && self.call.is_parked() {
                // A spawned task has asked, or has taken its last step, before there was a waker to wake.
                cx.waker().wake_by_ref();
            }
            return emitted.map(Event::Emitted);
        }
        // From here on nothing more is accepted: what the function left running must not withhold the reply.
        self.call.end();
        if let Some(emitted) = self.call.outbox().take() {
            return Poll::Ready(Event::Emitted(emitted));
        }
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Ended(event) => Poll::Ready(event),
            _ => Poll::Pending,
        }
    }

    fn waits_for_function(&self) -> bool {
        self.teardown.is_none() && matches!(self.stage, Stage::Function(_) | Stage::Steps)
    }

    /// Runs until there is something to report.
    fn poll_stage(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            if let Some(teardown) = &mut self.teardown {
                ready!(teardown.as_mut().poll(cx));
                self.teardown = None;
            }
            match &mut self.stage {
                Stage::Before(preparing) => match ready!(preparing.as_mut().poll(cx)) {
                    Ok(prepared) => self.run(prepared),
                    Err(refusal) => self.stage = Stage::Ended(Event::Refused(refusal)),
                },
                Stage::Function(future) => {
                    let polled = catch_unwind(AssertUnwindSafe(|| Pin::new(future).poll(cx)));
                    match polled {
                        Ok(Poll::Ready(Err(Halt::Pending))) => self.wait_for_steps(),
                        Ok(Poll::Ready(Err(Halt::Next(next)))) => match self.call.hand_on(*next) {
                            Ok(()) => self.wait_for_steps(),
                            Err(error) => self.end(Ok(Err(error.into()))),
                        },
                        Ok(Poll::Ready(ended)) => self.end(Ok(ended)),
                        Ok(Poll::Pending) if self.call.end_parked() => self.end(Ok(Err(Halt::Pending))),
                        Ok(Poll::Pending) => return Poll::Pending,
                        Err(_) => self.end(Err(())),
                    }
                }
                Stage::Steps if self.call.end_parked() => self.end(Ok(Err(Halt::Pending))),
                Stage::Steps => return Poll::Pending,
                Stage::Asking(asking) => match ready!(asking.as_mut().poll(cx)) {
                    Ok(()) => self.run_again(),
                    Err(error) => self.stage = Stage::Ended(Event::Done(Err(Failed::Error(error)))),
                },
                Stage::Ended(_) | Stage::Over => return Poll::Ready(()),
            }
        }
    }

    /// The function has returned with a question open: the round ends when no step is being taken.
    fn wait_for_steps(&mut self) {
        self.call.note_parked();
        self.stage = Stage::Steps;
    }

    /// The one place where a round ends: what follows, and what teardown hears.
    fn end(&mut self, ended: Result<Result<Output, Halt>, ()>) {
        // An author's mistake counts whatever the function made of it.
        let ended = ended.map(|ended| self.call.mistake().map_or(ended, |mistake| Err(Halt::Mistake(mistake))));
        let (stage, end) = match ended {
            Ok(Ok(output)) => (Stage::Ended(Event::Done(Ok(output))), CallEnd::Succeeded),
            Ok(Err(halt)) => match halt.into_error() {
                Some(error) => (Stage::Ended(Event::Done(Err(Failed::Error(error)))), CallEnd::Failed),
                None => self.next_round(),
            },
            Err(()) => (Stage::Ended(Event::Done(Err(Failed::Panicked))), CallEnd::Panicked),
        };
        // All that the function held is dropped before teardown.
        let end = match self.replace(stage) {
            Ok(()) => end,
            Err(panicked) => {
                self.stage = Stage::Ended(Event::Done(Err(panicked)));
                CallEnd::Panicked
            }
        };
        self.teardown = self.call.teardown(end);
    }

    /// What the round asks: it goes out with the reply, sealed before teardown hears of it, or over the session.
    fn next_round(&self) -> (Stage, CallEnd) {
        let Some((parked, bound)) = self.call.carrier().and_then(Carrier::parked).zip(self.bound.as_ref()) else {
            let call = self.call.clone();
            return (Stage::Asking(Box::pin(async move { call.go_on().await })), CallEnd::Pending);
        };
        match bound.seal(&parked) {
            Ok(state) => (Stage::Ended(Event::InputRequired { questions: parked.questions, state }), CallEnd::Pending),
            Err(error) => (Stage::Ended(Event::Done(Err(Failed::Error(error)))), CallEnd::Failed),
        }
    }

    /// Runs the function once more in the same call, with what was answered.
    fn run_again(&mut self) {
        self.call.unpark();
        match self.source.as_ref().map(Source::read) {
            Some(Ok(prepared)) => self.run(prepared),
            _ => {
                let error = CallError::new("the item that was called was removed while the user was asked");
                self.stage = Stage::Ended(Event::Done(Err(Failed::Error(error))));
            }
        }
    }

    /// Drops the stage that there is: the function holds the author's values, whose `Drop` may panic.
    fn replace(&mut self, stage: Stage) -> Result<(), Failed> {
        let before = std::mem::replace(&mut self.stage, stage);
        catch_unwind(AssertUnwindSafe(|| drop(before))).map_err(|_| Failed::Panicked)
    }

    /// Ends the call where it is; teardown hears how.
    fn stop(&mut self, end: CallEnd) -> Option<BoxFuture<'static, ()>> {
        // Nobody waits for the outcome, and the panic's own message is in the log.
        let _ = self.replace(Stage::Over);
        self.teardown.take().or_else(|| self.call.teardown(end))
    }
}

impl Drop for Running {
    /// What was deferred runs to its end even if nobody waits for it.
    fn drop(&mut self) {
        let Some(teardown) = self.stop(CallEnd::Cancelled) else { return };
        let Ok(runtime) = Handle::try_current() else {
            return tracing::error!("deferred functions cannot run: the call was dropped outside a tokio runtime");
        };
        // A server that stops waits for it.
        let counted = self.call.dependency::<ServerHandle>().and_then(|server| Some(server.engine()?.teardown.begin()));
        runtime.spawn(async move {
            teardown.await;
            drop(counted);
        });
    }
}
