//! Work that a call leaves for after its reply.
//!
//! Tasks wait in their call. The end of the call hands out an [`AfterReply`], which travels with the reply; the transport
//! drops it when it has the last byte of the reply, or cannot deliver it, and that starts the tasks.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU64, Ordering},
};

use bytes::Bytes;
use tokio::{runtime::Handle, sync::watch, task::JoinHandle};
use tokio_util::{
    sync::CancellationToken,
    task::{TaskTracker, task_tracker::TaskTrackerToken},
};

use super::Call;
use crate::{
    BoxFuture,
    error::{CallError, Panicked},
    lock,
};

/// The status of a [background task](crate::BackgroundTasks).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BackgroundStatus {
    /// It has not started: the reply is not sent yet, or an earlier task of the call is still running.
    Waiting,
    /// It runs.
    Running,
    /// It returned.
    Succeeded,
    /// It returned an error, or panicked.
    Failed,
    /// It was cancelled, before it started or while it ran.
    Cancelled,
}

impl BackgroundStatus {
    /// Returns whether the task has ended.
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Waiting | Self::Running)
    }
}

/// What is known about one task.
#[derive(Debug)]
pub(crate) struct BackgroundState {
    pub(crate) id: u64,
    pub(crate) status: watch::Sender<BackgroundStatus>,
    pub(crate) cancelled: CancellationToken,
}

impl BackgroundState {
    pub(crate) fn status(&self) -> BackgroundStatus {
        *self.status.borrow()
    }

    /// Cancels it; one that waits is over at once.
    pub(crate) fn cancel(&self) {
        self.cancelled.cancel();
        self.status.send_if_modified(|status| {
            let waits = *status == BackgroundStatus::Waiting;
            if waits {
                *status = BackgroundStatus::Cancelled;
            }
            waits
        });
    }

    /// Waits until the task has ended.
    pub(crate) async fn over(&self) -> BackgroundStatus {
        let mut status = self.status.subscribe();
        status.wait_for(|status| status.is_over()).await.map_or(BackgroundStatus::Cancelled, |status| *status)
    }

    /// Runs the task to its end, and logs a failure.
    pub(crate) async fn run<T>(
        &self,
        call: &Call,
        start: impl FnOnce() -> JoinHandle<Result<T, CallError>>,
    ) -> Result<T, CallError> {
        let target = lock(call.round_tasks()).target.clone().unwrap_or_default();
        let request = &*String::from_utf8_lossy(&call.request().request_id);
        if self.cancelled.is_cancelled() {
            return Err(self.end(BackgroundStatus::Cancelled));
        }
        self.status.send_replace(BackgroundStatus::Running);
        // In a task of its own, so that a panic ends it alone, also one of a `Drop`.
        let mut task = start();
        let joined = tokio::select! {
            joined = &mut task => joined,
            () = self.cancelled.cancelled() => {
                task.abort();
                task.await
            }
        };
        match joined {
            Ok(Ok(value)) => {
                self.status.send_replace(BackgroundStatus::Succeeded);
                return Ok(value);
            }
            Ok(Err(error)) => {
                if let Ok(error) = error.into_text() {
                    tracing::error!(%error, target = &*target, request, task = self.id, "a background task failed");
                    self.end(BackgroundStatus::Failed);
                    return Err(error);
                }
            }
            Err(error) => match error.try_into_panic() {
                Ok(payload) => drop(Panicked::from(payload)),
                Err(_) => {
                    tracing::info!(target = &*target, request, task = self.id, "a background task was cancelled");
                    return Err(self.end(BackgroundStatus::Cancelled));
                }
            },
        }
        tracing::error!(target = &*target, request, task = self.id, "a background task panicked");
        Err(self.end(BackgroundStatus::Failed))
    }

    fn end(&self, status: BackgroundStatus) -> CallError {
        self.status.send_replace(status);
        CallError::new(match status {
            BackgroundStatus::Failed => "the background task panicked",
            _ => "the background task was cancelled",
        })
    }
}

/// Runs a task of this call.
pub(crate) type RunTask = Box<dyn FnOnce(Call) -> BoxFuture<'static, ()> + Send>;

