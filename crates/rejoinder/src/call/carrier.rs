//! How a call asks: its record knows what was answered, its carrier brings the rest.

use std::{
    sync::{Arc, Mutex, MutexGuard, atomic::Ordering},
    time::{Duration, SystemTime},
};

use futures_util::future::BoxFuture;
use serde::de::DeserializeOwned;
use serde_json::{Value, json, value::RawValue};

use super::{
    Call, CallEnd, Emitted, Halt,
    parking::RoundEnd,
    record::{AnswerStatus, CallRecord, InputResponses, RecordRules, StepRecord},
};
use crate::{
    ask::{
        AcceptAnswer, AnswerError, Ask, AskByHand, AskKind, NextRound, Outcome, Question, QuestionDigest, Unanswered,
    },
    error::{CallError, CallErrorKind, lock},
    request::Era,
    tasks::{BirthError, Parking, TaskSnapshot},
};

/// How the questions of a call travel, and where its record is kept between rounds.
pub(crate) trait Carrier: Send + Sync {
    /// Sends a question and waits for its answer; `None` if the answer comes with another round.
    fn ask<'a>(
        &'a self,
        key: &'a str,
        question: &'a Question,
    ) -> Option<BoxFuture<'a, Result<Box<RawValue>, CallError>>>;

    /// Whether the round ends when its resolvers have their values: the function runs elsewhere, with the record of the round.
    /// It is asked when the function is about to run.
    fn ends_before_function(&self) -> bool {
        false
    }

    /// The run of a task that this round is, if it is one.
    fn run(&self) -> Option<&dyn RunOfTask> {
        None
    }

    /// Makes a step durable. [`Context::once`](crate::Context::once) returns after that.
    fn record<'a>(&'a self, _step: &'a str, _record: StepRecord) -> BoxFuture<'a, Result<(), CallError>> {
        // What travels with the call is durable when its round ends.
        Box::pin(std::future::ready(Ok(())))
    }

    /// Ends a round that waits for answers.
    fn park(&self, questions: Vec<(Arc<str>, Question)>, record: &mut CallRecord) -> Result<Parked, CallError>;
}

/// What a round may do because it is a run of a task.
pub(crate) trait RunOfTask: Send + Sync {
    /// Says what the run does.
    fn say(&self, message: &str);

    /// The time, as other runs of the task see it.
    fn now(&self) -> SystemTime;

    /// Waits that long, as other runs of the task measure it.
    fn sleep(&self, duration: Duration) -> BoxFuture<'_, ()>;

    /// Whether it may begin a step.
    fn holds(&self) -> bool;

    /// The run waits for this time: if it parks meanwhile, the next one begins then at the latest.
    fn wait_for(&self, time: SystemTime);

    /// The run does not wait for this time any more.
    fn waited(&self, time: SystemTime);

    /// What no other task has, and every run of this one.
    fn seed(&self) -> [u8; 16];

    /// How the round ends if it is dropped.
    fn end_if_dropped(&self) -> CallEnd;
}

/// Where a round goes on that has ended without a result.
pub(crate) enum Parked {
    /// The answers come with another request.
    InputRequired {
        /// What is asked, by key, in the order in which it was.
        questions: Vec<(Arc<str>, Question)>,
        /// The `requestState` that the request brings back.
        state: String,
    },
    /// The answers come here; then the function runs again in the same call.
    Waiting(BoxFuture<'static, Result<InputResponses, CallError>>),
    /// The function runs in a task, which is made when the round is torn down.
    Detached(BoxFuture<'static, Result<TaskSnapshot, BirthError>>),
    /// The function runs again in the same task.
    Task(Box<Parking>),
}

/// Which answers to a question can be used.
#[derive(Clone, Copy)]
pub(crate) struct AnswerCheck<'a> {
    /// Whether an answer may come before its question was asked.
    pub(crate) allow_unsolicited: bool,
    /// The text that an answer counts for, in place of the message.
    pub(crate) pinned_to: Option<&'a str>,
    /// Whether an answer can be read. It may run in every round.
    pub(crate) read: &'a (dyn Fn(&Value) -> Result<(), AnswerError> + Sync),
    /// Whether an answer is accepted. It runs once, when the answer is first used.
    pub(crate) accept: Option<&'a AcceptAnswer>,
}

/// Reads an answer. What cannot be read does not fit any question.
fn read_answer(json: &RawValue) -> Value {
    serde_json::from_str(json.get()).unwrap_or_default()
}

/// Reads an answer that the client sent, and says whether it can be used. One that is too long is not read: what stands for it
/// is an answer that a user may correct.
fn check_answer(
    json: &RawValue,
    rules: &RecordRules,
    check: impl Fn(&Value) -> Result<(), AnswerError>,
) -> (Value, Result<(), AnswerError>) {
    let (length, most) = (json.get().len(), rules.answer_bytes);
    if length > most {
        return (json!({ "action": "accept" }), Err(AnswerError::too_long(length, most)));
    }
    let answer = read_answer(json);
    let fits = check(&answer);
    (answer, fits)
}

impl Call {
    /// The record. It is made when it is first needed.
    pub(crate) fn record(&self) -> MutexGuard<'_, CallRecord> {
        let record = self.0.record.get_or_init(Box::<Mutex<CallRecord>>::default);
        lock(record)
    }

