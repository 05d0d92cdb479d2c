use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll, ready},
};

use crate::{
    BoxFuture,
    ask::{Carrier, Parked},
    call::{Call, CallEnd, Emitted, EndOnDrop},
    error::CallError,
    item::Ready,
};
use tokio::runtime::Handle;

use super::handle::Cell;

/// A function that is being called. Whoever drops it, cancels it.
pub(crate) struct Running<O> {
    /// Gone when it is over, so that all it held is gone before what it deferred runs.
    future: Option<BoxFuture<'static, Result<O, CallError>>>,
    done: Option<Result<Result<O, CallError>, Panicked>>,
    /// What it asks, if it waits for answers that come in another round.
    parked: Option<Parked>,
    /// What it deferred, while it runs.
    teardown: Option<BoxFuture<'static, ()>>,
    /// What comes before it runs again, right here.
    between: Option<BoxFuture<'static, Result<(), CallError>>>,
    call: Call,
    _end: EndOnDrop,
}

/// What comes out of a running function.
pub(crate) enum Event<O> {
    /// It told the client something; there may be more.
    Emitted(Emitted),
    /// It waits for answers that come in another round.
    Parked(Parked),
    /// It is to run again, right here: see [`Running::again`].
    Again,
    /// It is over.
    Done(Result<Result<O, CallError>, Panicked>),
}

/// The function panicked; the panic's own message has gone to the log.
#[derive(Debug)]
pub(crate) struct Panicked;

impl<O> Running<O> {
    /// Drops the function where it is: what it holds is the author's, and may panic.
    fn discard(&mut self) -> Result<(), Panicked> {
        let future = self.future.take();
        catch_unwind(AssertUnwindSafe(|| drop(future))).map_err(|_| Panicked)
    }
}

impl<O: 'static> Running<O> {
    pub(crate) fn start(ready: Ready<O>, call: Call) -> Self {
        Self::of(ready.run(call.clone()), call)
    }

    /// What runs for a call.
    pub(crate) fn of(future: BoxFuture<'static, Result<O, CallError>>, call: Call) -> Self {
        let end = call.end_on_drop();
        Self { future: Some(future), done: None, parked: None, teardown: None, between: None, call, _end: end }
    }

    /// Runs the function once more, in the same call, after [`Event::Again`].
    pub(crate) fn again(&mut self, ready: Ready<O>) {
        self.call.unpark();
        self.future = Some(ready.run(self.call.clone()));
    }

    pub(crate) fn call(&self) -> &Call {
        &self.call
    }

    /// The next event; what was emitted comes before the end, and so does what was deferred.
    pub(crate) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Event<O>> {
        if self.future.is_some() && self.poll_function(cx).is_pending()
            || self.poll_teardown(cx).is_pending()
            || self.poll_between(cx).is_pending()
        {
            let emitted = self.call.outbox().poll_take(cx);
            if emitted.is_pending() && self.future.is_some() && self.call.is_parked() {
                // A task of the function has asked, or taken its last step, before there was anybody to wake.
                cx.waker().wake_by_ref();
            }
            return emitted.map(Event::Emitted);
        }
        if let Some(emitted) = self.call.outbox().take() {
            return Poll::Ready(Event::Emitted(emitted));
        }
        if let Some(outcome) = self.done.take() {
            return Poll::Ready(Event::Done(outcome));
        }
        Poll::Ready(self.parked.take().map_or(Event::Again, Event::Parked))
    }

    fn poll_function(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while let Some(future) = &mut self.future {
            let polled = catch_unwind(AssertUnwindSafe(|| Pin::new(future).poll(cx)));
            let polled = match polled {
                // Whatever it makes of its end: the author's mistake is not to be hidden by it.
                Ok(Poll::Ready(output)) => Ok(Poll::Ready(self.call.take_mistake().map_or(output, Err))),
                polled => polled,
            };
            let ending = match polled {
                Ok(Poll::Pending) if self.call.end_parked() => match self.call.carrier().and_then(Carrier::parked) {
                    Some(Err(mistake)) => {
                        self.done = Some(Ok(Err(mistake)));
                        CallEnd::Failed
                    }
                    // What it asked goes out with the reply, and it runs again in the next round.
                    Some(Ok(parked)) => {
                        self.parked = Some(parked);
                        CallEnd::Pending
                    }
                    // It is asked when nothing of this round is left, and then it runs again right here.
                    None => {
                        let call = self.call.clone();
                        self.between = Some(Box::pin(async move { call.go_on().await }));
                        CallEnd::Pending
                    }
                },
                Ok(Poll::Pending) => return Poll::Pending,
                Ok(Poll::Ready(Ok(output))) => {
                    self.done = Some(Ok(Ok(output)));
                    CallEnd::Succeeded
                }
                Ok(Poll::Ready(Err(error))) => match error.into_next_round() {
                    Ok(next) => {
                        let call = self.call.clone();
                        self.future = Some(Box::pin(async move { call.next_round(next).await }));
                        continue;
                    }
                    Err(error) => {
                        self.done = Some(Ok(Err(error)));
                        CallEnd::Failed
                    }
                },
                Err(_) => {
                    self.done = Some(Err(Panicked));
                    CallEnd::Panicked
                }
            };
            let ending = match self.discard() {
                Ok(()) => ending,
                Err(panicked) => {
                    (self.done, self.between) = (Some(Err(panicked)), None);
                    CallEnd::Panicked
                }
            };
            self.teardown = self.call.teardown(ending);
        }
        Poll::Ready(())
    }

    fn poll_teardown(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(teardown) = &mut self.teardown {
            if teardown.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            self.teardown = None;
        }
        Poll::Ready(())
    }

    fn poll_between(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(between) = &mut self.between {
            let went_on = ready!(between.as_mut().poll(cx));
            (self.done, self.between) = (went_on.err().map(|error| Ok(Err(error))), None);
        }
        Poll::Ready(())
    }
}

impl<O> Drop for Running<O> {
    /// What was deferred runs to its end even if nobody waits for it.
    fn drop(&mut self) {
        // Nobody waits for it, so nobody need be told; the panic's own message has gone to the log.
        let _ = self.discard();
        let Some(teardown) = self.teardown.take().or_else(|| self.call.teardown(CallEnd::Cancelled)) else { return };
        let Ok(runtime) = Handle::try_current() else {
            return tracing::error!("what a call deferred cannot run: it was dropped outside a tokio runtime");
        };
        // A server that stops waits for it.
        let counted = self.call.dependency::<Cell>().and_then(|cell| Some(cell.engine()?.teardown.begin()));
        runtime.spawn(async move {
            teardown.await;
            drop(counted);
        });
    }
}
