//! How a round of a call ends, and what runs then.

use std::{panic::AssertUnwindSafe, time::Duration};

use futures_util::FutureExt;
use tokio::{runtime::Handle, time::timeout};

use super::Call;
use crate::{
    BoxFuture,
    error::{CallError, Panicked},
    lock,
};

/// How a round of a call ended. Deferred functions get it.
///
/// ```
/// use rejoinder::CallEnd;
///
/// async fn close(transaction: Vec<&'static str>, end: CallEnd) -> &'static str {
///     if end.is_success() { "committed" } else { "rolled back" }
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// assert_eq!(close(vec!["insert"], CallEnd::Pending).await, "rolled back");
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallEnd {
    /// The function returned a result.
    Succeeded,
    /// The function or a resolver returned an error, or the user declined.
    Failed,
    /// The function or a resolver panicked.
    Panicked,
    /// The round ended with a question: the function runs again from the start when the answer comes.
    Pending,
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
}

/// What runs when a round ends.
type Deferred = Box<dyn FnOnce(CallEnd) -> BoxFuture<'static, Result<(), CallError>> + Send>;

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
    /// Runs something when the round ends, or at once, in another task, if its teardown is over.
    pub(crate) fn defer(&self, deferred: Deferred) {
        let end = {
            let mut teardown = lock(&self.0.teardown);
            match teardown.end.filter(|_| teardown.is_over) {
                Some(end) => end,
                None => return teardown.deferred.push(deferred),
            }
        };
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(run(deferred, end))),
            Err(_) => tracing::error!(
                "a function that was deferred after the end of its call cannot run outside a tokio runtime"
            ),
        }
    }

    /// Runs what was deferred, the latest first; `None` if nothing was.
    ///
    /// A function that fails, panics or takes longer than `limit` is logged, and the others still run.
    pub(crate) fn teardown(
        &self,
        end: CallEnd,
        limit: impl FnOnce() -> Option<Duration>,
    ) -> Option<BoxFuture<'static, ()>> {
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
        let (call, limit) = (self.clone(), limit());
        Some(Box::pin(async move {
            // One at a time, because each may defer more.
            while let Some(deferred) = call.next_deferred() {
                let run = run(deferred, end);
                let is_late = match limit {
                    None => run.map(|()| false).await,
                    Some(limit) => timeout(limit, run).await.is_err(),
                };
                if is_late {
                    tracing::error!(?end, "a deferred function was dropped: it took longer than the grace period");
                }
            }
        }))
    }

    fn next_deferred(&self) -> Option<Deferred> {
        let mut teardown = lock(&self.0.teardown);
        let next = teardown.deferred.pop();
        teardown.is_over = next.is_none();
        next
    }

    /// How the round ended, once its teardown has begun.
    pub(crate) fn ending(&self) -> Option<CallEnd> {
        lock(&self.0.teardown).end
    }
}

/// Runs a deferred function. Its error is a value of the author too.
async fn run(deferred: Deferred, end: CallEnd) {
    let run = async {
        match deferred(end).await.map_err(CallError::into_text) {
            Ok(()) => Ok(()),
            Err(Ok(error)) => {
                tracing::error!(%error, ?end, "a deferred function failed");
                Ok(())
            }
            Err(Err(panicked)) => Err(panicked),
        }
    };
    let ran = AssertUnwindSafe(run).catch_unwind().await.map_err(Panicked::from);
    if ran.flatten().is_err() {
        tracing::error!(?end, "a deferred function panicked");
    }
}
