//! Why a call fails.

mod call_error;
mod refusal_log;

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Mutex, MutexGuard, PoisonError},
};

pub use call_error::CallError;
pub(crate) use call_error::CallErrorKind;
pub(crate) use call_error::text_or_error;
pub(crate) use refusal_log::RefusalLog;

/// Any error, in a box that can move between threads.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why a call gave no result.
#[derive(Debug)]
pub(crate) enum Failed {
    /// Its function, something that it needs, or something that it deferred returned an error.
    Error(CallError),
    /// The author's code panicked; the panic's own message is in the log.
    Panicked,
}

/// Code of the author panicked. That ends the call that runs the code, and nothing else; the panic's own message is in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Panicked;

impl Panicked {
    /// Runs code of the author.
    pub(crate) fn catch<T>(code: impl FnOnce() -> T) -> Result<T, Self> {
        catch_unwind(AssertUnwindSafe(code)).map_err(Self::from)
    }
}

impl From<Box<dyn Any + Send>> for Panicked {
    fn from(payload: Box<dyn Any + Send>) -> Self {
        // The payload of `panic_any` is a value of the author, whose `Drop` may panic; then the second payload is leaked.
        if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            std::mem::forget(second);
        }
        Self
    }
}

/// Locks a mutex, also after a panic: every statement that runs under such a lock leaves its data valid.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
