//! One call of a session, from its start to its outcome.

use std::{future::poll_fn, sync::Arc};

use crate::{call::Carriage, error::CallError, item::Ready};
use rmcp::{RoleServer, model::ErrorData, service::RequestContext};

use super::{error, facts::facts, notify::Notify, reply_stream::ReplyStream, state::Session};
use crate::{
    protocol::{Outcome, RpcError},
    rounds::Live,
    server::{Engine, Event, Running},
};

/// Runs a function. Its future lives in the one returned here, and is dropped as soon as the client takes the request
/// back or the session ends.
///
/// `again` reads its arguments once more, for a function that makes its rounds by hand.
pub(super) async fn drive<O: 'static>(
    engine: &Engine,
    session: &Session,
    context: &RequestContext<RoleServer>,
    ready: Ready<O>,
    again: impl Fn() -> Option<Ready<O>>,
) -> Result<Outcome<O>, ErrorData> {
    let most = engine.options.limits.calls;
    let notify = Notify::new(context);
    let outcome = {
        // Both are dropped after the call itself: when they are, what it has deferred is counted.
        let _running = engine.calls.begin_below(most).ok_or_else(|| error::wire(RpcError::busy(most)))?;
        let _in_session = session.calls.begin();
        let facts = facts(session, context);
        let live = Live::new(context.peer.clone(), context.id.clone(), facts.protocol_version, session.unheard.clone());
        let running = Running::start(ready, engine.asking_call(facts, Carriage::With(Arc::new(live))));
        unless_cancelled(session, context, to_the_end(running, again, &notify)).await?
    };
    // The call is over and takes up nobody's place, however long its client stays away. Of replies that wait there are no
    // more than of calls; beyond that, one whose client is away is lost.
    if notify.is_client_away()
        && let Some(_untaken) = engine.untaken.begin_below(most)
    {
        unless_cancelled(session, context, notify.before_reply()).await?;
    }
    Ok(outcome)
}

/// Whatever a call emits goes out before its outcome, in order.
async fn to_the_end<O: 'static>(
    mut running: Running<O>,
    again: impl Fn() -> Option<Ready<O>>,
    notify: &Notify,
) -> Outcome<O> {
    loop {
        match poll_fn(|cx| running.poll_event(cx)).await {
            Event::Emitted(emitted) => notify.tell(emitted).await,
            Event::Done(outcome) => return outcome,
            Event::Again => match again() {
                Some(ready) => running.again(ready),
                // What could be read once can be read again, unless the item has been removed meanwhile.
                None => return Ok(Err(CallError::new("what was called is no longer there"))),
            },
            Event::Parked(_) => unreachable!("a question over a session is awaited"),
        }
    }
}

/// The future's output, unless the client takes the request back or the session ends first.
pub(super) async fn unless_cancelled<T>(
    session: &Session,
    context: &RequestContext<RoleServer>,
    future: impl Future<Output = T>,
) -> Result<T, ErrorData> {
    let stream = context.extensions.get::<ReplyStream>().cloned().unwrap_or_default();
    tokio::select! {
        biased;
        () = context.ct.cancelled() => Err(error::cancelled()),
        () = stream.ended() => Err(error::cancelled()),
        () = session.ending.cancelled() => Err(error::cancelled()),
        output = future => Ok(output),
    }
}
