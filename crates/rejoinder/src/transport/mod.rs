//! Bytes in, bytes out. A transport knows nothing of tools.
//!
//! The futures of the functions that serve are boxed: an `async fn` is compiled in the crate that awaits it, and each change
//! to a server would compile the whole of its transport again.

#[cfg(feature = "cli")]
mod args;
#[cfg(any(feature = "stdio", feature = "ws", feature = "sse"))]
mod connection;
#[cfg(feature = "http")]
mod http;
mod shutdown;
#[cfg(feature = "stdio")]
mod stdio;
#[cfg(test)]
mod tests;

use std::fmt;

use crate::{
    error::BoxError,
    rounds::seal::StateKeysError,
    server::{BuildError, StartError},
    tasks::KeeperError,
};

#[cfg(feature = "cli")]
pub use self::args::{ServeArgs, log_to_stderr};
#[cfg(feature = "http")]
pub use self::http::{McpService, ReplyStream, ResponseBody, listen_address};

/// Why a server could not be served.
///
/// `Debug` shows the same text as `Display`, because that is what Rust prints when `main` returns an error.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server cannot be built.
    #[error(transparent)]
    Wiring(#[from] BuildError),
    /// A function that runs when the server starts failed.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The network or a pipe failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The keys that seal `requestState` cannot be used.
    #[error(transparent)]
    StateKeys(#[from] StateKeysError),
    /// What keeps tasks, such as the crate `rejoinder-sqlite`, failed.
    #[error(transparent)]
    Tasks(#[from] KeeperError),
    /// Any other error in `main`.
    #[error(transparent)]
    Other(#[from] BoxError),
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What `main` returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;
