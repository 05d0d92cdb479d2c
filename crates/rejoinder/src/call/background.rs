//! Work that a call leaves for after its reply.
//!
//! A task waits for the reply of its call, and for the task before it. The end of the call hands out an [`AfterReply`], which
//! travels with the reply; the transport drops it when it has the last byte of the reply, or cannot deliver it, and that
//! starts the tasks.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU64, Ordering},
};

use bytes::Bytes;
use tokio::{
    runtime::Handle,
    sync::{oneshot, watch},
    task::JoinHandle,
};
use tokio_util::{
    sync::CancellationToken,
    task::{TaskTracker, task_tracker::TaskTrackerToken},
};

use super::Call;
use crate::{
    auth::{Budget, Held, Principal},
    error::{CallError, Panicked, lock},
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
    /// Whether it runs only if the call succeeds.
    only_on_success: bool,
    status: watch::Sender<BackgroundStatus>,
    pub(crate) cancelled: CancellationToken,
}

/// A task that was [added](crate::BackgroundTasks::add). Dropping it changes nothing: the task runs.
///
/// ```
/// use rejoinder::{BackgroundTasks, CallError, call::BackgroundStatus};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), CallError> {
/// let background = BackgroundTasks::detached();
/// let count = background.add(async { Ok::<_, CallError>(3) })?;
/// let never = background.add(std::future::pending::<()>())?;
/// never.cancel();
/// assert_eq!((count.status(), never.status()), (BackgroundStatus::Waiting, BackgroundStatus::Cancelled));
///
/// background.finish().await;
/// assert_eq!(count.status(), BackgroundStatus::Succeeded);
/// assert_eq!(count.result().await?, 3);
/// assert_eq!(never.result().await.unwrap_err().to_string(), "the background task was cancelled");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct BackgroundTask<T = ()> {
    call: Call,
    state: Arc<BackgroundState>,
    result: oneshot::Receiver<Result<T, CallError>>,
}

impl<T> BackgroundTask<T> {
    /// Its number, which the log shows and no other task of this process has.
    pub fn id(&self) -> u64 {
        self.state.id
    }

    /// Returns the status of the task.
    pub fn status(&self) -> BackgroundStatus {
        self.state.status()
    }

    /// Cancels it: it does not start, or is dropped where it next waits. A blocking function that runs is not stopped.
    pub fn cancel(&self) {
        self.state.cancelled.cancel();
    }

    /// Waits for its result: in another task of the call, for example.
    ///
    /// # Errors
    ///
    /// Its own error, or that it was cancelled or panicked. A function that waits for its own task gets an error at once: the
    /// task starts after the function has returned.
    pub async fn result(self) -> Result<T, CallError> {
        if self.status() == BackgroundStatus::Waiting && !self.call.runs_background() {
            return Err(CallError::mistake(
                "a background task starts after the reply, so the call cannot wait for its result",
            ));
        }
        self.result.await.unwrap_or_else(|_| Err(CallError::new("the background task was cancelled")))
    }
}

/// The name of the item that was called, once its reply has left.
type Replied = Option<Arc<str>>;

impl BackgroundState {
    pub(crate) fn status(&self) -> BackgroundStatus {
        match *self.status.borrow() {
            BackgroundStatus::Waiting if self.cancelled.is_cancelled() => BackgroundStatus::Cancelled,
            status => status,
        }
    }

    /// Waits until the task is over, and returns how it ended.
    pub(crate) async fn over(&self) -> BackgroundStatus {
        let mut status = self.status.subscribe();
        status.wait_for(|status| status.is_over()).await.map_or(BackgroundStatus::Cancelled, |status| *status)
    }

