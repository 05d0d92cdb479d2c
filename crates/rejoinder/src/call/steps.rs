//! Steps that are being taken: while there are any, their round does not end.

use std::{
    cell::{Cell, RefCell},
    future::poll_fn,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use super::{Call, Turn, Turns};
use crate::error::CallError;

thread_local! {
    /// Whether a question was left open since somebody last looked: a step that comes to one waits for the next round.
    static LEFT_OPEN: Cell<bool> = const { Cell::new(false) };
    /// The steps whose functions are on the stack, each with the call that it belongs to.
    static TAKING: RefCell<Vec<(usize, Arc<str>)>> = const { RefCell::new(Vec::new()) };
}

/// Notes that a question is left open, for the step that asks it.
pub(super) fn note_question() {
    LEFT_OPEN.set(true);
}

/// The steps of a call.
#[derive(Debug, Default)]
pub(super) struct Steps {
    /// How many are in flight; [`CLOSED`] once the round takes no more.
    in_flight: AtomicUsize,
    turns: Turns,
}

/// One number says both, so that no step begins between the look at the last one and the end of the round.
const CLOSED: usize = usize::MAX;

impl Steps {
    pub(super) fn are_in_flight(&self) -> bool {
        !matches!(self.in_flight.load(Ordering::SeqCst), 0 | CLOSED)
    }

    /// Takes no more of them, unless one is in flight.
    pub(super) fn close(&self) -> bool {
        self.in_flight.compare_exchange(0, CLOSED, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    pub(super) fn reopen(&self) {
        let _ = self.in_flight.compare_exchange(CLOSED, 0, Ordering::SeqCst, Ordering::SeqCst);
    }
}

impl Call {
    /// Waits until nobody else takes the step of that key.
    ///
    /// # Errors
    ///
    /// If that is the step which comes here: it would wait for itself. One that comes here through a task that it has
    /// spawned is not seen.
    pub(crate) async fn turn(&self, step: &str) -> Result<Turn, CallError> {
        let within_itself =
            TAKING.with_borrow(|taking| taking.iter().any(|(call, key)| *call == self.address() && **key == *step));
        if within_itself {
            let told = format!("the step `{step}` comes to itself, and would wait for its own end: use another key");
            return Err(CallError::mistake(told));
        }
        Ok(self.0.steps.turns.take(step).await)
    }

    /// Begins a step: until it is dropped, with its result recorded, the round goes on. `None` if it has ended in a
    /// question: nothing would keep the next round from taking the step again.
    pub(crate) fn begin_step(&self, key: &str) -> Option<Step<'_>> {
        let one_more = |in_flight| (in_flight != CLOSED).then(|| in_flight + 1);
        let begun = self.0.steps.in_flight.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_more);
        begun.ok().map(|_| Step { call: self, key: key.into(), is_in_flight: true })
    }

    /// What tells it from every other call, while it lasts.
    fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }
}

/// A step whose function is on the stack, until this is dropped.
struct OnTheStack;

impl OnTheStack {
    fn new(call: &Call, key: &Arc<str>) -> Self {
        TAKING.with_borrow_mut(|taking| taking.push((call.address(), Arc::clone(key))));
        Self
    }
}

impl Drop for OnTheStack {
    fn drop(&mut self) {
        TAKING.with_borrow_mut(|taking| taking.pop());
    }
}

/// A step that is being taken.
#[derive(Debug)]
pub(crate) struct Step<'a> {
    call: &'a Call,
    key: Arc<str>,
    is_in_flight: bool,
}

impl Step<'_> {
    /// Takes the step. If it asks, and the answer comes in another round, so does the step: it no longer keeps this one.
    pub(crate) async fn take<F: Future>(&mut self, step: F) -> F::Output {
        let mut step = pin!(step);
        poll_fn(|cx| {
            let outer = LEFT_OPEN.replace(false);
            let polled = {
                let _on_the_stack = OnTheStack::new(self.call, &self.key);
                step.as_mut().poll(cx)
            };
            if LEFT_OPEN.get() {
                self.leave();
            } else {
                LEFT_OPEN.set(outer);
            }
            polled
        })
        .await
    }

    fn leave(&mut self) {
        if std::mem::take(&mut self.is_in_flight) {
            self.call.0.steps.in_flight.fetch_sub(1, Ordering::SeqCst);
            // The round may have waited for this one only.
            if self.call.is_parked() {
                self.call.0.outbox.wake();
            }
        }
    }
}

impl Drop for Step<'_> {
    fn drop(&mut self) {
        self.leave();
    }
}
