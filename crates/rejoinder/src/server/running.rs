//! A call while it runs: its function, what it emits, its teardown.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use futures_util::future::BoxFuture;
use tokio::runtime::Handle;
use tokio_util::task::{TaskTracker, task_tracker::TaskTrackerToken};

use super::{
    Contents, Refusal, ServerHandle, TargetKind,
    door::{CallSource, Spending},
    engine::Engine,
    timeout::RoundClock,
};
use crate::{
    ask::Question,
    auth::Held,
    call::{AfterReply, Call, CallEnd, Halt, InputResponses, Parked, RunOfTask, RunningTeardown},
    error::{CallError, Failed, Panicked},
    reply::{FunctionOutput, FunctionRun, Output, OutputStream},
    tasks::{BirthError, Parking, TaskSnapshot},
};

/// A function that is being called. Dropping it cancels the call.
pub(crate) struct Running {
    stage: RunStage,
    /// What the call deferred, while it runs.
    teardown: Option<RunningTeardown>,
    /// What is called, to be read again if it runs again; `None` for a completion.
    source: Option<CallSource>,
    contents: Option<Contents>,
    /// The time that the round has, if it is limited.
    clock: Option<Box<RoundClock>>,
    call: Call,
    /// Freed when teardown is counted.
    _slot: (TaskTrackerToken, Held),
}

