//! One connection with messages in both directions: a pipe, a WebSocket, or the stream of HTTP+SSE.

use std::{
    collections::{HashMap, VecDeque},
    io,
    mem::take,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, Waker},
    time::Duration,
};

use bytes::Bytes;
use futures_util::FutureExt;
use tokio::{
    runtime::Handle,
    sync::Notify,
    task::{AbortHandle, JoinSet, yield_now},
    time::{Instant, sleep_until, timeout},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::Instrument;

use crate::{
    auth::{BudgetFull, Held},
    call::AfterReply,
    error::{RefusalLog, lock},
    protocol::{
        Dispatched, Envelope, Frame, Http, ReplyBody, RequestKey, RpcError, RpcReply, Session, Stream, admit_request,
        cancelled_request, dispatch, end_request, error_reply, is_about_session, is_of_session, random_id,
    },
    server::{Engine, Refusal},
};

/// What the client sends.
#[cfg_attr(not(feature = "stdio"), expect(dead_code, reason = "only a pipe is read past a limit, or to its end"))]
pub(super) enum Received {
    /// A message, the HTTP request that brought it or opened its connection, and the room that it takes until it is served.
    Whole(Bytes, Http, Held),
    /// The beginning and the end of a message that is too long. The rest of it was passed over.
    TooLong(Bytes, Bytes),
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

/// Serves one client until it leaves or the server shuts down; then requests in flight may finish. What calls leave behind is
/// counted in `left`, too, if there is one.
pub(super) async fn serve(
    engine: &Arc<Engine>,
    wire: &mut impl Wire,
    most_calls: usize,
    left: Option<TaskTracker>,
) -> io::Result<()> {
    let grace = engine.grace();
    let in_flight = Arc::new(InFlight {
        engine: Arc::clone(engine),
        most_calls,
        left,
        most_serving: Handle::current().metrics().num_workers(),
        state: Mutex::default(),
        changed: Notify::new(),
        taken: Notify::new(),
        written: AtomicU64::new(0),
        too_long: RefusalLog::default(),
    });
    let mut connection =
        Connection { wire, in_flight, next: None, has_room: true, is_over: false, ready: VecDeque::new() };
    let ended = match connection.converse(engine.stopping()).await {
        Ok(()) => {
            if engine.is_stopping() {
                engine.stop_accepting();
            }
            timeout(grace, connection.finish()).await.unwrap_or(Ok(()))
        }
        failed => failed,
    };
    // Not here: a call that blocks its thread cannot be ended.
    let mut ending = connection.in_flight.end();
    if let Some(left) = &connection.in_flight.left {
        left.spawn(async move { ending.shutdown().await });
    }
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
    /// A message that was read before there was room for it.
    next: Option<io::Result<Received>>,
    has_room: bool,
    /// Whether the client sends no more.
    is_over: bool,
    /// What is ready to be written, but not with the wire yet.
    ready: VecDeque<Outgoing>,
}

impl<W: Wire> Connection<'_, W> {
    /// Serves until the client sends no more, or the server shuts down.
    async fn converse(&mut self, stopping: &CancellationToken) -> io::Result<()> {
        while !self.is_over {
            tokio::select! {
                received = self.receive() => received?,
                () = stopping.cancelled() => return Ok(()),
            }
            tokio::select! {
                written = self.write() => written?,
                // A client that does not read must not keep the server from that.
                () = stopping.cancelled() => return Ok(()),
            }
        }
        Ok(())
    }

    /// Waits until there are messages or there is something to write, and serves the messages.
    async fn receive(&mut self) -> io::Result<()> {
        tokio::select! {
            received = self.wire.next(), if self.has_room && !self.is_over => self.next = Some(received),
            () = self.in_flight.changed.notified() => {}
        }
        let mut failed = None;
        self.has_room = self.in_flight.receive(|| {
            if self.is_over || failed.is_some() {
                return None;
            }
            let received = self.next.take().or_else(|| self.wire.next().now_or_never())?;
            let received = received.map_err(|error| failed = Some(error)).ok()?;
            self.is_over = matches!(received, Received::End);
            Some(received)
        });
        failed.map_or(Ok(()), Err)
    }

    /// Writes what is ready.
    async fn write(&mut self) -> io::Result<()> {
        let taken = self.in_flight.state().take_ready(&mut self.ready);
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
        self.wire.flush().await?;
        self.in_flight.written.store(taken, Ordering::Release);
        self.in_flight.taken.notify_waiters();
        Ok(())
    }

    /// Serves the requests in flight until they are done. Their answers and cancellations still count.
    async fn finish(&mut self) -> io::Result<()> {
        loop {
            self.write().await?;
            let is_done = self.in_flight.state().is_done();
            match self.receive().now_or_never() {
                Some(received) => received?,
                None if is_done => return Ok(()),
                None => self.receive().await?,
            }
        }
    }
}

impl<W> Drop for Connection<'_, W> {
    fn drop(&mut self) {
        drop(self.in_flight.end());
    }
}

