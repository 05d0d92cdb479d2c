//! The HTTP response stream of one request of a session.
//!
//! rmcp routes progress to the stream of its request, but log messages only to the stream that a client opens with
//! GET, if it does. A line is our own way into the request's stream, for both. It also knows whether the client is
//! there, which rmcp does not tell its handlers.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use futures_core::Stream;
use rmcp::{
    model::{JsonRpcMessage, ServerNotification},
    transport::streamable_http_server::session::{ServerSseMessage, local::LocalSessionHandle},
};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::lines::Place;

/// How many notifications wait for a client that reads slowly; then the call waits too.
const CAPACITY: usize = 16;

/// How long a reply is kept for a client whose connection broke: as long as rmcp keeps what has been sent.
const PATIENCE: Duration = Duration::from_secs(60);

/// The server's end of the stream.
#[derive(Debug)]
pub(super) struct Line {
    session: LocalSessionHandle,
    http_request: u64,
    /// Whether the client knows how to leave and come back.
    resumes: bool,
    /// Whether the client has been given an event to come back after.
    named: Arc<AtomicBool>,
    /// Replaced when the client comes back on another connection.
    client: watch::Sender<mpsc::Sender<ServerSseMessage>>,
    /// Cancelled when the session ends: nobody will come back.
    ended: CancellationToken,
    /// Where a client that comes back finds this line, while the request lasts.
    _place: Place,
}

impl Line {
    /// A line whose client is not connected yet.
    pub(super) fn new(session: LocalSessionHandle, http_request: u64, resumes: bool, place: Place) -> Self {
        let (nobody, _) = mpsc::channel(1);
        let (client, ended) = (watch::Sender::new(nobody), CancellationToken::new());
        Self { session, http_request, resumes, named: Arc::default(), client, ended, _place: place }
    }

    /// Says that the session has ended.
    pub(super) fn end(&self) {
        self.ended.cancel();
    }

    /// Waits for the end of the session.
    pub(super) async fn ended(&self) {
        self.ended.cancelled().await;
    }

    /// Connects the client, who gets what is sent on this line and what rmcp sends.
    pub(super) fn connect(&self, from_rmcp: mpsc::Receiver<ServerSseMessage>) -> Merged {
        let (from_line, named) = (Some(self.line()), Arc::clone(&self.named));
        Merged { from_line, named, primes: self.resumes, ..Merged::from_rmcp(from_rmcp) }
    }

    /// Connects a client who has come back, and has seen everything up to that event.
    pub(super) fn reconnect(&self, from_rmcp: mpsc::Receiver<ServerSseMessage>, last_event: String) -> Merged {
        Merged { from_line: Some(self.line()), ..Merged::resumed(from_rmcp, last_event) }
    }

    fn line(&self) -> mpsc::Receiver<ServerSseMessage> {
        let (sender, receiver) = mpsc::channel(CAPACITY);
        self.client.send_replace(sender);
        receiver
    }

    /// Sends a notification, waiting while the client reads slowly; gives it back if no client is connected.
    pub(super) async fn tell(&self, notification: ServerNotification) -> Result<(), ServerNotification> {
        let client = self.client.borrow().clone();
        let Ok(room) = client.reserve().await else { return Err(notification) };
        room.send(ServerSseMessage::from_message(JsonRpcMessage::notification(notification)));
        Ok(())
    }

    /// Whether its client has left, and may come back: who has no event to come back after will not.
    pub(super) fn is_left(&self) -> bool {
        self.named.load(Ordering::Relaxed) && self.client.borrow().is_closed()
    }

    /// Waits for a client who is away, for a while: rmcp forgets a reply that nobody takes.
    pub(super) async fn connected(&self) {
        let mut client = self.client.subscribe();
        let back = client.wait_for(|client| !client.is_closed());
        // Time passed or the client is back: both times the reply goes out.
        let _ = tokio::time::timeout(PATIENCE, back).await;
    }

