use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll},
};

use rejoinder_core::{
    BoxFuture,
    ask::{Carrier, Parked},
    call::{Call, Emitted, EndOnDrop},
    error::ToolError,
    item::Ready,
};

/// A function that is being called. Whoever drops it, cancels it.
pub(crate) struct Running<O> {
    // Declared before the guard: the function is dropped first, then whatever it spawned is told.
    future: BoxFuture<'static, Result<O, ToolError>>,
    done: Option<Result<Result<O, ToolError>, Panicked>>,
    call: Call,
    _end: EndOnDrop,
}

/// What comes out of a running function.
pub(crate) enum Event<O> {
    /// It told the client something; there may be more.
    Emitted(Emitted),
    /// It waits for answers that come in another round.
    Parked(Parked),
    /// It is over.
    Done(Result<Result<O, ToolError>, Panicked>),
}

/// The function panicked; the panic's own message has gone to the log.
#[derive(Debug)]
pub(crate) struct Panicked;

impl<O> Running<O> {
    pub(crate) fn start(ready: Ready<O>, call: Call) -> Self {
        let end = call.end_on_drop();
        Self { future: ready.run(call.clone()), done: None, call, _end: end }
    }

    pub(crate) fn call(&self) -> &Call {
        &self.call
    }

    /// The next event; what was emitted comes before the end.
    pub(crate) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Event<O>> {
        if self.done.is_none() {
            // The future is never polled again after it ended or panicked.
            match catch_unwind(AssertUnwindSafe(|| Pin::new(&mut self.future).poll(cx))) {
                // What it asked goes out with the reply, and it runs again in the next round.
                Ok(Poll::Pending) if self.call.is_parked() => {}
                Ok(Poll::Pending) => return self.call.outbox().poll_take(cx).map(Event::Emitted),
                Ok(Poll::Ready(outcome)) => self.done = Some(Ok(outcome)),
                Err(_) => self.done = Some(Err(Panicked)),
            }
        }
        if let Some(emitted) = self.call.outbox().take() {
            return Poll::Ready(Event::Emitted(emitted));
        }
        if let Some(outcome) = self.done.take() {
            return Poll::Ready(Event::Done(outcome));
        }
        match self.call.carrier().and_then(Carrier::parked) {
            Some(Ok(parked)) => Poll::Ready(Event::Parked(parked)),
            Some(Err(mistake)) => Poll::Ready(Event::Done(Ok(Err(mistake)))),
            None => Poll::Pending,
        }
    }
}
