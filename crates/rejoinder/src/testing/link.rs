//! A connection that carries the messages of many requests.

use std::{
    future::ready,
    sync::{Arc, Mutex},
};

use bytes::Bytes;
use futures_util::stream::{BoxStream, Stream, StreamExt, poll_fn};
use http::Request;
use serde_json::Value;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use super::exchange::parse;
use crate::lock;

/// A connection that carries the messages of many requests: a pipe, for example. It closes when it is dropped.
#[derive(Debug)]
pub(super) struct Link {
    to_server: UnboundedSender<Request<Bytes>>,
    inbox: Arc<Mutex<Inbox>>,
}

/// Who waits for messages of the server.
#[derive(Debug, Default)]
struct Inbox {
    is_closed: bool,
    /// The open requests by their ids, the oldest first.
    requests: Vec<(u64, UnboundedSender<Value>)>,
    /// They receive the messages that belong to no request.
    listeners: Vec<UnboundedSender<Value>>,
}

impl Link {
    /// Opens a link to a server that sends `incoming` and gets what is written. It is closed when one of the two ends.
    pub(super) fn open<W: Future<Output = ()> + Send + 'static>(
        incoming: impl Stream<Item = String> + Send + 'static,
        write: impl FnOnce(UnboundedReceiver<Request<Bytes>>) -> W,
    ) -> Self {
        let (to_server, outgoing) = mpsc::unbounded_channel();
        let inbox = Arc::<Mutex<Inbox>>::default();
        let (write, receiving) = (write(outgoing), Arc::clone(&inbox));
        tokio::spawn(async move {
            tokio::select! {
                () = write => {}
                () = incoming.for_each(|message| {
                    lock(&receiving).deliver(&message);
                    ready(())
                }) => {}
            }
            *lock(&receiving) = Inbox { is_closed: true, ..Inbox::default() };
        });
        Self { to_server, inbox }
    }

    /// Sends the message in a request; its headers count only where each message is a request of its own. If the connection
    /// is closed, nothing comes back.
    pub(super) fn send(&self, request: Request<Bytes>) {
        let _ = self.to_server.send(request);
    }

    /// What comes back for a request: its notifications and questions, and at last its response.
    pub(super) fn receive(&self, id: u64) -> BoxStream<'static, Value> {
        self.subscribe(|inbox, sender| inbox.requests.push((id, sender)))
    }

    /// What belongs to no request.
    pub(super) fn listen(&self) -> BoxStream<'static, Value> {
        self.subscribe(|inbox, sender| inbox.listeners.push(sender))
    }

    fn subscribe(&self, add: impl FnOnce(&mut Inbox, UnboundedSender<Value>)) -> BoxStream<'static, Value> {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let mut inbox = lock(&self.inbox);
        if !inbox.is_closed {
            add(&mut inbox, sender);
        }
        poll_fn(move |cx| receiver.poll_recv(cx)).boxed()
    }
}

impl Inbox {
    /// Hands a message to the request that it belongs to.
    fn deliver(&mut self, message: &str) {
        // What is not JSON reaches the oldest request, which reports it.
        let message = parse(message.as_bytes());
        self.requests.retain(|(_, receiver)| !receiver.is_closed());
        self.listeners.retain(|receiver| !receiver.is_closed());
        let params = &message["params"];
        let is_of = |id: &Value| self.requests.iter().find(|(request, _)| id == request);
        let oldest = self.requests.first();
        let found = match (message["method"].as_str(), message.get("id")) {
            (None, Some(id)) if !id.is_null() => is_of(id),
            // An error without an id, or a question: neither says which call it belongs to.
            (None, _) | (Some(_), Some(_)) => oldest,
            (Some("notifications/progress"), None) => {
                // A test may have set a token of its own.
                is_of(&params["progressToken"]).or(oldest.filter(|_| self.requests.len() == 1))
            }
            (Some("notifications/message"), None) => {
                // A log message does not say which call logs it.
                return self.requests.iter().for_each(|(_, receiver)| drop(receiver.send(message.clone())));
            }
            (Some("notifications/cancelled"), None) => None,
            (Some(_), None) => match params["_meta"].get("io.modelcontextprotocol/subscriptionId") {
                Some(subscription) => is_of(subscription),
                None => return self.listeners.iter().for_each(|receiver| drop(receiver.send(message.clone()))),
            },
        };
        if let Some((_, receiver)) = found {
            // A request that is dropped meanwhile does not need it.
            let _ = receiver.send(message);
        }
    }
}