    /// How the call's questions travel, if there is a client to ask.
    pub(super) fn carrier(&self) -> Result<(&dyn Carrier, &RecordRules), CallError> {
        let carrier = self.0.carrier.get().map(|(carrier, rules)| (&**carrier, &**rules));
        carrier.ok_or_else(CallError::nobody_to_ask)
    }

    /// The answer to a question: a recorded one, one that came with this round, or the one that the client gives now. Without
    /// one, the inner error says why the question is not asked: `refused` is the reason if the client cannot be asked. Then the
    /// fallback counts.
    pub(crate) async fn ask(
        &self,
        key: &str,
        question: Question,
        check: AnswerCheck<'_>,
        refused: Option<CallError>,
    ) -> Result<Result<Value, CallError>, Halt> {
        let (carrier, rules) = match self.carrier() {
            Ok(carrier) => carrier,
            Err(nobody) => return Ok(Err(refused.unwrap_or(nobody))),
        };
        let (key, digest) = (Arc::from(key), question.digest(check.pinned_to));
        let Some(turn) = self.record().note_question(&key, digest).map_err(Halt::Mistake)? else {
            return Ok(Err(CallError::new(format!(
                "`{key}` is not asked any more: a step was taken when the client could not be asked"
            ))));
        };
        if let Some(step) = self.step_around(|step| step.is_shared).filter(|_| refused.is_none()) {
            // Another step may wait for this one, and would keep the round from ending. So this does not halt the round.
            return Err(Halt::Failed(CallError::mistake(format!(
                "the shared step `{step}` asks `{key}`: ask before the step, or use `ctx.once`"
            ))));
        }
        // Several futures may ask the same question at once: the others wait for the first one's answer.
        let _turn = turn.lock().await;
        loop {
            let bad = match self.find_answer(&key, digest, check, rules).await {
                Ok(answer) => return Ok(Ok(answer)),
                Err(bad) => bad,
            };
            if let Some(refused) = refused {
                self.record().leave_unasked(&key);
                // An answer that cannot be used must be asked for again, so the fallback does not count.
                return if bad.is_some() { Err(Halt::Failed(refused)) } else { Ok(Err(refused)) };
            }
            let (open, again) = self.record().next_question(&key, &question, digest, bad)?;
            let Some(answer) = carrier.ask(&key, again.as_ref().unwrap_or(&question)) else {
                self.record().leave_open(&key, open, again.unwrap_or(question));
                return Err(Halt::Pending);
            };
            let awaited = AwaitedAnswer::of(self);
            // In a box, because most answers are not waited for.
            let answer = Box::pin(self.while_round_lasts(answer)).await;
            drop(awaited);
            match answer {
                Ok(answer) => self.record().respond(&key, open, answer),
                Err(error) if matches!(error.kind(), CallErrorKind::Unanswered(_)) => {
                    self.record().leave_unasked(&key);
                    return Ok(Err(error));
                }
                Err(_) if self.record().lacks_capabilities() => return Err(Halt::Pending),
                Err(error) => return Err(Halt::Failed(error)),
            }
        }
    }

