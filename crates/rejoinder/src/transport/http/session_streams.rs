//! The event streams of a session over HTTP: a client may leave one, and come back with the id of the last event.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    task::{Context, Poll, Waker},
    time::Duration,
};

use bytes::Bytes;
use tokio::{runtime::Handle, sync::Notify, time::timeout};

use super::{
    body::{EventSource, event, event_with_id, retry_event},
    sessions::{Attended, HttpSession},
};
use crate::{
    call::Call,
    error::CallError,
    inject::FromCall,
    protocol::{Frame, Stream},
    server::{Engine, RunningCall},
};

/// How long a reply waits for a client that left.
const PATIENCE: Duration = Duration::from_secs(60);

/// When a client whose connection broke should come back.
const RETRY: Duration = Duration::from_secs(3);

/// How many messages of a stream are kept for a client that comes back.
const MOST_KEPT: usize = 256;

/// The last messages of a stream, counted from 1.
#[derive(Debug, Default)]
pub(super) struct Replay {
    messages: VecDeque<Bytes>,
    count: u64,
}

impl Replay {
    pub(super) fn push(&mut self, message: Bytes) {
        if self.messages.len() == MOST_KEPT {
            self.messages.pop_front();
        }
        self.messages.push_back(message);
        self.count += 1;
    }

    /// The first message after that one, and its number.
    pub(super) fn after(&self, number: u64) -> Option<(u64, Bytes)> {
        let dropped = self.count - self.messages.len() as u64;
        let index = number.max(dropped);
        let message = self.messages.get(usize::try_from(index - dropped).ok()?)?;
        Some((index + 1, message.clone()))
    }
}

/// The id of an event: its stream, and the number of the message.
pub(super) fn parse_event_id(id: &str) -> Option<(u64, u64)> {
    let (stream, number) = id.split_once('-')?;
    Some((stream.parse().ok()?, number.parse().ok()?))
}

/// The stream that carries the reply to one request.
///
/// Whoever reads it runs the call. When the client's connection breaks, a task takes over until the client is back.
pub(super) struct RequestStream {
    session: Weak<HttpSession>,
    pub(super) number: u64,
    /// The request's id.
    pub(super) request: String,
    /// Whether the client knows how to leave and come back.
    resumes: bool,
    /// Apart from the rest: the author's code runs while it is locked.
    call: Mutex<Option<Stream>>,
    state: Mutex<RequestState>,
    left: Notify,
}

#[derive(Default)]
struct RequestState {
    /// The questions and the reply.
    replay: Replay,
    /// The connection that reads the stream, if there is one.
    connection: Option<u64>,
    connections: u64,
    /// Whether the client has an event id to come back with.
    named: bool,
    /// The client is to leave, and to come back after that time.
    send_away: Option<Duration>,
    /// Whether the call has ended.
    over: bool,
    /// Wakes whoever reads the stream or runs the call.
    waker: Option<Waker>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Every statement leaves the state valid.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl RequestStream {
    pub(super) fn new(session: &Arc<HttpSession>, number: u64, request: String, resumes: bool) -> Self {
        let (session, call) = (Arc::downgrade(session), Mutex::default());
        let state = RequestState { connection: Some(0), ..RequestState::default() };
        Self { session, number, request, resumes, call, state: Mutex::new(state), left: Notify::new() }
    }

    /// Gives the stream its call, and polls it for the first time: a notification, if there is one.
    pub(super) async fn begin(&self, call: Stream) -> Option<Bytes> {
        *locked(&self.call) = Some(call);
        match poll_fn(|cx| Poll::Ready(self.poll_call(cx))).await {
            Poll::Ready(notification) => notification,
            Poll::Pending => None,
        }
    }

    /// The reply, if the call is over and has sent nothing before it.
    pub(super) fn only_reply(&self) -> Option<Bytes> {
        let state = locked(&self.state);
        let (_, reply) = state.replay.after(0).filter(|_| state.over && state.replay.count == 1)?;
        Some(reply)
    }

    fn is_over(&self) -> bool {
        locked(&self.state).over
    }

    /// Runs the call. `None` if something else has changed: there is a question, or the call is over.
    fn poll_call(&self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut call = locked(&self.call);
        let Some(running) = call.as_mut() else { return Poll::Ready(None) };
        let polled = running.poll_frame(cx);
        let mut state = locked(&self.state);
        let notification = match polled {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Frame::Notification(message)) => Poll::Ready(Some(message)),
            Poll::Ready(Frame::Request(message)) => {
                state.replay.push(message);
                Poll::Ready(None)
            }
            Poll::Ready(Frame::Last(reply)) => {
                state.replay.push(reply.body.whole());
                state.over = true;
                Poll::Ready(None)
            }
        };
        let ended = if state.over { call.take() } else { None };
        // Before the state: whoever ends the call finds it free, or is seen here.
        drop(call);
        let over = state.over;
        drop(state);
        // The author's values go, without a lock.
        drop(ended);
        if over && notification.is_pending() { Poll::Ready(None) } else { notification }
    }

