//! One connection with messages in both directions: a pipe, a WebSocket, or the stream of HTTP+SSE.

use std::{collections::VecDeque, io, sync::Arc};

use futures_util::FutureExt;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::in_flight::{InFlight, Outgoing, Received};
use crate::{call::AfterReply, protocol::ReplyBody, server::Engine};

/// How the messages of a connection travel: as lines, as frames, as events.
pub(super) trait Wire: Send {
    /// Waits for the next message; nothing follows [`Received::End`].
    ///
    /// The error [`io::ErrorKind::BrokenPipe`] means that the client has left. If the future is dropped, nothing is lost.
    fn next(&mut self) -> impl Future<Output = io::Result<Received>> + Send;

    /// Adds a message to those that wait to be written, and what to drop when it is.
    fn push(&mut self, message: ReplyBody, after: Option<AfterReply>);

    /// Writes what waits. If the future is dropped, what has not been written still waits.
    fn flush(&mut self) -> impl Future<Output = io::Result<()>> + Send;
}

/// Serves one client until it leaves or the server shuts down; then requests in flight may finish.
pub(super) async fn serve(
    engine: &Arc<Engine>,
    wire: &mut impl Wire,
    most_calls: usize,
    shutdown: CancellationToken,
) -> io::Result<()> {
    let grace = engine.options.grace;
    let in_flight = Arc::new(InFlight::new(engine, most_calls));
    let mut connection = Connection { wire, in_flight, ready: VecDeque::new() };
    let ended = match connection.converse(&shutdown).await {
        Ok(()) => {
            if shutdown.is_cancelled() {
                engine.hub.close();
            }
            timeout(grace, connection.finish()).await.unwrap_or(Ok(()))
        }
        failed => failed,
    };
    // A call that blocks its thread cannot be ended, so it is not waited for without end.
    let _ = timeout(grace, connection.in_flight.end().shutdown()).await;
    match ended {
        // The client reads no more: it has left.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        ended => ended,
    }
}

/// What waits to be written before it is, while there is more to come.
pub(super) const ENOUGH: usize = 8 * 1024;

struct Connection<'a, W> {
    wire: &'a mut W,
    in_flight: Arc<InFlight>,
    /// What is ready to be written, but not with the wire yet.
    ready: VecDeque<Outgoing>,
}

impl<W: Wire> Connection<'_, W> {
    /// Serves until the client sends no more, or the server shuts down.
    async fn converse(&mut self, shutdown: &CancellationToken) -> io::Result<()> {
        let mut has_room = true;
        loop {
            let mut next = None;
            tokio::select! {
                received = self.wire.next(), if has_room => next = Some(received),
                () = self.in_flight.changed() => {}
                () = shutdown.cancelled() => return Ok(()),
            }
            let mut ended = None;
            has_room = self.in_flight.receive(|| {
                if ended.is_some() {
                    return None;
                }
                let received = next.take().or_else(|| self.wire.next().now_or_never())?;
                ended = match &received {
                    Ok(Received::End) => Some(Ok(())),
                    Ok(_) => None,
                    Err(error) => Some(Err(error.kind().into())),
                };
                received.ok()
            });
            if let Some(ended) = ended {
                return ended;
            }
            tokio::select! {
                written = self.write() => written?,
                // A client that does not read must not keep the server from that.
                () = shutdown.cancelled() => return Ok(()),
            }
        }
    }

    /// Writes what is ready.
    async fn write(&mut self) -> io::Result<()> {
        self.ready.extend(self.in_flight.take_ready());
        let mut size = 0;
        while let Some((message, after)) = self.ready.pop_front() {
            size += message.len();
            self.wire.push(message, after);
            if size >= ENOUGH {
                size = 0;
                self.wire.flush().await?;
            }
        }
        self.wire.flush().await
    }

    /// Writes what the requests in flight still send, until they are done.
    async fn finish(&mut self) -> io::Result<()> {
        loop {
            self.write().await?;
            if self.in_flight.is_done() {
                return Ok(());
            }
            self.in_flight.changed().await;
        }
    }
}

impl<W> Drop for Connection<'_, W> {
    fn drop(&mut self) {
        drop(self.in_flight.end());
    }
}
