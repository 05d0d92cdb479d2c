//! What a result, a prompt or a sampling message contains.

use serde::{Deserialize, Deserializer, Serialize};

use crate::{JsonObject, Other, Resource, ResourceContents, other::Tagged};

/// Who speaks.
///
/// ```
/// assert_eq!(serde_json::json!(rejoinder_wire::Role::Assistant), "assistant");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Role {
    /// The user.
    User,
    /// The model.
    Assistant,
    /// A role that is not known here.
    #[serde(untagged)]
    Other(String),
}

object! {
    /// For whom something is, and how important it is.
    ///
    /// ```
    /// use rejoinder_wire::{Annotations, Role, TextContent};
    ///
    /// let mut text = TextContent::new("for the model only");
    /// let mut annotations = Annotations::default();
    /// annotations.audience = Some(vec![Role::Assistant]);
    /// text.annotations = Some(annotations);
    /// ```
    #[derive(Default)]
    pub struct Annotations {
        /// For whom it is.
        pub audience: Option<Vec<Role>>,
        /// From 0 (optional) to 1 (required).
        pub priority: Option<f64>,
        /// When it changed, in ISO 8601.
        pub last_modified: Option<String>,
    }
}

object! {
    /// A text.
    ///
    /// ```
    /// use rejoinder_wire::{ContentBlock, TextContent};
    ///
    /// assert_eq!(ContentBlock::text("hi"), ContentBlock::Text(TextContent::new("hi")));
    /// ```
    pub struct TextContent {
        /// The text.
        pub text: String,
        /// What the protocol does not define.
        pub meta: Option<JsonObject>,
        /// For whom it is.
        pub annotations: Option<Annotations>,
    }
}

impl TextContent {
    /// This text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), meta: None, annotations: None, other: Other::default() }
    }
}

object! {
    /// A picture.
    ///
    /// ```
    /// use rejoinder_wire::ImageContent;
    ///
    /// let dot = ImageContent::new("R0lGODlhAQABAAAAACw=", "image/gif");
    /// assert_eq!(dot.mime_type, "image/gif");
    /// ```
    pub struct ImageContent {
        /// The bytes in base64.
        pub data: String,
        /// Their type.
        pub mime_type: String,
        /// What the protocol does not define.
        pub meta: Option<JsonObject>,
        /// For whom it is.
        pub annotations: Option<Annotations>,
    }
}

impl ImageContent {
    /// Bytes in base64 and their type.
    pub fn new(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        let (data, mime_type) = (data.into(), mime_type.into());
        Self { data, mime_type, meta: None, annotations: None, other: Other::default() }
    }
}

object! {
    /// A sound.
    ///
    /// ```
    /// use rejoinder_wire::AudioContent;
    ///
    /// let silence = AudioContent::new("UklGRiQAAABXQVZF", "audio/wav");
    /// assert_eq!(silence.mime_type, "audio/wav");
    /// ```
    pub struct AudioContent {
        /// The bytes in base64.
        pub data: String,
        /// Their type.
        pub mime_type: String,
        /// What the protocol does not define.
        pub meta: Option<JsonObject>,
        /// For whom it is.
        pub annotations: Option<Annotations>,
    }
}

impl AudioContent {
    /// Bytes in base64 and their type.
    pub fn new(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        let (data, mime_type) = (data.into(), mime_type.into());
        Self { data, mime_type, meta: None, annotations: None, other: Other::default() }
    }
}

object! {
    /// The contents of a resource, inside a result.
    ///
    /// ```
    /// use rejoinder_wire::{EmbeddedResource, ResourceContents};
    ///
    /// let note = EmbeddedResource::new(ResourceContents::text("note://1", "buy milk"));
    /// assert_eq!(note.resource.as_text(), Some("buy milk"));
    /// ```
    pub struct EmbeddedResource {
        /// The contents.
        pub resource: ResourceContents,
        /// What the protocol does not define.
        pub meta: Option<JsonObject>,
        /// For whom it is.
        pub annotations: Option<Annotations>,
    }
}

impl EmbeddedResource {
    /// These contents.
    pub fn new(resource: ResourceContents) -> Self {
        Self { resource, meta: None, annotations: None, other: Other::default() }
    }
}

/// A part of a result or of a message.
///
/// ```
/// use rejoinder_wire::{ContentBlock, Resource};
/// use serde_json::json;
///
/// let link = ContentBlock::ResourceLink(Resource::new("note://1", "note"));
/// assert_eq!(json!(link), json!({ "type": "resource_link", "uri": "note://1", "name": "note" }));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ContentBlock {
    /// A text.
    Text(TextContent),
    /// A picture.
    Image(ImageContent),
    /// A sound.
    Audio(AudioContent),
    /// The contents of a resource.
    Resource(EmbeddedResource),
    /// A resource that the client may read.
    ResourceLink(Resource),
    /// A block that is not known here, with its `type`.
    #[serde(untagged)]
    Other(JsonObject),
}

impl<'de> Deserialize<'de> for ContentBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let block = Tagged::read(deserializer, "type", None)?;
        match block.tag() {
            "text" => block.into_known().map(Self::Text),
            "image" => block.into_known().map(Self::Image),
            "audio" => block.into_known().map(Self::Audio),
            "resource" => block.into_known().map(Self::Resource),
            "resource_link" => block.into_known().map(Self::ResourceLink),
            _ => Ok(Self::Other(block.into_object())),
        }
    }
}

impl ContentBlock {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent::new(text))
    }

    /// The contents of a resource.
    pub fn resource(contents: ResourceContents) -> Self {
        Self::Resource(EmbeddedResource::new(contents))
    }

    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&TextContent> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}
