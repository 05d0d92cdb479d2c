//! A client of the session era on the same pipe.

use std::sync::{
    Arc,
    atomic::{AtomicIsize, Ordering},
};

use bytes::Bytes;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, duplex, split},
    sync::{Notify, mpsc},
    task::AbortHandle,
};

use super::{
    in_flight::Output,
    lines::{Line, Lines},
};
use crate::{
    server::{Calls, Engine},
    transport::session::serve_pipe,
};

/// The way into the session: its messages pass through a pipe in memory, its own come back as [`Output`].
pub(super) struct Session {
    lines: mpsc::UnboundedSender<Bytes>,
    queue: Arc<Queue>,
    serving: Serving,
}

/// The session's end of the pipe; with it end the session and its calls.
pub(super) struct Serving(AbortHandle);

impl Drop for Serving {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What is known of the lines that wait.
#[derive(Default)]
struct Queue {
    /// Below zero for a moment, when a line is taken before it was counted.
    waiting: AtomicIsize,
    /// Told whenever there is room again.
    room: Notify,
}

/// While more lines than this wait, none is read: that bounds the queue.
const ENOUGH: isize = 64;

impl Session {
    /// Begins the session. Its last output is [`Output::SessionOver`]; its calls count in `calls`.
    pub(super) fn begin(engine: &Arc<Engine>, output: mpsc::Sender<Output>, calls: Calls) -> Self {
        let (here, there) = duplex(64 * 1024);
        let (reader, writer) = split(there);
        let (mut from_session, mut to_session) = split(here);
        let (lines, mut arriving) = mpsc::unbounded_channel::<Bytes>();
        let queue = Arc::new(Queue::default());
        let serving = tokio::spawn(serve_pipe(Arc::clone(engine), reader, writer, calls));
        let serving = Serving(serving.abort_handle());
        let taken = Arc::clone(&queue);
        tokio::spawn(async move {
            while let Some(line) = arriving.recv().await {
                if taken.waiting.fetch_sub(1, Ordering::Relaxed) == ENOUGH + 1 {
                    taken.room.notify_one();
                }
                if to_session.write_all(&line).await.is_err() || to_session.write_all(b"\n").await.is_err() {
                    break;
                }
            }
            // A session that has ended keeps nobody waiting.
            drop(arriving);
            taken.waiting.store(0, Ordering::Relaxed);
            taken.room.notify_one();
            // The session sees the end of its input, and ends.
            let _ = to_session.shutdown().await;
        });
        tokio::spawn(async move {
            let mut said = Lines::new(usize::MAX);
            while from_session.read_buf(said.space()).await.is_ok_and(|read| read > 0) {
                while let Some(Line::Whole(line)) = said.next() {
                    if output.send(Output::Message(line)).await.is_err() {
                        return;
                    }
                }
            }
            let _ = output.send(Output::SessionOver).await;
        });
        Self { lines, queue, serving }
    }

    pub(super) fn send(&self, line: Bytes) {
        // A session that has ended takes no more.
        if self.lines.send(line).is_ok() {
            self.queue.waiting.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Sends no more: the session ends when its calls have, or when what is returned is dropped.
    pub(super) fn close(self) -> Serving {
        self.serving
    }

    /// What ends when there is room for another line; `None` if there is.
    pub(super) fn room(&self) -> Option<impl Future<Output = ()> + use<>> {
        let queue = Arc::clone(&self.queue);
        (queue.waiting.load(Ordering::Relaxed) > ENOUGH).then_some(async move { queue.room.notified().await })
    }
}
