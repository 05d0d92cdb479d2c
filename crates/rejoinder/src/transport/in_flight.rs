//! The requests of a connection that are being served.

use std::{
    collections::{HashMap, VecDeque, hash_map::Entry},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use tokio::{
    runtime::Handle,
    sync::mpsc,
    task::{AbortHandle, JoinSet},
};
use tracing::Instrument;

use crate::{
    protocol::{Frame, RpcError, RpcReply, Stream, request_key},
    server::Refusal,
};

/// The id of a request, the same however it was spelled.
pub(super) type RequestKey = Arc<str>;

/// What running requests send to the writer.
pub(super) enum Outgoing {
    Message(Bytes),
    /// Requests that are over, each with its last message.
    Last(Vec<Finished>),
}

/// A request that is over.
pub(super) struct Finished {
    key: RequestKey,
    number: u64,
    reply: RpcReply,
}

/// The requests that are being served, apart from the reader: a call that blocks or computes does not stop the pipe.
///
/// Most calls end when they are first polled. Spawning a task for each of them costs as much as the call, so there are as
/// many tasks that start calls as the runtime has threads, and a call that does not end at once gets its own.
pub(super) struct InFlight(Arc<InFlightParts>);

struct InFlightParts {
    state: Mutex<InFlightState>,
    sender: mpsc::Sender<Outgoing>,
    /// How many tasks may start requests.
    most_starting: usize,
}

#[derive(Default)]
struct InFlightState {
    requests: HashMap<RequestKey, ServedRequest>,
    /// The requests that wait to be started.
    queue: VecDeque<QueuedRequest>,
    /// How many tasks start requests.
    starting: usize,
    tasks: JoinSet<()>,
    next_number: u64,
}

struct ServedRequest {
    /// Tells it from a later request with the same id.
    number: u64,
    is_subscription: bool,
    /// Its own task, if it has one.
    task: Option<AbortHandle>,
}

struct QueuedRequest {
    key: RequestKey,
    number: u64,
    stream: Stream,
}

impl InFlight {
    pub(super) fn new(sender: mpsc::Sender<Outgoing>) -> Self {
        let most_starting = Handle::current().metrics().num_workers();
        Self(Arc::new(InFlightParts { state: Mutex::default(), sender, most_starting }))
    }

    /// Whether a request with this id can be served beside the others, at most `most` together.
    pub(super) fn admit(&self, id: &str, most: usize) -> Result<RequestKey, RpcError> {
        let (key, state) = (RequestKey::from(request_key(id)), self.0.state());
        if state.requests.contains_key(&key) {
            return Err(RpcError::invalid_request("a request with this id is still being answered"));
        }
        if state.requests.len() >= most {
            return Err(Refusal::TooManyCalls(most).into());
        }
        Ok(key)
    }

    /// Serves a request that was admitted.
    pub(super) fn add(&self, key: RequestKey, stream: Stream) {
        let is_subscription = stream.is_subscription();
        let mut state = self.0.state();
        let number = state.next_number;
        state.next_number += 1;
        state.requests.insert(Arc::clone(&key), ServedRequest { number, is_subscription, task: None });
        let waiting = QueuedRequest { key, number, stream };
        if is_subscription {
            return self.0.spawn(&mut state, waiting);
        }
        state.queue.push_back(waiting);
        if state.starting < self.0.most_starting {
            state.starting += 1;
            state.spawn(Arc::clone(&self.0).start_all());
        }
    }

    /// The last message of a request that is over; `None` if it was cancelled, perhaps while its reply was on the way.
    pub(super) fn done(&self, Finished { key, number, reply }: Finished) -> Option<RpcReply> {
        match self.0.state().requests.entry(key) {
            Entry::Occupied(served) if served.get().number == number => {
                served.remove();
                Some(reply)
            }
            _ => None,
        }
    }

    /// Cancels a request; `false` if it is not one of these.
    pub(super) fn cancel(&self, request: &str) -> bool {
        let (served, waiting) = {
            let mut state = self.0.state();
            let Some(served) = state.requests.remove(request) else { return false };
            let place = state.queue.iter().position(|waiting| waiting.number == served.number);
            (served, place.and_then(|place| state.queue.remove(place)))
        };
        // Author's code runs in it, so not under the lock.
        drop(waiting);
        served.task.inspect(AbortHandle::abort);
        true
    }

    /// Cancels everything that would never end by itself.
    pub(super) fn end_subscriptions(&self) {
        self.0.state().requests.retain(|_, served| {
            served.task.iter().filter(|_| served.is_subscription).for_each(AbortHandle::abort);
            !served.is_subscription
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.state().requests.is_empty()
    }

    /// Ends them all, and waits until they are gone: what they have deferred has begun by then.
    pub(super) async fn stop(&self) {
        let InFlightState { mut tasks, queue, .. } = std::mem::take(&mut *self.0.state());
        drop(queue);
        tasks.shutdown().await;
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        // The tasks hold what holds them. Author's code runs in their end, so not under the lock.
        let state = std::mem::take(&mut *self.0.state());
        drop(state);
    }
}

impl InFlightParts {
    fn state(&self) -> MutexGuard<'_, InFlightState> {
        // Every statement leaves the state valid.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the requests that wait, until there are none.
    async fn start_all(self: Arc<Self>) {
        /// How many replies are written at once.
        const TOGETHER: usize = 16;
        let mut finished = Vec::new();
        loop {
            let next = {
                let mut state = self.state();
                let next = state.queue.pop_front();
                if next.is_none() && finished.is_empty() {
                    state.starting = state.starting.saturating_sub(1);
                    return;
                }
                next
            };
            let is_last = next.is_none();
            if let Some(mut waiting) = next {
                // One that does not end now is polled again, by its own task.
                let polled = waiting.stream.poll_frame(&mut Context::from_waker(Waker::noop()));
                match polled {
                    Poll::Ready(Frame::Last(reply)) => {
                        finished.push(Finished { key: waiting.key, number: waiting.number, reply });
                    }
                    Poll::Ready(Frame::Notification(message) | Frame::Request(message)) => {
                        // A closed channel means that the connection is gone.
                        if self.sender.send(Outgoing::Message(message)).await.is_err() {
                            return;
                        }
                        self.hand_over(waiting);
                    }
                    Poll::Pending => self.hand_over(waiting),
                }
            }
            if (is_last || finished.len() >= TOGETHER)
                && self.sender.send(Outgoing::Last(std::mem::take(&mut finished))).await.is_err()
            {
                return;
            }
        }
    }

    /// Gives a request its own task, unless it was cancelled meanwhile.
    fn hand_over(self: &Arc<Self>, waiting: QueuedRequest) {
        let mut state = self.state();
        if state.requests.get(&waiting.key).is_some_and(|served| served.number == waiting.number) {
            return self.spawn(&mut state, waiting);
        }
        drop(state);
        drop(waiting);
    }

    fn spawn(self: &Arc<Self>, state: &mut InFlightState, waiting: QueuedRequest) {
        let (key, parts) = (Arc::clone(&waiting.key), Arc::clone(self));
        let task = state.spawn(async move {
            let QueuedRequest { key, number, mut stream } = waiting;
            loop {
                let outgoing = match stream.frame().await {
                    Frame::Notification(message) | Frame::Request(message) => Outgoing::Message(message),
                    Frame::Last(reply) => {
                        let _ = parts.sender.send(Outgoing::Last(vec![Finished { key, number, reply }])).await;
                        return;
                    }
                };
                if parts.sender.send(outgoing).await.is_err() {
                    return;
                }
            }
        });
        if let Some(served) = state.requests.get_mut(&key) {
            served.task = Some(task);
        }
    }
}

impl InFlightState {
    fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        // Those that are over need not be kept.
        while self.tasks.try_join_next().is_some() {}
        self.tasks.spawn(task.in_current_span())
    }
}
