use crate::model::{ContentBlock, GetPromptResult, PromptMessage, Role};

use super::{FunctionOutput, Output};
use crate::{call::Halt, error::CallError};

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
    fn into_output(self) -> Result<FunctionOutput, Halt>
    where
        Self: Sized,
    {
        Ok(FunctionOutput::Done(Output::Prompt(Box::new(self.into_prompt_result()?))))
    }

    /// Whether it makes rounds by hand, as [`Reply`](super::Reply) does.
    #[doc(hidden)]
    const BY_HAND: bool = false;
}

becomes! { IntoPromptResult::into_prompt_result -> GetPromptResult {
    GetPromptResult: result => result;
    Vec<PromptMessage>: messages => GetPromptResult::new(messages);
    PromptMessage: message => GetPromptResult::new(vec![message]);
    ContentBlock: block => PromptMessage::new(Role::User, block).into_prompt_result()?;
    String: text => ContentBlock::text(text).into_prompt_result()?;
    &'static str: text => text.to_owned().into_prompt_result()?;
} }

impl<const N: usize> IntoPromptResult for [PromptMessage; N] {
    fn into_prompt_result(self) -> Result<GetPromptResult, CallError> {
        Ok(GetPromptResult::new(self.into()))
    }
}
