use super::ToolError;

/// Why a call went no further.
#[derive(Debug, Clone)]
pub enum Halt {
    /// Something was asked, and the answer comes in another round.
    Pending,
    /// The user declined or cancelled what this parameter needs.
    Declined {
        /// The parameter.
        parameter: &'static str,
        /// Whether they went away instead of saying no.
        cancelled: bool,
    },
    /// It failed.
    Failed(ToolError),
}

impl Halt {
    /// Whether this says more than the other: a failure ends the call whatever else is still open.
    pub(crate) fn outranks(&self, other: &Self) -> bool {
        matches!(other, Self::Pending) && !matches!(self, Self::Pending)
    }

    /// The error that the client gets; `None` if the call is only waiting.
    pub fn into_error(self) -> Option<ToolError> {
        match self {
            Self::Pending => None,
            Self::Failed(error) => Some(error),
            Self::Declined { parameter, cancelled } => {
                let what = if cancelled { "cancelled" } else { "declined" };
                Some(ToolError::new(format!("the user {what} what `{parameter}` needs, so nothing was done")))
            }
        }
    }
}

impl From<ToolError> for Halt {
    fn from(error: ToolError) -> Self {
        Self::Failed(error)
    }
}