    /// Finds the value: it is known, was answered, or is asked for.
    pub(crate) async fn settle<T>(&self, ask: Ask<T>, key: &str) -> Result<Outcome<T>, Halt> {
        let Unanswered { question, read, fallback, allow_unsolicited, pinned_to, accept, is_typed } = match ask.0 {
            AskKind::Known(value) => return Ok(Outcome::Accepted(value)),
            AskKind::Mistaken(mistake) => return Err(Halt::Failed(CallError::mistake(mistake))),
            AskKind::Question(asked) => *asked,
        };
        let can_read = |answer: &Value| read(answer).map(|_| ());
        let (pinned_to, accept) = (pinned_to.as_deref(), accept.as_deref());
        let check = AnswerCheck { allow_unsolicited, pinned_to, read: &can_read, accept };
        let read = |answer: &Value| read(answer).map_err(|AnswerError(reason)| Halt::Failed(CallError::new(reason)));
        if self.ending().is_some() {
            return Err(Halt::Failed(CallError::round_is_over()));
        }
        let refused = question.out_of_reach(self.request()).map(|refused| match fallback {
            Some(_) => refused,
            None => self.cannot_ask(key, &question, is_typed, refused),
        });
        match self.ask(key, question, check, refused).await? {
            Ok(answer) => read(&answer),
            Err(unasked) => fallback.map(Outcome::Accepted).ok_or(Halt::Failed(unasked)),
        }
    }

    /// The run of a task that this call is, if it is one.
    pub(crate) fn run_of_task(&self) -> Option<&dyn RunOfTask> {
        self.0.carrier.get().and_then(|(carrier, _)| carrier.run())
    }

    /// Whether somebody hears how far the call has got.
    pub(crate) fn reports_progress(&self) -> bool {
        self.request().progress_token.is_some() || self.run_of_task().is_some()
    }

    /// Says how far the call has got: to the client that waits for it, or to whoever looks at its task.
    pub(crate) async fn report(&self, progress: f64, total: Option<f64>, message: Option<String>) {
        match (self.run_of_task(), message) {
            (Some(run), Some(message)) => run.say(&message),
            (Some(run), None) => run.say(&match total {
                Some(total) => format!("{progress} of {total}"),
                None => progress.to_string(),
            }),
            (None, message) => self.emit(Emitted::Progress { progress, total, message }).await,
        }
    }

    /// Whether the client of a session has a question to answer.
    pub(crate) fn is_asking(&self) -> bool {
        self.0.open_questions.load(Ordering::Relaxed) > 0
    }

    /// Waits for an answer until the round ends: a spawned future may ask, and it outlives the round.
    pub(super) async fn while_round_lasts<T>(
        &self,
        answer: impl Future<Output = Result<T, CallError>>,
    ) -> Result<T, CallError> {
        let over = self.record().over();
        if self.is_over() {
            over.cancel();
        }
        tokio::select! {
            // An answer that comes after the end of the round does not count.
            biased;
            () = over.cancelled() => Err(CallError::round_is_over()),
            answer = answer => answer,
        }
    }

    /// A usable answer; otherwise one that cannot be used, and what is wrong with it, if there is one.
    async fn find_answer(
        &self,
        key: &Arc<str>,
        digest: QuestionDigest,
        AnswerCheck { allow_unsolicited, read, accept, .. }: AnswerCheck<'_>,
        rules: &RecordRules,
    ) -> Result<Value, Option<(Value, AnswerError)>> {
        let (recorded, response) = {
            let record = self.record();
            (record.recorded_answer(key, digest), record.response(key, digest, allow_unsolicited))
        };
        // The checks are code of the author, which may use the call: nothing is locked while they run.
        let recorded = recorded.map(|(json, status)| (read_answer(&json), json, status));
        let recorded = recorded.filter(|(answer, _, status)| *status == AnswerStatus::Final || read(answer).is_ok());
        let (answer, json, is_unchecked, mut fits) = match (recorded, response) {
            (Some((answer, json, status)), _) => (answer, json, status.is_unchecked(), Ok(())),
            (None, Some(json)) => {
                let (answer, fits) = check_answer(&json, rules, read);
                (answer, json, true, fits)
            }
            (None, None) => return Err(None),
        };
        if let (Ok(()), Some(accept)) = (&fits, accept.filter(|_| is_unchecked)) {
            fits = accept(&answer).await;
        }
        let used = fits.and_then(|()| self.record().use_answer(key, digest, json, is_unchecked, rules));
        if let Err(bad) = used {
            return Err(Some((answer, bad)));
        }
        if let Some(outer) = self.step_around(|_| true) {
            self.record().note_question_inside(&outer, key);
        }
        Ok(answer)
    }

