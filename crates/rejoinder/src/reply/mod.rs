//! What a function may return: text, JSON, images, and your own types.

mod by_hand;
mod content;
mod finite;
mod prompt;
mod resource;
mod tool;

pub use by_hand::Reply;
pub(crate) use content::Structured;
pub use content::{Audio, Image, Json, Text};
pub use prompt::IntoPromptResult;
pub(crate) use resource::ResourceBody;
pub use resource::{Blob, IntoResourceContents};
pub use tool::IntoToolResult;

use crate::error::CallError;
pub use crate::schema::OutputSchema;

/// What the `Err` of a function's result may be.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a tool, prompt, resource or resolver",
    label = "not a `CallError`, and not convertible into one",
    note = "every `std::error::Error` converts into a `CallError` whose text goes to the log only; for others, such as \
            `anyhow::Error`, write `.map_err(CallError::internal)`",
    note = "for a text that the model reads, return `CallError::new(..)`"
)]
pub trait Failure {
    /// The error as a `CallError`.
    fn into_call_error(self) -> CallError;
}

#[diagnostic::do_not_recommend]
impl<E: Into<CallError>> Failure for E {
    fn into_call_error(self) -> CallError {
        self.into()
    }
}
