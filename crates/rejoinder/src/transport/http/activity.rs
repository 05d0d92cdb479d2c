//! What happens on one connection, for whoever closes those on which nothing does.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// What happens on one connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Activity(Arc<State>);

#[derive(Debug, Default)]
struct State {
    /// Rises by one when a request begins and when its reply is made, so it is odd in between; by two whenever something
    /// is written.
    count: AtomicU64,
    /// Whether the client must read before more can be written.
    blocked: AtomicBool,
}

/// A request that is being answered, until its reply has been handed over.
///
/// That is not when it has been sent: what is last of it may wait in buffers for as long as the client takes to read.
#[derive(Debug)]
pub(super) struct Answering(Activity);

impl Activity {
    /// A request begins.
    pub(super) fn begin(&self) -> Answering {
        self.0.count.fetch_add(1, Ordering::Relaxed);
        Answering(self.clone())
    }

    /// Something was written.
    pub(super) fn wrote(&self) {
        self.0.count.fetch_add(2, Ordering::Relaxed);
        if self.0.blocked.load(Ordering::Relaxed) {
            self.0.blocked.store(false, Ordering::Relaxed);
        }
    }

    /// Nothing could be written.
    pub(super) fn blocked(&self) {
        self.0.blocked.store(true, Ordering::Relaxed);
    }

    /// A number that changes with everything that happens.
    pub(super) fn count(&self) -> u64 {
        self.0.count.load(Ordering::Relaxed)
    }

    /// Whether it is the client's turn: to send a request, or to read.
    pub(super) fn waits(&self) -> bool {
        self.count().is_multiple_of(2) || self.0.blocked.load(Ordering::Relaxed)
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.0.count.fetch_add(1, Ordering::Relaxed);
    }
}

/// A stream that tells what is written to it.
#[derive(Debug)]
pub(super) struct Telling<S> {
    stream: S,
    activity: Activity,
}

impl<S> Telling<S> {
    pub(super) fn new(stream: S, activity: Activity) -> Self {
        Self { stream, activity }
    }

    fn note(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &written {
            Poll::Ready(_) => self.activity.wrote(),
            Poll::Pending => self.activity.blocked(),
        }
        written
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Telling<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Telling<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.note(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, pieces);
        self.note(written)
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

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures_util::poll;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    #[tokio::test]
    async fn what_is_written_counts_and_what_cannot_be_is_the_clients_turn() {
        let (near, mut far) = duplex(4);
        let activity = Activity::default();
        let _answering = activity.begin();
        let mut near = Telling::new(near, activity.clone());
        let before = activity.count();
        near.write_all(b"full").await.expect("there is room");
        assert!(activity.count() > before && !activity.waits());

        let mut more = pin!(near.write(b"more"));
        assert!(poll!(more.as_mut()).is_pending());
        assert!(activity.waits());
        far.read_exact(&mut [0; 4]).await.expect("four bytes");
        assert!(poll!(more.as_mut()).is_ready());
        assert!(!activity.waits());
    }
}
