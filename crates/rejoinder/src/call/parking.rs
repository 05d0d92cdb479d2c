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
    /// The function itself is dropped where it waits. A task that it spawned is not: it gets an error when the round is
    /// over.
    async fn park<T>(&self) -> Result<T, CallError> {
        self.0.parked.store(true, Ordering::SeqCst);
        steps::note_question();
        // The task that asks may not be the one that polls the round.
        self.0.outbox.wake();
        self.cancellation().cancelled().await;
        Err(CallError::round_is_over())
    }

    /// Stops the body of a function: with an error where the body may handle it, else by parking it.
    pub(crate) async fn halt<T>(&self, halt: Halt) -> Result<T, CallError> {
        match halt {
            Halt::Mistake(mistake) => {
                self.note_mistake(mistake);
                self.park().await
            }
            halt => match halt.into_error() {
                Some(error) => Err(error),
                None => self.park().await,
            },
        }
    }

    /// Notes the author's mistake, which ends the call whatever the function does; the first one counts.
    pub(crate) fn note_mistake(&self, mistake: CallError) {
        let _ = self.0.mistake.set(mistake);
    }

    /// The author's mistake that ends the call, if there is one.
    pub(crate) fn mistake(&self) -> Option<CallError> {
        self.0.mistake.get().cloned()
    }

    /// Ends a round that is made by hand, which may be going on in another one.
    ///
    /// # Errors
    ///
    /// If it cannot go on.
    pub(crate) fn hand_on(&self, next: NextRound) -> Result<(), CallError> {
        for Posed { key, question } in &next.questions {
            if let Some(refused) = question.out_of_reach(self.facts()) {
                return Err(self.cannot_ask(key, question, true, refused));
            }
        }
        self.carrier().ok_or_else(CallError::nobody_to_ask)?.hand_on(next)
    }

    /// Asks what the last round handed on, and waits until the function can run again.
    ///
    /// # Errors
    ///
    /// If it cannot.
    pub(crate) async fn go_on(&self) -> Result<(), CallError> {
        self.carrier().ok_or_else(CallError::nobody_to_ask)?.go_on().await
    }

    /// Begins another round in the same call.
    pub(crate) fn unpark(&self) {
        self.0.parked.store(false, Ordering::SeqCst);
        self.0.steps.reopen();
        self.reopen();
    }

    /// Whether the round can end, because a question is open and no step is being taken.
    pub(crate) fn is_parked(&self) -> bool {
        self.0.parked.load(Ordering::SeqCst) && !self.0.steps.are_in_flight()
    }

    /// Ends the round if a question is open and no step is being taken: from then on no step begins in it.
    pub(crate) fn end_parked(&self) -> bool {
        self.0.parked.load(Ordering::SeqCst) && self.0.steps.close()
    }

    /// Says that the function has returned with a question open.
    pub(crate) fn note_parked(&self) {
        self.0.parked.store(true, Ordering::SeqCst);
    }
}
