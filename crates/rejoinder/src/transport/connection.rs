//! One connection with messages in both directions: a pipe, a WebSocket, or the stream of HTTP+SSE.

use std::{
    future::poll_fn,
    io,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use tokio::{sync::mpsc, time::timeout};
use tokio_util::sync::CancellationToken;

use super::in_flight::{InFlight, Outgoing};
use crate::{
    call::AfterReply,
    protocol::{
        Dispatched, Envelope, Frame, Http, ReplyBody, RpcError, RpcReply, Session, Stream, batch, cancelled_request,
        dispatch, error_reply, is_of_session, random_id,
    },
    server::Engine,
};

/// How the messages of a connection travel: as lines, as frames, as events.
pub(super) trait Wire: Send {
    /// Waits until more has arrived; `false` if nothing more comes, but the client still reads.
    ///
    /// The error [`io::ErrorKind::BrokenPipe`] means that the client has left. If the future is dropped, nothing is lost.
    fn fill(&mut self) -> impl Future<Output = io::Result<bool>> + Send;

    /// The next message that has arrived.
    fn next(&mut self) -> Option<Received>;

    /// Adds a message to those that wait to be written, and what to drop when it is.
    fn push(&mut self, message: ReplyBody, after: Option<AfterReply>);

    /// How many bytes wait to be written.
    fn waiting(&self) -> usize;

    /// Writes what waits. If the future is dropped, what has not been written still waits.
    fn flush(&mut self) -> impl Future<Output = io::Result<()>> + Send;
}

/// A message of the client.
pub(super) enum Received {
    /// The message, and the HTTP request that brought it or opened its connection.
    Whole(Bytes, Http),
    /// The beginning of a message that is too long. The rest of it is passed over.
    #[cfg_attr(not(feature = "stdio"), expect(dead_code, reason = "only a line is read past its limit"))]
    TooLong(Bytes),
}

/// Serves one client until it leaves or the server shuts down; then requests in flight may finish.
pub(super) async fn serve(
    engine: &Arc<Engine>,
    wire: &mut impl Wire,
    most_calls: usize,
    shutdown: CancellationToken,
) -> io::Result<()> {
    let (sender, mut receiver) = mpsc::channel(64);
    let in_flight = InFlight::new(sender);
    let mut connection = Connection { engine, wire, most_calls, in_flight, session: None };
    let ended = connection.converse(&mut receiver, &shutdown).await;
    // A call that blocks its thread cannot be ended, so it is not waited for without end.
    let _ = timeout(engine.options.grace, connection.in_flight.stop()).await;
    match ended {
        // The client reads no more: it has left.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        ended => ended,
    }
}

/// What waits to be written before it is, while there is more to come: one write serves many messages, and the client can
/// work on the first while the server works on the next.
pub(super) const ENOUGH: usize = 2 * 1024;

struct Connection<'a, W> {
    engine: &'a Arc<Engine>,
    wire: &'a mut W,
    most_calls: usize,
    in_flight: InFlight,
    /// Begun by the first request of the session era.
    session: Option<Arc<Session>>,
}

