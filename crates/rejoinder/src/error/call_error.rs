use std::{any::type_name, borrow::Cow, error::Error, fmt, iter::successors, sync::Arc, time::Duration};

use serde_json::Value;

use super::{BoxError, Panicked};
use crate::model::error_code::MISSING_CAPABILITY;

/// Explains why a tool, prompt, resource or resolver failed.
///
/// What the client sees depends on how the error was made:
///
/// * [`CallError::new`], and a `&'static str` or a `String` through `?` or `.into()`: the text, as a result with `isError`.
///   The model reads it, so say what to do.
/// * [`CallError::protocol`]: a JSON-RPC error with that code.
/// * any other error, through `?` (also an `anyhow::Error`): a generic sentence and an id. The details go to the log only,
///   so that clients never see the error of a database, for example.
///
/// Implement [`IntoCallError`](crate::reply::IntoCallError) for your own error type to choose what the client sees.
///
/// ```
/// use rejoinder::CallError;
///
/// fn read(path: &str) -> Result<String, CallError> {
///     if path.starts_with('/') {
///         return Err(CallError::new("give a path below the project folder, such as `src/main.rs`"));
///     }
///     Ok(std::fs::read_to_string(path)?)
/// }
///
/// assert_eq!(
///     read("/etc/passwd").unwrap_err().to_string(),
///     "give a path below the project folder, such as `src/main.rs`",
/// );
/// ```
#[derive(Debug, Clone)]
pub struct CallError(Box<CallErrorKind>);

