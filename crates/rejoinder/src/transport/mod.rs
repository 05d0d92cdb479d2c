//! Bytes in, bytes out. A transport knows nothing of tools.

mod args;
mod http;
mod shutdown;
mod stdio;
#[cfg(test)]
mod tests;

use std::fmt;

use crate::{error::BoxError, rounds::seal::StateKeysError, server::BuildError};

pub use self::{
    args::{listen_address, log_to_stderr},
    http::{McpService, ReplyStream, ResponseBody},
};

/// Why a server could not be served.
///
/// `Debug` shows the same text as `Display`, because that is what Rust prints when `main` returns an error.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server cannot be built.
    #[error(transparent)]
    Wiring(#[from] BuildError),
    /// The network or a pipe failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The keys that seal `requestState` cannot be used.
    #[error(transparent)]
    StateKeys(#[from] StateKeysError),
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
