use crate::model::ResourceContents;
use base64::{Engine, engine::general_purpose::STANDARD};

use super::{FunctionOutput, Json, Output, Structured};
use crate::{call::Halt, error::CallError};

/// What a resource holds, without its URI.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ResourceBody {
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// JSON, as text; its MIME type is `application/json` unless the resource names another.
    Json(String),
    /// Contents that name their URIs themselves.
    Contents(Vec<ResourceContents>),
}

impl ResourceBody {
    /// The contents of the resource at `uri`, with the MIME type that the resource declares.
    pub fn into_contents(self, uri: &str, mime_type: Option<&str>) -> Vec<ResourceContents> {
        let (contents, fallback) = match self {
            Self::Contents(contents) => return contents,
            Self::Text(text) => (ResourceContents::text(uri, text), "text/plain"),
            Self::Json(text) => (ResourceContents::text(uri, text), "application/json"),
            Self::Bytes(bytes) => (ResourceContents::blob(uri, STANDARD.encode(bytes)), "application/octet-stream"),
        };
        vec![contents.with_mime_type(mime_type.unwrap_or(fallback))]
    }
}

/// Bytes that a resource returns: `Vec<u8>` works too, this is for anything else that is bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blob<T>(pub T);

/// What a resource may return: text, bytes, [`Json`], or its contents.
#[diagnostic::on_unimplemented(
    message = "a resource cannot return `{Self}`",
    label = "not the contents of a resource",
    note = "return text, `Vec<u8>`, `Blob<T>`, `Json<T>`, `ResourceContents`, a `Reply<T>`, or a `Result` of one of these",
    note = "only a tool returns a `ToolStream`",
    note = "a type of your own can be returned if it implements `IntoResourceContents`"
)]
pub trait IntoResourceContents {
    /// The contents.
    ///
    /// # Errors
    ///
    /// The resource's own.
    fn into_resource_contents(self) -> Result<ResourceBody, CallError>;

    /// How the call ends: with the result, or in another round.
    #[doc(hidden)]
    fn into_output(self) -> Result<FunctionOutput, Halt>
    where
        Self: Sized,
    {
        Ok(FunctionOutput::Done(Output::Resource(self.into_resource_contents()?)))
    }

    /// Whether it makes rounds by hand, as [`Reply`](super::Reply) does.
    #[doc(hidden)]
    const BY_HAND: bool = false;
}

becomes! { IntoResourceContents::into_resource_contents -> ResourceBody {
    ResourceBody: body => body;
    String: text => ResourceBody::Text(text);
    &'static str: text => ResourceBody::Text(text.to_owned());
    Vec<u8>: bytes => ResourceBody::Bytes(bytes);
    ResourceContents: contents => ResourceBody::Contents(vec![contents]);
    Vec<ResourceContents>: contents => ResourceBody::Contents(contents);
} }

impl<T: AsRef<[u8]>> IntoResourceContents for Blob<T> {
    fn into_resource_contents(self) -> Result<ResourceBody, CallError> {
        Ok(ResourceBody::Bytes(self.0.as_ref().to_owned()))
    }
}

impl<T: Structured> IntoResourceContents for Json<T> {
    fn into_resource_contents(self) -> Result<ResourceBody, CallError> {
        Ok(ResourceBody::Json(serde_json::to_string(&self.0)?))
    }
}
