//! How a round ends while its function still runs.
//!
//! A round ends in one way: with a [`Halt`]. Resolvers and rounds made by hand return it. The body of a function cannot,
//! because its author must not handle it: there [`Call::halt`] notes the halt and **never returns**. The running call sees
//! the halt when the function next waits, drops the function there and ends the round with it. A spawned future is not
//! dropped; it gets an error when the call is over.
//!
//! A round does not end while a [step](super::step) is in flight.

use super::{Call, Halt, step::release_steps};
use crate::error::{CallError, lock};

/// Whether and how a round ends.
#[derive(Debug, Default)]
pub(super) struct RoundEnd {
    /// Why it ends; a mistake of the author outranks a question.
    halt: Option<Halt>,
    pub(super) steps_in_flight: usize,
    /// Whether it has ended: then no step begins.
    pub(super) closed: bool,
}

impl RoundEnd {
    fn note(&mut self, halt: Halt) {
        if !matches!((&self.halt, &halt), (Some(Halt::Mistake(_)), _) | (Some(_), Halt::Pending)) {
            self.halt = Some(halt);
        }
    }
}

impl Call {
    /// Stops the body of a function: with an error that the body may handle, or by ending the round, and then the future
    /// never returns to the body.
    ///
    /// The halt is noted when this is called, not when the future is awaited.
    pub(crate) fn halt<T>(&self, halt: Halt) -> impl Future<Output = Result<T, CallError>> {
        if matches!(halt, Halt::Pending) {
            // The function stops in the middle, and may still need the answers that it has not used.
            self.record().keep_unused();
        }
        let error = match halt {
            // A call without a client has no rounds: a unit test gets the error.
            Halt::Pending | Halt::Mistake(_) if self.0.carrier.get().is_some() => {
                self.note_halt(halt);
                None
            }
            halt => halt.into_error(),
        };
        async move {
            if let Some(error) = error {
                return Err(error);
            }
            self.cancellation().cancelled().await;
            Err(CallError::round_is_over())
        }
    }

    /// Notes a mistake of the author in code that goes on: the round ends when no step is being taken.
    pub(crate) fn note_mistake(&self, mistake: CallError) {
        lock(&self.0.parking).note(Halt::Mistake(mistake));
    }

    /// Notes that the round ends; the first mistake counts, else the question. The current future does not go on.
    pub(crate) fn note_halt(&self, halt: Halt) {
        lock(&self.0.parking).note(halt);
        release_steps(self);
        // The future that asks may not be the one that polls the call.
        self.0.outbox.wake();
    }

    /// The author's mistake that ends the call, if there is one.
    pub(crate) fn mistake(&self) -> Option<Halt> {
        lock(&self.0.parking).halt.clone().filter(|halt| matches!(halt, Halt::Mistake(_)))
    }

    /// Whether the round can end: there is a halt, and no step is in flight.
    pub(crate) fn can_end(&self) -> bool {
        let end = lock(&self.0.parking);
        end.halt.is_some() && end.steps_in_flight == 0
    }

    /// Ends the round if it can end: from then on no step begins in it.
    pub(crate) fn end_halted(&self) -> Option<Halt> {
        let mut end = lock(&self.0.parking);
        let halt = end.halt.clone().filter(|_| end.steps_in_flight == 0);
        end.closed |= halt.is_some();
        halt
    }
}
