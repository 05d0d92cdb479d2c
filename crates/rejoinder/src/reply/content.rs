use std::fmt::Display;

use base64::{Engine, engine::general_purpose::STANDARD};
use rmcp::model::{AudioContent, CallToolResult, ContentBlock, ImageContent};

use super::IntoToolResult;
use crate::error::CallError;

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

impl IntoToolResult for Image {
    fn into_tool_result(self) -> Result<CallToolResult, CallError> {
        ContentBlock::from(self).into_tool_result()
    }
}

impl IntoToolResult for Audio {
    fn into_tool_result(self) -> Result<CallToolResult, CallError> {
        ContentBlock::from(self).into_tool_result()
    }
}
