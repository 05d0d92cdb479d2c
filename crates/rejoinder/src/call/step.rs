//! Steps: work whose result is kept with the call.
//!
//! A round does not end while a step ([`Context::once`](crate::Context::once)) is in flight, because its result would be
//! lost. A step that asks is the exception: it waits for the next round itself, so it lets go of this one.

use std::{
    future::pending,
    iter::successors,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use serde::{Serialize, de::DeserializeOwned};

use super::{Call, Halt, record::round_trip};
use crate::{
    error::{CallError, lock},
    model::error_code::INTERNAL_ERROR,
};

/// The key of a question or of a step: a text.
#[diagnostic::on_unimplemented(
    message = "the key comes first, and is a text: `ctx.ask(\"key\", question)`, `ctx.once(\"key\", || ..)`",
    label = "`{Self}` is not a text"
)]
pub trait CallKey: AsRef<str> {}

#[diagnostic::do_not_recommend]
impl<T: AsRef<str>> CallKey for T {}

/// What [`Context::once`](crate::Context::once) calls, unless the step has run.
#[diagnostic::on_unimplemented(
    message = "a step is a closure, because it does not always run: `ctx.once(\"key\", || work())`",
    label = "not a closure without parameters"
)]
pub trait StepFn<F>: FnOnce() -> F {}

#[diagnostic::do_not_recommend]
impl<F, C: FnOnce() -> F> StepFn<F> for C {}

/// What a step of [`Context::once`](crate::Context::once) returns.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a step, which is kept with the call: add `#[derive(Serialize, Deserialize)]`",
    label = "not `serde::Serialize` and `serde::Deserialize`, or it borrows something"
)]
pub trait StepValue: Serialize + DeserializeOwned {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> StepValue for T {}

/// The work of [`Context::once`](crate::Context::once): a future that ends with a `Result<T, CallError>`.
#[diagnostic::on_unimplemented(
    message = "a step ends with a `Result<_, CallError>`: write `|| async {{ Ok(value) }}`; `?` converts errors for the log, and `.map_err(IntoCallError::into_call_error)` those of your own type",
    label = "not a future of a `Result<_, CallError>`"
)]
pub trait Step<T>: Future<Output = Result<T, CallError>> {}

#[diagnostic::do_not_recommend]
impl<T, F: Future<Output = Result<T, CallError>>> Step<T> for F {}

impl Call {
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
        if self.run_of_task().is_some_and(|run| !run.holds()) {
            // Another run may have done it.
            self.while_round_lasts(pending::<Result<(), CallError>>()).await?;
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

    /// The recorded result of a step.
    pub(crate) fn recorded_step<T: DeserializeOwned>(&self, step: &str) -> Result<Option<T>, CallError> {
        let read = self.record().steps.get(step).map(|result| serde_json::from_str(result.get())).transpose();
        read.map_err(|_| {
            CallError::mistake(format!(
                "the recorded result of step `{step}` does not have the type that the step has now: use another key"
            ))
        })
    }

    /// Records the result of a step, and returns it as later rounds read it.
    pub(crate) async fn record_step<T: Serialize + DeserializeOwned>(
        &self,
        step: &str,
        result: T,
    ) -> Result<T, CallError> {
        let (json, result) = round_trip(&result, || format!("the result of step `{step}`"))?;
        if let Ok((carrier, rules)) = self.carrier() {
            let trace = self.trace();
            if let Some(trace) = &trace {
                trace.pass(step, false).await;
            }
            let is_run = carrier.run().is_some();
            let record = self.record().record_step(step, self.step_around(|_| true), json, rules);
            // A task that has no room for what it knows fails: running it again would not help.
            let record = record.map_err(|full| {
                if is_run { CallError::protocol(INTERNAL_ERROR, full.to_string(), None) } else { full }
            })?;
            let recorded = carrier.record(step, record);
            // A run that has lost its task never hears that the step is durable.
            if is_run {
                self.while_round_lasts(recorded).await?;
            } else {
                recorded.await?;
            }
            if let Some(trace) = &trace {
                trace.pass(step, true).await;
            }
        }
        Ok(result)
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

/// Lets the round of a call end, although the current future takes steps of it.
pub(super) fn release_steps(call: &Call) {
    let _ = STEP.try_with(|step| step.and_outer(call).for_each(StepInFlight::release));
}
