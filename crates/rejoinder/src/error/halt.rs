use super::CallError;
use crate::ask::NextRound;

/// Why a round ended without a result.
#[derive(Debug, Clone)]
pub enum Halt {
    /// A question is open: its answer comes with another round.
    Pending,
    /// A function that makes its rounds by hand goes on in the next one.
    Next(Box<NextRound>),
    /// The user declined what a parameter cannot do without.
    Declined {
        /// That parameter.
        parameter: &'static str,
        /// Whether the user cancelled instead.
        cancelled: bool,
    },
    /// The client cannot be asked, no answer can be used, or a function failed.
    Failed(CallError),
    /// The author's mistake. It ends the call, whatever the function does with errors.
    Mistake(CallError),
}

impl Halt {
    /// The error that the client gets; `None` if the call goes on in another round.
    pub(crate) fn into_error(self) -> Option<CallError> {
        match self {
            Self::Pending | Self::Next(_) => None,
            Self::Declined { parameter, cancelled: false } => {
                Some(CallError::declined(format_args!("what `{parameter}` needs")))
            }
            Self::Declined { parameter, cancelled: true } => {
                Some(CallError::left(format_args!("what `{parameter}` needs")))
            }
            Self::Failed(error) | Self::Mistake(error) => Some(error),
        }
    }

    /// Whether it ends the call, where the other only ends the round.
    pub(crate) fn outranks(&self, other: &Self) -> bool {
        matches!(other, Self::Pending) && !matches!(self, Self::Pending)
    }
}

impl From<CallError> for Halt {
    fn from(error: CallError) -> Self {
        Self::Failed(error)
    }
}
