//! One connection with messages in both directions: a pipe, a WebSocket, or the stream of HTTP+SSE.

use std::{
    collections::{HashMap, VecDeque},
    io,
    mem::take,
    sync::{Arc, Mutex, MutexGuard},
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use futures_util::FutureExt;
use tokio::{
    runtime::Handle,
    sync::Notify,
    task::{AbortHandle, JoinSet, yield_now},
    time::timeout,
};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::{
    auth::HeldBytes,
    call::AfterReply,
    lock,
    protocol::{
        Dispatched, Envelope, Frame, Http, ReplyBody, RequestKey, RpcError, RpcReply, Session, Stream, admit_request,
        batch, cancelled_request, dispatch, end_request, error_reply, is_of_session, random_id,
    },
    server::Engine,
};

/// What the client sends.
#[cfg_attr(not(feature = "stdio"), expect(dead_code, reason = "only a pipe is read past a limit, or to its end"))]
pub(super) enum Received {
    /// A message, the HTTP request that brought it or opened its connection, and the room that it takes until it is served.
    Whole(Bytes, Http, HeldBytes),
    /// The beginning of a message that is too long. The rest of it is passed over.
    TooLong(Bytes),
    /// The end: nothing more comes, but the client still reads.
    End,
}

/// How the messages of a connection travel: as lines, as frames, as events.
pub(super) trait Wire: Send {
    /// Waits for the next message; nothing follows [`Received::End`].
    ///
    /// The error [`io::ErrorKind::BrokenPipe`] means that the client has left. If the future is dropped, nothing is lost.
    fn next(&mut self) -> impl Future<Output = io::Result<Received>> + Send;

    /// Adds a message to those that wait to be written, and what to drop when it is.
    fn push(&mut self, message: ReplyBody, after: Option<AfterReply>);

    /// Writes what waits. If the future is dropped, what has not been written still waits.
    fn flush(&mut self) -> impl Future<Output = io::Result<()>> + Send;
}

/// Serves one client until it leaves or the server shuts down; then requests in flight may finish.
pub(super) async fn serve(
    engine: &Arc<Engine>,
    wire: &mut impl Wire,
    most_calls: usize,
    shutdown: CancellationToken,
) -> io::Result<()> {
    let grace = engine.options.grace;
    let in_flight = Arc::new(InFlight {
        engine: Arc::clone(engine),
        most_calls,
        most_serving: Handle::current().metrics().num_workers(),
        state: Mutex::default(),
        changed: Notify::new(),
        taken: Notify::new(),
    });
    let mut connection = Connection { wire, in_flight, ready: VecDeque::new() };
    let ended = match connection.converse(&shutdown).await {
        Ok(()) => {
            if shutdown.is_cancelled() {
                engine.hub.close();
            }
            timeout(grace, connection.finish()).await.unwrap_or(Ok(()))
        }
        failed => failed,
    };
    // A call that blocks its thread cannot be ended, so it is not waited for without end.
    let _ = timeout(grace, connection.in_flight.end().shutdown()).await;
    match ended {
        // The client reads no more: it has left.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        ended => ended,
    }
}

/// What waits to be written before it is, while there is more to come.
pub(super) const ENOUGH: usize = 8 * 1024;

struct Connection<'a, W> {
    wire: &'a mut W,
    in_flight: Arc<InFlight>,
    /// What is ready to be written, but not with the wire yet.
    ready: VecDeque<Outgoing>,
}

impl<W: Wire> Connection<'_, W> {
    /// Serves until the client sends no more, or the server shuts down.
    async fn converse(&mut self, shutdown: &CancellationToken) -> io::Result<()> {
        // `next` keeps a message until there is room for it.
        let (mut next, mut has_room) = (None, true);
        loop {
            tokio::select! {
                received = self.wire.next(), if has_room => next = Some(received),
                () = self.in_flight.changed.notified() => {}
                () = shutdown.cancelled() => return Ok(()),
            }
            let mut ended = None;
            has_room = self.in_flight.receive(|| {
                if ended.is_some() {
                    return None;
                }
                match next.take().or_else(|| self.wire.next().now_or_never())? {
                    Ok(received) => {
                        ended = matches!(received, Received::End).then_some(Ok(()));
                        Some(received)
                    }
                    Err(error) => {
                        ended = Some(Err(error));
                        None
                    }
                }
            });
            if let Some(ended) = ended {
                return ended;
            }
            tokio::select! {
                written = self.write() => written?,
                // A client that does not read must not keep the server from that.
                () = shutdown.cancelled() => return Ok(()),
            }
        }
    }

    /// Writes what is ready.
    async fn write(&mut self) -> io::Result<()> {
        self.ready.append(&mut self.in_flight.state().ready);
        self.in_flight.taken.notify_waiters();
        let mut size = 0;
        while let Some((message, after)) = self.ready.pop_front() {
            size += message.len();
            self.wire.push(message, after);
            if size >= ENOUGH {
                size = 0;
                self.wire.flush().await?;
            }
        }
        self.wire.flush().await
    }

    /// Writes what the requests in flight still send, until they are done.
    async fn finish(&mut self) -> io::Result<()> {
        loop {
            self.write().await?;
            if self.in_flight.state().is_done() {
                return Ok(());
            }
            self.in_flight.changed.notified().await;
        }
    }
}