/// A task that has not started.
pub(crate) struct WaitingTask {
    pub(crate) state: Arc<BackgroundState>,
    pub(crate) is_concurrent: bool,
    /// `None` once it has started.
    pub(crate) run: Option<RunTask>,
    /// Its place among the tasks of the server, until it is over.
    pub(crate) _place: Option<TaskTrackerToken>,
}

impl WaitingTask {
    async fn run(mut self, call: Call) {
        if let Some(run) = self.run.take() {
            run(call).await;
        }
    }
}

impl Drop for WaitingTask {
    fn drop(&mut self) {
        if let Some(run) = self.run.take() {
            self.state.end(BackgroundStatus::Cancelled);
            // It holds values of the author, whose `Drop` may panic.
            let _ = Panicked::catch(|| drop(run));
        }
    }
}

/// The tasks of a round.
#[derive(Default)]
pub(crate) struct RoundTasks {
    stage: TaskStage,
    waiting: Vec<WaitingTask>,
    /// How many were added in this round.
    added: usize,
    /// Who runs them: the last byte may be dropped anywhere.
    runtime: Option<Handle>,
    /// The name of the tool or prompt, or the URI of the resource, once the reply is on its way.
    target: Option<Arc<str>>,
}

#[derive(Default, PartialEq, Eq)]
enum TaskStage {
    /// The round runs.
    #[default]
    Open,
    /// The reply is on its way.
    Replying,
    /// The reply has left.
    Started,
    /// The round ended in a question.
    Dropped,
}

/// How many tasks one call may add.
const MOST_PER_CALL: usize = 100;

impl Call {
    /// The tasks of this round. Once it was called, the end of the call looks for them.
    pub(crate) fn round_tasks(&self) -> &Mutex<RoundTasks> {
        self.0.background.get_or_init(|| {
            // Nobody starts what is added to a call that is over.
            let stage = if self.is_over() { TaskStage::Started } else { TaskStage::Open };
            Box::new(Mutex::new(RoundTasks { stage, ..RoundTasks::default() }))
        })
    }

    /// Adds a task, which starts when the reply has left.
    ///
    /// # Errors
    ///
    /// If there are too many, or the round has ended in a question.
    pub(crate) fn add_background(
        &self,
        is_concurrent: bool,
        run: impl FnOnce(Arc<BackgroundState>) -> RunTask,
    ) -> Result<Arc<BackgroundState>, CallError> {
        let server = self.dependency::<ServerTasks>();
        let place = server.as_ref().map(|server| server.begin()).transpose()?;
        let mut tasks = lock(self.round_tasks());
        if tasks.stage == TaskStage::Dropped {
            return Err(CallError::new(
                "this round of the call has ended in a question: no background task can be added",
            ));
        }
        if tasks.added == MOST_PER_CALL {
            return Err(CallError::new(format!("too many background tasks in one call (limit {MOST_PER_CALL})")));
        }
        static NEXT_ID: AtomicU64 = AtomicU64::new(1);
        let state = Arc::new(BackgroundState {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            status: watch::Sender::new(BackgroundStatus::Waiting),
            cancelled: server.map_or_else(CancellationToken::new, |server| server.stopped.child_token()),
        });
        if let Some(trace) = self.trace() {
            trace.lock().background.push(Arc::clone(&state));
        }
        let run = Some(run(Arc::clone(&state)));
        tasks.added += 1;
        tasks.waiting.push(WaitingTask { state: Arc::clone(&state), is_concurrent, run, _place: place });
        tasks.runtime = Handle::try_current().ok().or(tasks.runtime.take());
        let is_late = tasks.stage == TaskStage::Started;
        drop(tasks);
        if is_late {
            self.start_background();
        }
        Ok(state)
    }

    /// What starts the tasks of this call, if there are any and the call has not given it yet.
    pub(crate) fn after_reply(&self, target: &str) -> Option<AfterReply> {
        let mut tasks = lock(self.0.background.get()?);
        if tasks.stage != TaskStage::Open {
            return None;
        }
        tasks.target = Some(target.into());
        let has_tasks = !tasks.waiting.is_empty();
        tasks.stage = if has_tasks { TaskStage::Replying } else { TaskStage::Started };
        has_tasks.then(|| AfterReply(self.clone()))
    }

