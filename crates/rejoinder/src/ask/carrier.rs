use std::{
    future::{Ready, ready},
    sync::Arc,
};

use futures_util::future::Either;
use serde_json::Value;

use super::{AnswerError, NextRound, Question, RawAnswer};
use crate::{
    BoxFuture,
    error::{CallError, Halt},
};

/// How questions travel: with the reply of a round, or over a live session.
pub trait Carrier: Send + Sync {
    /// Asks under a key, and gives the answer as the client sent it.
    ///
    /// A form whose answer does not fit is asked for again.
    ///
    /// # Errors
    ///
    /// [`Halt::Pending`] when the answer comes in another round, and whatever ends the call.
    fn ask<'a>(&'a self, key: &'a str, question: Question, fits: Fits<'a>) -> Asked<'a>;

    /// The answer that is already there, where answers come with a request: nobody needs to be asked for it.
    ///
    /// # Errors
    ///
    /// [`Halt::Mistake`] when another question was asked under this key.
    fn answered(&self, key: &str, question: &Question, fits: Fits<'_>) -> Result<Option<Arc<RawAnswer>>, Halt>;

    /// The recorded result of a step, if it was taken in this round or an earlier one.
    fn recorded(&self, step: &str) -> Option<Value>;

    /// Records the result of a step for the rest of the call.
    fn record(&self, step: &str, result: Value);

    /// The answer to what was asked by hand under a key, if there is one that can be used.
    fn answer_by_hand(&self, key: &str, fits: Fits<'_>) -> Option<Arc<RawAnswer>>;

    /// What the last round handed on by hand.
    fn kept(&self) -> Option<Value>;

    /// Ends a round by hand. The function is to run again: in another round if there is something
    /// [parked](Carrier::parked), and otherwise in the same call, when it can [go on](Carrier::go_on).
    ///
    /// # Errors
    ///
    /// Whatever ends the call.
    fn hand_on(&self, next: NextRound) -> Result<(), CallError>;

    /// Asks what was handed on, where the function is to run again in the same call, and waits until it can.
    ///
    /// # Errors
    ///
    /// Whatever ends the call.
    fn go_on(&self) -> BoxFuture<'_, Result<(), CallError>> {
        Box::pin(ready(Ok(())))
    }

    /// Says that a function stops in the middle, to wait for an answer: what it did not come to is not what it no longer
    /// asks.
    fn cut_short(&self) {}

    /// What this round asks in the end, where questions go out with its reply.
    fn parked(&self) -> Option<Parked> {
        None
    }
}

/// An answer that is there at once, or in another round; or one that is waited for.
pub(crate) type Asked<'a> = Either<Ready<Settled>, BoxFuture<'a, Settled>>;

pub(super) type Settled = Result<Arc<RawAnswer>, Halt>;

/// Which answers to a question can be used.
#[derive(Clone, Copy)]
pub struct Fits<'a> {
    /// Whether one may come before it was asked for.
    pub allow_unsolicited: bool,
    /// What is wrong with an answer.
    pub check: &'a (dyn Fn(&RawAnswer) -> Result<(), AnswerError> + Sync),
}

impl std::fmt::Debug for Fits<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fits").field("allow_unsolicited", &self.allow_unsolicited).finish_non_exhaustive()
    }
}

/// A round that ends in questions.
#[derive(Debug)]
pub struct Parked {
    /// What is asked, by key, in the order in which it was.
    pub questions: Vec<(Arc<str>, Question)>,
    /// What the next round must know.
    pub state: Vec<u8>,
    /// Whether this round got further than the one before: to an answer, a step or a state of its own that is new.
    pub further: bool,
}
