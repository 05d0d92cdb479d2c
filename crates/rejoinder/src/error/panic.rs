//! Panics of the author's code. They end the call that runs the code, and nothing else.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// Code of the author panicked. The panic's own message is in the log.
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
