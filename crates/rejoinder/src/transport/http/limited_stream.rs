//! Limits for what hyper reads and writes: the time of clients that do not read, and the room for what is not complete.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep},
};

use super::{request::LONGEST_HEAD, serve::IDLE};
use crate::auth::Held;

/// How many bytes are copied to send them as one piece.
const SMALL_REPLY: usize = 1024;

/// The most bytes that hyper buffers of a connection, which is also the longest head that it reads.
pub(super) const READ_BUFFER: usize = LONGEST_HEAD;

/// How many such buffers hyper has for a request: it reads into another one while something holds the first.
const BUFFERS: usize = 2;

/// A stream whose writes fail once the client has read nothing for too long, and whose reads fail if there is no room for the
/// head of a request. hyper has such a timeout for reading a head, but not for writing.
pub(super) struct LimitedStream<S> {
    stream: S,
    timeout: Duration,
    /// Runs while nothing can be written.
    blocked: Option<Pin<Box<Sleep>>>,
    /// Counts the writes, for what watches the connection.
    writes: Arc<AtomicUsize>,
    /// What is read and not answered, as far as hyper buffers it.
    held: Held,
    /// Whether there was no room for what was read last.
    is_full: bool,
}

impl<S> LimitedStream<S> {
    /// Counts the writes there, beside the requests, which hold clones of it.
    pub(super) fn new(stream: S, timeout: Duration, writes: Arc<AtomicUsize>, held: Held) -> Self {
        Self { stream, timeout, blocked: None, writes, held, is_full: false }
    }

    /// Counts what was read; `false` if there is no room for it.
    fn count(&mut self, bytes: usize) -> bool {
        let clones = Arc::strong_count(&self.writes);
        if clones == 1 {
            // hyper has left a connection that was upgraded: what reads it counts.
            return true;
        }
        let more = BUFFERS * bytes.min(READ_BUFFER - self.held.amount() / BUFFERS);
        let was_full = std::mem::replace(&mut self.is_full, self.held.grow(more).is_err());
        // A request that is there now gets a reply, which may be that there is no room for its body.
        !(was_full && self.is_full) || clones > IDLE
    }

    fn check(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.writes.fetch_add(1, Ordering::Relaxed);
            self.blocked = None;
            self.held.shrink(usize::MAX);
            return written;
        }
        let blocked = self.blocked.get_or_insert_with(|| Box::pin(sleep(self.timeout)));
        blocked.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for LimitedStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        let has_room = self.count(buffer.filled().len() - before);
        Poll::Ready(if has_room { Ok(()) } else { Err(io::ErrorKind::QuotaExceeded.into()) })
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for LimitedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.check(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // The head and the body of a small reply: the system sends one piece faster than it gathers two.
        let mut joined = [0; SMALL_REPLY];
        let length = pieces.iter().map(|piece| piece.len()).sum::<usize>();
        let written = if let Some(mut rest) = joined.get_mut(..length) {
            for piece in pieces {
                let (start, end) = rest.split_at_mut(piece.len());
                start.copy_from_slice(piece);
                rest = end;
            }
            Pin::new(&mut self.stream).poll_write(cx, &joined[..length])
        } else {
            Pin::new(&mut self.stream).poll_write_vectored(cx, pieces)
        };
        self.check(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
