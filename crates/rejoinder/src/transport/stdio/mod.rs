//! One client on a pair of pipes: a message for each line.

mod lines;
mod pipes;
#[cfg(test)]
mod tests;

use std::{future::ready, io, panic::resume_unwind, sync::Arc};

use futures_util::future::BoxFuture;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::timeout,
};
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use self::lines::LineWire;
use super::{
    Error, connection,
    shutdown::{finish_teardown, on_signal, serve_started},
};
use crate::server::{BuiltServer, Engine, Server};

/// Serves one client on a pair of byte streams until it closes its end or the server stops. What its calls leave behind is
/// counted in `left`.
pub(super) async fn serve_lines(
    engine: &Arc<Engine>,
    input: impl AsyncRead + Send + Unpin,
    output: impl AsyncWrite + Send + Unpin,
    left: Option<TaskTracker>,
) -> io::Result<()> {
    let limits = engine.limits();
    let mut wire = LineWire::new(input, output, limits.message_size);
    connection::serve(engine, &mut wire, limits.calls, left).await
}

/// Serves standard input and output until the client closes its end or the server stops.
async fn serve(engine: &Arc<Engine>, (input, output): (pipes::BoxRead, pipes::BoxWrite)) -> io::Result<()> {
    let serving = Arc::clone(engine);
    // Spawned: the thread that waits for the server to end is not one of those that wait for input, and would have
    // to be woken by them for every message.
    let ended = AbortOnDropHandle::new(tokio::spawn(async move { serve_lines(&serving, input, output, None).await }));
    let ended = ended.await;
    finish_teardown(engine, ready(())).await;
    ended.unwrap_or_else(|failed| if failed.is_panic() { resume_unwind(failed.into_panic()) } else { Ok(()) })
}

impl Server {
    /// Serves one client on standard input and output until it disconnects, or until SIGINT or SIGTERM.
    ///
    /// From now on standard output belongs to the protocol. On Unix, what the process prints (`println!`) goes to standard
    /// error, also when serving is over; on other systems it breaks the connection.
    ///
    /// Await the future to its end: if it is dropped, what [`on_stop`](crate::Server::on_stop) was given does not run.
    ///
    /// # Errors
    ///
    /// If the server cannot be built, does not start, or a pipe breaks.
    pub fn serve_stdio(self) -> BoxFuture<'static, Result<(), Error>> {
        Box::pin(async move { self.build()?.serve_stdio().await })
    }
}

impl BuiltServer {
    /// Serves one client on standard input and output until it disconnects, or until SIGINT or SIGTERM.
    ///
    /// From now on standard output belongs to the protocol. On Unix, what the process prints (`println!`) goes to standard
    /// error, also when serving is over; on other systems it breaks the connection.
    ///
    /// Await the future to its end: if it is dropped, what [`on_stop`](crate::Server::on_stop) was given does not run.
    ///
    /// # Errors
    ///
    /// If the server does not start, or a pipe breaks.
    pub fn serve_stdio(self) -> BoxFuture<'static, Result<(), Error>> {
        Box::pin(async move {
            on_signal(&self.0);
            // Before the author's functions run, which may print.
            let pipes = pipes::open();
            serve_started(&self.0, async { Ok(serve(&self.0, pipes?).await?) }).await
        })
    }

    /// Serves one client on any pair of byte streams, a message for each line, until its end of them is closed:
    /// a Unix socket, a child process, a pipe in a test.
    ///
    /// The first one starts the server. None of them stops it: call [`stop`](Self::stop) after the last one.
    ///
    /// # Errors
    ///
    /// If the server does not start, or a stream breaks.
    ///
    /// ```
    /// use rejoinder::prelude::*;
    /// use tokio::io::{AsyncReadExt, AsyncWriteExt};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> rejoinder::Result<()> {
    /// let (mut client, server) = tokio::io::duplex(1024);
    /// let (input, output) = tokio::io::split(server);
    /// let serving = tokio::spawn(Server::new("piped", "1.0.0").build()?.serve_io(input, output));
    /// client.write_all(b"not JSON\n").await?;
    /// client.shutdown().await?;
    /// let mut replies = String::new();
    /// client.read_to_string(&mut replies).await?;
    /// assert!(replies.contains("-32700"));
    /// # serving.await.expect("it does not panic")
    /// # }
    /// ```
    pub fn serve_io(
        self,
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
    ) -> BoxFuture<'static, Result<(), Error>> {
        serve_io(self.0, Box::new(input), Box::new(output))
    }
}

/// Not generic, so that it is compiled in this crate and not in each that calls it.
fn serve_io(
    engine: Arc<Engine>,
    input: pipes::BoxRead,
    output: pipes::BoxWrite,
) -> BoxFuture<'static, Result<(), Error>> {
    Box::pin(async move {
        engine.start_up().await?;
        let left = TaskTracker::new();
        left.close();
        let ended = serve_lines(&engine, input, output, Some(left.clone())).await;
        // Deferred functions, and then background tasks. Neither is cancelled: the server goes on.
        let _ = timeout(engine.grace().saturating_mul(2), left.wait()).await;
        Ok(ended?)
    })
}
