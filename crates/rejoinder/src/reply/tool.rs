use std::borrow::Cow;

use rmcp::model::{CallToolResult, ContentBlock, EmbeddedResource, Resource};

use super::{Audio, Image};
use crate::{
    error::{CallError, Halt},
    item::Output,
    schema::OutputSchema,
};

/// What a tool may return.
///
/// Texts and numbers become one text block, [`Json`](super::Json) becomes `structuredContent` with a schema,
/// content blocks stay what they are, and `Result<_, E>` may fail with anything that is a [`CallError`].
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "not a tool result",
    note = "return text, a number, a `bool`, a `char`, `()`, `Json<T>`, `Text<T: Display>`, content blocks, a `CallToolResult`, a \
            `Reply<T>`, a `ToolStream<T>`, or a `Result` of one of these",
    note = "a type of your own can be returned if it implements `IntoToolResult`"
)]
pub trait IntoToolResult {
    /// The result the client gets.
    ///
    /// # Errors
    ///
    /// The tool's own.
    fn into_tool_result(self) -> Result<CallToolResult, CallError>;

    /// How the call ends: with the result, or in another round.
    #[doc(hidden)]
    fn into_output(self) -> Result<Output, Halt>
    where
        Self: Sized,
    {
        Ok(Output::Tool(Box::new(self.into_tool_result()?)))
    }

    /// The schema of `structuredContent`, if there is any.
    fn output_schema() -> Option<OutputSchema> {
        None
    }

    /// Whether it makes rounds by hand, as [`Reply`](super::Reply) does.
    #[doc(hidden)]
    const BY_HAND: bool = false;
}

becomes! { IntoToolResult::into_tool_result -> CallToolResult {
    CallToolResult: result => result;
    (): _nothing => CallToolResult::success(Vec::new());
    Vec<ContentBlock>: blocks => CallToolResult::success(blocks);
    ContentBlock: block => CallToolResult::success(vec![block]);
    EmbeddedResource: resource => ContentBlock::Resource(resource).into_tool_result()?;
    // A link to the resource.
    Resource: resource => ContentBlock::ResourceLink(resource).into_tool_result()?;
    Image: image => ContentBlock::from(image).into_tool_result()?;
    Audio: audio => ContentBlock::from(audio).into_tool_result()?;
    String: text => ContentBlock::text(text).into_tool_result()?;
} }

impl<const N: usize> IntoToolResult for [ContentBlock; N] {
    fn into_tool_result(self) -> Result<CallToolResult, CallError> {
        Ok(CallToolResult::success(self.into()))
    }
}

macro_rules! text {
    ($($type:ty)*) => { becomes! { IntoToolResult::into_tool_result -> CallToolResult {
        $($type: value => value.to_string().into_tool_result()?;)*
    } } };
}

text!(&'static str Cow<'static, str> Box<str> char bool);
text!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64);
