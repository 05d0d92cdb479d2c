//! How a function says that it cannot, and why a server could not be served.

mod halt;
mod missing_capability;
mod tool_error;

pub use halt::Halt;
pub use tool_error::CallError;
pub(crate) use tool_error::CallErrorKind;

use std::fmt;

/// Why a server could not be served.
///
/// When `main` returns it, Rust prints its `Debug` form, so that is the sentence too.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It is not wired as it should be.
    #[error(transparent)]
    Wiring(#[from] crate::server::BuildError),
    /// The network or a pipe failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The keys that seal `requestState` cannot be used.
    #[error(transparent)]
    StateKeys(#[from] crate::state::StateKeysError),
    /// Anything else that `main` met before it served.
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
