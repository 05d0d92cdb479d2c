use serde::{Deserialize, Serialize};

use crate::{Annotations, CacheScope, Icon, JsonObject, Other, ResultType};

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
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Resource {
    /// Its URI.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// Its name, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The type of its contents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The size of its contents in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Its pictures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icons: Option<Vec<Icon>>,
    /// What the protocol does not define.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<JsonObject>,
    /// For whom it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Members that are not known here.
    #[serde(flatten)]
    pub other: Other,
}

impl Resource {
    /// The resource with this URI and name.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self { uri: uri.into(), name: name.into(), ..Self::default() }
    }
}

/// Resources with a common form of URI, as `resources/templates/list` shows them.
///
/// ```
/// use rejoinder_wire::ResourceTemplate;
/// use serde_json::json;
///
/// let notes = ResourceTemplate::new("note://{id}", "note");
/// assert_eq!(json!(notes), json!({ "uriTemplate": "note://{id}", "name": "note" }));
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceTemplate {
    /// Their URI, with variables in braces.
    pub uri_template: String,
    /// Their name.
    pub name: String,
    /// Their name, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The type of their contents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Their pictures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icons: Option<Vec<Icon>>,
    /// What the protocol does not define.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<JsonObject>,
    /// For whom they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Members that are not known here.
    #[serde(flatten)]
    pub other: Other,
}

impl ResourceTemplate {
    /// The resources with this form of URI and this name.
    pub fn new(uri_template: impl Into<String>, name: impl Into<String>) -> Self {
        Self { uri_template: uri_template.into(), name: name.into(), ..Self::default() }
    }
}

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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceContents {
    /// The URI of the resource.
    pub uri: String,
    /// Their type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The text or the bytes.
    #[serde(flatten)]
    pub data: ResourceData,
    /// What the protocol does not define.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<JsonObject>,
    /// Members that are not known here.
    #[serde(flatten)]
    pub other: Other,
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

/// The result of `resources/read`.
///
/// ```
/// use rejoinder_wire::{ReadResourceResult, ResourceContents};
///
/// let result = ReadResourceResult::new(vec![ResourceContents::text("note://1", "buy milk")]);
/// assert_eq!(result.contents[0].as_text(), Some("buy milk"));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ReadResourceResult {
    /// That it is complete. Sessions do not have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_type: Option<ResultType>,
    /// For how many milliseconds a client may keep it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
    /// Who may share what a client keeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_scope: Option<CacheScope>,
    /// The contents.
    pub contents: Vec<ResourceContents>,
    /// What the protocol does not define.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<JsonObject>,
    /// Members that are not known here.
    #[serde(flatten)]
    pub other: Other,
}

impl ReadResourceResult {
    /// These contents.
    pub fn new(contents: Vec<ResourceContents>) -> Self {
        let result_type = Some(ResultType::Complete);
        Self { result_type, ttl_ms: None, cache_scope: None, contents, meta: None, other: Other::default() }
    }
}
