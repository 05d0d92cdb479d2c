//! How a round ends while its function still runs.
//!
//! A round ends in one way: with a [`Halt`]. Resolvers and rounds made by hand return it. The body of a function cannot,
//! because its author must not handle it: there [`Call::halt`] notes the halt and **never returns**. The running call sees
//! the halt when the function next waits, drops the function there and ends the round with it. A spawned future is not
//! dropped; it gets an error when the call is over.
//!
//! A round does not end while a step ([`Context::once`](crate::Context::once)) is in flight, because its result would be
//! lost. A step that asks is the exception: it waits for the next round itself, so it lets go of this one.

use std::{
    iter::successors,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use serde::{Serialize, de::DeserializeOwned};

use super::Call;
use crate::{
    error::{CallError, Halt},
    lock,
};

/// Whether and how a round ends.
#[derive(Debug, Default)]
pub(super) struct RoundEnd {
    /// Why it ends; a mistake of the author outranks a question.
    halt: Option<Halt>,
    steps_in_flight: usize,
    /// Whether it has ended: then no step begins.
    closed: bool,
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
        let _ = STEP.try_with(|step| step.and_outer(self).for_each(StepInFlight::release));
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

    /// The innermost step of this call that the current future belongs to and that is as wanted.
    pub(super) fn step_around(&self, is_wanted: impl Fn(&StepInFlight) -> bool) -> Option<Arc<str>> {
        let find =
            |step: &Arc<StepInFlight>| step.and_outer(self).find(|step| is_wanted(step)).map(|step| step.key.clone());
        STEP.try_with(find).ok().flatten()
    }

    /// The result of a step: the recorded one, or that of the step, which is taken and recorded now.
    ///
    /// # Errors
    ///
    /// The error of the step. If the round has ended: the next one would take the step again. If this runs inside the step of
    /// that key: it would wait for itself; a future that the step spawned is not noticed.
    pub(crate) async fn step<T, F>(&self, key: &str, is_shared: bool, step: impl FnOnce() -> F) -> Result<T, CallError>
    where
        T: Serialize + DeserializeOwned,
        F: Future<Output = Result<T, CallError>>,
    {
        if self.step_around(|outer| *outer.key == *key).is_some() {
            return Err(CallError::mistake(format!(
                "step `{key}` is nested inside itself, which is a deadlock: use another key"
            )));
        }
        let turns = self.record().turn_to_step(key);
        // A shared step waits while another future takes it.
        let turn = if is_shared { Some(turns.lock().await) } else { turns.try_lock().ok() };
        if turn.is_none() || (self.record().has_step(key) && !is_shared) {
            return self.halt(Halt::Mistake(CallError::step_twice(key))).await;
        }
        if let Some(recorded) = self.recorded_step(key)? {
            let replayed = self.record().replay_step(key, is_shared);
            return match replayed {
                Ok(()) => Ok(recorded),
                Err(mistake) => self.halt(Halt::Mistake(mistake)).await,
            };
        }
        let in_flight = self.begin_step(key, is_shared)?;
        let result = STEP.scope(Arc::clone(&in_flight), step()).await?;
        match self.record_step(key, result).await {
            Ok(result) => {
                self.record().reach_step(key, is_shared);
                Ok(result)
            }
            // A function that went on from here would take the step again.
            Err(mistake) => {
                // Noted before the step is let go, because the round may end as soon as it is.
                let halted = self.halt(Halt::Mistake(mistake));
                drop(in_flight);
                halted.await
            }
        }
    }

    /// Begins a step. The round does not end before it is dropped, with its result recorded.
    fn begin_step(&self, key: &str, is_shared: bool) -> Result<Arc<StepInFlight>, CallError> {
        let mut end = lock(&self.0.parking);
        if end.closed {
            return Err(CallError::round_is_over());
        }
        end.steps_in_flight += 1;
        let (holds_round, outer) = (AtomicBool::new(true), STEP.try_with(Arc::clone).ok());
        Ok(Arc::new(StepInFlight { call: self.clone(), key: key.into(), is_shared, holds_round, outer }))
    }
}

tokio::task_local! {
    /// The step that the current future belongs to.
    static STEP: Arc<StepInFlight>;
}

#[derive(Debug)]
pub(super) struct StepInFlight {
    call: Call,
    key: Arc<str>,
    pub(super) is_shared: bool,
    holds_round: AtomicBool,
    /// The step that this one is a part of.
    outer: Option<Arc<StepInFlight>>,
}

impl StepInFlight {
    /// This step and the steps that it is a part of, without those of other calls.
    fn and_outer(&self, call: &Call) -> impl Iterator<Item = &Self> {
        successors(Some(self), |step| step.outer.as_deref()).filter(|step| Arc::ptr_eq(&step.call.0, &call.0))
    }

    /// Lets the round end.
    fn release(&self) {
        if self.holds_round.swap(false, Ordering::SeqCst) {
            lock(&self.call.0.parking).steps_in_flight -= 1;
            // The round may have waited for this step only.
            if self.call.can_end() {
                self.call.0.outbox.wake();
            }
        }
    }
}

impl Drop for StepInFlight {
    fn drop(&mut self) {
        self.release();
    }
}
