use serde_json::{Map, Value, json};

/// What a client sent for an answer.
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
    /// A form that was accepted, as nearly all are: what it contains says it all.
    Filled(Map<String, Value>),
    /// Anything else, as it came.
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

impl From<RawAnswer> for Value {
    fn from(sent: RawAnswer) -> Self {
        match sent {
            RawAnswer::Filled(content) => json!({ "action": "accept", "content": content }),
            RawAnswer::Other(answer) => answer,
        }
    }
}