    /// Ends the client's connection, and asks it to come back after a while; `false` if it would not know how to.
    pub(super) async fn close(&self, retry: Duration) -> bool {
        if !self.resumes || self.session.close_sse_stream(self.http_request, Some(retry)).await.is_err() {
            return false;
        }
        // rmcp has let go of the stream; now wait until the client's end has, too.
        let client = self.client.borrow().clone();
        client.closed().await;
        true
    }
}

/// The client's end of a stream.
#[derive(Debug)]
pub(super) struct Merged {
    from_rmcp: mpsc::Receiver<ServerSseMessage>,
    from_line: Option<mpsc::Receiver<ServerSseMessage>>,
    /// The first event of a stream gives the client an id to come back with; the line waits for it.
    begun: bool,
    /// Whether the client gets events without data.
    primes: bool,
    /// Set once it has been given an event with an id.
    named: Arc<AtomicBool>,
    /// The event that the client has seen already.
    seen: Option<String>,
    held: Option<ServerSseMessage>,
}

impl Merged {
    /// A stream that only rmcp sends on.
    pub(super) fn from_rmcp(from_rmcp: mpsc::Receiver<ServerSseMessage>) -> Self {
        let named = Arc::default();
        Self { from_rmcp, from_line: None, begun: false, primes: true, named, seen: None, held: None }
    }

    /// The same for a client that has come back. rmcp repeats the last event that it has seen.
    pub(super) fn resumed(from_rmcp: mpsc::Receiver<ServerSseMessage>, last_event: String) -> Self {
        Self { begun: true, seen: Some(last_event), ..Self::from_rmcp(from_rmcp) }
    }

    fn poll_line(&mut self, cx: &mut Context<'_>) -> Option<ServerSseMessage> {
        match self.from_line.as_mut()?.poll_recv(cx) {
            Poll::Ready(Some(message)) => Some(message),
            Poll::Ready(None) => {
                self.from_line = None;
                None
            }
            Poll::Pending => None,
        }
    }

    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<ServerSseMessage>> {
        loop {
            if self.begun {
                if let Some(message) = self.poll_line(cx) {
                    return Poll::Ready(Some(message));
                }
                if let Some(message) = self.held.take() {
                    return Poll::Ready(Some(message));
                }
            }
            let Some(message) = ready!(self.from_rmcp.poll_recv(cx)) else {
                self.from_line = None;
                return Poll::Ready(None);
            };
            self.begun = true;
            if message.event_id.is_some() && message.event_id == self.seen {
                self.seen = None;
            } else if message.message.is_some() {
                // Whatever the call emitted before this was sent is on the line by now, and goes first.
                self.held = Some(message);
            } else if self.primes {
                return Poll::Ready(Some(message));
            }
        }
    }
}

impl Stream for Merged {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ServerSseMessage>> {
        let message = ready!(self.poll_message(cx));
        if message.as_ref().is_some_and(|message| message.event_id.is_some()) {
            self.named.store(true, Ordering::Relaxed);
        }
        Poll::Ready(message)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;

    use super::*;

    #[tokio::test]
    async fn what_rmcp_sends_waits_for_what_is_on_the_line() {
        let (line, from_line) = mpsc::channel(1);
        let (rmcp, from_rmcp) = mpsc::channel(2);
        let merged = Merged { from_line: Some(from_line), ..Merged::from_rmcp(from_rmcp) };
        let reply = JsonRpcMessage::error(rmcp::ErrorData::internal_error("reply", None), None);
        let told = JsonRpcMessage::error(rmcp::ErrorData::internal_error("told", None), None);
        line.try_send(ServerSseMessage::from_message(told)).expect("room");
        rmcp.try_send(ServerSseMessage::new("1/0", reply)).expect("room");
        drop(rmcp);
        let ids: Vec<_> = merged.map(|message| message.event_id).collect().await;
        assert_eq!(ids, [None, Some("1/0".to_owned())]);
        assert!(line.is_closed());
    }
}
