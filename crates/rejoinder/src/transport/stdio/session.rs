//! A client of the session era on the same pipe.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use bytes::{Bytes, BytesMut};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, duplex, split},
    sync::mpsc,
};

use super::in_flight::Output;
use crate::{server::Engine, transport::session::serve_pipe};

/// The way into the session: its messages pass through a pipe in memory, its own come back as [`Output`].
pub(super) struct Session {
    lines: mpsc::UnboundedSender<Bytes>,
    waiting: Arc<AtomicUsize>,
}

/// While more lines than this wait, none is read: that bounds the queue.
const ENOUGH: usize = 64;

impl Session {
    /// Begins the session. Its last output is [`Output::SessionOver`].
    pub(super) fn begin(engine: &Arc<Engine>, output: mpsc::Sender<Output>) -> Self {
        let (here, there) = duplex(64 * 1024);
        let (reader, writer) = split(there);
        let (mut from_session, mut to_session) = split(here);
        let (lines, mut queue) = mpsc::unbounded_channel::<Bytes>();
        let waiting = Arc::new(AtomicUsize::new(0));
        tokio::spawn(serve_pipe(Arc::clone(engine), reader, writer));
        let taken = Arc::clone(&waiting);
        tokio::spawn(async move {
            while let Some(line) = queue.recv().await {
                taken.fetch_sub(1, Ordering::Relaxed);
                if to_session.write_all(&line).await.is_err() || to_session.write_all(b"\n").await.is_err() {
                    return;
                }
            }
            // The session sees the end of its input, and ends.
            let _ = to_session.shutdown().await;
        });
        tokio::spawn(async move {
            let mut buffer = BytesMut::new();
            while from_session.read_buf(&mut buffer).await.is_ok_and(|read| read > 0) {
                while let Some(end) = buffer.iter().position(|&byte| byte == b'\n') {
                    let mut line = buffer.split_to(end + 1);
                    line.truncate(end);
                    if output.send(Output::Message(line.freeze())).await.is_err() {
                        return;
                    }
                }
            }
            let _ = output.send(Output::SessionOver).await;
        });
        Self { lines, waiting }
    }

    pub(super) fn send(&self, line: Bytes) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        // A session that has ended takes no more.
        let _ = self.lines.send(line);
    }

    pub(super) fn is_busy(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > ENOUGH
    }
}