impl<W> Drop for Connection<'_, W> {
    fn drop(&mut self) {
        drop(self.in_flight.end());
    }
}

/// The requests that are being served, apart from the wire: a call that blocks or computes does not stop it.
///
/// Most calls end when they are first polled. Spawning a task for each of them costs as much as the call, so as many tasks
/// as the runtime has threads serve the messages in turn, and a call that does not end at once gets its own.
struct InFlight {
    engine: Arc<Engine>,
    most_calls: usize,
    /// How many tasks may serve messages.
    most_serving: usize,
    state: Mutex<InFlightState>,
    /// Notified when there is something to write, or nothing more to serve.
    changed: Notify,
    /// Notified when what was ready has been taken.
    taken: Notify,
}

#[derive(Default)]
struct InFlightState {
    /// The messages that wait to be served, in order.
    received: VecDeque<Received>,
    /// How many tasks serve them.
    serving: usize,
    requests: HashMap<RequestKey, ServedRequest>,
    /// Begun by the first request of the session era.
    session: Option<Arc<Session>>,
    tasks: JoinSet<()>,
    /// What is ready to be written.
    ready: VecDeque<Outgoing>,
}

/// A message to the client, and what to drop when it is written.
type Outgoing = (ReplyBody, Option<AfterReply>);

struct ServedRequest {
    is_subscription: bool,
    /// Its own task, if it has one.
    task: Option<AbortHandle>,
}

/// How many messages wait to be served before no more are read.
const MOST_RECEIVED: usize = 128;

/// How many messages wait to be written before running calls have to wait with theirs.
const MOST_READY: usize = 16;

/// How many replies are written together, if there are more to come: one write serves many, and the client can work on the
/// first while the server works on the next.
const TOGETHER: usize = 32;

