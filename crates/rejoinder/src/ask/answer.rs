//! The answer to a question.

use std::borrow::Cow;

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value, json, value::RawValue};

use super::{Outcome, Roots, Sample};
use crate::form::{Elicit, FormErrors};

/// An answer as the client sent it.
///
/// ```
/// use rejoinder::ask::RawAnswer;
/// use serde_json::{Map, json};
///
/// assert_eq!(RawAnswer::from(json!({ "action": "accept", "content": {} })), RawAnswer::Filled(Map::new()));
/// let declined = json!({ "action": "decline" });
/// assert_eq!(RawAnswer::from(declined.clone()), RawAnswer::Other(declined));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum RawAnswer {
    /// The content of an accepted form, which most answers are.
    Filled(Map<String, Value>),
    /// Anything else, unchanged.
    Other(Value),
}

impl From<Value> for RawAnswer {
    fn from(answer: Value) -> Self {
        let is_form = |answer: &Map<String, Value>| {
            answer.len() == 2
                && answer.get("action").is_some_and(|action| action == "accept")
                && answer.get("content").is_some_and(Value::is_object)
        };
        match answer {
            Value::Object(mut form) if is_form(&form) => match form.remove("content") {
                Some(Value::Object(content)) => Self::Filled(content),
                other => Self::Other(other.unwrap_or_default()),
            },
            other => Self::Other(other),
        }
    }
}

/// An accepted form, and nothing else.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AcceptedForm<'a> {
    #[serde(borrow)]
    action: Cow<'a, str>,
    content: Map<String, Value>,
}

impl RawAnswer {
    /// Reads an answer. What cannot be read does not fit any question.
    pub(crate) fn from_json(json: &RawValue) -> Self {
        match serde_json::from_str::<AcceptedForm<'_>>(json.get()) {
            Ok(form) if form.action == "accept" => Self::Filled(form.content),
            _ => serde_json::from_str(json.get()).unwrap_or(Value::Null).into(),
        }
    }

    /// The answer with these values for the fields that an accepted form leaves out.
    pub(super) fn completed_with(&self, content: &Map<String, Value>) -> Self {
        let sent = match self {
            Self::Filled(sent) => sent,
            Self::Other(other) if other["action"] == "accept" && other["content"].is_null() => &Map::new(),
            Self::Other(_) => return self.clone(),
        };
        let mut completed = content.clone();
        completed.extend(sent.clone());
        Self::Filled(completed)
    }
}

impl From<RawAnswer> for Value {
    fn from(sent: RawAnswer) -> Self {
        match sent {
            RawAnswer::Filled(content) => json!({ "action": "accept", "content": content }),
            RawAnswer::Other(answer) => answer,
        }
    }
}

/// Why an answer cannot be used. The user sees it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AnswerError(pub String);

impl From<&str> for AnswerError {
    fn from(reason: &str) -> Self {
        Self(reason.to_owned())
    }
}

impl From<String> for AnswerError {
    fn from(reason: String) -> Self {
        Self(reason)
    }
}

impl From<FormErrors> for AnswerError {
    fn from(errors: FormErrors) -> Self {
        Self(errors.to_string())
    }
}

/// A type that an answer can be read as.
pub trait Answer: Sized + Send + Sync + 'static {
    /// Reads an answer.
    ///
    /// # Errors
    ///
    /// What is wrong with the answer.
    fn read(answer: &RawAnswer) -> Result<Outcome<Self>, AnswerError>;
}

/// The user agreed to open a web page. The server must find out what the user did there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UrlVisited;

/// Reads the answer to `elicitation/create`, and an accepted form with `content`.
///
/// An accepted form without content is one in which nothing was filled in.
pub(super) fn read_elicitation<T>(
    answer: &RawAnswer,
    content: impl FnOnce(&Map<String, Value>) -> Result<T, AnswerError>,
) -> Result<Outcome<T>, AnswerError> {
    let other = match answer {
        RawAnswer::Filled(filled) => return content(filled).map(Outcome::Accepted),
        RawAnswer::Other(other) => other,
    };
    match other.get("action").and_then(Value::as_str) {
        Some("accept") => match other.get("content") {
            None | Some(Value::Null) => content(&Map::new()),
            Some(Value::Object(filled)) => content(filled),
            Some(_) => Err(AnswerError("the content of a form must be an object".to_owned())),
        }
        .map(Outcome::Accepted),
        Some("decline") => Ok(Outcome::Declined),
        Some("cancel") => Ok(Outcome::Cancelled),
        _ => Err(AnswerError("the answer must accept, decline or cancel".to_owned())),
    }
}

impl<T: Elicit> Answer for T {
    fn read(answer: &RawAnswer) -> Result<Outcome<Self>, AnswerError> {
        read_elicitation(answer, |content| Ok(T::read(content)?))
    }
}

impl Answer for UrlVisited {
    fn read(answer: &RawAnswer) -> Result<Outcome<Self>, AnswerError> {
        read_elicitation(answer, |_| Ok(Self))
    }
}

impl Answer for Sample {
    fn read(answer: &RawAnswer) -> Result<Outcome<Self>, AnswerError> {
        if is_declined(answer) {
            return Ok(Outcome::Declined);
        }
        let sample = read_as(answer).map(Outcome::Accepted);
        sample.ok_or_else(|| AnswerError("the answer is not a sampling result".to_owned()))
    }
}

impl Answer for Roots {
    fn read(answer: &RawAnswer) -> Result<Outcome<Self>, AnswerError> {
        if is_declined(answer) {
            return Ok(Outcome::Declined);
        }
        let local =
            read_as(answer).filter(|roots: &Self| roots.roots.iter().all(|root| root.uri.starts_with("file://")));
        local
            .map(Outcome::Accepted)
            .ok_or_else(|| AnswerError("the answer is not a list of `file://` roots".to_owned()))
    }
}

/// Whether the user rejected what is not a form.
fn is_declined(answer: &RawAnswer) -> bool {
    matches!(answer, RawAnswer::Other(answer) if answer["action"] == "decline")
}

/// Reads an answer that is not a form.
fn read_as<T: DeserializeOwned>(answer: &RawAnswer) -> Option<T> {
    match answer {
        RawAnswer::Filled(_) => None,
        RawAnswer::Other(answer) => T::deserialize(answer).ok(),
    }
}
