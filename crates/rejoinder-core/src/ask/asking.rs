use std::{fmt, sync::Arc};

use serde_json::Value;

use super::{Answer, BadAnswer, Fits, Outcome, Question, Roots, Sample, Sampling, Visited};
use crate::{
    call::Call,
    error::{Halt, ToolError},
    form::Elicit,
};

/// A question to the client, or a value that makes asking needless.
///
/// ```
/// use rejoinder_core::ask::Ask;
/// use rejoinder_core::form::Confirmed;
///
/// fn confirm(path: &str, is_empty: bool) -> Ask<Confirmed> {
///     if is_empty { Ask::known(Confirmed { yes: true }) } else { Ask::user(format!("Delete {path}?")) }
/// }
/// ```
#[must_use = "a question does nothing until it is asked with `Context::ask`"]
#[derive(Debug, Clone)]
pub struct Ask<T>(Inner<T>);

#[derive(Debug, Clone)]
enum Inner<T> {
    Known(T),
    Question { question: Question, read: Read<T>, otherwise: Option<T>, unprompted: bool },
}

/// How an answer is read.
struct Read<T>(Arc<ReadFn<T>>);

type ReadFn<T> = dyn Fn(&Value) -> Result<Outcome<T>, BadAnswer> + Send + Sync;

impl<T> Clone for Read<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> fmt::Debug for Read<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Read")
    }
}

impl<T> Ask<T> {
    /// The value is known: nobody is asked.
    pub fn known(value: T) -> Self {
        Self(Inner::Known(value))
    }

    /// Also takes an answer that comes with the first request, before it was asked for.
    ///
    /// For clients that know what will be asked. Otherwise an answer counts only for the very words that were asked:
    /// leave it at that wherever the answer is a consent.
    pub fn unprompted(mut self) -> Self {
        if let Inner::Question { unprompted, .. } = &mut self.0 {
            *unprompted = true;
        }
        self
    }

    /// The value to take where the client cannot be asked; without one, such a client gets an error.
    pub fn or_if_unsupported(mut self, value: T) -> Self {
        if let Inner::Question { otherwise, .. } = &mut self.0 {
            *otherwise = Some(value);
        }
        self
    }

    /// Changes the value, whichever way it is found. What is asked stays the same.
    ///
    /// `.map(Some)` is for a question that need not come up, beside `Ask::known(None)`.
    ///
    /// ```
    /// use rejoinder_core::ask::Ask;
    /// use rejoinder_core::form::Confirmed;
    ///
    /// fn keep_copy(files: usize) -> Ask<Option<bool>> {
    ///     if files == 0 { Ask::known(None) } else { Ask::user("Keep a copy?").map(|copy: Confirmed| Some(copy.yes)) }
    /// }
    /// ```
    pub fn map<U>(self, change: impl Fn(T) -> U + Send + Sync + 'static) -> Ask<U>
    where
        T: 'static,
    {
        Ask(match self.0 {
            Inner::Known(value) => Inner::Known(change(value)),
            Inner::Question { question, read, otherwise, unprompted } => {
                let otherwise = otherwise.map(&change);
                let read = Read(Arc::new(move |answer| (read.0)(answer).map(|outcome| outcome.map(&change))));
                Inner::Question { question, read, otherwise, unprompted }
            }
        })
    }
}

impl<T: Answer> Ask<T> {
    pub(crate) fn question(question: Question) -> Self {
        Self(Inner::Question { question, read: Read(Arc::new(T::read)), otherwise: None, unprompted: false })
    }
}

impl<T: Elicit> Ask<T> {
    /// Asks the user to fill in the form.
    pub fn user(message: impl Into<String>) -> Self {
        Self::question(Question::Form { message: message.into(), schema: T::form().to_value() })
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
    pub fn sample(sampling: Sampling) -> Self {
        Self::question(Question::Sample(sampling))
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
    pub(crate) async fn settle(self, call: &Call, key: &str) -> Result<Outcome<T>, Halt> {
        let (question, read, otherwise, unprompted) = match self.0 {
            Inner::Known(value) => return Ok(Outcome::Accepted(value)),
            Inner::Question { question, read, otherwise, unprompted } => (question, read, otherwise, unprompted),
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
        let fits = |answer: &Value| (read.0)(answer).map(|_| ());
        let answer = carrier.ask(key, &question, Fits { unprompted, check: &fits }).await?;
        (read.0)(&answer).map_err(|BadAnswer(reason)| Halt::Failed(ToolError::new(reason)))
    }
}
