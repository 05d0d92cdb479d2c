use std::{
    io,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use bytes::{Bytes, BytesMut};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    sync::mpsc,
};

use super::{
    in_flight::{InFlight, Output},
    lines::{Line, Lines},
    session::Session,
};
use crate::{
    protocol::{Answer, Envelope, Frame, Reply, RpcError, Stream, dispatch, error_reply, is_of_session},
    server::Engine,
    transport::shutdown::Shutdown,
};

/// Serves one client until it closes its end or the server is told to stop; then requests in flight may finish.
pub(crate) async fn serve(
    engine: &Arc<Engine>,
    mut input: impl AsyncRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
    shutdown: Shutdown,
) -> io::Result<()> {
    let (sender, mut receiver) = mpsc::channel(64);
    let mut connection = Connection { engine, in_flight: InFlight::new(sender), session: None, out: BytesMut::new() };
    let mut lines = Lines::new(engine.options.body_limit);
    loop {
        tokio::select! {
            read = input.read_buf(lines.space()), if !connection.session.as_ref().is_some_and(Session::is_busy) => {
                let ended = read? == 0;
                // All that has arrived is answered before anything is written: one write for many requests.
                while let Some(line) = lines.next() {
                    connection.line(line);
                }
                if ended {
                    lines.last().into_iter().for_each(|line| connection.line(line));
                    connection.in_flight.end_subscriptions();
                    break;
                }
            }
            Some(message) = receiver.recv() => {
                connection.take(message);
                while let Ok(message) = receiver.try_recv() {
                    connection.take(message);
                }
            }
            () = shutdown.wait() => {
                engine.hub.close();
                break;
            }
        }
        connection.flush(&mut output).await?;
    }
    connection.flush(&mut output).await?;
    let Connection { mut in_flight, session, mut out, .. } = connection;
    let in_session = session.is_some();
    // Without a way into it, the session ends.
    drop(session);
    in_flight
        .finish(&mut receiver, in_session, engine.options.grace, async |message| {
            push(&mut out, message);
            output.write_all(&out).await?;
            out.clear();
            output.flush().await
        })
        .await
}

struct Connection<'a> {
    engine: &'a Arc<Engine>,
    in_flight: InFlight,
    /// Begun by the first message of the session era.
    session: Option<Session>,
    /// What waits to be written.
    out: BytesMut,
}

impl Connection<'_> {
    fn line(&mut self, line: Line) {
        match line {
            Line::Whole(line) if line.trim_ascii().is_empty() => {}
            Line::Whole(line) => self.message(&line),
            Line::TooLong => {
                let limit = self.engine.options.body_limit;
                let error = RpcError::invalid_request(format!("the message is longer than {limit} bytes"));
                self.reply(error_reply(None, &error));
            }
        }
    }

    fn message(&mut self, line: &Bytes) {
        let envelope = match Envelope::read(line, self.engine) {
            Ok(envelope) => envelope,
            Err(bad) => return self.reply(error_reply(bad.id, &bad.error)),
        };
        let cancels = envelope.id.is_none() && envelope.method.as_deref() == Some("notifications/cancelled");
        if cancels && self.in_flight.cancel(envelope.params.raw) {
            return;
        }
        if is_of_session(&envelope, None) && self.engine.options.sessions {
            let begin = || Session::begin(self.engine, self.in_flight.sender());
            return self.session.get_or_insert_with(begin).send(line.clone());
        }
        let id = envelope.id;
        match dispatch(self.engine, line, envelope, None) {
            Answer::Nothing => {}
            Answer::Reply(reply) => self.reply(reply),
            Answer::Stream(stream) => self.run(id.unwrap_or("null"), stream),
        }
    }

    /// Most calls are over at once, and are answered here; the others go on by themselves.
    fn run(&mut self, id: &str, mut stream: Stream) {
        let key = InFlight::key(id);
        if self.in_flight.contains(&key) {
            let error = RpcError::invalid_request("a request with this id is still being answered");
            return self.reply(error_reply(Some(id), &error));
        }
        // Nobody is woken through this: a call that is not over is polled again by its own task.
        let mut nobody = Context::from_waker(Waker::noop());
        loop {
            match stream.poll_frame(&mut nobody) {
                Poll::Ready(Frame::Last(reply)) => return self.reply(reply),
                Poll::Ready(Frame::Notification(message)) => push(&mut self.out, Output::Message(message)),
                Poll::Pending => return self.in_flight.add(key, stream),
            }
        }
    }

    fn reply(&mut self, reply: Reply) {
        reply.body.pieces().for_each(|piece| self.out.extend_from_slice(&piece));
        self.out.extend_from_slice(b"\n");
    }

    fn take(&mut self, message: Output) {
        if let Output::Last(key, _) = &message
            && !self.in_flight.done(key)
        {
            // Cancelled while its reply was on the way here: it gets none.
            return;
        }
        push(&mut self.out, message);
    }

    async fn flush(&mut self, output: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        if !self.out.is_empty() {
            output.write_all(&self.out).await?;
            output.flush().await?;
            self.out.clear();
        }
        Ok(())
    }
}

fn push(out: &mut BytesMut, message: Output) {
    match message {
        Output::Message(message) => out.extend_from_slice(&message),
        Output::Last(_, pieces) => pieces.iter().for_each(|piece| out.extend_from_slice(piece)),
        Output::SessionOver => return,
    }
    out.extend_from_slice(b"\n");
}
