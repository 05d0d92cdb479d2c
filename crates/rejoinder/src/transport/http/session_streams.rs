//! The event streams of a session over HTTP: a client can leave a stream, and resume it with the id of the last event.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::Duration,
};

use bytes::Bytes;
use tokio::sync::{Notify, mpsc, oneshot};

use super::{
    body::{EventSource, event, event_with_id, retry_event},
    sessions::{Attended, HttpSession},
};
use crate::{
    call::Call,
    error::CallError,
    inject::FromCall,
    protocol::{Frame, Stream},
    server::RunningCall,
};

/// When a client whose connection broke should come back.
const RETRY: Duration = Duration::from_secs(3);

/// How many messages of a stream are kept for a client that comes back.
const MOST_KEPT: usize = 256;

/// How many events wait for a client that reads slowly, before the call has to wait.
const MOST_UNREAD: usize = 16;

/// The last messages of a stream, counted from 1.
#[derive(Debug, Default)]
struct Replay {
    messages: VecDeque<Bytes>,
    count: u64,
}

impl Replay {
    fn push(&mut self, message: Bytes) {
        if self.messages.len() == MOST_KEPT {
            self.messages.pop_front();
        }
        self.messages.push_back(message);
        self.count += 1;
    }

    /// The messages after that one, with their numbers.
    fn after(&self, number: u64) -> impl Iterator<Item = (u64, &Bytes)> {
        let first = self.count - self.messages.len() as u64 + 1;
        (first..).zip(&self.messages).skip_while(move |(index, _)| *index <= number)
    }
}

/// The id of an event: its stream, and the number of the message.
pub(super) fn parse_event_id(id: &str) -> Option<(u64, u64)> {
    let (stream, number) = id.split_once('-')?;
    Some((stream.parse().ok()?, number.parse().ok()?))
}

/// The stream that carries the reply to one request. The call runs in its own task, because it outlives the connection.
pub(super) struct RequestStream {
    number: u64,
    state: Mutex<RequestState>,
    /// Notified when another connection takes the place of the current one.
    replaced: Notify,
}

#[derive(Default)]
struct RequestState {
    /// The questions and the reply.
    replay: Replay,
    /// Where events go while a client is connected.
    connection: Option<mpsc::Sender<Bytes>>,
    /// Whether the reply is there.
    finished: bool,
}

impl RequestStream {
    pub(super) fn new(number: u64) -> Self {
        Self { number, state: Mutex::default(), replaced: Notify::new() }
    }

    fn state(&self) -> MutexGuard<'_, RequestState> {
        // Every statement leaves the state valid.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The size of the messages that are kept, in bytes.
    pub(super) fn size(&self) -> usize {
        self.state().replay.messages.iter().map(Bytes::len).sum()
    }

    /// Connects a client that has seen that many messages; another connection of the stream ends.
    pub(super) fn connect(&self, seen: u64, attended: Attended, reply: RunningCall) -> RequestEvents {
        let (sender, rest) = mpsc::channel(MOST_UNREAD);
        let mut state = self.state();
        let first = state.replay.after(seen).map(|(number, message)| event_with_id(self.number, number, message));
        let first = first.collect();
        state.connection = (!state.finished).then_some(sender);
        self.replaced.notify_waiters();
        RequestEvents { first, rest, _attended: attended, _reply: reply }
    }

