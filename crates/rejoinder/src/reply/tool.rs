use std::borrow::Cow;

use crate::model::{CallToolResult, ContentBlock, EmbeddedResource, Resource};
use serde_json::Value;

use super::{Audio, FunctionOutput, Image, Output, OutputSchema, finite::to_finite_value};
use crate::{call::Halt, error::CallError};

/// What a tool may return.
///
/// Texts become one text block. Numbers, `bool` and lists of these and of texts become a text block and `structuredContent` of
/// `{"result": ..}` with a schema, and [`Json`](super::Json) becomes structured content of any type. Content blocks stay what
/// they are, and `Result<_, E>` may fail with anything that is a [`CallError`].
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "not a tool result",
    note = "return text, a number, a `bool`, a `Vec` of these, a `char`, `()`, `Json<T>`, `Text<T: Display>`, content blocks, a \
            `CallToolResult`, a `Reply<T>`, a `ToolStream<T>`, or a `Result` of one of these",
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
    fn into_output(self) -> Result<FunctionOutput, Halt>
    where
        Self: Sized,
    {
        Ok(FunctionOutput::Done(Output::Tool(Box::new(self.into_tool_result()?))))
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

text!(&'static str Cow<'static, str> Box<str> char);

/// A result in both forms. What is not an object is wrapped in one, because clients before 2026-07-28 accept only objects.
pub(super) fn structured(text: String, value: Value) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    let wrapped = |value| Value::Object([("result".to_owned(), value)].into_iter().collect());
    result.structured_content = Some(if value.is_object() { value } else { wrapped(value) });
    result
}

macro_rules! plain {
    ($($type:ty)*) => { $(
        plain!($type, |plain, _| plain.to_string());
        plain!(Vec<$type>, |_, json: &Value| json.to_string());
    )* };
    ($type:ty, $text:expr) => {
        impl IntoToolResult for $type {
            fn into_tool_result(self) -> Result<CallToolResult, CallError> {
                let value = to_finite_value(&self)?;
                let text: fn(&Self, &Value) -> String = $text;
                Ok(structured(text(&self, &value), value))
            }

            fn output_schema() -> Option<OutputSchema> {
                Some(OutputSchema::of::<Self>())
            }
        }
    };
}

plain!(bool i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64);
plain!(Vec<String>, |_, json| json.to_string());
plain!(Vec<&'static str>, |_, json| json.to_string());
// A number of JSON does not hold these.
text!(i128 u128);
