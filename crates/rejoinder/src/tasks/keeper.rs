//! Who keeps tasks and has them run, and what runs them.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::{AskedQuestion, NewQuestion, NewTask, TaskId, TaskOwner, TaskSnapshot};

/// What the methods of a keeper return.
pub type KeeperFuture<'a, T, E = KeeperError> = BoxFuture<'a, Result<T, E>>;

/// Keeps tasks and has them run: what a server calls.
///
/// Most people who bring a database implement a store instead, and let the lease keeper do the rest. A service that runs
/// functions itself is a keeper.
pub trait TaskKeeper: Send + Sync {
    /// Whether tasks outlive the process. Then they hold nothing that must not be written down.
    fn outlives_process(&self) -> bool;

    /// Its clock.
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    /// Connects to what keeps the tasks. A server calls it once, when it starts.
    fn open(&self) -> KeeperFuture<'_, ()>;

    /// Makes a task. It is durable, and [`get`](Self::get) finds it, before this returns. If there is a task of the same owner
    /// and origin, it is returned instead.
    fn create(&self, task: NewTask) -> KeeperFuture<'_, TaskSnapshot, BirthError>;

    /// The task as it is now; `None` if there is none of that owner. It changes nothing, and shows everything that was
    /// acknowledged.
    fn get<'a>(&'a self, owner: &'a TaskOwner, id: &'a TaskId) -> KeeperFuture<'a, Option<TaskSnapshot>>;

    /// Takes answers by key; `None` if there is no task of that owner. The first answer of an open question counts, anything
    /// else is ignored. What it takes is durable before it returns.
    fn answer<'a>(
        &'a self,
        owner: &'a TaskOwner,
        id: &'a TaskId,
        answers: Vec<(Arc<str>, Bytes)>,
    ) -> KeeperFuture<'a, Option<()>>;

    /// Cancels the task, unless it has ended; `None` if there is none of that owner.
    fn cancel<'a>(&'a self, owner: &'a TaskOwner, id: &'a TaskId) -> KeeperFuture<'a, Option<()>>;

    /// Has tasks run, at most `at_once` at the same time, until `stop` is cancelled. Then it takes no more, waits for those
    /// that run for at most `grace`, and hands over the others: they go on elsewhere, or after the next start.
    fn work(
        self: Arc<Self>,
        runner: Arc<dyn TaskRunner>,
        at_once: usize,
        stop: CancellationToken,
        grace: Duration,
    ) -> BoxFuture<'static, ()>;
}

/// Runs the functions of tasks: what a keeper calls.
pub trait TaskRunner: Send + Sync {
    /// What it can run now, as [`NewTask::tool`] names it.
    fn tools(&self) -> Vec<Arc<str>>;

    /// Runs a task to its end or until it parks, and tells the journal. A run that returns without that is handed back: it
    /// cannot be run here.
    fn run(&self, run: TaskRun, journal: Arc<dyn TaskJournal>) -> BoxFuture<'static, ()>;

    /// Something of the task has changed that its owner can see.
    fn changed(&self, id: &TaskId);
}

/// A run of a task: what it begins with.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TaskRun {
    /// The task.
    pub id: TaskId,
    /// The name of the tool.
    pub tool: Arc<str>,
    /// Whose task it is.
    pub owner: TaskOwner,
    /// The call that made the task.
    pub call: Bytes,
    /// The record of the birth, or of the run that parked last.
    pub record: Bytes,
    /// The steps since then by key, in the order in which they were recorded.
    pub steps: Vec<(Arc<str>, Bytes)>,
    /// The questions of all runs, in the order in which they were asked.
    pub questions: Vec<AskedQuestion>,
}

impl TaskRun {
    /// The first run of a task.
    pub fn new(task: &NewTask) -> Self {
        Self::of(task.id, Arc::clone(&task.tool), task.owner, task.call.clone(), task.record.clone())
    }

    /// A run without steps and questions.
    pub fn of(id: TaskId, tool: Arc<str>, owner: TaskOwner, call: Bytes, record: Bytes) -> Self {
        Self { id, tool, owner, call, record, steps: Vec::new(), questions: Vec::new() }
    }
}

/// What a run tells its keeper.
///
/// None of the futures that write become ready once the run must stop: what waits for them is dropped. So a function cannot
/// go on after its keeper has given the task to somebody else.
pub trait TaskJournal: Send + Sync {
    /// Records a step. It is ready when the step is durable.
    fn record<'a>(&'a self, key: &'a str, step: Bytes) -> BoxFuture<'a, ()>;

    /// Ends the run. It is ready when the end is durable.
    fn end(&self, end: RunEnd) -> BoxFuture<'_, ()>;

    /// Says what the run does. It is written at most once a second; the last message counts.
    fn say(&self, message: Bytes);

    /// The keeper's clock.
    fn now(&self) -> SystemTime;

    /// Ready when so much time has passed. By default by the clock of the runtime.
    fn sleep(&self, duration: Duration) -> BoxFuture<'_, ()> {
        Box::pin(tokio::time::sleep(duration))
    }

    /// Whether the run may begin a step. It may not when its keeper may have given the task to somebody else already. A keeper
    /// that returns `false` must stop the run, which waits for that.
    fn holds(&self) -> bool {
        true
    }

    /// Ready when the run must stop.
    fn stopped(&self) -> BoxFuture<'_, RunStop>;
}

/// How a run ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEnd {
    /// The task has completed, with the result of its call.
    Completed(Bytes),
    /// The task has failed, with an error of the protocol.
    Failed(Bytes),
    /// The task waits.
    Parked(Parking),
}

/// What a task waits for. Its next run begins when all of its questions are answered or closed, or at the time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parking {
    /// The record of the call. The steps of the run are in it.
    pub record: Bytes,
    /// What is asked now.
    pub asked: Vec<NewQuestion>,
    /// The questions of earlier runs that are not open any more, by key.
    pub closed: Vec<Arc<str>>,
    /// When it goes on all the same, by the keeper's clock.
    pub wakes: Option<SystemTime>,
}

/// Why a run must stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunStop {
    /// The task has ended: it was cancelled, or its time was up.
    Ended,
    /// The keeper has given the task to somebody else, or may have.
    Lost,
    /// The server stops: the task goes on elsewhere.
    HandedOver,
}

/// The keeper cannot be reached, or has failed.
#[derive(Debug, thiserror::Error)]
#[error("the keeper of tasks failed: {0}")]
pub struct KeeperError(#[source] Box<dyn std::error::Error + Send + Sync>);

impl KeeperError {
    /// The error of a database, for example.
    pub fn new(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(error.into())
    }
}

/// Why there is no new task.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BirthError {
    /// All callers together have as many open tasks as they may.
    #[error("too many tasks, try again later")]
    Full,
    /// The caller has as many open tasks as it may.
    #[error("too many tasks of this caller, try again later")]
    CallerFull,
    /// The keeper has failed.
    #[error(transparent)]
    Keeper(#[from] KeeperError),
}

impl fmt::Debug for dyn TaskKeeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskKeeper").field("outlives_process", &self.outlives_process()).finish_non_exhaustive()
    }
}