/// The stage of a call. What follows the function starts when teardown is over.
enum RunStage {
    /// The state is marked as used before the arguments are read.
    Spending(Spending),
    /// The function runs.
    Function(FunctionRun),
    /// It returned with a question open, while steps that it spawned are being taken.
    Steps,
    /// It waits for answers over the session, and then runs again.
    Asking(BoxFuture<'static, Result<InputResponses, CallError>>),
    /// Its task is made.
    Detaching(BoxFuture<'static, Result<TaskSnapshot, BirthError>>),
    /// There is something to report.
    Ended(RunningEnd),
    /// It has been reported.
    Reported,
    /// The function does not run yet, or was dropped.
    Over,
}

impl RunStage {
    fn failed(error: CallError) -> Self {
        Self::Ended(RunningEnd::Done(Err(Failed::Error(error))))
    }

    fn panicked() -> Self {
        Self::Ended(RunningEnd::Done(Err(Failed::Panicked)))
    }
}

/// How a running call ends, for this request.
pub(crate) enum RunningEnd {
    /// The call does not run.
    Refused(Refusal),
    /// The call waits for answers that come with a retry.
    InputRequired {
        /// What is asked, by key, in the order in which it was.
        questions: Vec<(Arc<str>, Question)>,
        /// The `requestState`.
        state: String,
    },
    /// The call goes on as this task.
    Detached(Box<TaskSnapshot>),
    /// The task, whose run this was, waits.
    Parked(Box<Parking>),
    /// The call is over.
    Done(Result<Output, Failed>),
}

impl Running {
    /// A call of which at most the gates run.
    ///
    /// In a box: it is handed on several times before it is polled.
    pub(super) fn new(call: Call, slot: (TaskTrackerToken, Held)) -> Box<Self> {
        let (teardown, source, contents, clock) = Default::default();
        Box::new(Self { stage: RunStage::Over, teardown, source, contents, clock, call, _slot: slot })
    }

    /// Reads the arguments and calls the function, after `spend` if there is one.
    pub(super) fn start(&mut self, source: CallSource, spend: Option<Spending>) -> Result<(), Refusal> {
        self.source = Some(source);
        match spend {
            None => self.run(),
            Some(spend) => {
                self.clock = self.source.as_ref().and_then(|source| RoundClock::start(source.timeout(), None));
                self.stage = RunStage::Spending(spend);
                Ok(())
            }
        }
    }

    /// Ends a call that does not run, and waits for what its gates deferred.
    pub(super) async fn close(mut self, end: CallEnd) {
        // The panic's own message is in the log.
        let _ = self.replace(RunStage::Over);
        self.teardown = self.begin_teardown(end);
        self.call.end();
        if let Some(teardown) = &mut self.teardown {
            // The gates have decided, and the log has the error.
            let _ = teardown.await;
            self.teardown = None;
        }
    }

    /// Runs a future instead of a tool, prompt or resource.
    pub(super) fn run_future(&mut self, future: FunctionRun, timeout: Option<Duration>) {
        (self.stage, self.clock) = (RunStage::Function(future), RoundClock::start(timeout, None));
    }

    /// Reads the arguments and calls the function.
    fn run(&mut self) -> Result<(), Refusal> {
        if let Some(source) = &mut self.source {
            let (run, contents, timeout) = source.read(&self.call)?;
            source.forget_arguments();
            self.contents = contents;
            let earlier = self.clock.take().filter(|_| matches!(self.stage, RunStage::Spending(_)));
            self.clock = RoundClock::start(timeout, earlier);
            self.stage = RunStage::Function(run);
        }
        Ok(())
    }

    pub(crate) fn call(&self) -> &Call {
        &self.call
    }

    /// What the reply is about.
    pub(crate) fn subject(&self) -> ReplySubject<'_> {
        let target = self.source.as_ref().map(|source| &source.target);
        let name = target.map_or("completion", |target| &target.name);
        let item = self.source.as_ref().and_then(CallSource::item).unwrap_or("completion");
        ReplySubject { kind: target.map(|target| target.kind), name, item, contents: self.contents.as_ref() }
    }

    /// What the reply takes along: it starts the background tasks of the call when the reply has left.
    pub(crate) fn after_reply(&self) -> Option<AfterReply> {
        self.call.after_reply(self.subject().item)
    }

    /// The end of the call, after teardown. What it has emitted is in its outbox, and is to be taken before.
    pub(crate) fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<RunningEnd> {
        if self.poll_stage(cx).is_pending() {
            self.call.outbox().watch(cx);
            if self.waits_for_function() && self.call.can_end() {
                // A spawned future has asked, or has taken its last step, before there was a waker to wake.
                cx.waker().wake_by_ref();
            }
            return Poll::Pending;
        }
        // From here on nothing more is accepted: a future that the function spawned must not delay the reply.
        self.call.end();
        match std::mem::replace(&mut self.stage, RunStage::Over) {
            RunStage::Ended(end) => {
                self.stage = RunStage::Reported;
                Poll::Ready(end)
            }
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
                let torn_down = ready!(teardown.as_mut().poll(cx));
                self.teardown = None;
                if let Err(failed) = torn_down {
                    // What the client would rely on has failed. The stage holds nothing of the author's any more.
                    self.stage = RunStage::Ended(RunningEnd::Done(Err(failed)));
                }
            }
            match &mut self.stage {
                RunStage::Spending(spending) => match spending.as_mut().poll(cx) {
                    Poll::Ready(spent) => {
                        if let Err(refusal) = spent.and_then(|()| self.run()) {
                            self.leave(RunStage::Ended(RunningEnd::Refused(refusal)), CallEnd::Failed);
                        }
                    }
                    Poll::Pending => ready!(self.poll_timeout(cx)),
                },
                RunStage::Function(future) => {
                    let polled = Panicked::catch(|| Pin::new(future).poll(cx));
                    match polled {
                        Ok(Poll::Ready(Err(Halt::Pending))) => self.wait_for_steps(),
                        Ok(Poll::Ready(Err(Halt::Next(next)))) => match self.call.hand_on(*next) {
                            Ok(()) => self.wait_for_steps(),
                            Err(error) => self.end(Ok(Err(error.into()))),
                        },
                        Ok(Poll::Ready(Ok(FunctionOutput::Stream(OutputStream(run))))) => {
                            let stage = RunStage::Function(run(self.call.clone()));
                            if let Err(panicked) = self.replace(stage) {
                                self.end(Err(panicked));
                            }
                        }
                        Ok(Poll::Ready(Ok(FunctionOutput::Done(output)))) => self.end(Ok(Ok(output))),
                        Ok(Poll::Ready(Err(halt))) => self.end(Ok(Err(halt))),
                        Ok(Poll::Pending) => match self.call.end_halted() {
                            Some(halt) => self.end(Ok(Err(halt))),
                            None => ready!(self.poll_timeout(cx)),
                        },
                        Err(panicked) => self.end(Err(panicked)),
                    }
                }
                RunStage::Steps => match self.call.end_halted() {
                    Some(halt) => self.end(Ok(Err(halt))),
                    None => ready!(self.poll_timeout(cx)),
                },
                RunStage::Asking(asking) => match ready!(asking.as_mut().poll(cx)) {
                    Ok(responses) => {
                        self.call.begin_round(responses);
                        if let Err(refusal) = self.run() {
                            self.leave(RunStage::Ended(RunningEnd::Refused(refusal)), CallEnd::Failed);
                        }
                    }
                    Err(error) => self.leave(RunStage::failed(error), CallEnd::Failed),
                },
                RunStage::Detaching(detaching) => {
                    let born = ready!(detaching.as_mut().poll(cx));
                    let caller = self.call.request().principal.as_ref();
                    let shown = match (born, self.engine()) {
                        // The round may have been sent again: then the task has gone on.
                        (Ok(task), Some(engine)) => engine.opened(task),
                        (Err(error), Some(engine)) => Err(engine.not_born(error, caller)),
                        (_, None) => Err(Refusal::Stopping),
                    };
                    self.stage = RunStage::Ended(match shown {
                        Ok(task) => RunningEnd::Detached(Box::new(task)),
                        Err(refusal) => RunningEnd::Refused(refusal),
                    });
                }
                RunStage::Ended(_) | RunStage::Reported | RunStage::Over => return Poll::Ready(()),
            }
        }
    }

