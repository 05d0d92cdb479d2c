use super::CallError;

/// Why a question, or a resolver, has no value.
#[derive(Debug, Clone)]
pub enum Halt {
    /// It was asked, and the answer comes in another round.
    Pending,
    /// The user declined what a parameter cannot do without.
    Declined {
        /// That parameter.
        parameter: &'static str,
        /// Whether the user went away instead of saying no.
        cancelled: bool,
    },
    /// It could not be asked, or no answer to it can be used, or the resolver failed.
    Failed(CallError),
}

impl Halt {
    /// What the client is told; `None` while an answer is still out.
    pub fn into_error(self) -> Option<CallError> {
        match self {
            Self::Pending => None,
            Self::Declined { parameter, cancelled: false } => {
                Some(CallError::declined(format_args!("what `{parameter}` needs")))
            }
            Self::Declined { parameter, cancelled: true } => {
                Some(CallError::left(format_args!("what `{parameter}` needs")))
            }
            Self::Failed(error) => Some(error),
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
