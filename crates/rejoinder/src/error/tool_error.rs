use std::{borrow::Cow, error::Error, fmt, sync::Arc};

use serde_json::Value;

use super::missing_capability;

/// Why a tool, prompt or resource could not answer.
///
/// What the client gets to see depends on how the error was made:
///
/// * [`CallError::new`]: the text, as a result that says `isError`. The model reads it, so say what to do.
/// * [`CallError::protocol`]: a JSON-RPC error with that code.
/// * any other error, through `?`: a generic sentence and an id. The detail goes to the log only,
///   so a database's complaint never reaches a stranger.
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
pub struct CallError(CallErrorKind);

/// The three kinds of [`CallError`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum CallErrorKind {
    /// Text for the model: a result with `isError`.
    Told(Cow<'static, str>),
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
    Hidden(Arc<dyn Error + Send + Sync>),
}

impl CallError {
    /// An error whose text the model reads.
    pub fn new(text: impl Into<Cow<'static, str>>) -> Self {
        Self(CallErrorKind::Told(text.into()))
    }

    /// An error that ends the request with a JSON-RPC error instead of a result.
    pub fn protocol(code: i32, message: impl Into<Cow<'static, str>>, data: Option<Value>) -> Self {
        Self(CallErrorKind::Protocol { code, message: message.into(), data })
    }

    /// The client lacks a capability that the call cannot do without: `{"sampling": {}}`, say.
    ///
    /// ```
    /// use rejoinder::CallError;
    /// use serde_json::json;
    ///
    /// let error = CallError::missing_capability(json!({ "elicitation": { "form": {} } }));
    /// assert_eq!(
    ///     error.to_string(),
    ///     "the client cannot be asked to fill in forms: it did not declare `elicitation.form` (-32021)",
    /// );
    /// ```
    pub fn missing_capability(required: Value) -> Self {
        let sentence = missing_capability::sentence(&required);
        Self::protocol(-32021, sentence, Some(serde_json::json!({ "requiredCapabilities": required })))
    }

    /// The client's session speaks a version that has no words for a question.
    pub(crate) fn too_old(what: &str, speaks: &str, since: &str, required: Value) -> Self {
        let sentence =
            format!("the client cannot be asked {what}: its session speaks {speaks}, and that came with {since}");
        Self::protocol(-32021, sentence, Some(serde_json::json!({ "requiredCapabilities": required })))
    }

    pub(crate) fn nobody_to_ask() -> Self {
        Self::new("there is nobody to ask: this call has no client behind it; in a test, `testing::Client` is one")
    }

    /// A task asks, or records, in a round that has ended.
    pub(crate) fn round_is_over() -> Self {
        Self::new("this round of the call is over: nothing can be asked or recorded in it any more")
    }

    /// The user said no. What was done before that stays done, so it says nothing of it.
    pub(crate) fn declined(what: impl fmt::Display) -> Self {
        Self::new(format!("the user declined {what}, so the call ended there"))
    }

    /// The user went away.
    pub(crate) fn left(what: impl fmt::Display) -> Self {
        Self::new(format!("the user went away without answering {what}, so the call ended there"))
    }

    /// An error whose detail goes to the log while the client gets a generic sentence.
    ///
    /// `?` does this for every [`std::error::Error`].
    pub fn internal(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(CallErrorKind::Hidden(Arc::from(error.into())))
    }

    /// The author's mistake: the client can do nothing about it but tell them, and the log has it too.
    pub(crate) fn mistake(sentence: impl Into<Cow<'static, str>>) -> Self {
        let sentence = sentence.into();
        tracing::error!("{sentence}");
        Self::new(sentence)
    }

    /// Two questions under one key, where one answer cannot be both.
    pub(crate) fn two_questions(key: &str) -> Self {
        Self::mistake(format!(
            "two questions are asked under the key `{key}`: give one of them another, and each turn of a loop its own"
        ))
    }

    /// Which kind of error this is.
    pub fn kind(&self) -> &CallErrorKind {
        &self.0
    }

    /// Takes the error apart.
    pub fn into_kind(self) -> CallErrorKind {
        self.0
    }
}

/// The text as the author of the server sees it, the hidden detail included.
impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            CallErrorKind::Told(text) => f.write_str(text),
            CallErrorKind::Protocol { code, message, .. } => write!(f, "{message} ({code})"),
            CallErrorKind::Hidden(error) => error.fmt(f),
        }
    }
}

// `CallError` is not itself an `Error`: that is what lets every error become one through `?`.
impl<E: Error + Send + Sync + 'static> From<E> for CallError {
    fn from(error: E) -> Self {
        Self::internal(error)
    }
}
