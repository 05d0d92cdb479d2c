//! Why a call fails.

mod call_error;
mod panic;

pub(crate) use call_error::CallErrorKind;
pub use call_error::{CallError, Halt};
pub(crate) use panic::Panicked;

/// Any error, in a box that can move between threads.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The JSON-RPC error codes that the rooms below `protocol` use; `protocol::error` has all of them.
pub(crate) const INTERNAL_ERROR: i32 = -32603;
pub(crate) const INVALID_PARAMS: i32 = -32602;
pub(crate) const MISSING_CAPABILITY: i32 = -32021;
