use std::borrow::Cow;

use serde_json::Value;

use super::{Answer, BadAnswer, Outcome, Question, Roots, Sample, SampleRequest, Visited};
use crate::{
    call::Call,
    error::{Halt, ToolError},
};

/// What a resolver returns that may need the user: a value that is known, or a question for it.
#[must_use = "a question is asked when it is returned from a resolver"]
#[derive(Debug, Clone)]
pub struct Ask<T>(Inner<T>);

#[derive(Debug, Clone)]
enum Inner<T> {
    Known(T),
    Question {
        question: Question,
        read: fn(&Value) -> Result<Outcome<T>, BadAnswer>,
        otherwise: Option<T>,
        key: Option<Cow<'static, str>>,
    },
}

impl<T> Ask<T> {
    /// The value is known: nobody is asked.
    pub fn known(value: T) -> Self {
        Self(Inner::Known(value))
    }

    /// The value to take where the client cannot be asked; without one, such a client gets an error.
    pub fn or_if_unsupported(mut self, value: T) -> Self {
        if let Inner::Question { otherwise, .. } = &mut self.0 {
            *otherwise = Some(value);
        }
        self
    }

    /// Asks under another key than the resolver's.
    pub fn under(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        if let Inner::Question { key, .. } = &mut self.0 {
            *key = Some(name.into());
        }
        self
    }
}

impl<T: Answer> Ask<T> {
    pub(crate) fn question(question: Question) -> Self {
        Self(Inner::Question { question, read: T::read, otherwise: None, key: None })
    }
}

impl Ask<Visited> {
    /// Sends the user to a page: for what must not pass through the client, such as a password.
    pub fn visit(url: impl Into<String>, message: impl Into<String>) -> Self {
        Self::question(Question::Visit { url: url.into(), message: message.into() })
    }
}

impl Ask<Sample> {
    /// Asks the client's model.
    pub fn sample(params: SampleRequest) -> Self {
        Self::question(Question::Sample(Box::new(params)))
    }
}

impl Ask<Roots> {
    /// Asks for the client's roots.
    pub fn roots() -> Self {
        Self::question(Question::Roots)
    }
}

impl<T> Ask<T> {
    /// Finds the value: known, answered, or asked for.
    pub(crate) async fn settle(self, call: &Call, name: &str) -> Result<Outcome<T>, Halt> {
        let (question, read, otherwise, key) = match self.0 {
            Inner::Known(value) => return Ok(Outcome::Accepted(value)),
            Inner::Question { question, read, otherwise, key } => (question, read, otherwise, key),
        };
        if let Some(missing) = question.missing_capability(&call.facts().capabilities) {
            return match otherwise {
                Some(value) => Ok(Outcome::Accepted(value)),
                None => Err(Halt::Failed(ToolError::missing_capability(missing))),
            };
        }
        let Some(carrier) = call.carrier() else {
            return Err(Halt::Failed(ToolError::hidden("there is nobody to ask: this call has no client behind it")));
        };
        let fits = |answer: &Value| read(answer).map(|_| ());
        let answer = carrier.ask(key.as_deref().unwrap_or(name), &question, &fits).await?;
        read(&answer).map_err(|BadAnswer(reason)| Halt::Failed(ToolError::new(reason)))
    }
}

/// What a resolver may return: `T`, `Ask<T>`, or a `Result` of either.
#[diagnostic::on_unimplemented(
    message = "a resolver of `{T}` cannot return `{Self}`",
    label = "not a resolver's return type",
    note = "return `T`, `Ask<T>`, or a `Result` of either"
)]
pub trait IntoAsk<T> {
    /// Whether it may ask.
    const ASKS: bool;

    /// The value or the question.
    ///
    /// # Errors
    ///
    /// The resolver's own.
    fn into_ask(self) -> Result<Ask<T>, ToolError>;
}

impl<T> IntoAsk<T> for T {
    const ASKS: bool = false;

    fn into_ask(self) -> Result<Ask<T>, ToolError> {
        Ok(Ask::known(self))
    }
}

impl<T> IntoAsk<T> for Ask<T> {
    const ASKS: bool = true;

    fn into_ask(self) -> Result<Ask<T>, ToolError> {
        Ok(self)
    }
}

impl<T, E: Into<ToolError>> IntoAsk<T> for Result<T, E> {
    const ASKS: bool = false;

    fn into_ask(self) -> Result<Ask<T>, ToolError> {
        self.map(Ask::known).map_err(Into::into)
    }
}

impl<T, E: Into<ToolError>> IntoAsk<T> for Result<Ask<T>, E> {
    const ASKS: bool = true;

    fn into_ask(self) -> Result<Ask<T>, ToolError> {
        self.map_err(Into::into)
    }
}
