//! Why a call fails.

mod call_error;
mod refusal_log;

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
};

pub(crate) use call_error::CallErrorKind;
pub(crate) use call_error::text_of;
pub use call_error::{CallError, Halt};
pub(crate) use refusal_log::RefusalLog;

/// Any error, in a box that can move between threads.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The JSON-RPC error codes that the rooms below `protocol` use; `protocol::error` has all of them.
pub(crate) const INTERNAL_ERROR: i32 = -32603;
pub(crate) const INVALID_PARAMS: i32 = -32602;
pub(crate) const MISSING_CAPABILITY: i32 = -32021;

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
