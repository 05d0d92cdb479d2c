use std::collections::HashMap;

use bytes::Bytes;
use tokio::{
    sync::mpsc,
    task::{self, AbortHandle, Id, JoinSet},
};

use crate::protocol::{Frame, RpcReply, Stream, request_key};

/// What a running request sends to the writer.
pub(super) enum Outgoing {
    Message(Bytes),
    /// It is over; this was its last message.
    Last(String, Id, RpcReply),
}

/// The requests that are being served, each in its own task.
pub(super) struct InFlight {
    /// By the id of the request, the same however it was spelled.
    tasks: HashMap<String, Task>,
    running: JoinSet<()>,
    sender: mpsc::Sender<Outgoing>,
}

struct Task {
    handle: AbortHandle,
    subscription: bool,
}

impl InFlight {
    pub(super) fn new(sender: mpsc::Sender<Outgoing>) -> Self {
        Self { tasks: HashMap::new(), running: JoinSet::new(), sender }
    }

    /// Whether a request with this id is being served.
    pub(super) fn contains(&self, id: &str) -> bool {
        self.tasks.contains_key(&request_key(id))
    }

    /// Serves a request.
    pub(super) fn add(&mut self, id: &str, mut stream: Stream) {
        let key = request_key(id);
        let (sender, name) = (self.sender.clone(), key.clone());
        let subscription = stream.is_subscription();
        // Those that are over need not be kept.
        while self.running.try_join_next().is_some() {}
        let handle = self.running.spawn(async move {
            // A closed channel means that the connection is gone.
            loop {
                match stream.frame().await {
                    Frame::Notification(message) | Frame::Request(message) => {
                        if sender.send(Outgoing::Message(message)).await.is_err() {
                            return;
                        }
                    }
                    Frame::Last(reply) => {
                        let _ = sender.send(Outgoing::Last(name, task::id(), reply)).await;
                        return;
                    }
                }
            }
        });
        self.tasks.insert(key, Task { handle, subscription });
    }

    /// Removes a request that is over; `false` if it was cancelled, perhaps while its reply was on the way.
    pub(super) fn done(&mut self, key: &str, task: Id) -> bool {
        let known = self.tasks.get(key).is_some_and(|known| known.handle.id() == task);
        known && self.tasks.remove(key).is_some()
    }

    /// Cancels a request; `false` if it is not one of these.
    pub(super) fn cancel(&mut self, request: &str) -> bool {
        self.tasks.remove(request).map(|task| task.handle.abort()).is_some()
    }

    /// Cancels everything that would never end by itself.
    pub(super) fn end_subscriptions(&mut self) {
        self.tasks.retain(|_, task| {
            if task.subscription {
                task.handle.abort();
            }
            !task.subscription
        });
    }

    pub(super) fn len(&self) -> usize {
        self.tasks.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Ends them all, and waits until they are gone: what they have deferred has begun by then.
    pub(super) async fn stop(&mut self) {
        self.tasks.clear();
        self.running.shutdown().await;
    }
}