    /// Ends the round when its time is up.
    fn poll_timeout(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(clock) = &mut self.clock else { return Poll::Pending };
        let limit = ready!(clock.poll_expired(self.call.is_asking(), cx));
        if let (RunStage::Spending(_), Some(source)) = (&self.stage, &self.source) {
            source.log_hanging_store();
        }
        self.end(Ok(Err(Halt::TimedOut(limit))));
        Poll::Ready(())
    }

    /// The function has returned with a question open: the round ends when no step is being taken.
    fn wait_for_steps(&mut self) {
        self.call.note_halt(Halt::Pending);
        self.stage = RunStage::Steps;
    }

    /// Ends the round with what its function returned.
    fn end(&mut self, ended: Result<Result<Output, Halt>, Panicked>) {
        // A mistake of the author ends the call even if the function handled the error.
        let ended = match self.call.mistake() {
            Some(mistake) => Panicked::catch(|| drop(ended)).map(|()| Err(mistake)),
            None => ended,
        };
        let (stage, end) = match ended {
            Ok(Ok(output)) => {
                self.call.report_unreached();
                let end = if output.is_error() { CallEnd::Failed } else { CallEnd::Succeeded };
                (RunStage::Ended(RunningEnd::Done(Ok(output))), end)
            }
            Ok(Err(Halt::TimedOut(limit))) => (RunStage::failed(CallError::timed_out(limit)), CallEnd::TimedOut),
            Ok(Err(Halt::BadArguments(bad))) => match self.subject().kind {
                Some(kind) => {
                    (RunStage::Ended(RunningEnd::Refused(Refusal::BadArguments { kind, bad })), CallEnd::Failed)
                }
                None => (RunStage::failed(CallError::new(bad.to_string())), CallEnd::Failed),
            },
            Ok(Err(halt)) => match halt.into_error() {
                Some(error) => match error.into_text() {
                    Ok(error) => (RunStage::failed(error), CallEnd::Failed),
                    Err(Panicked) => (RunStage::panicked(), CallEnd::Panicked),
                },
                None => self.next_round(),
            },
            Err(Panicked) => (RunStage::panicked(), CallEnd::Panicked),
        };
        self.leave(stage, end);
    }

    /// Leaves the stage in which the round ran, and starts teardown. Every round ends here.
    fn leave(&mut self, stage: RunStage, end: CallEnd) {
        // What the function holds is dropped before teardown.
        let end = match self.replace(stage) {
            Ok(()) => end,
            Err(Panicked) => {
                self.stage = RunStage::panicked();
                CallEnd::Panicked
            }
        };
        if matches!(end, CallEnd::Pending | CallEnd::PendingAfterSteps) {
            self.call.drop_background();
        }
        self.teardown = self.begin_teardown(end);
    }

    fn begin_teardown(&self, end: CallEnd) -> Option<RunningTeardown> {
        self.call.teardown(end, || {
            let grace = self.engine().map(|engine| engine.settings.options.grace);
            (grace, self.subject().item.to_owned())
        })
    }

    /// Sends what the round asks: with the reply, sealed before teardown, or over the session.
    fn next_round(&self) -> (RunStage, CallEnd) {
        let stage = match self.call.park() {
            Ok(Parked::Waiting(answers)) => RunStage::Asking(answers),
            Ok(Parked::InputRequired { questions, state }) => {
                RunStage::Ended(RunningEnd::InputRequired { questions, state })
            }
            Ok(Parked::Detached(birth)) => RunStage::Detaching(birth),
            Ok(Parked::Task(parking)) => RunStage::Ended(RunningEnd::Parked(parking)),
            Err(error) => return (RunStage::failed(error), CallEnd::Failed),
        };
        let has_advanced = self.call.record().has_advanced();
        (stage, if has_advanced { CallEnd::PendingAfterSteps } else { CallEnd::Pending })
    }

    /// Replaces the stage. The old one holds values of the author, whose `Drop` may panic.
    fn replace(&mut self, stage: RunStage) -> Result<(), Panicked> {
        let before = std::mem::replace(&mut self.stage, stage);
        let dropped = Panicked::catch(|| drop(before));
        dropped.and(Panicked::catch(|| self.call.forget_shared()))
    }

    fn engine(&self) -> Option<Arc<Engine>> {
        self.call.dependency::<ServerHandle>().and_then(|server| server.engine())
    }

