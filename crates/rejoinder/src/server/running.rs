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
    door::{CallSource, Prepared, Refusal},
};
use crate::{
    BoxFuture,
    ask::Question,
    call::{Call, CallEnd, Emitted, InputResponses, Parked, Utf8Bytes},
    error::{CallError, Halt},
    item::Output,
};

/// A function that is being called. Dropping it cancels the call.
pub(crate) struct Running {
    stage: RunStage,
    /// What the call deferred, while it runs.
    teardown: Option<BoxFuture<'static, ()>>,
    /// The tool, prompt or resource that is called.
    target: Utf8Bytes,
    pub(super) is_tool: bool,
    contents: Option<Contents>,
    /// What the function is read from again, where it may run several times in one call.
    pub(super) source: Option<CallSource>,
    call: Call,
    /// Freed when teardown is counted.
    _slot: RunningCall,
}

/// How far a call has got. What follows the function starts when teardown is over.
enum RunStage {
    /// Something must be done before the arguments are read.
    Before(BoxFuture<'static, Result<Prepared, Refusal>>),
    /// The function runs.
    Function(BoxFuture<'static, Result<Output, Halt>>),
    /// It returned with a question open, while steps that it spawned are being taken.
    Steps,
    /// It asks over the session, and then runs again.
    Asking(BoxFuture<'static, Result<InputResponses, CallError>>),
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
        let (teardown, source, contents) = (None, None, None);
        Self { stage: RunStage::Over, teardown, target, is_tool: false, contents, source, call, _slot: slot }
    }

    /// Runs a function.
    pub(super) fn run(&mut self, prepared: Prepared) {
        self.contents = prepared.contents;
        self.stage = RunStage::Function(prepared.ready.run(self.call.clone()));
    }

    /// Runs a function once it is prepared.
    pub(super) fn run_after(&mut self, preparing: BoxFuture<'static, Result<Prepared, Refusal>>) {
        self.stage = RunStage::Before(preparing);
    }

    /// Runs what is not an item.
    pub(super) fn run_future(&mut self, future: BoxFuture<'static, Result<Output, Halt>>) {
        self.stage = RunStage::Function(future);
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
            if emitted.is_pending() && self.waits_for_function() && self.call.can_end() {
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
        match std::mem::replace(&mut self.stage, RunStage::Over) {
            RunStage::Ended(event) => Poll::Ready(event),
            _ => Poll::Pending,
        }
    }

    fn waits_for_function(&self) -> bool {
        self.teardown.is_none() && matches!(self.stage, RunStage::Function(_) | RunStage::Steps)
    }

    /// Runs until there is something to report.
    fn poll_stage(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            if let Some(teardown) = &mut self.teardown {
                ready!(teardown.as_mut().poll(cx));
                self.teardown = None;
            }
            match &mut self.stage {
                RunStage::Before(preparing) => match ready!(preparing.as_mut().poll(cx)) {
                    Ok(prepared) => self.run(prepared),
                    Err(refusal) => self.stage = RunStage::Ended(Event::Refused(refusal)),
                },
                RunStage::Function(future) => {
                    let polled = catch_unwind(AssertUnwindSafe(|| Pin::new(future).poll(cx)));
                    match polled {
                        Ok(Poll::Ready(Err(Halt::Pending))) => self.wait_for_steps(),
                        Ok(Poll::Ready(Err(Halt::Next(next)))) => match self.call.hand_on(*next) {
                            Ok(()) => self.wait_for_steps(),
                            Err(error) => self.end(Ok(Err(error.into()))),
                        },
                        Ok(Poll::Ready(ended)) => self.end(Ok(ended)),
                        Ok(Poll::Pending) => match self.call.end_halted() {
                            Some(halt) => self.end(Ok(Err(halt))),
                            None => return Poll::Pending,
                        },
                        Err(_) => self.end(Err(())),
                    }
                }
                RunStage::Steps => match self.call.end_halted() {
                    Some(halt) => self.end(Ok(Err(halt))),
                    None => return Poll::Pending,
                },
                RunStage::Asking(asking) => match ready!(asking.as_mut().poll(cx)) {
                    Ok(responses) => self.run_again(responses),
                    Err(error) => self.stage = RunStage::Ended(Event::Done(Err(Failed::Error(error)))),
                },
                RunStage::Ended(_) | RunStage::Over => return Poll::Ready(()),
            }
        }
    }

    /// The function has returned with a question open: the round ends when no step is being taken.
    fn wait_for_steps(&mut self) {
        self.call.note_halt(Halt::Pending);
        self.stage = RunStage::Steps;
    }

    /// The one place where a round ends: what follows, and what teardown hears.
    fn end(&mut self, ended: Result<Result<Output, Halt>, ()>) {
        // An author's mistake counts whatever the function made of it.
        let ended = ended.map(|ended| self.call.mistake().map_or(ended, Err));
        let (stage, end) = match ended {
            Ok(Ok(output)) => (RunStage::Ended(Event::Done(Ok(output))), CallEnd::Succeeded),
            Ok(Err(halt)) => match halt.into_error() {
                Some(error) => (RunStage::Ended(Event::Done(Err(Failed::Error(error)))), CallEnd::Failed),
                None => self.next_round(),
            },
            Err(()) => (RunStage::Ended(Event::Done(Err(Failed::Panicked))), CallEnd::Panicked),
        };
        // All that the function held is dropped before teardown.
        let end = match self.replace(stage) {
            Ok(()) => end,
            Err(panicked) => {
                self.stage = RunStage::Ended(Event::Done(Err(panicked)));
                CallEnd::Panicked
            }
        };
        self.teardown = self.call.teardown(end);
    }

    /// What the round asks: it goes out with the reply, sealed before teardown hears of it, or over the session.
    fn next_round(&self) -> (RunStage, CallEnd) {
        match self.call.park() {
            Ok(Parked::Waiting(answers)) => (RunStage::Asking(answers), CallEnd::Pending),
            Ok(Parked::InputRequired { questions, state }) => {
                (RunStage::Ended(Event::InputRequired { questions, state }), CallEnd::Pending)
            }
            Err(error) => (RunStage::Ended(Event::Done(Err(Failed::Error(error)))), CallEnd::Failed),
        }
    }

    /// Runs the function once more in the same call, with what was answered.
    fn run_again(&mut self, responses: InputResponses) {
        self.call.begin_round(responses);
        match self.source.as_ref().map(CallSource::read) {
            Some(Ok(prepared)) => self.run(prepared),
            _ => {
                let error = CallError::new("the tool, prompt or resource was removed while the user was asked");
                self.stage = RunStage::Ended(Event::Done(Err(Failed::Error(error))));
            }
        }
    }

    /// Drops the stage that there is: the function holds the author's values, whose `Drop` may panic.
    fn replace(&mut self, stage: RunStage) -> Result<(), Failed> {
        let before = std::mem::replace(&mut self.stage, stage);
        catch_unwind(AssertUnwindSafe(|| drop(before))).map_err(|_| Failed::Panicked)
    }

    /// Ends the call where it is. What it deferred hears `end`, unless its round has ended already, and runs even if nobody
    /// waits for it.
    pub(crate) fn end_with(&mut self, end: CallEnd) {
        // The panic's own message is in the log.
        let _ = self.replace(RunStage::Over);
        let teardown = self.teardown.take().or_else(|| self.call.teardown(end));
        self.call.end();
        let Some(teardown) = teardown else { return };
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

impl Drop for Running {
    fn drop(&mut self) {
        self.end_with(CallEnd::Cancelled);
    }
}

#[cfg(test)]
mod tests {
    use std::{future::pending, sync::Mutex};

    use super::*;
    use crate::server::engine::Calls;

    #[tokio::test]
    async fn what_is_deferred_hears_the_end_that_the_call_was_given() {
        for end in [CallEnd::Pending, CallEnd::Cancelled, CallEnd::Failed] {
            let (call, calls, heard) = (Call::detached(), Arc::new(Calls::default()), Arc::new(Mutex::new(Vec::new())));
            let log = Arc::clone(&heard);
            call.defer(Box::new(move |end| {
                log.lock().expect("no panic").push(end);
                Box::pin(std::future::ready(Ok(())))
            }));
            let mut running = Running::new("slow".into(), call.clone(), calls.begin());
            running.run_future(Box::pin(pending()));
            assert!(futures_util::poll!(std::future::poll_fn(|cx| running.poll_event(cx))).is_pending());
            running.end_with(end);
            assert!(call.is_over());
            drop(running);
            tokio::task::yield_now().await;
            assert_eq!(*heard.lock().expect("no panic"), [end], "once, and not as `Cancelled` when it is dropped");
        }
    }
}
