//! Rounds of a task: the round that makes it, and the runs of its function.
//!
//! The resolvers of a tool ask in ordinary rounds. When they have their values, the round ends, and its record goes to the
//! keeper of tasks as a [birth](BirthCarrier). A [run](TaskCarrier) begins with that record, or with that of the run that parked
//! last, and with the steps since then.

use std::{
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use serde_json::value::RawValue;

use super::{
    StatelessCarrier,
    seal::{KeptAt, Seal},
};
use crate::{
    ask::{Question, QuestionDigest},
    call::{CallEnd, CallRecord, Carrier, InputResponses, Parked, RunOfTask, StepRecord},
    error::{CallError, lock},
    model::error_code::INTERNAL_ERROR,
    tasks::{AskedQuestion, BirthError, NewQuestion, Parking, RunStop, TaskId, TaskJournal, TaskRun, TaskSnapshot},
};

/// The most bytes of the record of a task.
pub(crate) const RECORD_BYTES: usize = 16 * 1024 * 1024;

/// The most bytes of one step of a task.
const STEP_BYTES: usize = 1024 * 1024;

/// The most bytes of what a run says.
const MESSAGE_BYTES: usize = 1024;

/// Makes a task with the record of its call.
pub(crate) type Birth =
    Box<dyn Fn(TaskId, Bytes) -> BoxFuture<'static, Result<TaskSnapshot, BirthError>> + Send + Sync>;

/// The carrier of a call that becomes a task. Until its resolvers have their values, it asks as every stateless call.
pub(crate) struct BirthCarrier {
    rounds: StatelessCarrier,
    seal: Arc<Seal>,
    birth: Birth,
    /// Whether the function was about to run.
    is_due: AtomicBool,
}

impl BirthCarrier {
    pub(crate) fn new(rounds: StatelessCarrier, seal: Arc<Seal>, birth: Birth) -> Self {
        Self { rounds, seal, birth, is_due: AtomicBool::new(false) }
    }
}

impl Carrier for BirthCarrier {
    fn ask<'a>(&'a self, _: &'a str, _: &'a Question) -> Option<BoxFuture<'a, Result<Box<RawValue>, CallError>>> {
        None
    }

    fn ends_before_function(&self) -> bool {
        self.is_due.store(true, Ordering::Relaxed);
        true
    }

    fn park(&self, questions: Vec<(Arc<str>, Question)>, record: &mut CallRecord) -> Result<Parked, CallError> {
        if !self.is_due.load(Ordering::Relaxed) {
            return self.rounds.park(questions, record);
        }
        let id = TaskId::new();
        let record = self.seal.seal_at_rest(KeptAt(id, column::RECORD, ""), &record.write(RECORD_BYTES));
        Ok(Parked::Detached((self.birth)(id, record)))
    }
}

/// The columns of a task that are sealed.
pub(crate) mod column {
    pub(crate) const CALL: &str = "call";
    pub(crate) const RECORD: &str = "record";
    pub(crate) const STEP: &str = "step";
    pub(crate) const REQUEST: &str = "request";
    pub(crate) const ANSWER: &str = "answer";
    pub(crate) const MESSAGE: &str = "message";
    pub(crate) const OUTCOME: &str = "outcome";
}

/// The carrier of a run.
pub(crate) struct TaskCarrier {
    seal: Arc<Seal>,
    id: TaskId,
    journal: Arc<dyn TaskJournal>,
    /// The questions of earlier runs. Those that are open have the digest of what the function asked.
    asked: Vec<(AskedQuestion, Option<QuestionDigest>)>,
    /// The times that the run waits for.
    wakes: Mutex<Vec<SystemTime>>,
    /// Why the run was stopped, if it was.
    stopped: Arc<Mutex<Option<RunStop>>>,
}

/// Tells a run that is about to be dropped why.
#[derive(Clone)]
pub(crate) struct StopRun(Arc<Mutex<Option<RunStop>>>);

impl StopRun {
    pub(crate) fn stop(&self, why: RunStop) {
        *lock(&self.0) = Some(why);
    }
}

impl TaskCarrier {
    /// The carrier of a run, and the record that it begins with; `None` if this build cannot read what was kept of the task.
    pub(crate) fn begin(
        seal: Arc<Seal>,
        run: TaskRun,
        journal: Arc<dyn TaskJournal>,
    ) -> Option<(Self, CallRecord, StopRun)> {
        let id = run.id;
        let mut record = CallRecord::read(&seal.open_at_rest(KeptAt(id, column::RECORD, ""), &run.record)?)?;
        for (key, step) in &run.steps {
            let step = seal.open_at_rest(KeptAt(id, column::STEP, key), step)?;
            record.restore(key, &serde_json::from_slice::<StepRecord>(&step).ok()?);
        }
        let mut answers = InputResponses::new();
        let mut asked = Vec::with_capacity(run.questions.len());
        for question in run.questions {
            let digest = if question.is_closed { None } else { record.open_question(&question.name) };
            if let Some(answer) = question.answer.as_ref().filter(|_| !question.is_closed) {
                let answer = seal.open_at_rest(KeptAt(id, column::ANSWER, &question.key), answer)?;
                answers.insert(Arc::clone(&question.name), serde_json::from_slice(&answer).ok()?);
            }
            asked.push((question, digest));
        }
        record.begin_round(answers);
        let stopped = Arc::default();
        let stop = StopRun(Arc::clone(&stopped));
        Some((Self { seal, id, journal, asked, wakes: Mutex::default(), stopped }, record, stop))
    }