    /// Notes that a resolver knows its value without asking.
    pub(crate) fn note_known(&self, key: &str) {
        if self.0.record.get().is_some() {
            self.record().note_known(key);
        }
    }

    /// Reports what earlier runs of the function recorded and this one, which has ended, did not reach.
    pub(crate) fn report_unreached(&self) {
        if self.0.record.get().is_none() {
            return;
        }
        let Ok((_, rules)) = self.carrier() else { return };
        let unreached = self.record().unreached(&rules.version);
        for what in &unreached {
            tracing::warn!(
                "{what} is recorded, but the last run of the function did not reach it: the function took another path \
                 than before; read what decides its path, such as what it loops over, in `ctx.once`"
            );
        }
        if let Some(trace) = self.trace() {
            trace.lock().unreached.extend(unreached);
        }
    }

    /// The latest answer to what was asked by hand under a key, if it can be used.
    pub(crate) fn answer_by_hand(&self, key: &str, check: impl Fn(&Value) -> Result<(), AnswerError>) -> Option<Value> {
        let (_, rules) = self.carrier().ok()?;
        let (digest, json, is_new) = self.record().latest_answer(key)?;
        let (answer, fits) = check_answer(&json, rules, check);
        let used = fits.and_then(|()| self.record().use_answer(&key.into(), digest, json, is_new, rules));
        match used {
            Ok(()) => Some(answer),
            Err(AnswerError(reason)) => {
                self.record().reject_answer(&key.into(), answer, reason);
                None
            }
        }
    }

    /// What the last round kept by hand.
    pub(crate) fn kept<T: DeserializeOwned>(&self) -> Option<T> {
        let kept = self.record().kept.clone()?;
        // The type is the author's, so nothing is locked while it is read.
        let read = serde_json::from_str(kept.get()).ok();
        if read.is_none() {
            self.record().note_unread_state();
        }
        read
    }

    /// Notes what a function that makes its rounds by hand leaves to the next round.
    pub(crate) fn hand_on(&self, next: NextRound) -> Result<(), CallError> {
        for AskByHand { key, question } in &next.questions {
            if let Some(refused) = question.out_of_reach(self.request()) {
                return Err(self.cannot_ask(key, question, true, refused));
            }
        }
        self.carrier()?;
        self.record().hand_on(next)
    }

    /// Notes that the client lacks capabilities, if that is the error, until the round ends. On a session nothing more is asked
    /// in the round, because its questions would reach the user.
    pub(crate) fn note_missing(&self, error: &CallError) -> bool {
        let Some(required) = error.required_capabilities() else { return false };
        let mut record = self.record();
        record.note_missing(required);
        if self.request().era == Era::Session {
            record.over().cancel();
        }
        true
    }

    /// Ends a round that waits for answers.
    pub(crate) fn park(&self) -> Result<Parked, CallError> {
        let (carrier, rules) = self.carrier()?;
        let mut record = self.record();
        if let Some(missing) = record.missing() {
            return Err(CallError::missing_capability(missing));
        }
        let questions = record.end_round(self.request().era == Era::Stateless, rules)?;
        carrier.park(questions, &mut record)
    }

    /// Begins another round in the same call, with the answers that the last one waited for.
    pub(crate) fn begin_round(&self, responses: InputResponses) {
        self.record().begin_round(responses);
        *lock(&self.0.parking) = RoundEnd::default();
        let mut teardown = lock(&self.0.teardown);
        (teardown.end, teardown.is_over) = (None, false);
        drop(teardown);
        self.reopen_background();
    }
}

/// An answer that the client of a session has not sent yet.
struct AwaitedAnswer<'a>(&'a Call);

impl<'a> AwaitedAnswer<'a> {
    fn of(call: &'a Call) -> Self {
        call.0.open_questions.fetch_add(1, Ordering::Relaxed);
        // The clock of the round stops; the future that asks may not be the one that polls the call.
        call.outbox().wake();
        Self(call)
    }
}

impl Drop for AwaitedAnswer<'_> {
    fn drop(&mut self) {
        self.0.0.open_questions.fetch_sub(1, Ordering::Relaxed);
        self.0.outbox().wake();
    }
}
