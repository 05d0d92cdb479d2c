//! A time limit for clients that do not read.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep},
};

/// How many bytes are copied to send them as one piece.
const SMALL_REPLY: usize = 1024;

/// A stream whose writes fail once the client has read nothing for too long. hyper has such a timeout for reading the head
/// of a request, but not for writing.
pub(super) struct WriteTimeout<S> {
    stream: S,
    timeout: Duration,
    /// Runs while nothing can be written.
    blocked: Option<Pin<Box<Sleep>>>,
    /// Counts the writes, for what watches the connection.
    writes: Arc<AtomicUsize>,
}

impl<S> WriteTimeout<S> {
    /// Counts the writes there.
    pub(super) fn new(stream: S, timeout: Duration, writes: Arc<AtomicUsize>) -> Self {
        Self { stream, timeout, blocked: None, writes }
    }

    fn check(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.writes.fetch_add(1, Ordering::Relaxed);
            self.blocked = None;
            return written;
        }
        let blocked = self.blocked.get_or_insert_with(|| Box::pin(sleep(self.timeout)));
        blocked.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeout<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<S> {
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
