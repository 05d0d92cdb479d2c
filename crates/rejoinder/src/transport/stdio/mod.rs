//! One client on a pair of pipes: a message for each line.

mod connection;
mod in_flight;
mod lines;
mod pipes;
mod session;
#[cfg(test)]
mod tests;

use std::{io, sync::Arc};

use super::shutdown::Shutdown;
use crate::server::Engine;

/// Serves standard input and output until the client closes its end or the server is told to stop.
pub(super) async fn serve(engine: &Arc<Engine>, shutdown: Shutdown) -> io::Result<()> {
    let (input, output) = pipes::open();
    connection::serve(engine, input, output, shutdown).await
}