    /// Which of the questions that the round asks are new, and which earlier ones are over. A question that is asked again has
    /// another key than before, because the client may have answered the earlier one already. One that is still open stays as the
    /// client sees it, also if that says what was wrong with an earlier answer.
    fn parking(&self, questions: &[(Arc<str>, Question)], record: &CallRecord) -> (Vec<NewQuestion>, Vec<Arc<str>>) {
        let (mut new, mut open): (Vec<NewQuestion>, Vec<&Arc<str>>) = (Vec::new(), Vec::new());
        for (name, question) in questions {
            let now = record.open_question(name);
            let before = self.asked.iter().find(|(before, digest)| {
                before.name == *name && before.answer.is_none() && digest.is_some() && *digest == now
            });
            if let Some((before, _)) = before {
                open.push(&before.key);
                continue;
            }
            let is_taken = |key: &str| {
                self.asked.iter().any(|(before, _)| *before.key == *key) || new.iter().any(|new| *new.key == *key)
            };
            let mut numbered = (2..).map(|number| Arc::from(format!("{name}~{number}")));
            let key = if is_taken(name) { numbered.find(|key| !is_taken(key)) } else { None };
            let key = key.unwrap_or_else(|| Arc::clone(name));
            let request = serde_json::to_vec(question).expect("a question is JSON");
            let request = self.seal.seal_at_rest(KeptAt(self.id, column::REQUEST, &key), &request);
            new.push(NewQuestion { key, name: Arc::clone(name), request });
        }
        let closed = self.asked.iter().filter(|(before, _)| !before.is_closed && !open.contains(&&before.key));
        let closed = closed.map(|(before, _)| Arc::clone(&before.key)).collect();
        (new, closed)
    }
}

fn too_large(what: fmt::Arguments<'_>, bytes: usize, most: usize) -> CallError {
    CallError::protocol(
        INTERNAL_ERROR,
        format!(
            "{what} takes {bytes} bytes, and the limit is {most}: store large values elsewhere and keep a reference"
        ),
        None,
    )
}

impl Carrier for TaskCarrier {
    fn ask<'a>(&'a self, _: &'a str, _: &'a Question) -> Option<BoxFuture<'a, Result<Box<RawValue>, CallError>>> {
        None
    }

    fn run(&self) -> Option<&dyn RunOfTask> {
        Some(self)
    }

    fn record<'a>(&'a self, step: &'a str, record: StepRecord) -> BoxFuture<'a, Result<(), CallError>> {
        Box::pin(async move {
            let record = serde_json::to_vec(&record).expect("a step is JSON");
            if record.len() > STEP_BYTES {
                return Err(too_large(format_args!("the result of step `{step}`"), record.len(), STEP_BYTES));
            }
            self.journal.record(step, self.seal.seal_at_rest(KeptAt(self.id, column::STEP, step), &record)).await;
            Ok(())
        })
    }

    fn park(&self, questions: Vec<(Arc<str>, Question)>, record: &mut CallRecord) -> Result<Parked, CallError> {
        let (asked, closed) = self.parking(&questions, record);
        let written = record.write(RECORD_BYTES);
        if written.len() > RECORD_BYTES {
            return Err(too_large(format_args!("the record of this task"), written.len(), RECORD_BYTES));
        }
        let record = self.seal.seal_at_rest(KeptAt(self.id, column::RECORD, ""), &written);
        let wakes = lock(&self.wakes).iter().min().copied();
        Ok(Parked::Task(Box::new(Parking { record, asked, closed, wakes })))
    }
}

impl RunOfTask for TaskCarrier {
    fn say(&self, message: &str) {
        let message = &message[..message.floor_char_boundary(MESSAGE_BYTES)];
        self.journal.say(self.seal.seal_at_rest(KeptAt(self.id, column::MESSAGE, ""), message.as_bytes()));
    }

    fn now(&self) -> SystemTime {
        self.journal.now()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'_, ()> {
        self.journal.sleep(duration)
    }

    fn holds(&self) -> bool {
        self.journal.holds()
    }

    fn wait_for(&self, time: SystemTime) {
        lock(&self.wakes).push(time);
    }

    fn waited(&self, time: SystemTime) {
        let mut wakes = lock(&self.wakes);
        if let Some(at) = wakes.iter().position(|wakes| *wakes == time) {
            wakes.swap_remove(at);
        }
    }

    fn seed(&self) -> [u8; 16] {
        *self.id.as_bytes()
    }

    fn end_if_dropped(&self) -> CallEnd {
        match *lock(&self.stopped) {
            Some(RunStop::Ended) => CallEnd::Cancelled,
            _ => CallEnd::Pending,
        }
    }
}

impl fmt::Debug for TaskCarrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskCarrier").field("id", &self.id).finish_non_exhaustive()
    }
}
