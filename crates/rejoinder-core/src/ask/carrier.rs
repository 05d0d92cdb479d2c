use serde_json::Value;

use super::{BadAnswer, Question};
use crate::{
    BoxFuture,
    error::{Halt, ToolError},
};

/// How questions travel: with the reply of a round, over a live session, or by parking a task.
pub trait Carrier: Send + Sync {
    /// Asks under a key, and gives the answer as the client sent it.
    ///
    /// `fits` says whether an answer can be used; one that cannot is asked for again.
    ///
    /// # Errors
    ///
    /// [`Halt::Pending`] when the answer comes in another round, and whatever else ends the call.
    fn ask<'a>(
        &'a self,
        key: &'a str,
        question: &'a Question,
        fits: &'a (dyn Fn(&Value) -> Result<(), BadAnswer> + Sync),
    ) -> BoxFuture<'a, Result<Value, Halt>>;

    /// The recorded result of a step, if it was taken in an earlier round.
    fn recorded(&self, step: &str) -> Option<Value>;

    /// Records the result of a step for later rounds.
    fn record(&self, step: &str, result: Value);

    /// What this round asks in the end, where questions go out with its reply.
    ///
    /// An error where the questions cannot be asked together: the author's mistake, which the function may not have seen
    /// because it waits for an answer.
    fn parked(&self) -> Option<Result<Parked, ToolError>> {
        None
    }
}

/// A round that ends in questions.
#[derive(Debug)]
pub struct Parked {
    /// What is asked, by key, in the order in which it was.
    pub questions: Vec<(String, Question)>,
    /// What the next round must know.
    pub state: Vec<u8>,
}
