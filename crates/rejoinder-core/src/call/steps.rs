//! Steps that are being taken: while there are any, their round does not end.

use std::{
    cell::Cell,
    future::poll_fn,
    pin::pin,
    sync::atomic::{AtomicUsize, Ordering},
};

use super::{Call, Turn, Turns};

thread_local! {
    /// Whether a question was left open since somebody last looked: a step that comes to one waits for the next round.
    static LEFT_OPEN: Cell<bool> = const { Cell::new(false) };
}

/// Notes that a question is left open, for the step that asks it.
pub(super) fn note_question() {
    LEFT_OPEN.set(true);
}

/// The steps of a call.
#[derive(Debug, Default)]
pub(super) struct Steps {
    in_flight: AtomicUsize,
    turns: Turns,
}

impl Steps {
    pub(super) fn are_in_flight(&self) -> bool {
        self.in_flight.load(Ordering::SeqCst) > 0
    }
}

impl Call {
    /// Waits until nobody else takes the step of that key.
    pub(crate) async fn turn(&self, step: &str) -> Turn {
        self.0.steps.turns.take(step).await
    }

    /// Begins a step: until it is dropped, with its result recorded, the round goes on.
    pub(crate) fn begin_step(&self) -> Step<'_> {
        self.0.steps.in_flight.fetch_add(1, Ordering::SeqCst);
        Step { call: self, is_in_flight: true }
    }
}

/// A step that is being taken.
#[derive(Debug)]
pub(crate) struct Step<'a> {
    call: &'a Call,
    is_in_flight: bool,
}

impl Step<'_> {
    /// Takes the step. If it asks, and the answer comes in another round, so does the step: it no longer keeps this one.
    pub(crate) async fn take<F: Future>(&mut self, step: F) -> F::Output {
        let mut step = pin!(step);
        poll_fn(|cx| {
            let outer = LEFT_OPEN.replace(false);
            let polled = step.as_mut().poll(cx);
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
