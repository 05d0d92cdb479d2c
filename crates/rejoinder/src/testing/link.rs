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
use crate::{error::lock, model::meta_key};

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
    /// The open requests by their ids, the oldest first, and those that receive what belongs to no request.
    receivers: Vec<(Option<u64>, UnboundedSender<Value>)>,
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

    /// What comes back for a request: its notifications and questions, and at last its response. Without an id, what belongs
    /// to no request.
    pub(super) fn receive(&self, id: Option<u64>) -> BoxStream<'static, Value> {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let mut inbox = lock(&self.inbox);
        if !inbox.is_closed {
            inbox.receivers.push((id, sender));
        }
        poll_fn(move |cx| receiver.poll_recv(cx)).boxed()
    }
}

impl Inbox {
    /// Hands a message to the request that it belongs to.
    fn deliver(&mut self, message: &str) {
        // What is not JSON reaches the oldest request, which reports it.
        let message = parse(message.as_bytes());
        self.receivers.retain(|(_, receiver)| !receiver.is_closed());
        let params = &message["params"];
        let requests = || self.receivers.iter().filter(|(id, _)| id.is_some());
        let of = |id: &Value| requests().find(|(request, _)| *request == id.as_u64());
        let oldest = || requests().next();
        let found: Vec<_> = match (message["method"].as_str(), message.get("id")) {
            (None, Some(id)) if !id.is_null() => of(id).into_iter().collect(),
            // An error without an id, or a question: neither says which call it belongs to.
            (None, _) | (Some(_), Some(_)) => oldest().into_iter().collect(),
            (Some("notifications/progress"), None) => {
                // A test may have set a token of its own.
                let only = || oldest().filter(|_| requests().count() == 1);
                of(&params["progressToken"]).or_else(only).into_iter().collect()
            }
            // A log message does not say which call logs it.
            (Some("notifications/message"), None) => requests().collect(),
            (Some("notifications/cancelled"), None) => Vec::new(),
            (Some(_), None) => match params["_meta"].get(meta_key::SUBSCRIPTION_ID) {
                Some(subscription) => of(subscription).into_iter().collect(),
                None => self.receivers.iter().filter(|(id, _)| id.is_none()).collect(),
            },
        };
        for (_, receiver) in found {
            // A request that is dropped meanwhile does not need it.
            let _ = receiver.send(message.clone());
        }
    }
}
