use std::{fmt, sync::Arc};

use serde_json::Value;

use super::{BadAnswer, Fits, Question, Sent};

/// What a function that makes its rounds by hand leaves to the next one.
#[derive(Debug, Clone, Default)]
pub struct NextRound {
    /// What is asked until then; nothing if the call is merely to go on later.
    pub questions: Vec<Posed>,
    /// What the next round is to know; `None` leaves it as it was.
    pub state: Option<Value>,
}

/// A question under its key, with all that is known of its answer.
#[derive(Clone)]
pub struct Posed {
    /// The key.
    pub key: String,
    /// The question.
    pub question: Question,
    pub(super) check: Arc<Check>,
}

pub(super) type Check = dyn Fn(&Sent) -> Result<(), BadAnswer> + Send + Sync;

impl Posed {
    /// Which answers to it can be used.
    pub fn fits(&self) -> Fits<'_> {
        Fits { unprompted: false, check: &*self.check }
    }
}

impl fmt::Debug for Posed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Posed").field("key", &self.key).field("question", &self.question).finish_non_exhaustive()
    }
}
