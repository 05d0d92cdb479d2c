use serde::de::DeserializeOwned;

use super::FromCall;
use crate::{
    ask::{Answer, AnswerError, Outcome},
    call::Call,
    error::CallError,
};

/// The answers and the state of this round, for a function that controls its rounds by hand.
///
/// Resolvers and [`Context::ask`](super::Context::ask) keep track of rounds by themselves. This is for functions that
/// keep their own state between rounds, and return a [`Reply`](crate::Reply).
///
/// ```
/// use rejoinder::{Ask, Outcome, Rounds, Reply, form::ConfirmForm};
///
/// async fn restart(rounds: Rounds) -> Reply<&'static str> {
///     match rounds.answer::<ConfirmForm>("sure") {
///         None => Reply::ask("sure", Ask::confirm("Restart the server?")),
///         Some(Outcome::Accepted(ConfirmForm { yes: true })) => Reply::done("restarted"),
///         Some(_) => Reply::done("left alone"),
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// // In a unit test it is the first round.
/// assert!(!restart(Rounds::detached()).await.is_done());
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Rounds(Call);

impl Rounds {
    /// Rounds without a request, for calling a function in a unit test.
    pub fn detached() -> Self {
        Self(Call::detached())
    }

    /// Returns the outcome of the question that was asked under this key, in the last round or before.
    ///
    /// `None` if it was not asked, or has no usable answer yet: ask it then. When an answer did not fit, the next question
    /// names the reason; a question is asked three times in all. The answer is valid for any text under this key. If a
    /// consent depends on the text, keep the text in the state and compare it.
    pub fn answer<T: Answer>(&self, key: impl AsRef<str>) -> Option<Outcome<T>> {
        let key = key.as_ref();
        let answer = self.0.answer_by_hand(key, |answer| T::read(answer).map(|_| ()))?;
        T::read(&answer).map_err(|AnswerError(reason)| tracing::debug!(key, reason, "an answer does not fit")).ok()
    }

    /// Returns the state that the last round saved. It is sealed while the client carries it.
    ///
    /// `None` in the first round, and if it has another type, because another build of the server wrote it.
    pub fn state<S: DeserializeOwned>(&self) -> Option<S> {
        self.0.kept()
    }
}

impl FromCall for Rounds {
    const IS_OURS: bool = true;

    async fn from_call(call: &Call, _: &'static str) -> Result<Self, CallError> {
        call.record().makes_rounds_by_hand();
        Ok(Self(call.clone()))
    }

    const BY_HAND: bool = true;
}