impl<W: Wire> Connection<'_, W> {
    /// Serves until the client leaves or the server shuts down, and then for the grace period what is in flight.
    async fn converse(
        &mut self,
        receiver: &mut mpsc::Receiver<Outgoing>,
        shutdown: &CancellationToken,
    ) -> io::Result<()> {
        loop {
            let mut stopped = false;
            let session = self.session.clone();
            tokio::select! {
                filled = self.wire.fill() => {
                    let more = filled?;
                    while let Some(received) = self.wire.next() {
                        self.receive(received);
                        if self.wire.waiting() >= ENOUGH && !stopped {
                            stopped = !self.flush_unless(shutdown).await?;
                        }
                    }
                    if !more {
                        self.in_flight.end_subscriptions();
                        self.session.iter().for_each(|session| session.hang_up());
                        break;
                    }
                }
                Some(message) = receiver.recv() => {
                    self.take(message);
                    while self.wire.waiting() < ENOUGH && let Ok(message) = receiver.try_recv() {
                        self.take(message);
                    }
                }
                Some(message) = next_of(session.as_deref()) => self.wire.push(ReplyBody::Whole(message), None),
                () = shutdown.cancelled() => break self.engine.hub.close(),
            }
            if stopped || !self.flush_unless(shutdown).await? {
                break self.engine.hub.close();
            }
        }
        timeout(self.engine.options.grace, self.finish(receiver)).await.unwrap_or(Ok(()))
    }

    fn receive(&mut self, received: Received) {
        match received {
            Received::Whole(message, http) => self.message(&message, http),
            Received::TooLong(beginning) => {
                let limit = self.engine.options.limits.message_size;
                let error = RpcError::invalid_request(format!("the message is longer than {limit} bytes"));
                self.reply(error_reply(Envelope::read_id(&beginning).as_deref(), &error));
            }
        }
    }

    fn message(&mut self, message: &Bytes, http: Http) {
        let envelope = match Envelope::read(message) {
            Ok(envelope) => envelope,
            Err(bad) => {
                let has_batches = self.session.as_ref().is_some_and(|session| session.version() == Some("2025-03-26"));
                return match batch(message).filter(|_| has_batches) {
                    Some(messages) => messages.iter().for_each(|message| self.message(message, http.clone())),
                    None => self.reply(error_reply(bad.id.as_deref(), &bad.error)),
                };
            }
        };
        if cancelled_request(&envelope).is_some_and(|request| self.in_flight.cancel(&request)) {
            return;
        }
        let id = envelope.id;
        let answer = if is_of_session(&envelope, || None) && self.engine.options.sessions {
            if self.session.is_none() && (id.is_none() || envelope.method.is_none()) {
                // A call may be over by the time it is cancelled, whichever era it was of.
                return tracing::debug!("a notification or a response without a session is passed over");
            }
            let session = self.session.get_or_insert_with(|| Arc::new(Session::new(self.engine, random_id().ok())));
            session.receive(message, envelope, http)
        } else if envelope.method.is_none() {
            // Nobody answers a response: two sides that did would never stop.
            return tracing::debug!("a response to nothing that was asked");
        } else {
            dispatch(self.engine, message, envelope, http, None)
        };
        match answer {
            Dispatched::Nothing => {}
            Dispatched::Reply(reply) => self.reply(reply),
            Dispatched::Stream(stream) => self.run(id.unwrap_or("null"), stream),
        }
    }

    /// Runs a call.
    fn run(&mut self, id: &str, mut stream: Stream) {
        let key = match self.in_flight.admit(id, self.most_calls) {
            Ok(key) => key,
            Err(error) => return self.reply(error_reply(Some(id), &error)),
        };
        if stream.is_listening() {
            // None of the author's code runs in it, and a client that closes its end at once is still acknowledged.
            match stream.poll_frame(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(Frame::Last(reply)) => return self.reply(reply),
                Poll::Ready(Frame::Notification(message) | Frame::Request(message)) => {
                    self.wire.push(ReplyBody::Whole(message), None);
                }
                Poll::Pending => {}
            }
        }
        self.in_flight.add(key, stream);
    }

    fn reply(&mut self, reply: RpcReply) {
        let (body, after) = reply.into_parts();
        self.wire.push(body, after);
    }

    fn take(&mut self, message: Outgoing) {
        match message {
            Outgoing::Message(message) => self.wire.push(ReplyBody::Whole(message), None),
            // A request that is cancelled while its reply is on the way here gets none.
            Outgoing::Last(finished) => {
                for finished in finished {
                    if let Some(reply) = self.in_flight.done(finished) {
                        self.reply(reply);
                    }
                }
            }
        }
    }

    /// Writes what waits; `false` if the server shuts down meanwhile. A client that does not read must not keep it from
    /// that.
    async fn flush_unless(&mut self, stop: &CancellationToken) -> io::Result<bool> {
        tokio::select! {
            flushed = self.wire.flush() => flushed.map(|()| true),
            () = stop.cancelled() => Ok(false),
        }
    }

    /// Writes what the requests in flight still send, until they are done.
    async fn finish(&mut self, receiver: &mut mpsc::Receiver<Outgoing>) -> io::Result<()> {
        self.wire.flush().await?;
        while !self.in_flight.is_empty() {
            let Some(message) = receiver.recv().await else { break };
            self.take(message);
            self.wire.flush().await?;
        }
        Ok(())
    }
}

/// The next message of a session that belongs to no request.
async fn next_of(session: Option<&Session>) -> Option<Bytes> {
    match session {
        Some(session) => poll_fn(|cx| session.poll_message(cx)).await,
        None => None,
    }
}
