//! What a client and a server can do.

use serde::{Deserialize, Serialize};

use crate::{JsonObject, Other};

/// What a client can do.
///
/// ```
/// use rejoinder_wire::{ClientCapabilities, ElicitationCapability};
/// use serde_json::json;
///
/// let mut can = ClientCapabilities::default();
/// can.elicitation = Some(ElicitationCapability::default());
/// assert_eq!(json!(can), json!({ "elicitation": {} }));
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ClientCapabilities {
    /// What is not standardised, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub experimental: Option<JsonObject>,
    /// Extensions of the protocol, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extensions: Option<JsonObject>,
    /// It has folders that a server may know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roots: Option<RootsCapability>,
    /// It has a model that a server may ask.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling: Option<SamplingCapability>,
    /// It has a user that a server may ask.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elicitation: Option<ElicitationCapability>,
    /// Members that are not known here.
    #[serde(flatten)]
    pub other: Other,
}

/// How a client shows its folders.
///
/// ```
/// let mut roots = rejoinder_wire::RootsCapability::default();
/// roots.list_changed = Some(true);
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RootsCapability {
    /// It says when they change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_changed: Option<bool>,
    /// Members that are not known here.
    #[serde(flatten)]
    pub other: Other,
}

/// What a server may ask of a client's model.
///
/// ```
/// let mut sampling = rejoinder_wire::SamplingCapability::default();
/// sampling.tools = Some(serde_json::Map::new());
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SamplingCapability {
    /// It can use tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<JsonObject>,
    /// It can be given the context of other servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<JsonObject>,
    /// Members that are not known here.
    #[serde(flatten)]
    pub other: Other,
}

/// How a client asks its user. Neither member means forms.
///
/// ```
/// let mut elicitation = rejoinder_wire::ElicitationCapability::default();
/// elicitation.url = Some(serde_json::Map::new());
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ElicitationCapability {
    /// With forms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<JsonObject>,
    /// With pages to visit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<JsonObject>,
    /// Members that are not known here.
    #[serde(flatten)]
    pub other: Other,
}

/// What a server can do.
///
/// ```
/// use rejoinder_wire::{ServerCapabilities, ToolsCapability};
/// use serde_json::json;
///
/// let mut can = ServerCapabilities::default();
/// can.tools = Some(ToolsCapability::default());
/// assert_eq!(json!(can), json!({ "tools": {} }));
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerCapabilities {
    /// What is not standardised, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub experimental: Option<JsonObject>,
    /// Extensions of the protocol, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extensions: Option<JsonObject>,
    /// It sends log messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logging: Option<JsonObject>,
    /// It completes arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completions: Option<JsonObject>,
    /// It has prompts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompts: Option<PromptsCapability>,
    /// It has resources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourcesCapability>,
    /// It has tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<ToolsCapability>,
    /// Members that are not known here.
    #[serde(flatten)]
    pub other: Other,
}

/// How a server offers prompts.
///
/// ```
/// let mut prompts = rejoinder_wire::PromptsCapability::default();
/// prompts.list_changed = Some(true);
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PromptsCapability {
    /// It says when their list changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_changed: Option<bool>,
    /// Members that are not known here.
    #[serde(flatten)]
    pub other: Other,
}

/// How a server offers resources.
///
/// ```
/// let mut resources = rejoinder_wire::ResourcesCapability::default();
/// resources.subscribe = Some(true);
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourcesCapability {
    /// It says when one of them changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subscribe: Option<bool>,
    /// It says when their list changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_changed: Option<bool>,
    /// Members that are not known here.
    #[serde(flatten)]
    pub other: Other,
}

/// How a server offers tools.
///
/// ```
/// let mut tools = rejoinder_wire::ToolsCapability::default();
/// tools.list_changed = Some(true);
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolsCapability {
    /// It says when their list changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_changed: Option<bool>,
    /// Members that are not known here.
    #[serde(flatten)]
    pub other: Other,
}
