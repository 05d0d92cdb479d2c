use std::{
    future::poll_fn,
    io,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use bytes::{Bytes, BytesMut};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    sync::mpsc,
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use super::{
    in_flight::{InFlight, Outgoing},
    lines::{InputLine, LineReader},
};
use crate::{
    protocol::{
        Dispatched, Envelope, Frame, RpcError, RpcReply, Session, Stream, batch, cancelled_request, dispatch,
        error_reply, is_of_session,
    },
    server::{Engine, Refusal},
};

/// Serves one client until it closes its end or the server shuts down; then requests in flight may finish.
pub(crate) async fn serve(
    engine: &Arc<Engine>,
    mut input: impl AsyncRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
    shutdown: CancellationToken,
) -> io::Result<()> {
    let (sender, mut receiver) = mpsc::channel(64);
    let in_flight = InFlight::new(sender);
    let mut connection = Connection { engine, in_flight, session: None, out: BytesMut::new() };
    let ended = connection.converse(&mut input, &mut output, &mut receiver, &shutdown).await;
    connection.in_flight.stop().await;
    match ended {
        // The client reads no more: it has left.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        ended => ended,
    }
}

/// What waits to be written before it is, while there is more to come: one write serves many messages, and the client can
/// work on the first while the server works on the next.
pub(super) const ENOUGH: usize = 2 * 1024;

struct Connection<'a> {
    engine: &'a Arc<Engine>,
    in_flight: InFlight,
    /// Begun by the first request of the session era.
    session: Option<Arc<Session>>,
    /// What waits to be written.
    out: BytesMut,
}

impl Connection<'_> {
    /// Serves until the client closes its end or the server shuts down, and then for the grace period what is in flight.
    async fn converse(
        &mut self,
        input: &mut (impl AsyncRead + Unpin),
        output: &mut (impl AsyncWrite + Unpin),
        receiver: &mut mpsc::Receiver<Outgoing>,
        shutdown: &CancellationToken,
    ) -> io::Result<()> {
        let mut lines = LineReader::new(self.engine.options.max_message_size);
        loop {
            let mut stopped = false;
            let session = self.session.clone();
            tokio::select! {
                read = input.read_buf(lines.space()) => {
                    let ended = read? == 0;
                    while let Some(line) = lines.next() {
                        self.line(line);
                        if self.out.len() >= ENOUGH && !stopped {
                            stopped = !self.flush_unless(shutdown, output).await?;
                        }
                    }
                    if ended {
                        lines.last().into_iter().for_each(|line| self.line(line));
                        self.in_flight.end_subscriptions();
                        self.session.iter().for_each(|session| session.hang_up());
                        break;
                    }
                }
                Some(message) = receiver.recv() => {
                    self.take(message);
                    while self.out.len() < ENOUGH && let Ok(message) = receiver.try_recv() {
                        self.take(message);
                    }
                }
                Some(message) = next_of(session.as_deref()) => self.send(&message),
                () = shutdown.cancelled() => break self.engine.hub.close(),
            }
            if stopped || !self.flush_unless(shutdown, output).await? {
                break self.engine.hub.close();
            }
        }
        timeout(self.engine.options.grace, self.finish(receiver, output)).await.unwrap_or(Ok(()))
    }

    fn line(&mut self, line: InputLine) {
        match line {
            InputLine::Whole(line) if line.trim_ascii().is_empty() => {}
            InputLine::Whole(line) => self.message(&line),
            InputLine::TooLong(beginning) => {
                let limit = self.engine.options.max_message_size;
                let error = RpcError::invalid_request(format!("the message is longer than {limit} bytes"));
                self.reply(error_reply(Envelope::read_id(&beginning).as_deref(), &error));
            }
        }
    }

    fn message(&mut self, line: &Bytes) {
        let envelope = match Envelope::read(line) {
            Ok(envelope) => envelope,
            Err(bad) => {
                let has_batches = self.session.as_ref().is_some_and(|session| session.version() == Some("2025-03-26"));
                return match batch(line).filter(|_| has_batches) {
                    Some(messages) => messages.iter().for_each(|message| self.message(message)),
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
            let session = self.session.get_or_insert_with(|| Arc::new(Session::new(self.engine)));
            session.receive(line, envelope, None)
        } else if envelope.method.is_none() {
            // Nobody answers a response: two sides that did would never stop.
            return tracing::debug!("a response to nothing that was asked");
        } else {
            dispatch(self.engine, line, envelope, None, None)
        };
        match answer {
            Dispatched::Nothing => {}
            Dispatched::Reply(reply) => self.reply(reply),
            Dispatched::Stream(stream) => self.run(id.unwrap_or("null"), stream),
        }
    }

    /// Runs a call.
    fn run(&mut self, id: &str, mut stream: Stream) {
        if self.in_flight.contains(id) {
            let error = RpcError::invalid_request("a request with this id is still being answered");
            return self.reply(error_reply(Some(id), &error));
        }
        let most = self.engine.options.max_calls;
        if self.in_flight.len() >= most {
            return self.reply(error_reply(Some(id), &Refusal::TooManyCalls(most).into()));
        }
        if stream.is_listening() {
            // None of the author's code runs in it, and a client that closes its end at once is still acknowledged.
            match stream.poll_frame(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(Frame::Last(reply)) => return self.reply(reply),
                Poll::Ready(Frame::Notification(message) | Frame::Request(message)) => self.send(&message),
                Poll::Pending => {}
            }
        }
        self.in_flight.add(id, stream);
    }

    fn reply(&mut self, reply: RpcReply) {
        reply.body.pieces().for_each(|piece| self.out.extend_from_slice(&piece));
        self.out.extend_from_slice(b"\n");
    }

    fn send(&mut self, message: &Bytes) {
        self.out.extend_from_slice(message);
        self.out.extend_from_slice(b"\n");
    }

    fn take(&mut self, message: Outgoing) {
        match message {
            Outgoing::Message(message) => self.send(&message),
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
    async fn flush_unless(
        &mut self,
        stop: &CancellationToken,
        output: &mut (impl AsyncWrite + Unpin),
    ) -> io::Result<bool> {
        tokio::select! {
            flushed = self.flush(output) => flushed.map(|()| true),
            () = stop.cancelled() => Ok(false),
        }
    }

    /// Writes what waits. If this is dropped, what has not been written still waits.
    async fn flush(&mut self, output: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        while !self.out.is_empty() {
            if output.write_buf(&mut self.out).await? == 0 {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
        }
        output.flush().await
    }

    /// Writes what the requests in flight still send, until they are done.
    async fn finish(
        &mut self,
        receiver: &mut mpsc::Receiver<Outgoing>,
        output: &mut (impl AsyncWrite + Unpin),
    ) -> io::Result<()> {
        self.flush(output).await?;
        while !self.in_flight.is_empty() {
            let Some(message) = receiver.recv().await else { break };
            self.take(message);
            self.flush(output).await?;
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
