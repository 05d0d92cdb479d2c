use std::{
    fmt,
    panic::AssertUnwindSafe,
    sync::{Mutex, MutexGuard, PoisonError},
};

use futures_util::FutureExt;

use super::Call;
use crate::{BoxFuture, error::ToolError};

/// How a round of a call ended, as what it deferred is told.
///
/// ```
/// use rejoinder_core::call::Ending;
///
/// async fn close(transaction: Vec<&'static str>, ending: Ending) -> &'static str {
///     if ending.is_success() { "committed" } else { "rolled back" }
/// }
/// # futures_util::FutureExt::now_or_never(async {
/// assert_eq!(close(vec!["insert"], Ending::Pending).await, "rolled back");
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ending {
    /// The function returned what was asked of it.
    Succeeded,
    /// It returned an error, or a resolver did, or the user declined.
    Failed,
    /// It panicked.
    Panicked,
    /// It waits for an answer: the call goes on in another round, from the top.
    Pending,
    /// The client gave up, or the server stops.
    Cancelled,
}

impl Ending {
    /// Whether the call is over and went well; a round that ends in a question is neither.
    pub fn is_success(self) -> bool {
        self == Self::Succeeded
    }
}

/// What runs when a round ends.
type Deferred = Box<dyn FnOnce(Ending) -> BoxFuture<'static, Result<(), ToolError>> + Send>;

/// What a round has deferred, the last at the end.
#[derive(Default)]
pub(super) struct Stack(Mutex<Vec<Deferred>>);

impl Stack {
    fn lock(&self) -> MutexGuard<'_, Vec<Deferred>> {
        // Every statement leaves it valid.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stack({})", self.lock().len())
    }
}

impl Call {
    /// Lets something run when the round ends.
    pub(crate) fn defer(&self, deferred: Deferred) {
        self.0.deferred.lock().push(deferred);
    }

    /// Runs what was deferred, the last first; `None` if nothing was.
    ///
    /// What fails or panics is logged, and the others run all the same.
    pub fn teardown(&self, ending: Ending) -> Option<BoxFuture<'static, ()>> {
        if self.0.deferred.lock().is_empty() {
            return None;
        }
        let call = self.clone();
        Some(Box::pin(async move {
            // One at a time, because each may defer more.
            while let Some(deferred) = call.pop_deferred() {
                match AssertUnwindSafe(async { deferred(ending).await }).catch_unwind().await {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) => tracing::error!(%error, ?ending, "what a call deferred has failed"),
                    Err(_) => tracing::error!(?ending, "what a call deferred has panicked"),
                }
            }
        }))
    }

    fn pop_deferred(&self) -> Option<Deferred> {
        self.0.deferred.lock().pop()
    }
}
