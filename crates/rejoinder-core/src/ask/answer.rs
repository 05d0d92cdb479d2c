use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{Outcome, Roots, Sample, Sent};
use crate::form::Elicit;

/// An answer that cannot be used, and why, in words for whoever gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadAnswer(pub String);

/// What an answer can be read as.
pub trait Answer: Sized + Send + Sync + 'static {
    /// Reads it from what the client sent.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    fn read(answer: &Sent) -> Result<Outcome<Self>, BadAnswer>;
}

/// The user was sent to a page, and agreed to go. What happened there is for the server to find out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Visited;

/// Takes apart what `elicitation/create` answers; what is accepted is read by `content`.
///
/// An accepted form without content is one in which nothing was filled in: it need not be.
pub(super) fn elicited<T>(
    answer: &Sent,
    content: impl FnOnce(&Map<String, Value>) -> Result<T, BadAnswer>,
) -> Result<Outcome<T>, BadAnswer> {
    let other = match answer {
        Sent::Filled(filled) => return content(filled).map(Outcome::Accepted),
        Sent::Other(other) => other,
    };
    match other.get("action").and_then(Value::as_str) {
        Some("accept") => match other.get("content") {
            None | Some(Value::Null) => content(&Map::new()),
            Some(Value::Object(filled)) => content(filled),
            Some(_) => Err(BadAnswer("the content of a form is an object".to_owned())),
        }
        .map(Outcome::Accepted),
        Some("decline") => Ok(Outcome::Declined),
        Some("cancel") => Ok(Outcome::Cancelled),
        _ => Err(BadAnswer("the answer must accept, decline or cancel".to_owned())),
    }
}

impl<T: Elicit> Answer for T {
    fn read(answer: &Sent) -> Result<Outcome<Self>, BadAnswer> {
        elicited(answer, |content| T::read(content).map_err(|errors| BadAnswer(errors.to_string())))
    }
}

impl Answer for Visited {
    fn read(answer: &Sent) -> Result<Outcome<Self>, BadAnswer> {
        elicited(answer, |_| Ok(Self))
    }
}

impl Answer for Sample {
    fn read(answer: &Sent) -> Result<Outcome<Self>, BadAnswer> {
        let sample = read_as(answer).map(Outcome::Accepted);
        sample.ok_or_else(|| BadAnswer("the answer is no sample of a model".to_owned()))
    }
}

impl Answer for Roots {
    fn read(answer: &Sent) -> Result<Outcome<Self>, BadAnswer> {
        let local =
            read_as(answer).filter(|roots: &Self| roots.roots.iter().all(|root| root.uri.starts_with("file://")));
        local.map(Outcome::Accepted).ok_or_else(|| BadAnswer("the answer is no list of `file://` roots".to_owned()))
    }
}

/// Reads what is no form.
fn read_as<T: DeserializeOwned>(answer: &Sent) -> Option<T> {
    match answer {
        Sent::Filled(_) => None,
        Sent::Other(answer) => T::deserialize(answer).ok(),
    }
}
