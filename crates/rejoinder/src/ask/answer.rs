//! The answer to a question.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{Outcome, Roots, Sample};
use crate::form::{Elicit, FormErrors};

/// Why an answer cannot be used. The user sees it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AnswerError(pub String);

impl AnswerError {
    /// The answer has more bytes than fit.
    pub(crate) fn too_long(bytes: usize, most: usize) -> Self {
        Self(format!("The answer is too long: it has {bytes} bytes as JSON, and at most {most} fit."))
    }
}

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
///
/// ```
/// use rejoinder::{Outcome, ask::Answer, form::ConfirmForm};
/// use serde_json::json;
///
/// let yes = json!({ "action": "accept", "content": { "yes": true } });
/// assert_eq!(<ConfirmForm as Answer>::read(&yes), Ok(Outcome::Accepted(ConfirmForm { yes: true })));
/// assert_eq!(<ConfirmForm as Answer>::read(&json!({ "action": "decline" })), Ok(Outcome::Declined));
/// ```
#[diagnostic::on_unimplemented(
    message = "an answer cannot be read as `{Self}`",
    label = "not a form",
    note = "the answer to `Ask::confirm` is a `rejoinder::form::ConfirmForm`, that to `Ask::text` a `rejoinder::form::TextForm`, \
            and that to `Ask::user` your own form"
)]
pub trait Answer: Sized + Send + Sync + 'static {
    /// Reads an answer as the client sent it.
    ///
    /// # Errors
    ///
    /// What is wrong with the answer.
    fn read(answer: &Value) -> Result<Outcome<Self>, AnswerError>;
}

/// The user agreed to open a web page. The server must find out what the user did there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UrlVisited;

/// Reads the answer to `elicitation/create`, and an accepted form with `content`.
///
/// An accepted form without content is one in which nothing was filled in.
pub(super) fn read_elicitation<T>(
    answer: &Value,
    content: impl FnOnce(&Map<String, Value>) -> Result<T, AnswerError>,
) -> Result<Outcome<T>, AnswerError> {
    match (answer["action"].as_str(), &answer["content"]) {
        (Some("accept"), Value::Object(filled)) => content(filled).map(Outcome::Accepted),
        (Some("accept"), Value::Null) => content(&Map::new()).map(Outcome::Accepted),
        (Some("accept"), _) => Err("the content of a form must be an object".into()),
        (Some("decline"), _) => Ok(Outcome::Declined),
        (Some("cancel"), _) => Ok(Outcome::Cancelled),
        _ => Err("the answer must accept, decline or cancel".into()),
    }
}

impl<T: Elicit> Answer for T {
    fn read(answer: &Value) -> Result<Outcome<Self>, AnswerError> {
        read_elicitation(answer, |content| Ok(T::read(content)?))
    }
}

impl Answer for UrlVisited {
    fn read(answer: &Value) -> Result<Outcome<Self>, AnswerError> {
        read_elicitation(answer, |_| Ok(Self))
    }
}

impl Answer for Sample {
    fn read(answer: &Value) -> Result<Outcome<Self>, AnswerError> {
        read_result(answer, |_| true).ok_or_else(|| "the answer is not a sampling result".into())
    }
}

impl Answer for Roots {
    fn read(answer: &Value) -> Result<Outcome<Self>, AnswerError> {
        let are_local = |roots: &Self| roots.roots.iter().all(|root| root.uri.starts_with("file://"));
        read_result(answer, are_local).ok_or_else(|| "the answer is not a list of `file://` roots".into())
    }
}

/// Reads an answer that is not a form, or that the user rejected.
fn read_result<T: DeserializeOwned>(answer: &Value, fits: impl FnOnce(&T) -> bool) -> Option<Outcome<T>> {
    if answer["action"] == "decline" {
        return Some(Outcome::Declined);
    }
    T::deserialize(answer).ok().filter(fits).map(Outcome::Accepted)
}