    /// Ends the call where it is. Deferred functions get `end`, unless the round has ended already, and run even if nothing
    /// waits for them.
    pub(crate) fn end_with(&mut self, end: CallEnd) {
        // The panic's own message is in the log.
        let _ = self.replace(RunStage::Over);
        if end == CallEnd::Pending {
            // The function runs again, and adds them again.
            self.call.drop_background();
        }
        let teardown = self.teardown.take().or_else(|| self.begin_teardown(end));
        self.call.end();
        // A call that is cancelled has no reply that its background tasks could wait for.
        let Some(teardown) = teardown else { return drop(self.after_reply()) };
        let Ok(runtime) = Handle::try_current() else {
            tracing::error!("deferred functions cannot run: the call was dropped outside a tokio runtime");
            return drop(self.after_reply());
        };
        // A server that stops waits for it.
        let left = self.call.request().left.as_ref();
        let counted = (self.engine().map(|engine| engine.activity.teardown.token()), left.map(TaskTracker::token));
        let (call, target) = (self.call.clone(), self.subject().item.to_owned());
        runtime.spawn(async move {
            // There is no reply to change, and the log has the error.
            let _ = teardown.await;
            drop(counted);
            drop(call.after_reply(&target));
        });
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        match self.stage {
            // The end of a run is not kept if nobody has taken its reply: another run adds them again.
            RunStage::Reported if self.call.run_of_task().is_some() => AfterReply::cancel(self.after_reply()),
            RunStage::Reported => drop(self.after_reply()),
            _ => self.end_with(self.call.run_of_task().map_or(CallEnd::Cancelled, RunOfTask::end_if_dropped)),
        }
    }
}

/// What a reply is about.
#[derive(Clone, Copy)]
pub(crate) struct ReplySubject<'a> {
    /// What kind of item was called; `None` if it is not a call.
    pub(crate) kind: Option<TargetKind>,
    /// The name of the tool or prompt, or the URI of the resource; otherwise the method.
    pub(crate) name: &'a str,
    /// The name of the item for the log; of a resource its URI template, because a URI may contain secrets.
    pub(crate) item: &'a str,
    /// What the reply says about the contents of a resource.
    pub(crate) contents: Option<&'a Contents>,
}

#[cfg(test)]
mod tests {
    use std::{
        future::{pending, poll_fn},
        sync::Mutex,
    };

    use serde_json::value::RawValue;

    use super::*;
    use crate::{
        call::{CallRecord, Carrier, Deferred, RecordRules},
        server::engine::tracker,
    };

    /// A carrier of calls whose function runs elsewhere.
    struct Elsewhere;

    impl Carrier for Elsewhere {
        fn ends_before_function(&self) -> bool {
            true
        }

        fn ask<'a>(&'a self, _: &'a str, _: &'a Question) -> Option<BoxFuture<'a, Result<Box<RawValue>, CallError>>> {
            None
        }

        fn park(&self, questions: Vec<(Arc<str>, Question)>, _: &mut CallRecord) -> Result<Parked, CallError> {
            Ok(Parked::InputRequired { questions, state: "elsewhere".to_owned() })
        }
    }

    #[tokio::test]
    async fn a_round_may_end_before_its_function_runs() {
        let call = Call::detached();
        let rules = RecordRules { bytes: 1000, limit: "`limit`", answer_bytes: 1000, rounds: 64, version: "1".into() };
        call.carry(Box::new(Elsewhere), Arc::new(rules), None);
        let mut running = Running::new(call.clone(), (tracker().token(), Held::default()));
        running.run_future(
            Box::pin(async move {
                call.enter()?;
                unreachable!("the round has ended")
            }),
            None,
        );
        let RunningEnd::InputRequired { questions, state } = poll_fn(|cx| running.poll_end(cx)).await else {
            panic!("the round is not over");
        };
        assert_eq!((questions.len(), &*state), (0, "elsewhere"));
    }

    #[tokio::test]
    async fn what_is_deferred_hears_the_end_that_the_call_was_given() {
        for end in [CallEnd::Pending, CallEnd::Cancelled, CallEnd::Failed] {
            let (call, calls, ends) = (Call::detached(), tracker(), Arc::new(Mutex::new(Vec::new())));
            let log = Arc::clone(&ends);
            let run = Box::new(move |end| -> BoxFuture<'static, Result<(), CallError>> {
                log.lock().expect("no panic").push(end);
                Box::pin(std::future::ready(Ok(())))
            });
            call.defer(Deferred { run, can_fail: true });
            let mut running = Running::new(call.clone(), (calls.token(), Held::default()));
            running.run_future(Box::pin(pending()), None);
            assert!(futures_util::poll!(poll_fn(|cx| running.poll_end(cx))).is_pending());
            running.end_with(end);
            assert!(call.is_over());
            drop(running);
            tokio::task::yield_now().await;
            assert_eq!(*ends.lock().expect("no panic"), [end], "once, and not as `Cancelled` when it is dropped");
        }
    }
}
