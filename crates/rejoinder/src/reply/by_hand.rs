use serde::Serialize;

use crate::{
    ask::{Ask, NextRound},
    call::{Halt, round_trip},
    error::CallError,
};

/// What a function that makes its rounds by hand returns: the result, or what leads to the next round.
///
/// Take [`Rounds`](crate::inject::Rounds) to read the answers. The state is sealed: the client can neither read nor
/// change it, and any replica can continue with it.
///
/// ```
/// use rejoinder::{Rounds, Reply};
///
/// /// Sums up at most a thousand numbers at a time, then lets any replica continue.
/// async fn sum(to: u64, rounds: Rounds) -> Reply<u64> {
///     let (from, sum) = rounds.state().unwrap_or((0, 0));
///     let end = to.min(from + 1000);
///     let sum = sum + (from..end).sum::<u64>();
///     if end == to { Reply::done(sum) } else { Reply::resume((end, sum)) }
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// assert!(sum(10, Rounds::detached()).await.is_done());
/// assert!(!sum(10_000, Rounds::detached()).await.is_done());
/// # }
/// ```
///
/// A function that only waits for something elsewhere keeps nothing: the client retries, and no connection stays open in
/// the meantime.
///
/// ```
/// use rejoinder::{Dep, Reply, Rounds};
///
/// struct Printer {
///     printed: Vec<u64>,
/// }
///
/// async fn printed(job: u64, printer: Dep<Printer>, _rounds: Rounds) -> Reply<&'static str> {
///     if printer.printed.contains(&job) { Reply::done("fetch it") } else { Reply::resume(()) }
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let printer = || Dep::new(Printer { printed: vec![7] });
/// assert!(printed(7, printer(), Rounds::detached()).await.is_done());
/// assert!(!printed(8, printer(), Rounds::detached()).await.is_done());
/// # }
/// ```
#[must_use = "a reply does nothing until it is returned"]
#[derive(Debug)]
pub struct Reply<T>(pub(super) Result<T, Halt>);

impl<T> Reply<T> {
    /// The call is over, with this result.
    pub fn done(result: T) -> Self {
        Self(Ok(result))
    }

    /// Asks under this key; the function runs again with the answer.
    pub fn ask<A>(key: impl Into<String>, question: Ask<A>) -> Self {
        Self(Err(Halt::Next(Box::default()))).and(key, question)
    }

    /// Asks this as well, in the same round. It changes nothing about a reply that is done.
    pub fn and<A>(self, key: impl Into<String>, question: Ask<A>) -> Self {
        self.next(|mut next| {
            let key = key.into();
            if next.questions.iter().any(|asked| asked.key == key) {
                return Err(CallError::two_questions(&key));
            }
            next.questions.push(question.by_hand(key)?);
            Ok(next)
        })
    }

    /// Passes this state to the next round. It changes nothing about a reply that is done.
    ///
    /// The call fails if the state cannot be written as JSON. A number that is not finite becomes `null`, as in `serde_json`.
    pub fn with_state(self, state: impl Serialize) -> Self {
        self.next(|next| {
            let (state, _): (_, serde_json::Value) = round_trip(&state, || "the state for the next round".to_owned())?;
            Ok(NextRound { state: Some(state), ..next })
        })
    }

    /// Asks nothing: the client retries with this state, and any replica continues.
    ///
    /// A state is valid for 10 minutes by default. That time starts again only when the state changes.
    ///
    /// A client on a session does not retry. For it the function runs again on the server: at once if the state changed,
    /// and otherwise after a delay that grows to one second.
    pub fn resume(state: impl Serialize) -> Self {
        Self(Err(Halt::Next(Box::default()))).with_state(state)
    }

    /// Whether the call is over.
    pub fn is_done(&self) -> bool {
        self.0.is_ok()
    }

    /// Changes what leads to the next round. A reply that is done or has failed stays as it is.
    fn next(self, change: impl FnOnce(NextRound) -> Result<NextRound, CallError>) -> Self {
        Self(self.0.map_err(|halt| match halt {
            Halt::Next(next) => change(*next).map_or_else(Halt::from, |next| Halt::Next(Box::new(next))),
            other => other,
        }))
    }

    /// The result, for a caller that cannot start another round.
    pub(super) fn only_result(self) -> Result<T, CallError> {
        let unfinished = || CallError::new("the call continues in another round");
        self.0.map_err(|halt| halt.into_error().unwrap_or_else(unfinished))
    }
}
