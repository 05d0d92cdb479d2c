//! Why a call fails, and why a server cannot be served.

mod call_error;

pub(crate) use call_error::CallErrorKind;
pub use call_error::{CallError, Halt};

use std::fmt;

/// Why a server cannot be served.
///
/// When `main` returns it, Rust prints its `Debug` form, so that is the same text as `Display`.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server is not put together correctly.
    #[error(transparent)]
    Wiring(#[from] crate::server::BuildError),
    /// The network or a pipe failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The keys that seal `requestState` cannot be used.
    #[error(transparent)]
    StateKeys(#[from] crate::state::StateKeysError),
    /// Any other error of `main`.
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

/// Any error, in a box that can move between threads.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