/// The kinds of [`CallError`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum CallErrorKind {
    /// Text for the model: a result with `isError`.
    Message(Cow<'static, str>),
    /// The resource does not exist; elsewhere like a message.
    NotFound(Cow<'static, str>),
    /// The user declined a question. The text names it; the model reads it like a message.
    Declined(Cow<'static, str>),
    /// The same, if the user cancelled it.
    Cancelled(Cow<'static, str>),
    /// The client sent an error instead of an answer. The text names the question; the model reads it like a message.
    Unanswered(Cow<'static, str>),
    /// The round took longer than its timeout. The model reads it like a message.
    TimedOut(Duration),
    /// The function succeeded, and what it deferred was stopped after this time, so nobody knows what was saved. The model
    /// reads it like a message.
    OutcomeUnknown(Duration),
    /// A JSON-RPC error.
    Protocol {
        /// The JSON-RPC error code.
        code: i32,
        /// One sentence.
        message: Cow<'static, str>,
        /// What goes into the error's `data`.
        data: Option<Value>,
    },
    /// Anything else: logged, and never shown to the client.
    Internal(Arc<dyn Error + Send + Sync>),
}

impl CallError {
    fn of(kind: CallErrorKind) -> Self {
        // In a box, because every result of a function has room for an error.
        Self(Box::new(kind))
    }

    /// An error whose text the model reads.
    pub fn new(text: impl Into<Cow<'static, str>>) -> Self {
        Self::of(CallErrorKind::Message(text.into()))
    }

    /// Return this from a resource if nothing exists at the URI: the client gets the error of an unknown resource.
    /// Elsewhere the model reads the text, as with [`CallError::new`].
    ///
    /// ```
    /// use rejoinder::prelude::*;
    ///
    /// #[resource("note://{name}")]
    /// fn note(name: String) -> Result<String, CallError> {
    ///     match name.as_str() {
    ///         "welcome" => Ok("Hello!".to_owned()),
    ///         _ => Err(CallError::not_found(format!("the note `{name}` does not exist"))),
    ///     }
    /// }
    /// ```
    pub fn not_found(text: impl Into<Cow<'static, str>>) -> Self {
        Self::of(CallErrorKind::NotFound(text.into()))
    }

    /// An error that ends the request with a JSON-RPC error instead of a result.
    pub fn protocol(code: i32, message: impl Into<Cow<'static, str>>, data: Option<Value>) -> Self {
        Self::of(CallErrorKind::Protocol { code, message: message.into(), data })
    }

    /// The client did not declare capabilities that the call needs, such as `{"sampling": {}}`.
    ///
    /// ```
    /// use rejoinder::CallError;
    /// use serde_json::json;
    ///
    /// let error = CallError::missing_capability(json!({ "elicitation": { "form": {} } }));
    /// assert_eq!(
    ///     error.to_string(),
    ///     "the client did not declare `elicitation.form`, which this call needs (-32021)",
    /// );
    /// ```
    pub fn missing_capability(required: Value) -> Self {
        let missing: Vec<_> = paths(&required).iter().map(|path| format!("`{path}`")).collect();
        let sentence = format!("the client did not declare {}, which this call needs", missing.join(" and "));
        Self::protocol(MISSING_CAPABILITY, sentence, Some(serde_json::json!({ "requiredCapabilities": required })))
    }

    /// A parameter lives in a session, and there is none.
    pub(crate) fn no_session(parameter: &str) -> Self {
        Self::new(format!(
            "this client has no session, in which `{parameter}` lives: sessions need protocol version 2025-11-25 or earlier, \
             and a server that keeps them"
        ))
    }

    /// The server forgets what the client declared, and has no session to ask it in.
    pub(crate) fn no_session_to_ask_in() -> Self {
        Self::new("the client cannot be asked: this server keeps no sessions (`http::Config::without_session_memory`)")
    }

    /// The client's session uses a version that lacks a kind of question.
    pub(crate) fn too_old(what: &str, speaks: &str, since: &str) -> Self {
        Self::new(format!(
            "the client cannot be asked {what}: that needs protocol version {since}, and the session uses {speaks}"
        ))
    }

    /// The capabilities that are missing, if that is why the call failed.
    pub(crate) fn required_capabilities(&self) -> Option<&Value> {
        match self.kind() {
            CallErrorKind::Protocol { code: MISSING_CAPABILITY, data: Some(data), .. } => {
                data.get("requiredCapabilities")
            }
            _ => None,
        }
    }

    /// The client sent an error instead of an answer.
    pub(crate) fn unanswered(key: &str, reason: impl fmt::Display) -> Self {
        Self::of(CallErrorKind::Unanswered(format!("the client did not answer `{key}`: {reason}").into()))
    }

    /// The answers to a question cannot be used, and it is not asked again.
    pub(crate) fn unusable_answer(key: &str, reason: &str) -> Self {
        Self::new(format!("the client sent no usable answer to `{key}`: {reason}"))
    }

    pub(crate) fn nobody_to_ask() -> Self {
        Self::new("this call has no client to ask; in a test, call through `testing::Client`")
    }

    /// A spawned future asks, or takes a step, after its round has ended.
    pub(crate) fn round_is_over() -> Self {
        Self::new("this round of the call has ended: nothing can be asked or recorded in it")
    }

    /// The user declined a question, or what a parameter needs.
    pub(crate) fn declined(name: &str) -> Self {
        Self::of(CallErrorKind::Declined(format!("the user declined `{name}`").into()))
    }

    /// The user cancelled it.
    pub(crate) fn cancelled(name: &str) -> Self {
        Self::of(CallErrorKind::Cancelled(format!("the user cancelled `{name}`").into()))
    }

    /// The round took longer than this.
    pub(crate) fn timed_out(limit: Duration) -> Self {
        Self::of(CallErrorKind::TimedOut(limit))
    }

    /// A deferred function took longer than this after a success.
    pub(crate) fn cut_off(limit: Duration) -> Self {
        Self::of(CallErrorKind::OutcomeUnknown(limit))
    }

    /// An error whose detail goes to the log while the client gets a generic sentence.
    ///
    /// `?` does this for every [`std::error::Error`]. Use it for a text that is not for clients.
    pub fn internal(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::of(CallErrorKind::Internal(Arc::from(error.into())))
    }

    /// A mistake of the server's author. The client can only report it, so the log has it, too.
    pub(crate) fn mistake(sentence: impl Into<Cow<'static, str>>) -> Self {
        let sentence = sentence.into();
        tracing::error!("{sentence}");
        Self::new(sentence)
    }

    /// Two questions under one key: an answer would count for both.
    pub(crate) fn two_questions(key: &str) -> Self {
        Self::mistake(format!(
            "two different questions use the key `{key}`: use another key for one of them, and a new key in each iteration of \
             a loop"
        ))
    }

    /// One step key twice in one run: it is not known whether a loop forgot to change it.
    pub(crate) fn step_twice(step: &str) -> Self {
        Self::mistake(format!(
            "the function uses step `{step}` twice in one run: use a new key in each iteration of a loop, or \
             `ctx.once_shared` where both mean the same step"
        ))
    }

    /// The same error as text, because what reads and drops it later must not run code of the author.
    ///
    /// # Errors
    ///
    /// If the error's own `Display`, `source` or `Drop` panics.
    pub(crate) fn into_text(self) -> Result<Self, Panicked> {
        let CallErrorKind::Internal(error) = *self.0 else { return Ok(self) };
        // With its causes: more than these are a loop.
        const MOST: usize = 32;
        Panicked::catch(move || {
            let causes = successors(Some(&*error as &(dyn Error + 'static)), |&error| error.source()).take(MOST);
            Self::internal(causes.map(ToString::to_string).collect::<Vec<_>>().join(": "))
        })
    }

    /// Which kind of error this is.
    pub fn kind(&self) -> &CallErrorKind {
        &self.0
    }

    /// Takes the error apart.
    pub fn into_kind(self) -> CallErrorKind {
        *self.0
    }
}

/// The text as the author of the server sees it, including the detail that clients do not see.
impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            CallErrorKind::Message(text)
            | CallErrorKind::NotFound(text)
            | CallErrorKind::Declined(text)
            | CallErrorKind::Cancelled(text)
            | CallErrorKind::Unanswered(text) => f.write_str(text),
            CallErrorKind::TimedOut(limit) => write!(f, "timed out after {} s", limit.as_secs_f64()),
            CallErrorKind::OutcomeUnknown(limit) => write!(
                f,
                "the outcome is unknown: the end of this call took longer than {} s and was stopped; check what was saved \
                 before you try again",
                limit.as_secs_f64()
            ),
            CallErrorKind::Protocol { code, message, .. } => write!(f, "{message} ({code})"),
            CallErrorKind::Internal(error) => error.fmt(f),
        }
    }
}

// `CallError` is not itself an `Error`: that is what lets every error become one through `?`. Errors that are not `Error`s
// either, such as `anyhow::Error`, become boxes.
impl<E: Into<BoxError>> From<E> for CallError {
    fn from(error: E) -> Self {
        text_or_error(error).map_or_else(Self::internal, Self::new)
    }
}

/// The text, if an error is only a text: somebody wrote it to be read. A text that is borrowed has no `TypeId`, so the name of
/// its type says what it is.
pub(crate) fn text_or_error<E: Into<BoxError>>(error: E) -> Result<String, BoxError> {
    let texts = [type_name::<&str>(), type_name::<String>(), type_name::<Cow<'_, str>>()];
    let (is_text, error) = (texts.contains(&type_name::<E>()), error.into());
    if is_text { Ok(error.to_string()) } else { Err(error) }
}

/// The paths of the innermost members of an object of objects: `elicitation.form`.
fn paths(required: &Value) -> Vec<String> {
    let members = required.as_object().into_iter().flatten();
    let below = |(name, value): (&String, &Value)| match paths(value) {
        inner if inner.is_empty() => vec![name.clone()],
        inner => inner.into_iter().map(|inner| format!("{name}.{inner}")).collect(),
    };
    members.flat_map(below).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_capability_is_named() {
        for (required, named) in [
            (json!({ "elicitation": { "url": {} } }), "`elicitation.url`"),
            (json!({ "com.example/x": {} }), "`com.example/x`"),
            (
                json!({ "roots": {}, "sampling": { "context": {}, "tools": {} } }),
                "`roots` and `sampling.context` and `sampling.tools`",
            ),
        ] {
            let expected = format!("the client did not declare {named}, which this call needs (-32021)");
            assert_eq!(CallError::missing_capability(required).to_string(), expected);
        }
    }
}
