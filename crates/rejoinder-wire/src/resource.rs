use serde::{Deserialize, Serialize};

use crate::{Annotations, CacheScope, Icon, JsonObject, Other, ResultType};

object! {
    /// A resource, as `resources/list` shows it, and as a link in a result.
    ///
    /// ```
    /// use rejoinder_wire::Resource;
    /// use serde_json::json;
    ///
    /// let mut note = Resource::new("note://1", "note");
    /// note.mime_type = Some("text/plain".to_owned());
    /// assert_eq!(json!(note), json!({ "uri": "note://1", "name": "note", "mimeType": "text/plain" }));
    /// ```
    #[derive(Default)]
    pub struct Resource {
        /// Its URI.
        pub uri: String,
        /// Its name.
        pub name: String,
        /// Its name, for people.
        pub title: Option<String>,
        /// What it is.
        pub description: Option<String>,
        /// The type of its contents.
        pub mime_type: Option<String>,
        /// The size of its contents in bytes.
        pub size: Option<u64>,
        /// Its pictures.
        pub icons: Option<Vec<Icon>>,
        /// What the protocol does not define.
        pub meta: Option<JsonObject>,
        /// For whom it is.
        pub annotations: Option<Annotations>,
    }
}

impl Resource {
    /// The resource with this URI and name.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self { uri: uri.into(), name: name.into(), ..Self::default() }
    }
}

object! {
    /// Resources with a common form of URI, as `resources/templates/list` shows them.
    ///
    /// ```
    /// use rejoinder_wire::ResourceTemplate;
    /// use serde_json::json;
    ///
    /// let notes = ResourceTemplate::new("note://{id}", "note");
    /// assert_eq!(json!(notes), json!({ "uriTemplate": "note://{id}", "name": "note" }));
    /// ```
    #[derive(Default)]
    pub struct ResourceTemplate {
        /// Their URI, with variables in braces.
        pub uri_template: String,
        /// Their name.
        pub name: String,
        /// Their name, for people.
        pub title: Option<String>,
        /// What they are.
        pub description: Option<String>,
        /// The type of their contents.
        pub mime_type: Option<String>,
        /// Their pictures.
        pub icons: Option<Vec<Icon>>,
        /// What the protocol does not define.
        pub meta: Option<JsonObject>,
        /// For whom they are.
        pub annotations: Option<Annotations>,
    }
}

impl ResourceTemplate {
    /// The resources with this form of URI and this name.
    pub fn new(uri_template: impl Into<String>, name: impl Into<String>) -> Self {
        Self { uri_template: uri_template.into(), name: name.into(), ..Self::default() }
    }
}

object! {
    /// What is in a resource.
    ///
    /// ```
    /// use rejoinder_wire::ResourceContents;
    /// use serde_json::json;
    ///
    /// let mut note = ResourceContents::text("note://1", "buy milk");
    /// assert_eq!(json!(note), json!({ "uri": "note://1", "mimeType": "text/plain", "text": "buy milk" }));
    /// note.mime_type = Some("text/markdown".to_owned());
    /// ```
    pub struct ResourceContents {
        /// The URI of the resource.
        pub uri: String,
        /// Their type.
        pub mime_type: Option<String>,
        /// The text or the bytes.
        #[serde(flatten)]
        pub data: ResourceData,
        /// What the protocol does not define.
        pub meta: Option<JsonObject>,
    }
}

/// The text or the bytes of a resource.
///
/// ```
/// use rejoinder_wire::{ResourceContents, ResourceData};
///
/// let dot = ResourceContents::blob("image://dot", "R0lGODlhAQABAAAAACw=");
/// assert!(matches!(dot.data, ResourceData::Blob(_)));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ResourceData {
    /// A text.
    Text(String),
    /// Bytes in base64.
    Blob(String),
}

impl ResourceContents {
    /// A text, as `text/plain`.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self { mime_type: Some("text/plain".to_owned()), ..Self::new(uri.into(), ResourceData::Text(text.into())) }
    }

    /// Bytes in base64.
    pub fn blob(uri: impl Into<String>, blob: impl Into<String>) -> Self {
        Self::new(uri.into(), ResourceData::Blob(blob.into()))
    }

    fn new(uri: String, data: ResourceData) -> Self {
        Self { uri, mime_type: None, data, meta: None, other: Other::default() }
    }

    /// The same contents with this type.
    #[must_use]
    pub fn with_mime_type(self, mime_type: impl Into<String>) -> Self {
        Self { mime_type: Some(mime_type.into()), ..self }
    }

    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match &self.data {
            ResourceData::Text(text) => Some(text),
            ResourceData::Blob(_) => None,
        }
    }
}

object! {
    /// The result of `resources/read`.
    ///
    /// ```
    /// use rejoinder_wire::{ReadResourceResult, ResourceContents};
    ///
    /// let result = ReadResourceResult::new(vec![ResourceContents::text("note://1", "buy milk")]);
    /// assert_eq!(result.contents[0].as_text(), Some("buy milk"));
    /// ```
    pub struct ReadResourceResult {
        /// That it is complete. Sessions do not have it.
        pub result_type: Option<ResultType>,
        /// For how many milliseconds a client may keep it.
        pub ttl_ms: Option<u64>,
        /// Who may share what a client keeps.
        pub cache_scope: Option<CacheScope>,
        /// The contents.
        pub contents: Vec<ResourceContents>,
        /// What the protocol does not define.
        pub meta: Option<JsonObject>,
    }
}

impl ReadResourceResult {
    /// These contents.
    pub fn new(contents: Vec<ResourceContents>) -> Self {
        let result_type = Some(ResultType::Complete);
        Self { result_type, ttl_ms: None, cache_scope: None, contents, meta: None, other: Other::default() }
    }
}
