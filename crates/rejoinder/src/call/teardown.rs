//! How a round of a call ends, and what runs then.

use std::{cell::Cell, panic::AssertUnwindSafe, time::Duration};

use futures_util::{FutureExt, future::BoxFuture};
use tokio::{runtime::Handle, time::timeout};

use super::Call;
use crate::error::{CallError, Failed, Panicked, lock};

/// How a round of a call ended. Deferred functions get it.
///
/// ```
/// use rejoinder::call::CallEnd;
///
/// async fn close(transaction: Vec<&'static str>, end: CallEnd) -> &'static str {
///     if end.keeps_changes() { "committed" } else { "rolled back" }
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// assert_eq!(close(vec!["insert"], CallEnd::Pending).await, "rolled back");
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallEnd {
    /// The function returned a result, and no deferred function has failed so far.
    Succeeded,
    /// The function or a resolver returned an error or a result with `isError`, the user declined, or a deferred function that
    /// ran before this one failed.
    Failed,
    /// The function or a resolver panicked.
    Panicked,
    /// The round ended with a question: the function runs again from the start when the answer comes.
    Pending,
    /// The same, after the round recorded steps ([`Context::once`](crate::Context::once)), which do not run again, or changed
    /// the state of rounds that it makes by hand.
    PendingAfterSteps,
    /// The client cancelled the call or disconnected, or the server is shutting down.
    Cancelled,
    /// The round took longer than its [timeout](crate::Server::timeout).
    TimedOut,
}

impl CallEnd {
    /// Whether the call succeeded. A round that ends with a question has not.
    pub fn is_success(self) -> bool {
        self == Self::Succeeded
    }

    /// Whether to keep what the round has changed: the call succeeded, or the round recorded steps, which do not run again.
    ///
    /// A transaction that a step may write to commits by this, not by [`is_success`](Self::is_success).
    pub fn keeps_changes(self) -> bool {
        // Outside of a test nobody follows.
        let _ = KEEPS_CHANGES_ASKED.try_with(|asked| asked.set(true));
        matches!(self, Self::Succeeded | Self::PendingAfterSteps)
    }
}

tokio::task_local! {
    /// Whether the deferred function that runs has called [`CallEnd::keeps_changes`].
    static KEEPS_CHANGES_ASKED: Cell<bool>;
}

/// What runs when a round ends.
pub(crate) struct Deferred {
    pub(crate) run: Box<dyn FnOnce(CallEnd) -> BoxFuture<'static, Result<(), CallError>> + Send>,
    /// Whether it returns a `Result`.
    pub(crate) can_fail: bool,
}

/// The deferred functions of a round while they run. It ends with the error that fails the call.
pub(crate) type RunningTeardown = BoxFuture<'static, Result<(), Failed>>;

/// What a round has deferred.
#[derive(Default)]
pub(super) struct Teardown {
    /// The latest is at the end.
    deferred: Vec<Deferred>,
    /// How the round ended, once teardown has begun.
    pub(super) end: Option<CallEnd>,
    /// Whether all of it has run.
    pub(super) is_over: bool,
}

impl Call {
    /// Runs something when the round ends, or at once, in a spawned future, if its teardown is over.
    pub(crate) fn defer(&self, deferred: Deferred) {
        let end = {
            let mut teardown = lock(&self.0.teardown);
            match teardown.end.filter(|_| teardown.is_over) {
                Some(end) => end,
                None => return teardown.deferred.push(deferred),
            }
        };
        match Handle::try_current() {
            Ok(runtime) => {
                let call = self.clone();
                // Nobody waits for it any more, so its error is only logged.
                drop(runtime.spawn(async move { call.run_deferred(deferred, end, None, "").await }));
            }
            Err(_) => tracing::error!(
                "a function that was deferred after the end of its call cannot run outside a tokio runtime"
            ),
        }
    }

    /// Runs what was deferred, the latest first; `None` if nothing was.
    ///
    /// A function that fails, panics or takes longer than the limit is logged with the name of what was called, and the others
    /// still run. If the call would go on as if it had worked, it fails, and the others get [`CallEnd::Failed`].
    pub(crate) fn teardown(
        &self,
        end: CallEnd,
        limit_and_name: impl FnOnce() -> (Option<Duration>, String),
    ) -> Option<RunningTeardown> {
        {
            let mut teardown = lock(&self.0.teardown);
            if teardown.is_over {
                return None;
            }
            teardown.end = Some(end);
            teardown.is_over = teardown.deferred.is_empty();
            if teardown.is_over {
                return None;
            }
        }
        let (call, (limit, name)) = (self.clone(), limit_and_name());
        Some(Box::pin(async move {
            let (mut end, mut outcome) = (end, Ok(()));
            // One at a time, because each may defer more.
            while let Some(deferred) = call.next_deferred() {
                let ran = call.run_deferred(deferred, end, limit, &name).await;
                // The client would rely on what has failed.
                if ran.is_err() && end.keeps_changes() {
                    (end, outcome) = (CallEnd::Failed, ran);
                    lock(&call.0.teardown).end = Some(end);
                }
            }
            outcome
        }))
    }

    /// Runs a deferred function, and logs its failure. Its error is a value of the author too.
    async fn run_deferred(
        &self,
        Deferred { run, can_fail }: Deferred,
        end: CallEnd,
        limit: Option<Duration>,
        name: &str,
    ) -> Result<(), Failed> {
        let run = KEEPS_CHANGES_ASKED.scope(Cell::new(false), async {
            let ran = run(end).await;
            if let Some(trace) = self.trace().filter(|_| can_fail && end == CallEnd::PendingAfterSteps) {
                trace.lock().forgets_steps |= !KEEPS_CHANGES_ASKED.with(Cell::get);
            }
            ran
        });
        let run = async {
            match limit {
                None => run.await,
                // What is dropped in the middle may panic too.
                Some(limit) => timeout(limit, run).await.unwrap_or_else(|_| Err(CallError::cut_off(limit))),
            }
        };
        let failed = match AssertUnwindSafe(run).catch_unwind().await.map_err(Panicked::from) {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => error.into_text().map_or(Failed::Panicked, Failed::Error),
            Err(Panicked) => Failed::Panicked,
        };
        let request = &*String::from_utf8_lossy(&self.request().request_id);
        match &failed {
            Failed::Error(error) => {
                tracing::error!(%error, ?end, of = name, request, "a deferred function failed");
            }
            Failed::Panicked => tracing::error!(?end, of = name, request, "a deferred function panicked"),
        }
        Err(failed)
    }

    fn next_deferred(&self) -> Option<Deferred> {
        let mut teardown = lock(&self.0.teardown);
        let next = teardown.deferred.pop();
        teardown.is_over = next.is_none();
        next
    }

    /// Whether the call has succeeded, and all that it deferred too.
    pub(super) fn has_succeeded(&self) -> bool {
        let teardown = lock(&self.0.teardown);
        teardown.is_over && teardown.end.is_some_and(CallEnd::is_success)
    }

    /// How the round ended, once its teardown has begun.
    pub(crate) fn ending(&self) -> Option<CallEnd> {
        lock(&self.0.teardown).end
    }
}
