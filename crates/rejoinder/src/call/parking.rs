//! How a function waits for an answer that comes in another round.

use std::sync::atomic::Ordering;

use super::{Call, steps};
use crate::{
    ask::{NextRound, Posed},
    error::{CallError, Halt},
};

impl Call {
    /// Waits for an answer that comes in another round.
    ///
    /// The function itself is dropped where it waits. A task that it spawned is not, and must not wait for ever: it gets
    /// an error when the round is over.
    async fn park<T>(&self) -> Result<T, CallError> {
        self.0.parked.store(true, Ordering::SeqCst);
        steps::note_question();
        // Who waits may not be the function, which is what the round is polled for.
        self.0.outbox.wake();
        self.cancellation().cancelled().await;
        Err(CallError::round_is_over())
    }

    /// Ends the call with an error, or waits for an answer that comes in another round.
    pub(crate) async fn halt<T>(&self, halt: Halt) -> Result<T, CallError> {
        match halt.into_error() {
            Some(error) => Err(error),
            None => self.park().await,
        }
    }

    /// Ends a round that is made by hand, and waits for the next.
    ///
    /// # Errors
    ///
    /// If there cannot be one.
    pub async fn next_round<T>(&self, next: NextRound) -> Result<T, CallError> {
        for Posed { key, question } in &next.questions {
            if let Some(refused) = question.out_of_reach(self.facts()) {
                return Err(self.cannot_ask(key, question, true, refused));
            }
        }
        let carrier = self.carrier().ok_or_else(CallError::nobody_to_ask)?;
        carrier.hand_on(next)?;
        self.park().await
    }

    /// Asks what the last round handed on, once it is over, and waits until the function can run again.
    ///
    /// # Errors
    ///
    /// If it cannot.
    pub async fn go_on(&self) -> Result<(), CallError> {
        self.carrier().ok_or_else(CallError::nobody_to_ask)?.go_on().await
    }

    /// Says that the function, which waited for another round, runs again.
    pub fn unpark(&self) {
        self.0.parked.store(false, Ordering::SeqCst);
        self.0.steps.reopen();
        self.reopen();
    }

    /// Whether the round can end, because the function waits for an answer that comes in another one and no step is
    /// being taken. Whoever takes from the outbox is woken when this becomes so.
    pub fn is_parked(&self) -> bool {
        self.0.parked.load(Ordering::SeqCst) && !self.0.steps.are_in_flight()
    }

    /// Ends the round if it can end: from then on no step is taken in it.
    pub fn end_parked(&self) -> bool {
        self.0.parked.load(Ordering::SeqCst) && self.0.steps.close()
    }
}
