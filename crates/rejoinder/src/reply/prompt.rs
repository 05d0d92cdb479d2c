use rmcp::model::{ContentBlock, GetPromptResult, PromptMessage, Role};

use super::IntoCallError;
use crate::{
    error::{CallError, Halt},
    item::Output,
};

/// What a prompt may return: text or content as one message of the user, messages, or the whole result.
#[diagnostic::on_unimplemented(
    message = "a prompt cannot return `{Self}`",
    label = "not a prompt result",
    note = "return text, a `ContentBlock`, `PromptMessage`s, a `GetPromptResult`, a `Reply<T>`, or a `Result` of one of these",
    note = "only a tool returns a `ToolStream`",
    note = "a type of your own can be returned if it implements `IntoPromptResult`"
)]
pub trait IntoPromptResult {
    /// The result the client gets.
    ///
    /// # Errors
    ///
    /// The prompt's own.
    fn into_prompt_result(self) -> Result<GetPromptResult, CallError>;

    /// How the call ends: with the result, or in another round.
    #[doc(hidden)]
    fn into_output(self) -> Result<Output, Halt>
    where
        Self: Sized,
    {
        Ok(Output::Prompt(self.into_prompt_result()?))
    }

    /// Whether it makes rounds by hand, as [`Reply`](super::Reply) does.
    #[doc(hidden)]
    const BY_HAND: bool = false;
}

impl IntoPromptResult for GetPromptResult {
    fn into_prompt_result(self) -> Result<GetPromptResult, CallError> {
        Ok(self)
    }
}

impl IntoPromptResult for Vec<PromptMessage> {
    fn into_prompt_result(self) -> Result<GetPromptResult, CallError> {
        Ok(GetPromptResult::new(self))
    }
}

impl<const N: usize> IntoPromptResult for [PromptMessage; N] {
    fn into_prompt_result(self) -> Result<GetPromptResult, CallError> {
        Ok(GetPromptResult::new(self.into()))
    }
}

impl IntoPromptResult for PromptMessage {
    fn into_prompt_result(self) -> Result<GetPromptResult, CallError> {
        Ok(GetPromptResult::new(vec![self]))
    }
}

impl IntoPromptResult for ContentBlock {
    fn into_prompt_result(self) -> Result<GetPromptResult, CallError> {
        PromptMessage::new(Role::User, self).into_prompt_result()
    }
}

impl IntoPromptResult for String {
    fn into_prompt_result(self) -> Result<GetPromptResult, CallError> {
        ContentBlock::text(self).into_prompt_result()
    }
}

impl IntoPromptResult for &'static str {
    fn into_prompt_result(self) -> Result<GetPromptResult, CallError> {
        self.to_owned().into_prompt_result()
    }
}

impl<T: IntoPromptResult, E: IntoCallError> IntoPromptResult for Result<T, E> {
    fn into_prompt_result(self) -> Result<GetPromptResult, CallError> {
        self.map_err(IntoCallError::into_call_error)?.into_prompt_result()
    }

    fn into_output(self) -> Result<Output, Halt> {
        self.map_err(IntoCallError::into_call_error)?.into_output()
    }

    const BY_HAND: bool = T::BY_HAND;
}
