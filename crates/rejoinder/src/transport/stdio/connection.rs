use std::{
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

use super::{
    in_flight::{InFlight, Output},
    lines::{Line, Lines},
    session::Session,
};
use crate::{
    protocol::{
        Answer, Envelope, Frame, Origin, Reply, RpcError, Stream, check_for_session, dispatch, error_reply,
        is_of_session, wrap,
    },
    server::{Calls, Engine, Refusal},
    transport::{session::readable, shutdown::Shutdown},
};

/// Serves one client until it closes its end or the server is told to stop; then requests in flight may finish.
///
/// Those of a session, which count in `calls`, take a moment longer than this to see that they are cancelled.
pub(crate) async fn serve(
    engine: &Arc<Engine>,
    mut input: impl AsyncRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
    shutdown: Shutdown,
    calls: Calls,
) -> io::Result<()> {
    let (sender, mut receiver) = mpsc::channel(64);
    let in_flight = InFlight::new(sender);
    let mut connection = Connection { engine, in_flight, session: None, calls, out: BytesMut::new() };
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
    session: Option<Session>,
    /// The calls of that session.
    calls: Calls,
    /// What waits to be written.
    out: BytesMut,
}

impl Connection<'_> {
    /// Until the client closes its end or the server is told to stop, and what is in flight has had its time.
    async fn converse(
        &mut self,
        input: &mut (impl AsyncRead + Unpin),
        output: &mut (impl AsyncWrite + Unpin),
        receiver: &mut mpsc::Receiver<Output>,
        shutdown: &Shutdown,
    ) -> io::Result<()> {
        let mut lines = Lines::new(self.engine.options.max_message_size);
        loop {
            let mut stopped = false;
            let busy = self.session.as_ref().and_then(Session::room);
            tokio::select! {
                read = input.read_buf(lines.space()), if busy.is_none() => {
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
                        break;
                    }
                }
                Some(message) = receiver.recv() => {
                    self.take(message);
                    // Those who say them may go on as fast as they are taken.
                    while self.out.len() < ENOUGH && let Ok(message) = receiver.try_recv() {
                        self.take(message);
                    }
                }
                // A session that has caught up need not have anything to say.
                () = async { busy.expect("looked at before").await }, if busy.is_some() => {}
                () = shutdown.wait() => break self.engine.hub.close(),
            }
            if stopped || !self.flush_unless(shutdown, output).await? {
                break self.engine.hub.close();
            }
        }
        timeout(self.engine.options.grace, self.finish(receiver, output)).await.unwrap_or(Ok(()))
    }

    fn line(&mut self, line: Line) {
        match line {
            Line::Whole(line) if line.trim_ascii().is_empty() => {}
            Line::Whole(line) => self.message(&line),
            Line::TooLong => {
                let limit = self.engine.options.max_message_size;
                let error = RpcError::invalid_request(format!("the message is longer than {limit} bytes"));
                self.reply(error_reply(None, &error));
            }
        }
    }

    fn message(&mut self, line: &Bytes) {
        let envelope = match Envelope::read(line) {
            Ok(envelope) => envelope,
            Err(bad) => return self.reply(error_reply(bad.id.as_deref(), &bad.error)),
        };
        let cancels = envelope.id.is_none() && envelope.method.as_deref() == Some("notifications/cancelled");
        if cancels && self.in_flight.cancel(envelope.params.raw) {
            return;
        }
        if is_of_session(&envelope, || None) && self.engine.options.sessions {
            if self.session.is_none() && (envelope.id.is_none() || envelope.method.is_none()) {
                // A call may be over by the time it is cancelled, whichever era it was of.
                return tracing::debug!("a notification or a response without a session is passed over");
            }
            if let Err(error) = check_for_session(self.engine, &envelope) {
                return self.reply(error_reply(envelope.id, &error));
            }
            if let Err(error) = readable(line) {
                return match (envelope.id, envelope.method) {
                    (Some(id), Some(_)) => self.reply(error_reply(Some(id), &error)),
                    // Nobody answers a notification, or an answer.
                    _ => tracing::debug!(error = %error.message, "a message that cannot be read is passed over"),
                };
            }
            let begin = || Session::begin(self.engine, self.in_flight.sender(), self.calls.clone());
            let line = wrap(line, &envelope).unwrap_or_else(|| line.clone());
            return self.session.get_or_insert_with(begin).send(line);
        }
        if envelope.method.is_none() {
            // Nobody answers a response: two sides that did would never stop.
            return tracing::debug!("a response to nothing that was asked");
        }
        let id = envelope.id;
        match dispatch(self.engine, line, envelope, Origin::Stateless(None)) {
            Answer::Nothing => {}
            Answer::Reply(reply) => self.reply(reply),
            Answer::Stream(stream) => self.run(id.unwrap_or("null"), stream),
        }
    }

    /// Most calls are over at once, and are answered here; the others go on by themselves.
    fn run(&mut self, id: &str, mut stream: Stream) {
        if self.in_flight.contains(id) {
            let error = RpcError::invalid_request("a request with this id is still being answered");
            return self.reply(error_reply(Some(id), &error));
        }
        let most = self.engine.options.max_calls;
        if self.in_flight.len() >= most {
            return self.reply(error_reply(Some(id), &Refusal::TooManyCalls(most).into()));
        }
        // Nobody is woken through this: a call that is not over is polled again by its own task.
        let mut nobody = Context::from_waker(Waker::noop());
        match stream.poll_frame(&mut nobody) {
            Poll::Ready(Frame::Last(reply)) => self.reply(reply),
            // It may have no end of them: whoever has something to say goes on by itself, as fast as the client reads.
            Poll::Ready(Frame::Notification(message)) => {
                push(&mut self.out, Output::Message(message));
                self.in_flight.add(id, stream);
            }
            Poll::Pending => self.in_flight.add(id, stream),
        }
    }

    fn reply(&mut self, reply: Reply) {
        reply.body.pieces().for_each(|piece| self.out.extend_from_slice(&piece));
        self.out.extend_from_slice(b"\n");
    }

    fn take(&mut self, message: Output) {
        match &message {
            // Cancelled while its reply was on the way here: it gets none.
            Output::Last(key, serial, _) if !self.in_flight.done(key, *serial) => {}
            _ => push(&mut self.out, message),
        }
    }

    /// Writes what waits; `false` if the server was told to stop meanwhile. A client that does not read must not keep it
    /// from that.
    async fn flush_unless(&mut self, stop: &Shutdown, output: &mut (impl AsyncWrite + Unpin)) -> io::Result<bool> {
        tokio::select! {
            flushed = self.flush(output) => flushed.map(|()| true),
            () = stop.wait() => Ok(false),
        }
    }

    /// Writes what waits. Where it is given up, what has not been written still waits.
    async fn flush(&mut self, output: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        while !self.out.is_empty() {
            if output.write_buf(&mut self.out).await? == 0 {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
        }
        output.flush().await
    }

    /// Writes what the requests in flight, and the session if there is one, still say, until they are done.
    async fn finish(
        &mut self,
        receiver: &mut mpsc::Receiver<Output>,
        output: &mut (impl AsyncWrite + Unpin),
    ) -> io::Result<()> {
        let session = self.session.take().map(Session::close);
        let mut in_session = session.is_some();
        self.flush(output).await?;
        while in_session || !self.in_flight.is_empty() {
            let Some(message) = receiver.recv().await else { break };
            in_session &= !matches!(message, Output::SessionOver);
            self.take(message);
            self.flush(output).await?;
        }
        Ok(())
    }
}

fn push(out: &mut BytesMut, message: Output) {
    match message {
        Output::Message(message) => out.extend_from_slice(&message),
        Output::Last(_, _, pieces) => pieces.iter().for_each(|piece| out.extend_from_slice(piece)),
        Output::SessionOver => return,
    }
    out.extend_from_slice(b"\n");
}
