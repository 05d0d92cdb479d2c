//! How a function says that it cannot.

mod tool_error;

pub use tool_error::{ToolError, ToolErrorKind};
