use serde_json::Value;

use super::Question;

/// What a function that makes its rounds by hand leaves to the next one.
#[derive(Debug, Clone, Default)]
pub struct NextRound {
    /// What is asked until then; nothing if the call is merely to go on later.
    pub questions: Vec<Posed>,
    /// What the next round is to know; `None` leaves it as it was.
    pub state: Option<Value>,
}

/// A question under its key. Whoever looks at its answer says what it is read as.
#[derive(Debug, Clone)]
pub struct Posed {
    /// The key.
    pub key: String,
    /// The question.
    pub question: Question,
}