    /// Ends the call without a reply, wherever it is being polled.
    pub(super) fn end(&self) {
        let waker = {
            let mut state = locked(&self.state);
            state.over = true;
            state.waker.take()
        };
        // Whoever polls it right now sees that it is over.
        let ended = self.call.try_lock().ok().and_then(|mut call| call.take());
        drop(ended);
        waker.into_iter().for_each(Waker::wake);
    }

    /// The next event for a connection that has seen that many messages.
    fn poll_event(&self, connection: u64, seen: &mut u64, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        loop {
            {
                let mut state = locked(&self.state);
                if state.connection != Some(connection) {
                    return Poll::Ready(None);
                }
                if let Some((number, message)) = state.replay.after(*seen) {
                    *seen = number;
                    state.named = true;
                    return Poll::Ready(Some(event_with_id(self.number, number, message)));
                }
                if state.over {
                    return Poll::Ready(None);
                }
                if let Some(retry) = state.send_away.take() {
                    state.connection = None;
                    return Poll::Ready(Some(retry_event(self.number, *seen, retry)));
                }
                state.waker = Some(cx.waker().clone());
            }
            match self.poll_call(cx) {
                Poll::Ready(Some(notification)) => return Poll::Ready(Some(event([notification]))),
                Poll::Ready(None) => {}
                // The call itself may have sent the client away.
                Poll::Pending if locked(&self.state).send_away.is_some() => {}
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// Connects a client that has seen that many messages; another connection of the stream ends.
    pub(super) fn connect(self: &Arc<Self>, seen: u64, attended: Attended, reply: RunningCall) -> RequestEvents {
        let mut state = locked(&self.state);
        state.connections += 1;
        state.connection = Some(state.connections);
        state.send_away = None;
        state.waker.take().into_iter().for_each(Waker::wake);
        let connection = state.connections;
        RequestEvents { stream: Arc::clone(self), connection, seen, first: VecDeque::new(), attended, _reply: reply }
    }

    /// A connection has gone: the call goes on without it.
    fn leave(self: &Arc<Self>, connection: u64, seen: u64, session: &HttpSession) {
        let mut state = locked(&self.state);
        match state.connection {
            Some(other) if other != connection => return,
            _ => state.connection = None,
        }
        if state.over && state.replay.after(seen).is_none() {
            drop(state);
            return session.forget(self.number);
        }
        let connections = state.connections;
        drop(state);
        self.left.notify_waiters();
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(Arc::clone(self).run_alone(connections, Arc::clone(&session.engine)))),
            Err(_) => self.end(),
        }
    }

    /// Runs the call until a client comes back, and keeps its reply for one that may.
    async fn run_alone(self: Arc<Self>, connections: u64, engine: Arc<Engine>) {
        poll_fn(|cx| self.poll_alone(connections, cx)).await;
        let waits = {
            let state = locked(&self.state);
            state.named && state.replay.count > 0
        };
        // There are no more waiting replies than calls; beyond that, one whose client is away is lost.
        if waits && let Some(_untaken) = engine.untaken.begin_below(engine.options.max_calls) {
            let _ = timeout(PATIENCE, poll_fn(|cx| self.poll_back(connections, cx))).await;
        }
        if locked(&self.state).connections == connections
            && let Some(session) = self.session.upgrade()
        {
            session.forget(self.number);
        }
    }

    /// Until the call is over, or a client is back.
    fn poll_alone(&self, connections: u64, cx: &mut Context<'_>) -> Poll<()> {
        if self.poll_back(connections, cx).is_ready() || self.is_over() {
            return Poll::Ready(());
        }
        if self.poll_call(cx).is_ready() {
            // Nothing slows down a call whose notifications nobody reads, so it makes room for others.
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }

    /// Until a client is back.
    fn poll_back(&self, connections: u64, cx: &Context<'_>) -> Poll<()> {
        let mut state = locked(&self.state);
        if state.connections != connections {
            return Poll::Ready(());
        }
        state.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

/// What one connection reads of a request's stream.
pub(super) struct RequestEvents {
    stream: Arc<RequestStream>,
    connection: u64,
    /// How many messages it has seen.
    seen: u64,
    /// What comes before anything else.
    first: VecDeque<Bytes>,
    attended: Attended,
    /// The reply is on its way.
    _reply: RunningCall,
}

impl RequestEvents {
    /// The same, for the response to the request itself.
    pub(super) fn opening(mut self, notification: Option<Bytes>) -> Self {
        if self.stream.resumes {
            // Clients before 2025-11-25 take an event without data for broken JSON.
            locked(&self.stream.state).named = true;
            self.first.push_back(retry_event(self.stream.number, 0, RETRY));
        }
        self.first.extend(notification.map(|notification| event([notification])));
        self
    }
}

impl EventSource for RequestEvents {
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(first) = self.first.pop_front() {
            return Poll::Ready(Some(first));
        }
        let polled = self.stream.poll_event(self.connection, &mut self.seen, cx);
        if matches!(polled, Poll::Ready(None)) {
            self.stream.leave(self.connection, self.seen, &self.attended.session);
            // Whoever comes next may have the same number.
            self.connection = u64::MAX;
        }
        polled
    }
}

impl Drop for RequestEvents {
    fn drop(&mut self) {
        if self.connection != u64::MAX {
            self.stream.leave(self.connection, self.seen, &self.attended.session);
        }
    }
}

/// The HTTP response stream that carries a call's reply.
///
/// Only clients of 2025-11-25 and earlier on HTTP have a stream that they can leave and come back to; everywhere else
/// the methods do nothing.
#[derive(Clone, Default)]
pub struct ReplyStream(Weak<RequestStream>);

impl ReplyStream {
    pub(super) fn new(stream: &Arc<RequestStream>) -> Self {
        Self(Arc::downgrade(stream))
    }

    /// Ends the client's connection while the call goes on, and asks the client to come back after `retry`.
    ///
    /// For calls that last so long that an open connection is a burden. The reply waits for the client for a minute,
    /// unless too many replies wait or the server stops. Progress and log messages in the meantime are lost.
    ///
    /// Returns whether it was done: clients before 2025-11-25 do not know how to come back, and stay connected.
    pub async fn disconnect(&self, retry: Duration) -> bool {
        let Some(stream) = self.0.upgrade().filter(|stream| stream.resumes) else { return false };
        loop {
            let left = stream.left.notified();
            {
                let mut state = locked(&stream.state);
                if state.connection.is_none() {
                    return true;
                }
                state.send_away = Some(retry);
                state.waker.take().into_iter().for_each(Waker::wake);
            }
            left.await;
        }
    }
}

impl fmt::Debug for ReplyStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReplyStream")
    }
}

impl FromCall for ReplyStream {
    async fn from_call(call: &Call, _: &'static str) -> Result<Self, CallError> {
        Ok(call.extension::<Self>().cloned().unwrap_or_default())
    }
}

/// The stream of a session for messages that belong to no request. Of several connections the newest gets them.
#[derive(Debug, Default)]
pub(super) struct OwnStream {
    replay: Replay,
    /// The number of the last message that was sent.
    sent: u64,
    connections: BTreeMap<u64, Option<Waker>>,
    next: u64,
}

impl OwnStream {
    /// Another connection; it begins after that message, or else with what has not been sent.
    pub(super) fn connect(&mut self, after: Option<u64>) -> u64 {
        self.sent = after.unwrap_or(self.sent);
        self.next += 1;
        self.connections.insert(self.next, None);
        self.next
    }

    pub(super) fn wake_all(&mut self) {
        self.connections.values_mut().filter_map(Option::take).for_each(Waker::wake);
    }
}

/// What one connection reads of a session's own stream.
pub(super) struct OwnEvents {
    pub(super) connection: u64,
    pub(super) attended: Attended,
}

impl EventSource for OwnEvents {
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let session = &self.attended.session;
        let mut own = session.own();
        if session.has_ended() {
            return Poll::Ready(None);
        }
        own.connections.insert(self.connection, Some(cx.waker().clone()));
        if own.connections.last_key_value().is_some_and(|(newest, _)| *newest != self.connection) {
            return Poll::Pending;
        }
        if own.replay.after(own.sent).is_none() {
            match session.session.poll_message(cx) {
                Poll::Ready(Some(message)) => own.replay.push(message),
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
        let Some((number, message)) = own.replay.after(own.sent) else { return Poll::Pending };
        own.sent = number;
        Poll::Ready(Some(event_with_id(0, number, message)))
    }
}

impl Drop for OwnEvents {
    fn drop(&mut self) {
        let mut own = self.attended.session.own();
        own.connections.remove(&self.connection);
        // The next one takes over.
        own.wake_all();
    }
}