    /// Drops the tasks of a round that ends in a question: the function runs again from the start.
    pub(crate) fn drop_background(&self) {
        let Some(tasks) = self.0.background.get() else { return };
        let dropped = {
            let mut tasks = lock(tasks);
            tasks.stage = TaskStage::Dropped;
            std::mem::take(&mut tasks.waiting)
        };
        if let Some(trace) = self.trace() {
            trace.lock().background.clear();
        }
        if !dropped.is_empty() {
            tracing::debug!(tasks = dropped.len(), "the round ended in a question: its background tasks are dropped");
        }
    }

    /// Lets the next round add tasks.
    pub(super) fn reopen_background(&self) {
        if let Some(tasks) = self.0.background.get() {
            *lock(tasks) = RoundTasks::default();
        }
    }

    /// Starts what waits: concurrent tasks at once, the others one after the other.
    fn start_background(&self) {
        let (tasks, runtime) = {
            let mut tasks = lock(self.round_tasks());
            tasks.stage = TaskStage::Started;
            (std::mem::take(&mut tasks.waiting), tasks.runtime.clone())
        };
        let Some(runtime) = runtime.or_else(|| Handle::try_current().ok()) else {
            return tracing::error!("background tasks cannot run outside a tokio runtime");
        };
        runtime.spawn(run_tasks(tasks, self.clone()));
    }

    /// Runs what waits, and waits for it: the call of a unit test has no reply.
    pub(crate) async fn finish_background(&self) {
        let tasks = std::mem::take(&mut lock(self.round_tasks()).waiting);
        let states: Vec<_> = tasks.iter().map(|task| Arc::clone(&task.state)).collect();
        run_tasks(tasks, self.clone()).await;
        for state in states {
            state.over().await;
        }
    }
}

async fn run_tasks(tasks: Vec<WaitingTask>, call: Call) {
    let (concurrent, in_order): (Vec<_>, Vec<_>) = tasks.into_iter().partition(|task| task.is_concurrent);
    for task in concurrent {
        tokio::spawn(task.run(call.clone()));
    }
    for task in in_order {
        task.run(call.clone()).await;
    }
}

/// Starts the background tasks of a call when it is dropped: the transport has the last byte of the reply, or cannot
/// deliver it.
///
/// It travels with the reply, and a transport that copies the reply keeps it until the copy is written.
#[must_use = "dropping it starts the background tasks of the call"]
#[derive(Debug)]
pub(crate) struct AfterReply(Call);

impl AfterReply {
    /// The same bytes; the tasks start when they have been let go of.
    pub(crate) fn hold(after: Option<Self>, bytes: Bytes) -> Bytes {
        match after {
            Some(after) => held(bytes, after),
            None => bytes,
        }
    }
}

impl Drop for AfterReply {
    fn drop(&mut self) {
        self.0.start_background();
    }
}

/// The same bytes, with something that is dropped when they have been let go of.
pub(crate) fn held(bytes: Bytes, until_then: impl Send + 'static) -> Bytes {
    struct GuardedBytes<H> {
        bytes: Bytes,
        _until_then: H,
    }
    impl<H> AsRef<[u8]> for GuardedBytes<H> {
        fn as_ref(&self) -> &[u8] {
            &self.bytes
        }
    }
    Bytes::from_owner(GuardedBytes { bytes, _until_then: until_then })
}

/// The background tasks of a server.
#[derive(Debug)]
pub(crate) struct ServerTasks {
    waiting_or_running: TaskTracker,
    most: usize,
    /// Cancelled when the server has waited long enough for them.
    stopped: CancellationToken,
}

impl ServerTasks {
    pub(crate) fn new(most: usize) -> Self {
        let waiting_or_running = TaskTracker::new();
        // Closed means that waiting may end; more may begin all the same.
        waiting_or_running.close();
        Self { waiting_or_running, most, stopped: CancellationToken::new() }
    }

    fn begin(&self) -> Result<TaskTrackerToken, CallError> {
        let begun = self.waiting_or_running.token();
        if self.waiting_or_running.len() > self.most {
            let most = self.most;
            return Err(CallError::new(format!("too many background tasks (limit {most}), try again later")));
        }
        Ok(begun)
    }

    /// Waits until all are over.
    pub(crate) async fn idle(&self) {
        self.waiting_or_running.wait().await;
    }

    /// Cancels those that are left, and returns how many there are.
    pub(crate) fn cancel(&self) -> usize {
        self.stopped.cancel();
        self.waiting_or_running.len()
    }
}