impl InFlight {
    fn state(&self) -> MutexGuard<'_, InFlightState> {
        // Every statement leaves the state valid.
        lock(&self.state)
    }

    /// Serves what has been received; `false` if so much waits that no more should be read.
    fn receive(self: &Arc<Self>, mut next: impl FnMut() -> Option<Received>) -> bool {
        let mut state = self.state();
        while state.received.len() < MOST_RECEIVED {
            let Some(received) = next() else { return true };
            state.received.push_back(received);
            if state.serving < self.most_serving {
                state.serving += 1;
                state.spawn(Arc::clone(self).serve());
            }
        }
        false
    }

    /// Ends all requests. The tasks hold this, and this holds the tasks: when the set is dropped, they are gone, and what
    /// they have deferred has begun.
    fn end(&self) -> JoinSet<()> {
        // Author's code may run when the rest is dropped, so not under the lock.
        let state = take(&mut *self.state());
        state.tasks
    }

    /// Serves messages until there are none.
    async fn serve(self: Arc<Self>) {
        // Whether there is something to write, or a task was woken, since others could run.
        let (mut wakes, mut replies) = (false, 0);
        while let Some(next) = self.next() {
            let Some((key, mut stream)) = next else {
                wakes = true;
                continue;
            };
            if wakes {
                self.let_others_run().await;
            }
            // One that does not end now is polled again, by its own task.
            let polled = stream.poll_frame(&mut Context::from_waker(Waker::noop()));
            wakes = match polled {
                Poll::Ready(Frame::Last(reply)) => {
                    self.state().finish(&key, reply);
                    replies += 1;
                    replies % TOGETHER == 0
                }
                Poll::Ready(Frame::Notification(message) | Frame::Request(message)) => {
                    self.state().ready.push_back((ReplyBody::Whole(message), None));
                    self.hand_over(key, stream)
                }
                Poll::Pending => self.hand_over(key, stream),
            };
        }
        self.changed.notify_one();
    }

    /// Wakes the writer, and lets it and all others that were woken run before the next call: the call may block its thread,
    /// and tokio does not move what was just woken to another one.
    async fn let_others_run(&self) {
        self.changed.notify_one();
        yield_now().await;
    }

    /// Takes the next message and serves it; `None` if there is none. A call is returned instead, because it must not be polled
    /// under the lock.
    fn next(self: &Arc<Self>) -> Option<Option<(RequestKey, Stream)>> {
        let mut state = self.state();
        let Some(received) = state.received.pop_front() else {
            state.serving = state.serving.saturating_sub(1);
            return None;
        };
        Some(match received {
            Received::Whole(message, http, _held) => self.message(&mut state, &message, http),
            Received::TooLong(beginning) => {
                let limit = self.engine.options.limits.message_size;
                let error = RpcError::invalid_request(format!("the message is longer than {limit} bytes"));
                state.refuse(Envelope::read_id(&beginning).as_deref(), &error)
            }
            Received::End => state.hang_up(),
        })
    }

    fn message(
        self: &Arc<Self>,
        state: &mut InFlightState,
        message: &Bytes,
        http: Http,
    ) -> Option<(RequestKey, Stream)> {
        let most_values = self.engine.options.limits.message_values;
        let envelope = match Envelope::read(message, most_values) {
            Ok(envelope) => envelope,
            Err(bad) => {
                let version = state.session.as_ref().and_then(|session| session.version());
                let Some(messages) = batch(message, most_values).filter(|_| version == Some("2025-03-26")) else {
                    return state.refuse(bad.id.as_deref(), &bad.error);
                };
                for message in messages.into_iter().rev() {
                    state.received.push_front(Received::Whole(message, http.clone(), HeldBytes::default()));
                }
                return None;
            }
        };
        if cancelled_request(&envelope).is_some_and(|request| state.cancel(&request)) {
            return None;
        }
        let id = envelope.id;
        let answer = if is_of_session(&envelope, || None) && self.engine.options.sessions {
            if state.session.is_none() && (id.is_none() || envelope.method.is_none()) {
                // A call may be over by the time it is cancelled, whichever era it was of.
                tracing::debug!("a notification or a response without a session is passed over");
                return None;
            }
            let session = match &state.session {
                Some(session) => Arc::clone(session),
                None => self.begin_session(state),
            };
            session.receive(message, envelope, http)
        } else if envelope.method.is_none() {
            // Nobody answers a response: two sides that did would never stop.
            tracing::debug!("a response to nothing that was asked");
            return None;
        } else {
            dispatch(&self.engine, message, envelope, http, None)
        };
        match answer {
            Dispatched::Nothing => {}
            Dispatched::Reply(reply) => state.ready.push_back(reply.into_parts()),
            Dispatched::Stream(stream) => match admit_request(&state.requests, id.unwrap_or("null"), self.most_calls) {
                Ok(key) => {
                    let served = ServedRequest { is_subscription: stream.is_subscription(), task: None };
                    state.requests.insert(Arc::clone(&key), served);
                    return Some((key, stream));
                }
                Err(error) => return state.refuse(id, &error),
            },
        }
        None
    }

    /// Begins a session, with a task for its messages that belong to no request.
    fn begin_session(self: &Arc<Self>, state: &mut InFlightState) -> Arc<Session> {
        let session = Arc::new(Session::new(&self.engine, random_id().ok()));
        state.session = Some(Arc::clone(&session));
        let (in_flight, sending) = (Arc::clone(self), Arc::clone(&session));
        state.spawn(async move {
            while let Some(message) = sending.message().await {
                in_flight.send(message).await;
            }
        });
        session
    }

    /// Gives a request its own task, unless it was cancelled meanwhile; whether it has one now.
    fn hand_over(self: &Arc<Self>, key: RequestKey, mut stream: Stream) -> bool {
        let mut state = self.state();
        let Some(mut served) = end_request(&mut state.requests, &key) else {
            // Author's code runs when the call is dropped, so not under the lock.
            drop(state);
            drop(stream);
            return false;
        };
        let (in_flight, request) = (Arc::clone(self), Arc::clone(&key));
        served.task = Some(state.spawn(async move {
            loop {
                match stream.frame().await {
                    Frame::Notification(message) | Frame::Request(message) => in_flight.send(message).await,
                    Frame::Last(reply) => {
                        in_flight.state().finish(&request, reply);
                        return in_flight.changed.notify_one();
                    }
                }
            }
        }));
        state.requests.insert(key, served);
        true
    }

    /// Sends a message of a running call; waits while the client does not read.
    async fn send(&self, message: Bytes) {
        loop {
            let taken = self.taken.notified();
            let has_room = self.state().ready.len() < MOST_READY;
            if has_room {
                self.state().ready.push_back((ReplyBody::Whole(message), None));
                return self.let_others_run().await;
            }
            self.changed.notify_one();
            taken.await;
        }
    }
}

impl InFlightState {
    /// Whether everything has been served, and what was ready has been taken.
    fn is_done(&self) -> bool {
        self.received.is_empty() && self.serving == 0 && self.requests.is_empty() && self.ready.is_empty()
    }

    fn refuse<T>(&mut self, id: Option<&str>, error: &RpcError) -> Option<T> {
        self.ready.push_back(error_reply(id, error).into_parts());
        None
    }

    /// Sends the reply to a request, unless it was cancelled.
    fn finish(&mut self, key: &RequestKey, reply: RpcReply) {
        if end_request(&mut self.requests, key).is_some() {
            self.ready.push_back(reply.into_parts());
        }
    }

    /// Cancels a request; `false` if it is not one of these.
    fn cancel(&mut self, request: &str) -> bool {
        let served = self.requests.remove(request);
        served.iter().filter_map(|served| served.task.as_ref()).for_each(AbortHandle::abort);
        served.is_some()
    }

    /// Ends what would never end by itself: nothing more comes from the client.
    fn hang_up<T>(&mut self) -> Option<T> {
        self.requests.retain(|_, served| {
            served.task.iter().filter(|_| served.is_subscription).for_each(AbortHandle::abort);
            !served.is_subscription
        });
        self.session.iter().for_each(|session| session.hang_up());
        None
    }

    fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        // Those that are over need not be kept.
        while self.tasks.try_join_next().is_some() {}
        self.tasks.spawn(task.in_current_span())
    }
}
