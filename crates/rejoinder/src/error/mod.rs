//! Why a call fails.

mod call_error;

pub(crate) use call_error::CallErrorKind;
pub use call_error::{CallError, Halt};

/// Any error, in a box that can move between threads.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
