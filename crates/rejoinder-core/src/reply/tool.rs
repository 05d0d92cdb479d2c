use std::borrow::Cow;

use rmcp::model::{CallToolResult, ContentBlock, EmbeddedResource, Resource};

use super::Failure;
use crate::{error::ToolError, schema::OutputSchema};

/// What a tool may return.
///
/// Texts and numbers become one text block, [`Json`](super::Json) becomes `structuredContent` with a schema,
/// content blocks stay what they are, and `Result<_, E>` may fail with anything that is a [`ToolError`].
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "not a reply",
    note = "return text, a number, `Json<T>`, `Text<T: Display>`, content blocks, a `CallToolResult`, or a `Result` of one of these"
)]
pub trait IntoReply {
    /// The result the client gets.
    ///
    /// # Errors
    ///
    /// The tool's own.
    fn into_reply(self) -> Result<CallToolResult, ToolError>;

    /// The schema of `structuredContent`, if there is any.
    fn output_schema() -> Option<OutputSchema> {
        None
    }

    /// Whether it makes rounds by hand, as [`Reply`](super::Reply) does.
    const BY_HAND: bool = false;
}

impl IntoReply for CallToolResult {
    fn into_reply(self) -> Result<CallToolResult, ToolError> {
        Ok(self)
    }
}

impl IntoReply for () {
    fn into_reply(self) -> Result<CallToolResult, ToolError> {
        Ok(CallToolResult::success(Vec::new()))
    }
}

impl IntoReply for Vec<ContentBlock> {
    fn into_reply(self) -> Result<CallToolResult, ToolError> {
        Ok(CallToolResult::success(self))
    }
}

impl<const N: usize> IntoReply for [ContentBlock; N] {
    fn into_reply(self) -> Result<CallToolResult, ToolError> {
        Ok(CallToolResult::success(self.into()))
    }
}

impl IntoReply for ContentBlock {
    fn into_reply(self) -> Result<CallToolResult, ToolError> {
        Ok(CallToolResult::success(vec![self]))
    }
}

impl IntoReply for EmbeddedResource {
    fn into_reply(self) -> Result<CallToolResult, ToolError> {
        ContentBlock::Resource(self).into_reply()
    }
}

/// A link to the resource.
impl IntoReply for Resource {
    fn into_reply(self) -> Result<CallToolResult, ToolError> {
        ContentBlock::ResourceLink(self).into_reply()
    }
}

impl<T: IntoReply, E: Failure> IntoReply for Result<T, E> {
    fn into_reply(self) -> Result<CallToolResult, ToolError> {
        self.map_err(Failure::into_tool_error)?.into_reply()
    }

    fn output_schema() -> Option<OutputSchema> {
        T::output_schema()
    }

    const BY_HAND: bool = T::BY_HAND;
}

impl IntoReply for String {
    fn into_reply(self) -> Result<CallToolResult, ToolError> {
        ContentBlock::text(self).into_reply()
    }
}

macro_rules! text {
    ($($type:ty)*) => { $(
        impl IntoReply for $type {
            fn into_reply(self) -> Result<CallToolResult, ToolError> {
                self.to_string().into_reply()
            }
        }
    )* };
}

text!(&'static str Cow<'static, str> Box<str> char bool);
text!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64);
