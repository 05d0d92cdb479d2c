use std::fmt::Display;

use crate::model::{AudioContent, CallToolResult, ContentBlock, ImageContent};
use base64::{Engine, engine::general_purpose::STANDARD};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::{IntoToolResult, OutputSchema, finite::to_finite_value, tool::structured};
use crate::error::CallError;

/// A structured result: `structuredContent` with a matching `outputSchema`, and the same as text for old clients.
///
/// ```
/// use rejoinder::{Json, reply::IntoToolResult};
///
/// #[derive(serde::Serialize, schemars::JsonSchema)]
/// struct Sum { total: i64 }
///
/// let reply = Json(Sum { total: 3 }).into_tool_result()?;
/// assert_eq!(reply.structured_content, Some(serde_json::json!({ "total": 3 })));
/// # Ok::<(), rejoinder::CallError>(())
/// ```
///
/// A value that is not an object is sent as `{"result": ..}`. A number that JSON does not have (NaN, infinity) fails the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Json<T>(pub T);

/// What [`Json`] can carry.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a structured result",
    label = "`Json` cannot carry this type",
    note = "a structured result implements `serde::Serialize` and `schemars::JsonSchema`"
)]
pub trait Structured: Serialize + JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + JsonSchema> Structured for T {}

impl<T: Structured> IntoToolResult for Json<T> {
    fn into_tool_result(self) -> Result<CallToolResult, CallError> {
        let value = to_finite_value(&self.0)?;
        let value = if value.is_object() { value } else { json!({ "result": value }) };
        Ok(structured(value.to_string(), value))
    }

    fn output_schema() -> Option<OutputSchema> {
        Some(OutputSchema::of::<T>())
    }
}

/// Anything that can be displayed, as text.
///
/// ```
/// use rejoinder::reply::Text;
///
/// async fn whoami() -> Text<std::net::Ipv4Addr> {
///     Text(std::net::Ipv4Addr::LOCALHOST)
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Text<T>(pub T);

impl<T: Display> IntoToolResult for Text<T> {
    fn into_tool_result(self) -> Result<CallToolResult, CallError> {
        self.0.to_string().into_tool_result()
    }
}

/// An image, from its bytes.
///
/// ```
/// use rejoinder::reply::Image;
///
/// async fn logo() -> Image {
///     Image::new("image/png", b"\x89PNG...")
/// }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Image(ImageContent);

impl Image {
    /// An image of that MIME type.
    pub fn new(mime_type: impl Into<String>, bytes: impl AsRef<[u8]>) -> Self {
        Self(ImageContent::new(STANDARD.encode(bytes), mime_type))
    }
}

/// A sound, from its bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Audio(AudioContent);

impl Audio {
    /// A sound of that MIME type.
    pub fn new(mime_type: impl Into<String>, bytes: impl AsRef<[u8]>) -> Self {
        Self(AudioContent::new(STANDARD.encode(bytes), mime_type))
    }
}

impl From<Image> for ContentBlock {
    fn from(image: Image) -> Self {
        Self::Image(image.0)
    }
}

impl From<Audio> for ContentBlock {
    fn from(audio: Audio) -> Self {
        Self::Audio(audio.0)
    }
}