    /// Runs the task after the reply and after the task before it, and logs how it ends.
    async fn run<T>(
        &self,
        mut reply: watch::Receiver<Replied>,
        before: Option<Arc<Self>>,
        start: impl FnOnce() -> JoinHandle<Result<T, CallError>>,
        request: Bytes,
    ) -> Result<T, CallError> {
        let due = async {
            let target = reply.wait_for(Option::is_some).await.ok()?.clone();
            if let Some(before) = before {
                before.over().await;
            }
            target
        };
        // Without a target, the call is gone and did not end.
        let Some(Some(target)) = self.cancelled.run_until_cancelled(due).await else {
            return Err(self.end(BackgroundStatus::Cancelled));
        };
        let request = &*String::from_utf8_lossy(&request);
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

/// The background tasks of a round.
#[derive(Default)]
pub(crate) struct RoundBackground {
    reply: watch::Sender<Replied>,
    added: Vec<Arc<BackgroundState>>,
    /// The task that the next one waits for.
    last: Option<Arc<BackgroundState>>,
    /// Whether the call has ended: its reply starts them.
    has_ended: bool,
    /// Whether the round ended in a question.
    is_dropped: bool,
}

/// How many tasks a call can add.
const MOST_PER_CALL: usize = 100;

impl Call {
    /// The background tasks of this round.
    pub(crate) fn round_tasks(&self) -> &Mutex<RoundBackground> {
        self.0.background.get_or_init(|| {
            let tasks = RoundBackground { has_ended: self.is_over(), ..RoundBackground::default() };
            // Nobody starts what is added to a call that is over.
            if tasks.has_ended {
                tasks.reply.send_replace(Some(Arc::default()));
            }
            Box::new(Mutex::new(tasks))
        })
    }

    /// Whether tasks may run: the call has ended, or a unit test has finished its tasks.
    pub(crate) fn runs_background(&self) -> bool {
        self.is_over() || lock(self.round_tasks()).reply.borrow().is_some()
    }

    /// Adds a task, which `start` starts after the reply.
    ///
    /// # Errors
    ///
    /// If there is no room or no runtime for it. Inside a step it is a mistake: a later round has the result of the step and does
    /// not run it, so it would not add the task.
    pub(crate) fn add_background<T: Send + 'static>(
        &self,
        is_concurrent: bool,
        only_on_success: bool,
        start: impl FnOnce() -> JoinHandle<Result<T, CallError>> + Send + 'static,
    ) -> Result<BackgroundTask<T>, CallError> {
        static NEXT_ID: AtomicU64 = AtomicU64::new(1);
        let runtime = Handle::try_current()
            .map_err(|_| CallError::mistake("a background task is added outside a tokio runtime, which it needs"))?;
        if let Some(step) = self.step_around(|_| true) {
            let mistake = CallError::mistake(format!(
                "a background task is added inside step `{step}`, which a later round does not run again, so the task would be \
                 lost: add it after the step"
            ));
            self.note_mistake(mistake.clone());
            return Err(mistake);
        }
        let (server, caller) = (self.dependency::<ServerBackground>(), self.request().principal.as_ref());
        let left = self.request().left.as_ref().map(TaskTracker::token);
        let place = (server.as_ref().map(|server| server.begin(caller)).transpose()?, left);
        let mut tasks = lock(self.round_tasks());
        if tasks.is_dropped {
            return Err(CallError::new(
                "this round of the call has ended in a question: no background task can be added",
            ));
        }
        if tasks.added.len() == MOST_PER_CALL {
            return Err(CallError::new(format!("too many background tasks in one call (limit {MOST_PER_CALL})")));
        }
        let state = Arc::new(BackgroundState {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            only_on_success,
            status: watch::Sender::new(BackgroundStatus::Waiting),
            cancelled: server.map_or_else(CancellationToken::new, |server| server.stopped.child_token()),
        });
        tasks.added.push(Arc::clone(&state));
        if tasks.has_ended {
            self.cancel_unless_successful(&state);
        }
        // One that another task adds starts at once: the other one may wait for it.
        let is_concurrent = is_concurrent || tasks.reply.borrow().is_some();
        let before = if is_concurrent { None } else { tasks.last.replace(Arc::clone(&state)) };
        if let Some(trace) = self.trace() {
            trace.lock().background.push(Arc::clone(&state));
        }
        let (sender, result) = oneshot::channel();
        let (running, reply, request) =
            (Arc::clone(&state), tasks.reply.subscribe(), self.request().request_id.clone());
        runtime.spawn(async move {
            let _place = place;
            // Nobody may wait for the result.
            let _ = sender.send(running.run(reply, before, start, request).await);
        });
        Ok(BackgroundTask { call: self.clone(), state, result })
    }

    /// What the reply of a call takes along, if the call has background tasks; once.
    pub(crate) fn after_reply(&self, target: &str) -> Option<AfterReply> {
        let mut tasks = lock(self.0.background.get()?);
        if tasks.has_ended || tasks.is_dropped {
            return None;
        }
        tasks.has_ended = true;
        tasks.added.iter().for_each(|task| self.cancel_unless_successful(task));
        let (reply, added) = (tasks.reply.clone(), tasks.added.clone());
        let after = AfterReply { reply, target: target.into(), added };
        // Without tasks, one that is added later starts at once.
        (!tasks.added.is_empty()).then_some(after)
    }

    /// Cancels a task of this call, which has ended, if it runs only after a success and there was none.
    fn cancel_unless_successful(&self, task: &BackgroundState) {
        if task.only_on_success && !self.has_succeeded() {
            task.cancelled.cancel();
        }
    }

    /// Drops the tasks of a round that ends in a question: the function runs again, and adds them again.
    pub(crate) fn drop_background(&self) {
        let Some(tasks) = self.0.background.get() else { return };
        let mut tasks = lock(tasks);
        tasks.is_dropped = true;
        for task in &tasks.added {
            task.cancelled.cancel();
        }
        if let Some(trace) = self.trace() {
            trace.lock().background.clear();
        }
        if !tasks.added.is_empty() {
            let tasks = tasks.added.len();
            tracing::debug!(tasks, "the round ended in a question: its background tasks are dropped");
        }
    }

    /// Begins another round in the same call.
    pub(super) fn reopen_background(&self) {
        if let Some(tasks) = self.0.background.get() {
            *lock(tasks) = RoundBackground::default();
        }
    }

    /// Runs the tasks now, and waits for them.
    pub(crate) async fn finish_background(&self) {
        lock(self.round_tasks()).reply.send_replace(Some(Arc::default()));
        // A task may add more.
        loop {
            let Some(task) = lock(self.round_tasks()).added.pop() else { return };
            task.over().await;
        }
    }
}

/// Starts the background tasks of a call when it is dropped: the transport has the last byte of the reply, or cannot
/// deliver it.
///
/// It travels with the reply, and a transport that copies the reply keeps it until the copy is written.
#[must_use = "dropping it starts the background tasks of the call"]
#[derive(Debug)]
pub(crate) struct AfterReply {
    reply: watch::Sender<Replied>,
    target: Arc<str>,
    added: Vec<Arc<BackgroundState>>,
}

impl AfterReply {
    /// The same bytes; the tasks start when they have been let go of.
    pub(crate) fn hold(after: Option<Self>, bytes: Bytes) -> Bytes {
        match after {
            Some(after) => held(bytes, after),
            None => bytes,
        }
    }

