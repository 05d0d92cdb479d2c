//! Questions to the user, and their answers.

use serde::{Deserialize, Deserializer, Serialize};

use crate::{JsonObject, Other, other::Tagged};

/// The params of `elicitation/create`: what the user is asked. Without `mode` it is a form.
///
/// ```
/// use rejoinder_wire::{ElicitRequest, ElicitUrl};
/// use serde_json::json;
///
/// let asked = json!({ "message": "Sure?", "requestedSchema": { "type": "object", "properties": {} } });
/// assert!(matches!(serde_json::from_value(asked)?, ElicitRequest::Form(form) if form.message == "Sure?"));
///
/// let visit = ElicitRequest::Url(ElicitUrl::new("Pay here.", "https://shop.example/pay"));
/// assert_eq!(json!(visit), json!({ "mode": "url", "message": "Pay here.", "url": "https://shop.example/pay" }));
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "mode", rename_all = "lowercase")]
#[non_exhaustive]
pub enum ElicitRequest {
    /// A form to fill in.
    Form(ElicitForm),
    /// A page to visit.
    Url(ElicitUrl),
    /// A mode that is not known here, with its `mode`.
    #[serde(untagged)]
    Other(JsonObject),
}

impl<'de> Deserialize<'de> for ElicitRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let request = Tagged::read(deserializer, "mode", Some("form"))?;
        match request.tag() {
            "form" => request.into_known().map(Self::Form),
            "url" => request.into_known().map(Self::Url),
            _ => Ok(Self::Other(request.into_object())),
        }
    }
}

object! {
    /// A form that the user is asked to fill in.
    ///
    /// ```
    /// use rejoinder_wire::{ElicitForm, JsonObject};
    ///
    /// let form = ElicitForm::new("Sure?", JsonObject::from_iter([("type".to_owned(), "object".into())]));
    /// assert_eq!(form.requested_schema["type"], "object");
    /// ```
    pub struct ElicitForm {
        /// What the user reads.
        pub message: String,
        /// The JSON Schema of the form, an object of plain values.
        pub requested_schema: JsonObject,
        /// What the protocol does not define.
        pub meta: Option<JsonObject>,
    }
}

impl ElicitForm {
    /// A form with this text and schema.
    pub fn new(message: impl Into<String>, requested_schema: JsonObject) -> Self {
        Self { message: message.into(), requested_schema, meta: None, other: Other::default() }
    }
}

object! {
    /// A page that the user is asked to visit.
    ///
    /// The `elicitationId` of 2025-11-25 is in `other`.
    ///
    /// ```
    /// use rejoinder_wire::ElicitUrl;
    ///
    /// let page = ElicitUrl::new("Pay here.", "https://shop.example/pay");
    /// assert_eq!(page.url, "https://shop.example/pay");
    /// ```
    pub struct ElicitUrl {
        /// What the user reads.
        pub message: String,
        /// Where the page is.
        pub url: String,
        /// What the protocol does not define.
        pub meta: Option<JsonObject>,
    }
}

impl ElicitUrl {
    /// A page with this text.
    pub fn new(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self { message: message.into(), url: url.into(), meta: None, other: Other::default() }
    }
}

/// What the user did with a question.
///
/// ```
/// assert_eq!(serde_json::json!(rejoinder_wire::ElicitAction::Decline), "decline");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ElicitAction {
    /// Answered it.
    Accept,
    /// Said no.
    Decline,
    /// Closed it without an answer.
    Cancel,
    /// An action that is not known here.
    #[serde(untagged)]
    Other(String),
}

object! {
    /// The answer to `elicitation/create`.
    ///
    /// ```
    /// use rejoinder_wire::{ElicitAction, ElicitResult};
    /// use serde_json::json;
    ///
    /// let filled = json!({ "yes": true }).as_object().cloned();
    /// assert_eq!(json!(ElicitResult::accept(filled)), json!({ "action": "accept", "content": { "yes": true } }));
    /// assert_eq!(json!(ElicitResult::new(ElicitAction::Cancel)), json!({ "action": "cancel" }));
    /// ```
    pub struct ElicitResult {
        /// What the user did.
        pub action: ElicitAction,
        /// The fields of a form that was accepted.
        pub content: Option<JsonObject>,
        /// What the protocol does not define.
        pub meta: Option<JsonObject>,
    }
}

impl ElicitResult {
    /// An answer without content.
    pub fn new(action: ElicitAction) -> Self {
        Self { action, content: None, meta: None, other: Other::default() }
    }

    /// A form that is filled in with these fields, or a page that the user agrees to visit.
    pub fn accept(content: impl Into<Option<JsonObject>>) -> Self {
        Self { content: content.into(), ..Self::new(ElicitAction::Accept) }
    }
}
