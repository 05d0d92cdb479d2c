//! How a question comes to its value.

use std::pin::pin;

use futures_util::future::{Either, select};

use super::{AnswerError, Ask, Fits, Outcome, Posed, RawAnswer, asking::Inner, carrier::Settled};
use crate::{
    BoxFuture,
    call::Call,
    error::{CallError, Halt},
};

impl<T> Ask<T> {
    /// Finds the value: known, answered, or asked for.
    pub(crate) async fn settle(self, call: &Call, key: &str) -> Result<Outcome<T>, Halt> {
        let (question, read, otherwise, allow_unsolicited, is_typed) = match self.0 {
            Inner::Known(value) => return Ok(Outcome::Accepted(value)),
            Inner::Mistaken(mistake) => return Err(Halt::Failed(CallError::mistake(mistake))),
            Inner::Question { question, read, otherwise, allow_unsolicited, is_typed } => {
                (question, read, otherwise, allow_unsolicited, is_typed)
            }
        };
        let fits = |answer: &RawAnswer| read.read(answer).map(|_| ());
        let fits = Fits { allow_unsolicited, check: &fits };
        let read =
            |answer: &RawAnswer| read.read(answer).map_err(|AnswerError(reason)| Halt::Failed(CallError::new(reason)));
        if call.ending().is_some() {
            return Err(Halt::Failed(CallError::round_is_over()));
        }
        let carrier = call.carrier();
        if let Some(refused) = question.out_of_reach(call.facts()) {
            let answer = carrier.map_or(Ok(None), |carrier| carrier.answered(key, &question, fits))?;
            return match (answer, otherwise) {
                (Some(answer), _) => read(&answer),
                (None, Some(value)) => Ok(Outcome::Accepted(value)),
                (None, None) => Err(Halt::Failed(call.cannot_ask(key, &question, is_typed, refused))),
            };
        }
        let Some(carrier) = carrier else {
            return Err(Halt::Failed(CallError::nobody_to_ask()));
        };
        let answer = match carrier.ask(key, question, fits) {
            Either::Left(answer) => answer.await?,
            // In a box of its own, because most answers are not waited for.
            Either::Right(waiting) => Box::pin(while_it_lasts(call, waiting)).await?,
        };
        read(&answer)
    }

    /// The question under a key, for a round that is made by hand.
    ///
    /// # Errors
    ///
    /// If it brings a value along: nothing would carry it to the next round. If it wants an answer that came before it:
    /// such a function looks at answers before it asks. If no type says how to read the answer: the next round would take
    /// anything for one.
    pub(crate) fn pose(self, key: String) -> Result<Posed, CallError> {
        match self.0 {
            Inner::Question { allow_unsolicited: true, .. } => Err(CallError::mistake(format!(
                "`Reply::ask` takes no answer to `{key}` before it has asked: `allow_unsolicited` is for resolvers and \
                 `Context::ask`"
            ))),
            Inner::Question { is_typed: false, .. } => Err(CallError::mistake(format!(
                "`Reply::ask` takes a form that a type has, and that under `{key}` was put together at run time: nothing would \
                 check its answer in the next round; ask it with `Context::ask`, or derive `Elicit`"
            ))),
            Inner::Question { question, otherwise: None, .. } => Ok(Posed { key, question }),
            Inner::Mistaken(mistake) => Err(CallError::mistake(mistake)),
            Inner::Known(_) | Inner::Question { .. } => Err(CallError::mistake(format!(
                "`Reply::ask` takes a question under `{key}`, and no value: `Ask::known` and `fallback` are for \
                 resolvers and `Context::ask`"
            ))),
        }
    }
}

/// Waits for an answer for as long as the call lasts: who waits may be a task that it has left behind.
async fn while_it_lasts(call: &Call, waiting: BoxFuture<'_, Settled>) -> Settled {
    match select(pin!(call.cancellation().cancelled()), waiting).await {
        Either::Left(_) => Err(Halt::Failed(CallError::round_is_over())),
        Either::Right((answer, _)) => answer,
    }
}
