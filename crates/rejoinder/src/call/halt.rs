use std::time::Duration;

use crate::{argument::ArgumentErrors, ask::NextRound, error::CallError};

/// Why a round ended without a result.
#[derive(Debug, Clone)]
pub enum Halt {
    /// A question is open: its answer comes with another round.
    Pending,
    /// A function that makes its rounds by hand continues in the next one.
    Next(Box<NextRound>),
    /// The client cannot be asked, no answer can be used, or a function failed.
    Failed(CallError),
    /// Pipes refused arguments.
    BadArguments(ArgumentErrors),
    /// A mistake of the server's author. It ends the call, even if the function handles errors.
    Mistake(CallError),
    /// The round took longer than its timeout.
    TimedOut(Duration),
}

impl Halt {
    /// The error that the client gets; `None` if the call continues in another round.
    pub(crate) fn into_error(self) -> Option<CallError> {
        match self {
            Self::Pending | Self::Next(_) => None,
            Self::BadArguments(bad) => Some(CallError::new(bad.to_string())),
            Self::Failed(error) | Self::Mistake(error) => Some(error),
            Self::TimedOut(limit) => Some(CallError::timed_out(limit)),
        }
    }
}

impl From<CallError> for Halt {
    fn from(error: CallError) -> Self {
        Self::Failed(error)
    }
}
