use serde::{Deserialize, Serialize};

use crate::{ContentBlock, Icon, JsonObject, Other, ResultType, Role};

/// A prompt, as `prompts/list` shows it.
///
/// ```
/// use rejoinder_wire::{Prompt, PromptArgument};
/// use serde_json::json;
///
/// let mut prompt = Prompt::new("review");
/// prompt.arguments = Some(vec![PromptArgument::new("code")]);
/// assert_eq!(json!(prompt), json!({ "name": "review", "arguments": [{ "name": "code" }] }));
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Prompt {
    /// Its name.
    pub name: String,
    /// Its name, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Vec<PromptArgument>>,
    /// Its pictures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icons: Option<Vec<Icon>>,
    /// What the protocol does not define.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<JsonObject>,
    /// Members that are not known here.
    #[serde(flatten)]
    pub other: Other,
}

impl Prompt {
    /// A prompt with this name.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }
}

/// An argument of a prompt.
///
/// ```
/// use rejoinder_wire::PromptArgument;
///
/// let mut code = PromptArgument::new("code");
/// code.required = Some(true);
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// Its name, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether it must be sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
    /// Members that are not known here.
    #[serde(flatten)]
    pub other: Other,
}

impl PromptArgument {
    /// An argument with this name.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }
}

/// A message of a prompt.
///
/// ```
/// use rejoinder_wire::{ContentBlock, PromptMessage, Role};
///
/// let message = PromptMessage::new(Role::User, ContentBlock::text("Review this."));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PromptMessage {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: ContentBlock,
    /// Members that are not known here.
    #[serde(flatten)]
    pub other: Other,
}

impl PromptMessage {
    /// A message of this role.
    pub fn new(role: Role, content: ContentBlock) -> Self {
        Self { role, content, other: Other::default() }
    }

    /// A text of this role.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self::new(role, ContentBlock::text(text))
    }
}

/// The result of `prompts/get`.
///
/// ```
/// use rejoinder_wire::{GetPromptResult, PromptMessage, Role};
///
/// let mut result = GetPromptResult::new(vec![PromptMessage::text(Role::User, "Review this.")]);
/// result.description = Some("A review".to_owned());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GetPromptResult {
    /// That it is complete. Sessions do not have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_type: Option<ResultType>,
    /// What the prompt is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The messages.
    pub messages: Vec<PromptMessage>,
    /// What the protocol does not define.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<JsonObject>,
    /// Members that are not known here.
    #[serde(flatten)]
    pub other: Other,
}

impl GetPromptResult {
    /// These messages.
    pub fn new(messages: Vec<PromptMessage>) -> Self {
        let result_type = Some(ResultType::Complete);
        Self { result_type, description: None, messages, meta: None, other: Other::default() }
    }
}
