use super::ToolError;

/// Why a question has no answer.
#[derive(Debug, Clone)]
pub enum Halt {
    /// It was asked, and the answer comes in another round.
    Pending,
    /// It could not be asked, or no answer to it can be used.
    Failed(ToolError),
}

impl From<ToolError> for Halt {
    fn from(error: ToolError) -> Self {
        Self::Failed(error)
    }
}
