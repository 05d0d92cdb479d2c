use rmcp::model::ClientCapabilities;
use serde::{Serialize, Serializer, ser::SerializeStruct};
use serde_json::{Map, Value, json, value::RawValue};

use super::{RawAnswer, Sampling};
use crate::form::Form;

/// A question, as it goes to the client.
/// It serialises as the request that it is: its method and its params.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Question {
    /// A form to fill in.
    Form {
        /// What the user reads.
        message: String,
        /// The form.
        form: Form,
    },
    /// A page to visit.
    Visit {
        /// What the user reads.
        message: String,
        /// Where the page is.
        url: String,
    },
    /// A sample of the client's model.
    Sample(Sampling),
    /// The client's roots.
    Roots,
}

impl Question {
    /// The method of the request.
    pub fn method(&self) -> &'static str {
        match self {
            Self::Form { .. } | Self::Visit { .. } => "elicitation/create",
            Self::Sample(_) => "sampling/createMessage",
            Self::Roots => "roots/list",
        }
    }

    /// The params of the request, as JSON.
    pub fn params(&self) -> Value {
        serde_json::to_value(self.as_params()).unwrap_or_default()
    }

    fn as_params(&self) -> Params<'_> {
        match self {
            Self::Form { message, form } => Params::Form { mode: "form", message, schema: form.json() },
            Self::Visit { message, url } => Params::Visit { mode: "url", message, url },
            Self::Sample(sampling) => Params::Sample(sampling.params()),
            Self::Roots => Params::Roots {},
        }
    }

    /// Whether it can be asked again after an answer that is of no use: a person fills in a form better the second time,
    /// a client that mistakes one kind of question for another does not mend.
    pub fn bears_repeating(&self, answer: &RawAnswer) -> bool {
        let is_elicited = match answer {
            RawAnswer::Filled(_) => true,
            RawAnswer::Other(answer) => answer.get("action").is_some(),
        };
        is_elicited && matches!(self, Self::Form { .. })
    }

    /// The same question, with the reason why the last answer was of no use. Only a person reads messages.
    #[must_use]
    pub fn because(&self, reason: &str) -> Self {
        match self {
            Self::Form { message, form } => {
                Self::Form { message: format!("{message}\n\n{reason}"), form: form.clone() }
            }
            other => other.clone(),
        }
    }

    /// What the client must be able to do, if it did not say that it can.
    pub fn missing_capability(&self, declared: &ClientCapabilities) -> Option<Value> {
        let elicitation = declared.elicitation.as_ref();
        match self {
            // A client that says `elicitation: {}` and no more means forms.
            Self::Form { .. } => match elicitation {
                Some(can) if can.form.is_some() || can.url.is_none() => None,
                _ => Some(json!({ "elicitation": { "form": {} } })),
            },
            Self::Visit { .. } => match elicitation {
                Some(can) if can.url.is_some() => None,
                _ => Some(json!({ "elicitation": { "url": {} } })),
            },
            Self::Roots => declared.roots.is_none().then(|| json!({ "roots": {} })),
            Self::Sample(sampling) => {
                let can = declared.sampling.as_ref();
                let mut lacking = Map::new();
                if sampling.has_tools() && can.is_none_or(|can| can.tools.is_none()) {
                    lacking.insert("tools".to_owned(), json!({}));
                }
                if sampling.has_context() && can.is_none_or(|can| can.context.is_none()) {
                    lacking.insert("context".to_owned(), json!({}));
                }
                (can.is_none() || !lacking.is_empty()).then(|| json!({ "sampling": lacking }))
            }
        }
    }
}

/// The params of a request, borrowed.
#[derive(Serialize)]
#[serde(untagged)]
enum Params<'a> {
    Form {
        mode: &'static str,
        message: &'a str,
        #[serde(rename = "requestedSchema")]
        schema: &'a RawValue,
    },
    Visit {
        mode: &'static str,
        message: &'a str,
        url: &'a str,
    },
    Sample(&'a Map<String, Value>),
    Roots {},
}

impl Serialize for Question {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut request = serializer.serialize_struct("Question", 2)?;
        request.serialize_field("method", self.method())?;
        request.serialize_field("params", &self.as_params())?;
        request.end()
    }
}