/// The requests that are being served, apart from the wire: a call that blocks or computes does not stop it. No code of the
/// author runs under the lock, which the writer and every other call need.
///
/// Most calls end when they are first polled. Spawning a task for each of them costs as much as the call, so as many tasks
/// as the runtime has threads serve the messages in turn, and a call that does not end at once gets its own.
struct InFlight {
    engine: Arc<Engine>,
    most_calls: usize,
    left: Option<TaskTracker>,
    /// How many tasks may serve messages.
    most_serving: usize,
    state: Mutex<InFlightState>,
    /// Notified when there is something to write, or nothing more to serve.
    changed: Notify,
    /// Notified when what was ready has been taken, and when it has been written.
    taken: Notify,
    /// How many messages have been written.
    written: AtomicU64,
    too_long: RefusalLog<()>,
}

#[derive(Default)]
struct InFlightState {
    /// The messages that wait to be served, in order.
    received: VecDeque<Received>,
    /// Whether they have to wait for the one that was taken last.
    is_held: bool,
    /// How many tasks serve them.
    serving: usize,
    requests: HashMap<RequestKey, ServedRequest>,
    /// How many of them the door decides about.
    starting: usize,
    /// Begun by the first request of the session era.
    session: Option<Arc<Session>>,
    tasks: JoinSet<()>,
    /// What is ready to be written.
    ready: VecDeque<Outgoing>,
    /// How many messages were taken from there.
    taken: u64,
    /// Whether nothing more comes from the client.
    hung_up: bool,
}

/// A request that has its place among the others.
struct OrderedRequest<'a> {
    key: RequestKey,
    message: &'a Bytes,
    envelope: Envelope<'a>,
    http: Http,
    session: Option<Arc<Session>>,
    /// Whether the messages after it wait for it.
    is_held: bool,
}

/// A message to the client, and what to drop when it is written.
type Outgoing = (ReplyBody, Option<AfterReply>);

#[derive(Default)]
struct ServedRequest {
    is_subscription: bool,
    /// Its own task, if it has one.
    task: Option<AbortHandle>,
}

/// The notifications that a call has sent before its reply.
#[derive(Default, Clone, Copy)]
struct Sent {
    /// The place of the last one among all messages.
    last: u64,
    /// When the client should have handled them.
    handled_at: Option<Instant>,
}

impl Sent {
    /// These and one more.
    fn and(self, last: u64) -> Self {
        let now = Instant::now();
        let handled_at = self.handled_at.map_or(now, |at| at.max(now)) + HANDLING;
        Self { last, handled_at: Some(handled_at.min(now + MOST_HANDLING)) }
    }
}

/// How long a client may take to handle a notification.
const HANDLING: Duration = Duration::from_micros(250);

/// How long a reply waits at most for notifications that were sent at once.
const MOST_HANDLING: Duration = Duration::from_millis(50);