    /// Drops the tasks: there is no reply that they could follow.
    pub(crate) fn cancel(after: Option<Self>) {
        after.iter().flat_map(|after| &after.added).for_each(|task| task.cancelled.cancel());
    }
}

impl Drop for AfterReply {
    fn drop(&mut self) {
        self.reply.send_replace(Some(Arc::clone(&self.target)));
    }
}

/// The same bytes, with something that is dropped when they have been let go of.
fn held(bytes: Bytes, until_then: impl Send + 'static) -> Bytes {
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
pub(crate) struct ServerBackground {
    waiting_or_running: TaskTracker,
    budget: Budget,
    /// Cancelled when the server has waited long enough for them.
    stopped: CancellationToken,
}

impl ServerBackground {
    pub(crate) fn new(budget: Budget) -> Self {
        let waiting_or_running = TaskTracker::new();
        // Closed means that waiting may end; more may begin all the same.
        waiting_or_running.close();
        Self { waiting_or_running, budget, stopped: CancellationToken::new() }
    }

    fn begin(&self, caller: Option<&Principal>) -> Result<(TaskTrackerToken, Held), CallError> {
        let place = self.budget.take(caller, 1).map_err(|full| CallError::new(full.to_string()))?;
        Ok((self.waiting_or_running.token(), place))
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

/// A [background task](crate::BackgroundTasks::add), or what a [deferred](crate::Scope::defer) function or one of
/// [`Server::on_stop`](crate::Server::on_stop) returns: a future that ends with an `R`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a future: pass `async move {{ .. }}` to `add`, and `async move |_| {{ .. }}` to `defer`, `on_start` \
               and `on_stop`",
    label = "not a future",
    note = "write `add(async move {{ .. }})` without `||`; a function that blocks its thread is for `add_blocking`"
)]
pub trait WorkFuture<R>: Future<Output = R> {}

#[diagnostic::do_not_recommend]
impl<F: Future<Output = R>, R> WorkFuture<R> for F {}

/// What a [background task](crate::BackgroundTasks::add), a [deferred](crate::Scope::defer) function and a function of
/// [`Server::on_stop`](crate::Server::on_stop) may return: nothing, or a `Result`.
#[diagnostic::on_unimplemented(
    message = "a task cannot return `{Self}`",
    label = "neither `()` nor a `Result`",
    note = "return nothing, or a `Result` whose error `?` could turn into a `CallError`"
)]
pub trait WorkOutput: Send + 'static {
    /// What it is if nothing failed.
    type Value: Send + 'static;

    /// Whether it can be an error.
    #[doc(hidden)]
    const CAN_FAIL: bool = true;

    /// The value, or why there is none.
    ///
    /// # Errors
    ///
    /// Its own.
    fn into_result(self) -> Result<Self::Value, CallError>;
}

impl WorkOutput for () {
    type Value = ();

    const CAN_FAIL: bool = false;

    fn into_result(self) -> Result<(), CallError> {
        Ok(())
    }
}

impl<T: Send + 'static, E: Into<CallError> + Send + 'static> WorkOutput for Result<T, E> {
    type Value = T;

    fn into_result(self) -> Result<T, CallError> {
        self.map_err(Into::into)
    }
}
