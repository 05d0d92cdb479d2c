//! An event stream of a session over HTTP: a client can leave it, and resume it with the id of the last event.

use std::{collections::VecDeque, fmt, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::stream::{self, unfold};
use tokio::{sync::watch, time::Instant};

use super::{body::event, sessions::HttpSession};
use crate::{
    auth::Held,
    call::{AfterReply, Call},
    error::CallError,
    inject::FromCall,
    protocol::RpcReply,
};

/// When a client whose connection broke should come back.
pub(super) const RETRY: Duration = Duration::from_secs(1);

/// How many messages of a stream are kept for a client that comes back.
const MOST_KEPT: usize = 256;

/// The largest reply that is kept after the client has read it, and how much of a stream waits for a client that is away, in
/// bytes.
pub(super) const LARGEST_KEPT: usize = 256 * 1024;

/// How many events wait for a client that reads slowly, before the sender has to wait.
const MOST_UNREAD: usize = 16;

/// The id of an event: its stream, and its number there.
pub(super) fn parse_event_id(id: &str) -> Option<(u64, u64)> {
    let (stream, number) = id.split_once('-')?;
    Some((stream.parse().ok()?, number.parse().ok()?))
}

/// A stream of events: the reply to one request, or the messages that belong to no request (number 0).
///
/// Of several connections the newest reads it, and the others end.
pub(in crate::transport) struct SessionStream {
    pub(super) number: u64,
    /// Nothing, for the caller of the session: each event takes its own room.
    held: Held,
    state: watch::Sender<StreamState>,
}

#[derive(Default)]
struct StreamState {
    /// The events that the client has not read, and the messages that it may have lost.
    events: VecDeque<StreamEvent>,
    /// The number of the last event.
    last: u64,
    /// The number of the last event that the client has read.
    read: u64,
    /// How many connections there have been.
    connections: u64,
    is_connected: bool,
    /// After which time the client should come back, if it should leave now.
    retry: Option<Duration>,
    /// The event after which the connection ends, although there may be more.
    disconnects_after: Option<u64>,
    /// Whether there are no more events.
    is_finished: bool,
    /// What waits until the client has read the last event.
    after: Option<AfterReply>,
}

struct StreamEvent {
    number: u64,
    /// Whether a client that comes back gets it again.
    is_kept: bool,
    bytes: Bytes,
    _held: Held,
}

impl StreamState {
    /// The position of the first event that the client has not read.
    fn first_unread(&self) -> usize {
        self.events.partition_point(|event| event.number <= self.read)
    }

    fn has_room(&self) -> bool {
        self.events.len() - self.first_unread() < MOST_UNREAD
    }

    fn size(&self) -> usize {
        self.events.iter().map(|event| event.bytes.len()).sum()
    }

    fn next(&mut self) -> Option<Bytes> {
        let index = self.first_unread();
        let event = self.events.get(index)?;
        let (bytes, is_kept) = (event.bytes.clone(), event.is_kept);
        self.read = event.number;
        if !is_kept {
            self.events.remove(index);
        }
        if self.read == self.last {
            return Some(AfterReply::hold(self.after.take(), bytes));
        }
        Some(bytes)
    }

    /// Adds an event. While the client is away, an event without room in the budget is dropped, and only the last notifications
    /// are kept. A large reply is dropped once it is read. A question is always kept: its call has taken room for it.
    fn push(&mut self, is_kept: bool, is_last: bool, stream: &SessionStream, event: Bytes) {
        let mut held = stream.held.another();
        let has_room = held.grow(event.len()).is_ok();
        let waits = has_room || is_kept && !is_last;
        if !waits && !self.is_connected {
            return;
        }
        let is_kept = is_kept && waits && !(is_last && event.len() > LARGEST_KEPT);
        while self.events.len() >= MOST_KEPT || !self.is_connected && self.size() + event.len() > LARGEST_KEPT {
            match self.events.iter().position(|event| !event.is_kept) {
                Some(oldest) => drop(self.events.remove(oldest)),
                None if self.events.len() < MOST_KEPT => break,
                None => drop(self.events.pop_front()),
            }
        }
        self.last += 1;
        let bytes = [format!("id: {}-{}\n", stream.number, self.last).into(), event].concat().into();
        self.events.push_back(StreamEvent { number: self.last, is_kept, bytes, _held: held });
    }
}

impl SessionStream {
    /// A stream that takes room beside what is held.
    pub(super) fn new(number: u64, beside: &Held) -> Self {
        Self { number, held: beside.another(), state: watch::Sender::default() }
    }

    /// Another stream of the same session.
    pub(super) fn another(&self, number: u64) -> Self {
        Self::new(number, &self.held)
    }

    /// The size of the events that are kept, in bytes.
    pub(super) fn size(&self) -> usize {
        self.state.borrow().size()
    }

    /// Connects a client, which reads on after that event, or else after the last one that was read.
    pub(super) fn connect(
        self: &Arc<Self>,
        after: Option<u64>,
        session: &Arc<HttpSession>,
    ) -> impl stream::Stream<Item = Bytes> + Send + use<> {
        // Before the stream is locked: a session locks its streams while it is locked itself.
        session.state().reading += 1;
        let mut connection = 0;
        self.state.send_modify(|state| {
            state.read = after.map_or(state.read, |after| after.min(state.last));
            state.connections += 1;
            (state.is_connected, state.disconnects_after) = (true, None);
            connection = state.connections;
        });
        let reader = StreamReader { stream: Arc::clone(self), session: Arc::clone(session), connection };
        unfold(reader, |reader| async { Some((reader.next().await?, reader)) })
    }

    /// Sends an event without a message, which has an id to come back with and says when.
    pub(super) fn send_retry(&self, retry: Duration) {
        let event = format!("retry: {}\ndata: \n\n", retry.as_millis());
        self.state.send_modify(|state| state.push(false, false, self, event.into()));
    }

    /// Sends a message; one that is kept is sent again to a client that comes back.
    pub(super) fn push(&self, is_kept: bool, message: &Bytes) {
        self.state.send_modify(|state| state.push(is_kept, false, self, event([message.clone()])));
    }

    /// Sends a message. Waits while a connected client does not read.
    pub(super) async fn send(&self, is_kept: bool, message: &Bytes) {
        self.until(|state| !state.is_connected || state.has_room()).await;
        self.push(is_kept, message);
        let is_connected = self.state.borrow().is_connected;
        if !is_connected {
            // Nothing slows down a call whose notifications nobody reads.
            tokio::task::yield_now().await;
        }
    }

    /// Sends the reply. What waits until it has left waits for the client that is connected; without one it starts now.
    pub(super) fn push_last(&self, reply: RpcReply) {
        let (body, after) = reply.into_parts();
        let event = event([body.whole()]);
        // At once: a reader that takes the last notification must not take what waits for the reply.
        self.state.send_modify(|state| {
            state.after = after.filter(|_| state.is_connected);
            state.push(true, true, self, event);
        });
    }

    async fn until(&self, condition: impl FnMut(&StreamState) -> bool) {
        let _ = self.state.subscribe().wait_for(condition).await;
    }

    /// Waits for a client that reads.
    pub(super) async fn wanted(&self) {
        self.until(|state| state.is_connected && state.has_room() && !state.is_finished).await;
    }

    /// Waits until the call says that its client should leave.
    pub(super) async fn asked_to_disconnect(&self) {
        self.until(|state| state.retry.is_some()).await;
    }

    /// Ends the connection, once its client has read what was sent.
    pub(super) fn disconnect(&self) {
        let retry = self.state.borrow().retry.unwrap_or_default();
        self.send_retry(retry);
        self.state.send_modify(|state| {
            (state.is_connected, state.disconnects_after, state.retry) = (false, Some(state.last), None);
        });
    }

    /// Ends the stream once everything is read.
    pub(super) fn finish(&self) {
        self.state.send_modify(|state| state.is_finished = true);
    }
}

/// What one connection reads of a stream. Its session is not idle meanwhile.
struct StreamReader {
    stream: Arc<SessionStream>,
    session: Arc<HttpSession>,
    connection: u64,
}

impl StreamReader {
    /// The next event; `None` if this connection gets no more.
    async fn next(&self) -> Option<Bytes> {
        let mut changes = self.stream.state.subscribe();
        loop {
            let (mut event, mut is_over) = (None, false);
            self.stream.state.send_if_modified(|state| {
                let is_left = state.disconnects_after.is_some_and(|last| state.read >= last);
                is_over = is_left || state.connections != self.connection;
                event = if is_over { None } else { state.next() };
                is_over |= state.is_finished;
                event.is_some()
            });
            if event.is_some() || is_over {
                return event;
            }
            changes.changed().await.ok()?;
        }
    }
}

impl Drop for StreamReader {
    fn drop(&mut self) {
        // As in `connect`, before the stream is locked.
        let mut session = self.session.state();
        (session.reading, session.last_used) = (session.reading - 1, Instant::now());
        drop(session);
        self.stream.state.send_if_modified(|state| {
            let is_last = state.connections == self.connection;
            if is_last {
                state.is_connected = false;
                // The reply is kept, but the client may never come back for it.
                state.after = None;
            }
            is_last
        });
    }
}

/// The HTTP response stream that carries a call's reply.
///
/// Only clients of 2025-11-25 and earlier on HTTP have a stream that they can leave and come back to; everywhere else
/// the methods do nothing.
#[derive(Clone, Default)]
pub struct ReplyStream(pub(super) Option<Arc<SessionStream>>);

impl ReplyStream {
    /// Ends the client's connection while the call goes on, and asks the client to come back after `retry`.
    ///
    /// For calls that last so long that an open connection is a burden. A session keeps its last replies for clients
    /// that come back, and of each call the last progress and log messages of the meantime (256 of them, 256 KiB).
    ///
    /// Returns whether it was done: clients before 2025-11-25 do not know how to come back, and stay connected.
    pub async fn disconnect(&self, retry: Duration) -> bool {
        let Some(stream) = &self.0 else { return false };
        stream.state.send_modify(|state| state.retry = Some(retry));
        stream.until(|state| state.retry.is_none() || state.is_finished).await;
        stream.state.borrow().retry.is_none()
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

#[cfg(test)]
mod tests {
    use std::{sync::Barrier, thread};

    use futures_util::FutureExt;
    use tokio::sync::oneshot;

    use super::*;
    use crate::{
        BackgroundTasks,
        protocol::{RpcError, error_reply},
    };

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn r3_l9_what_waits_for_the_reply_does_not_leave_with_a_notification() {
        let error = RpcError::invalid_request("no");
        for _ in 0..300 {
            let call = Call::detached();
            let background = BackgroundTasks::from_call(&call, "background").await.expect("any call has it");
            let (started, mut has_started) = oneshot::channel();
            background.add(async move { started.send(()).unwrap_or_default() }).expect("there is room");
            let reply = error_reply(Some("1"), &error).followed_by(call.after_reply("tool"));
            let stream = SessionStream::new(1, &Held::default());
            stream.state.send_modify(|state| state.is_connected = true);
            stream.push(false, &Bytes::from_static(b"notification"));
            let both = Barrier::new(2);
            let (read, reply) = thread::scope(|scope| {
                scope.spawn(|| {
                    both.wait();
                    stream.push_last(reply);
                });
                both.wait();
                let next = || {
                    let mut event = None;
                    stream.state.send_modify(|state| event = state.next());
                    event
                };
                let notification = next().expect("it was sent first");
                let reply = std::iter::repeat_with(next).flatten().next();
                (notification, reply.expect("it is sent"))
            });
            drop(read);
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
            assert!((&mut has_started).now_or_never().is_none(), "the reply has not left");
            drop(reply);
            has_started.await.expect("it starts");
        }
    }
}
