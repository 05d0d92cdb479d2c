//! How a function says that it cannot.

mod halt;
mod missing_capability;
mod tool_error;

pub use halt::Halt;
pub use tool_error::{ToolError, ToolErrorKind};
