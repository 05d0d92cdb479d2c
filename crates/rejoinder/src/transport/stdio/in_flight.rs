use std::{collections::HashMap, time::Duration};

use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;
use tokio::{sync::mpsc, task::JoinHandle, time::timeout};

use crate::protocol::{Frame, Stream};

/// What a running request sends to the writer.
pub(super) enum Output {
    Message(Bytes),
    /// It is over; this was its last message.
    Last(Key, Vec<Bytes>),
    /// The session on this pipe is over.
    SessionOver,
}

/// A request's id, the same however it was spelled.
pub(super) type Key = String;

/// The requests that are being worked on, each in a task of its own.
pub(super) struct InFlight {
    tasks: HashMap<Key, Task>,
    sender: mpsc::Sender<Output>,
}

struct Task {
    handle: JoinHandle<()>,
    subscription: bool,
}

impl InFlight {
    pub(super) fn new(sender: mpsc::Sender<Output>) -> Self {
        Self { tasks: HashMap::new(), sender }
    }

    pub(super) fn sender(&self) -> mpsc::Sender<Output> {
        self.sender.clone()
    }

    pub(super) fn key(id: &str) -> Key {
        serde_json::from_str::<Value>(id).map_or_else(|_| id.to_owned(), |id| id.to_string())
    }

    pub(super) fn contains(&self, key: &str) -> bool {
        self.tasks.contains_key(key)
    }

    /// Lets a request go on by itself.
    pub(super) fn add(&mut self, key: Key, mut stream: Stream) {
        let (sender, name) = (self.sender.clone(), key.clone());
        let subscription = stream.is_subscription();
        let handle = tokio::spawn(async move {
            // A closed channel means that the connection is gone, and with it whoever wanted to know.
            loop {
                match stream.frame().await {
                    Frame::Notification(message) => {
                        if sender.send(Output::Message(message)).await.is_err() {
                            return;
                        }
                    }
                    Frame::Last(reply) => {
                        let _ = sender.send(Output::Last(name, reply.body.pieces().collect())).await;
                        return;
                    }
                }
            }
        });
        self.tasks.insert(key, Task { handle, subscription });
    }

    pub(super) fn done(&mut self, key: &str) -> bool {
        self.tasks.remove(key).is_some()
    }

    /// Cancels what a `notifications/cancelled` names; `false` if it is not one of these requests.
    pub(super) fn cancel(&mut self, params: Option<&str>) -> bool {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Cancelled {
            request_id: Value,
        }
        let cancelled = params.and_then(|params| serde_json::from_str::<Cancelled>(params).ok());
        let task = cancelled.and_then(|cancelled| self.tasks.remove(&cancelled.request_id.to_string()));
        task.map(|task| task.handle.abort()).is_some()
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

    /// Takes what the rest, and the session if there is one, still say, until they are done or the time is up.
    pub(super) async fn finish(
        &mut self,
        receiver: &mut mpsc::Receiver<Output>,
        mut session: bool,
        grace: Duration,
        mut write: impl AsyncFnMut(Output) -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        let finishing = async {
            while session || !self.tasks.is_empty() {
                let Some(output) = receiver.recv().await else { break };
                match &output {
                    Output::Last(key, _) => drop(self.tasks.remove(key)),
                    Output::SessionOver => session = false,
                    Output::Message(_) => {}
                }
                write(output).await?;
            }
            Ok(())
        };
        timeout(grace, finishing).await.unwrap_or(Ok(()))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.tasks.values().for_each(|task| task.handle.abort());
    }
}
