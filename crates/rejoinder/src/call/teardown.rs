use std::{
    fmt,
    panic::AssertUnwindSafe,
    sync::{Mutex, MutexGuard, PoisonError},
};

use futures_util::FutureExt;
use tokio::runtime::Handle;

use super::Call;
use crate::{BoxFuture, error::CallError};

/// How a round of a call ended, as what it deferred is told.
///
/// ```
/// use rejoinder::CallEnd;
///
/// async fn close(transaction: Vec<&'static str>, ending: CallEnd) -> &'static str {
///     if ending.is_success() { "committed" } else { "rolled back" }
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// assert_eq!(close(vec!["insert"], CallEnd::Pending).await, "rolled back");
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallEnd {
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

impl CallEnd {
    /// Whether the call is over and went well; a round that ends in a question is neither.
    pub fn is_success(self) -> bool {
        self == Self::Succeeded
    }
}

/// What runs when a round ends.
type Deferred = Box<dyn FnOnce(CallEnd) -> BoxFuture<'static, Result<(), CallError>> + Send>;

/// What a round has deferred, and whether it has ended.
#[derive(Default)]
pub(super) struct Stack(Mutex<StackState>);

#[derive(Default)]
struct StackState {
    /// The last at the end.
    deferred: Vec<Deferred>,
    stage: Stage,
}

#[derive(Clone, Copy, Default)]
enum Stage {
    #[default]
    Running,
    /// What was deferred runs; it may defer more.
    CallEnd(CallEnd),
    /// All of it has run.
    Ended(CallEnd),
}

impl Stack {
    fn lock(&self) -> MutexGuard<'_, StackState> {
        // Every statement leaves it valid.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StackState {
    /// The last that was deferred; if there is none left, the round has ended.
    fn pop(&mut self, ending: CallEnd) -> Option<Deferred> {
        let last = self.deferred.pop();
        if last.is_none() {
            self.stage = Stage::Ended(ending);
        }
        last
    }
}

impl fmt::Debug for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stack({})", self.lock().deferred.len())
    }
}

impl Call {
    /// Lets something run when the round ends; at once, in a task of its own, if it has ended.
    pub(crate) fn defer(&self, deferred: Deferred) {
        let ending = {
            let mut state = self.0.deferred.lock();
            match state.stage {
                Stage::Ended(ending) => ending,
                Stage::Running | Stage::CallEnd(_) => return state.deferred.push(deferred),
            }
        };
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(run(deferred, ending))),
            Err(_) => tracing::error!("what was deferred after a call's end cannot run outside a tokio runtime"),
        }
    }

    /// Runs what was deferred, the last first; `None` if nothing was.
    ///
    /// What fails or panics is logged, and the others run all the same.
    pub fn teardown(&self, ending: CallEnd) -> Option<BoxFuture<'static, ()>> {
        let mut state = self.0.deferred.lock();
        match (state.stage, state.deferred.is_empty()) {
            (Stage::Ended(_), _) => return None,
            (_, true) => {
                state.stage = Stage::Ended(ending);
                return None;
            }
            (_, false) => state.stage = Stage::CallEnd(ending),
        }
        let call = self.clone();
        Some(Box::pin(async move {
            // One at a time, because each may defer more.
            while let Some(deferred) = call.pop_deferred(ending) {
                run(deferred, ending).await;
            }
        }))
    }

    fn pop_deferred(&self, ending: CallEnd) -> Option<Deferred> {
        self.0.deferred.lock().pop(ending)
    }

    /// How the round ended, if what it deferred runs or has run.
    pub(crate) fn ending(&self) -> Option<CallEnd> {
        match self.0.deferred.lock().stage {
            Stage::Running => None,
            Stage::CallEnd(ending) | Stage::Ended(ending) => Some(ending),
        }
    }

    /// Says that another round begins in the same call.
    pub(super) fn reopen_teardown(&self) {
        self.0.deferred.lock().stage = Stage::Running;
    }
}

async fn run(deferred: Deferred, ending: CallEnd) {
    match AssertUnwindSafe(async { deferred(ending).await }).catch_unwind().await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::error!(%error, ?ending, "what a call deferred has failed"),
        Err(_) => tracing::error!(?ending, "what a call deferred has panicked"),
    }
}
