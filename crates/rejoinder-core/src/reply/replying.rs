use std::fmt;

use rmcp::model::{CallToolResult, GetPromptResult};

use super::{IntoPrompt, IntoReply, IntoResource, ResourceBody};
use crate::{error::ToolError, schema::OutputSchema};

/// How a function's return type `T` becomes the result `O`.
///
/// The macros make one for each function and use nothing else of the return type, so that a type which is no reply
/// is one error.
pub struct Replying<T, O> {
    /// The result the client gets.
    pub reply: fn(T) -> Result<O, ToolError>,
    /// The schema of `structuredContent`, if there is any.
    pub output_schema: fn() -> Option<OutputSchema>,
}

/// How a tool replies with `T`.
pub const fn tool_reply<T: IntoReply>() -> Replying<T, CallToolResult> {
    Replying { reply: T::into_reply, output_schema: T::output_schema }
}

/// How a prompt replies with `T`.
pub const fn prompt_reply<T: IntoPrompt>() -> Replying<T, GetPromptResult> {
    Replying { reply: T::into_prompt, output_schema: || None }
}

/// How a resource replies with `T`.
pub const fn resource_reply<T: IntoResource>() -> Replying<T, ResourceBody> {
    Replying { reply: T::into_resource, output_schema: || None }
}

impl<T, O> fmt::Debug for Replying<T, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Replying")
    }
}
