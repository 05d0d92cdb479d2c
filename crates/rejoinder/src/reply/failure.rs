use crate::error::CallError;

/// What the `Err` of a function's result may be.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a tool, prompt or resource",
    label = "not a `CallError`, and nothing that becomes one",
    note = "every `std::error::Error` becomes a `CallError` whose text only the log gets to see; what is none, such as \
            `anyhow::Error`, does with `.map_err(CallError::internal)`",
    note = "for a text that the model reads, return `CallError::new(..)`"
)]
pub trait Failure {
    /// The error the framework deals with.
    fn into_tool_error(self) -> CallError;
}

#[diagnostic::do_not_recommend]
impl<E: Into<CallError>> Failure for E {
    fn into_tool_error(self) -> CallError {
        self.into()
    }
}