    /// Runs the call to its end, `first` being the message that it has sent already.
    pub(super) async fn run(
        self: Arc<Self>,
        session: Arc<HttpSession>,
        mut call: Stream,
        mut first: Option<Frame>,
        mut disconnects: mpsc::Receiver<Disconnect>,
    ) {
        loop {
            let frame = async {
                match first.take() {
                    Some(first) => first,
                    None => call.frame().await,
                }
            };
            tokio::select! {
                // What the call sent before it disconnects its client arrives before.
                biased;
                frame = frame => match frame {
                    Frame::Notification(message) => self.send(false, |_| event([message])).await,
                    Frame::Request(message) => self.send(false, |state| self.keep(state, message)).await,
                    Frame::Last(reply) => {
                        // A client that does not read its reply takes no place of a running call.
                        drop(call);
                        session.finish(self.number);
                        let reply = reply.body.whole();
                        return self.send(true, |state| {
                            state.finished = true;
                            self.keep(state, reply)
                        }).await;
                    }
                },
                Some((retry, done)) = disconnects.recv() => {
                    self.send(true, |state| retry_event(self.number, state.replay.count, retry)).await;
                    let _ = done.send(());
                }
            }
        }
    }

    fn keep(&self, state: &mut RequestState, message: Bytes) -> Bytes {
        let event = event_with_id(self.number, state.replay.count + 1, &message);
        state.replay.push(message);
        event
    }

    /// Sends an event to the client, perhaps the last one of its connection. Waits while a connected client does not read.
    async fn send(&self, is_last: bool, event: impl FnOnce(&mut RequestState) -> Bytes) {
        let replaced = self.replaced.notified();
        let (event, connection) = {
            let mut state = self.state();
            let event = event(&mut state);
            (event, if is_last { state.connection.take() } else { state.connection.clone() })
        };
        let sent = match connection {
            Some(connection) => tokio::select! {
                sent = connection.send(event) => sent.is_ok(),
                () = replaced => true,
            },
            None => false,
        };
        if !sent {
            // Nothing slows down a call whose notifications nobody reads.
            tokio::task::yield_now().await;
        }
    }
}

/// What one connection reads of a request's stream.
pub(super) struct RequestEvents {
    /// What the client has missed.
    first: VecDeque<Bytes>,
    rest: mpsc::Receiver<Bytes>,
    _attended: Attended,
    /// The reply is on its way.
    _reply: RunningCall,
}

impl RequestEvents {
    /// The same, with an event id to come back with before anything else.
    pub(super) fn resumable(mut self, stream: u64) -> Self {
        self.first.push_front(retry_event(stream, 0, RETRY));
        self
    }
}

impl EventSource for RequestEvents {
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        match self.first.pop_front() {
            Some(event) => Poll::Ready(Some(event)),
            None => self.rest.poll_recv(cx),
        }
    }
}

/// After which time the client should come back, and the signal that it is disconnected.
pub(super) type Disconnect = (Duration, oneshot::Sender<()>);

/// The HTTP response stream that carries a call's reply.
///
/// Only clients of 2025-11-25 and earlier on HTTP have a stream that they can leave and come back to; everywhere else
/// the methods do nothing.
#[derive(Clone, Default)]
pub struct ReplyStream(Option<mpsc::Sender<Disconnect>>);

impl ReplyStream {
    pub(super) fn new(disconnects: mpsc::Sender<Disconnect>) -> Self {
        Self(Some(disconnects))
    }

    /// Ends the client's connection while the call goes on, and asks the client to come back after `retry`.
    ///
    /// For calls that last so long that an open connection is a burden. A session keeps its last replies for clients
    /// that come back. Progress and log messages in the meantime are lost.
    ///
    /// Returns whether it was done: clients before 2025-11-25 do not know how to come back, and stay connected.
    pub async fn disconnect(&self, retry: Duration) -> bool {
        let Some(disconnects) = &self.0 else { return false };
        let (done, disconnected) = oneshot::channel();
        disconnects.send((retry, done)).await.is_ok() && disconnected.await.is_ok()
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
        if own.replay.after(own.sent).next().is_none() {
            match session.session.poll_message(cx) {
                Poll::Ready(Some(message)) => own.replay.push(message),
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
        let Some((number, message)) = own.replay.after(own.sent).next() else { return Poll::Pending };
        let event = event_with_id(0, number, message);
        own.sent = number;
        Poll::Ready(Some(event))
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