/// The time between the last notification of a call and its reply.
const APART: Duration = Duration::from_millis(2);

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
            self.serve_more(&mut state, 1);
        }
        false
    }

    /// Starts so many more tasks that serve messages, if there may be more.
    fn serve_more(self: &Arc<Self>, state: &mut InFlightState, more: usize) {
        for _ in 0..more.min(self.most_serving.saturating_sub(state.serving)) {
            state.serving += 1;
            state.spawn(Arc::clone(self).serve());
        }
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
        loop {
            let received;
            let ordered = {
                let mut state = self.state();
                let Some(mut next) = state.take_next() else { break };
                if let Received::Whole(_, _, held) = &mut next {
                    // The operation takes room for what it keeps.
                    drop(take(held));
                }
                received = next;
                self.order(&mut state, &received)
            };
            let Some(request) = ordered else {
                wakes = true;
                continue;
            };
            if take(&mut wakes) {
                self.make_way().await;
            }
            let Some((key, mut stream)) = self.start(request) else {
                wakes = true;
                continue;
            };
            // One that does not end now is polled again, by its own task.
            let polled = stream.poll_frame(&mut Context::from_waker(Waker::noop()));
            wakes = match polled {
                Poll::Ready(Frame::Last(reply)) => {
                    self.state().finish(&key, reply);
                    replies += 1;
                    replies % TOGETHER == 0
                }
                Poll::Ready(Frame::Notification(message)) => {
                    let sent = self.state().push(message);
                    self.hand_over(key, stream, Sent::default().and(sent))
                }
                Poll::Ready(Frame::Request(message)) => {
                    self.state().push(message);
                    self.hand_over(key, stream, Sent::default())
                }
                Poll::Pending => self.hand_over(key, stream, Sent::default()),
            };
        }
        self.changed.notify_one();
    }

    /// Wakes the writer, and makes way for it before author's code runs, which may block this thread: tokio moves to another
    /// thread what was woken before the last, and not the last.
    async fn make_way(&self) {
        self.changed.notify_one();
        if self.most_serving > 1 {
            drop(tokio::spawn(async {}));
        } else {
            yield_now().await;
        }
    }

    /// Gives a message its place among the others: what it means for them, it means from here on. A request is returned, to be
    /// started apart from the lock; everything else is done.
    fn order<'a>(self: &Arc<Self>, state: &mut InFlightState, received: &'a Received) -> Option<OrderedRequest<'a>> {
        let (message, http) = match received {
            Received::Whole(message, http, _) => (message, http),
            Received::TooLong(beginning, end) => {
                let limit = self.engine.limits().message_size;
                if let Some(times) = self.too_long.due(()) {
                    tracing::warn!(times, "a message is longer than {limit} bytes (`Limits::message_size`), refused");
                }
                let error = RpcError::invalid_request(format!("the message is longer than {limit} bytes"));
                let id = Envelope::read_id(beginning).or_else(|| Envelope::read_id_at_end(end));
                return state.refuse(id.as_deref(), &error);
            }
            Received::End => return state.hang_up(),
        };
        let envelope = match Envelope::read(message, self.engine.limits().message_values) {
            Ok(envelope) => envelope,
            Err(bad) => {
                let Some(messages) = state.session.as_ref().and_then(|session| session.batch(message).ok()) else {
                    return state.refuse(bad.id.as_deref(), &bad.error);
                };
                for message in messages.into_iter().rev() {
                    state.received.push_front(Received::Whole(message, http.clone(), Held::default()));
                }
                return None;
            }
        };
        if cancelled_request(&envelope).is_some_and(|request| state.cancel(&request)) {
            return None;
        }
        let is_of_session = is_of_session(&envelope, || None) && self.engine.has_sessions();
        let Some(id) = envelope.id.filter(|_| envelope.method.is_some()) else {
            match state.session.as_ref().filter(|_| is_of_session) {
                Some(session) => drop(session.receive(message, envelope, Http::default())),
                // A call may be over by the time it is cancelled, whichever era it was of. Nobody answers a response: two
                // sides that did would never stop.
                None => tracing::debug!("a notification or a response without a session is passed over"),
            }
            return None;
        };
        let key = match admit_request(&mut state.requests, id, ServedRequest::default()) {
            Ok(key) => key,
            Err(error) => return state.refuse(Some(id), &error),
        };
        let session = is_of_session.then(|| match &state.session {
            Some(session) => Arc::clone(session),
            None => self.begin_session(state),
        });
        let is_held = session.is_some() && is_about_session(&self.engine, &envelope);
        state.is_held = is_held;
        state.starting += 1;
        let mut http = http.clone();
        http.left.clone_from(&self.left);
        Some(OrderedRequest { key, message, envelope, http, session, is_held })
    }

    /// Starts a request, unless it is answered at once. A call is returned, to be polled.
    fn start(self: &Arc<Self>, request: OrderedRequest<'_>) -> Option<(RequestKey, Stream)> {
        let OrderedRequest { key, message, envelope, http, session, is_held } = request;
        let id = envelope.id;
        let answer = match &session {
            Some(session) => session.receive(message, envelope, http),
            None => dispatch(&self.engine, message, envelope, http, None),
        };
        let mut state = self.state();
        if is_held {
            state.is_held = false;
            let more = state.received.len();
            self.serve_more(&mut state, more);
        }
        state.starting = state.starting.saturating_sub(1);
        let open = end_request(&mut state.requests, &key);
        let is_full = state.requests.len() >= self.most_calls + state.starting;
        match (open, answer) {
            (Some(_), Dispatched::Reply(reply)) => state.ready.push_back(reply.into_parts()),
            (Some(_), Dispatched::Stream(stream)) if !(is_full || state.hung_up && stream.is_subscription()) => {
                let served = ServedRequest { is_subscription: stream.is_subscription(), task: None };
                state.requests.insert(Arc::clone(&key), served);
                return Some((key, stream));
            }
            (open, answer) => {
                if open.is_some() && is_full {
                    let _ = state.refuse::<()>(id, &Refusal::Full(BudgetFull::of_calls(self.most_calls)).into());
                }
                // It was cancelled, or cannot be served. Author's code may run when it is dropped, so not under the lock.
                drop(state);
                drop(answer);
            }
        }
        None
    }

    /// Begins a session, with a task for its messages that belong to no request.
    fn begin_session(self: &Arc<Self>, state: &mut InFlightState) -> Arc<Session> {
        let session = Arc::new(Session::new(&self.engine, random_id().ok()));
        state.session = Some(Arc::clone(&session));
        let (in_flight, sending) = (Arc::clone(self), Arc::clone(&session));
        state.spawn(async move {
            loop {
                // What is announced may end before the session does.
                if let Some(message) = sending.message().await {
                    in_flight.send(message).await;
                }
            }
        });
        session
    }

    /// Gives a request its own task, unless it was cancelled meanwhile; whether it has one now.
    fn hand_over(self: &Arc<Self>, key: RequestKey, mut stream: Stream, mut sent: Sent) -> bool {
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
                    Frame::Notification(message) => sent = sent.and(in_flight.send(message).await),
                    Frame::Request(message) => drop(in_flight.send(message).await),
                    Frame::Last(reply) => {
                        in_flight.handled(sent).await;
                        in_flight.state().finish(&request, reply);
                        return in_flight.changed.notify_one();
                    }
                }
            }
        }));
        state.requests.insert(key, served);
        true
    }

    /// Sends a message of a running call; waits while the client does not read. Returns its place among all messages.
    async fn send(&self, message: Bytes) -> u64 {
        loop {
            let taken = self.taken.notified();
            let has_room = self.state().ready.len() < MOST_READY;
            if has_room {
                let place = self.state().push(message);
                self.changed.notify_one();
                yield_now().await;
                return place;
            }
            self.changed.notify_one();
            taken.await;
        }
    }

    /// Waits until the client should have handled the notifications of a call, so that they and its reply are not read
    /// together: the TypeScript SDK drops the progress of a call that came in the same chunk as the reply.
    async fn handled(&self, sent: Sent) {
        let Some(mut handled_at) = sent.handled_at else { return };
        loop {
            let written = self.taken.notified();
            if self.written.load(Ordering::Acquire) >= sent.last {
                return sleep_until(handled_at + APART).await;
            }
            written.await;
            handled_at = handled_at.max(Instant::now());
        }
    }
}

impl InFlightState {
    /// Takes the next message that may be served; without one, the task that asks ends.
    fn take_next(&mut self) -> Option<Received> {
        let next = if self.is_held { None } else { self.received.pop_front() };
        self.serving = self.serving.saturating_sub(usize::from(next.is_none()));
        next
    }

    /// Whether everything has been served, and what was ready has been taken.
    fn is_done(&self) -> bool {
        self.received.is_empty() && self.serving == 0 && self.requests.is_empty() && self.ready.is_empty()
    }

    /// Adds a message of a call to those that are ready; its place among all messages.
    fn push(&mut self, message: Bytes) -> u64 {
        self.ready.push_back((ReplyBody::Whole(message), None));
        self.taken + self.ready.len() as u64
    }

    /// Takes what is ready; how many messages were taken with these.
    fn take_ready(&mut self, ready: &mut VecDeque<Outgoing>) -> u64 {
        self.taken += self.ready.len() as u64;
        ready.append(&mut self.ready);
        self.taken
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
        self.hung_up = true;
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
