use rmcp::model::ClientCapabilities;
use serde_json::{Value, json};

use super::Sampling;

/// A question, as it goes to the client.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Question {
    /// A form to fill in.
    Form {
        /// What the user reads.
        message: String,
        /// The form's schema.
        schema: Value,
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

    /// The params of the request.
    pub fn params(&self) -> Value {
        match self {
            Self::Form { message, schema } => json!({ "mode": "form", "message": message, "requestedSchema": schema }),
            Self::Visit { message, url } => json!({ "mode": "url", "message": message, "url": url }),
            Self::Sample(sampling) => sampling.params(),
            Self::Roots => json!({}),
        }
    }

    /// Whether it can be asked again after an answer that is of no use: a person fills in a form better the second time,
    /// a client that mistakes one kind of question for another does not mend.
    pub fn bears_repeating(&self, answer: &Value) -> bool {
        matches!(self, Self::Form { .. }) && answer.get("action").is_some()
    }

    /// The same question, with the reason why the last answer was of no use. Only a person reads messages.
    #[must_use]
    pub fn because(&self, reason: &str) -> Self {
        match self {
            Self::Form { message, schema } => {
                Self::Form { message: format!("{message}\n\n{reason}"), schema: schema.clone() }
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
            Self::Sample(sampling) => match (&declared.sampling, sampling.has_tools()) {
                (None, false) => Some(json!({ "sampling": {} })),
                (Some(can), true) if can.tools.is_some() => None,
                (_, true) => Some(json!({ "sampling": { "tools": {} } })),
                (Some(_), false) => None,
            },
        }
    }
}
