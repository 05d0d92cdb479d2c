/// What became of a question.
///
/// [`Context::ask`](crate::inject::Context::ask) ends the call when the user declines;
/// [`Context::try_ask`](crate::inject::Context::try_ask) shows what they did. A parameter that a resolver fills may be one,
/// too: `#[resolve(reason)] reason: Outcome<Reason>`.
///
/// ```
/// use rejoinder::Outcome;
///
/// fn title(answer: Outcome<String>) -> String {
///     match answer {
///         Outcome::Accepted(title) => title,
///         Outcome::Declined => "Untitled".to_owned(),
///         Outcome::Cancelled => "Draft".to_owned(),
///     }
/// }
///
/// assert_eq!(title(Outcome::Declined), "Untitled");
/// assert_eq!(Outcome::Accepted("Tea").map(str::len).accepted(), Some(3));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome<T> {
    /// The user answered, or the value was known without asking.
    Accepted(T),
    /// The user said no.
    Declined,
    /// The user went away without an answer.
    Cancelled,
}

impl<T> Outcome<T> {
    /// The value, if there is one.
    pub fn accepted(self) -> Option<T> {
        match self {
            Self::Accepted(value) => Some(value),
            Self::Declined | Self::Cancelled => None,
        }
    }

    /// The outcome of the borrowed value.
    pub fn as_ref(&self) -> Outcome<&T> {
        match self {
            Self::Accepted(value) => Outcome::Accepted(value),
            Self::Declined => Outcome::Declined,
            Self::Cancelled => Outcome::Cancelled,
        }
    }

    /// Changes the value, if there is one.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Outcome<U> {
        match self {
            Self::Accepted(value) => Outcome::Accepted(change(value)),
            Self::Declined => Outcome::Declined,
            Self::Cancelled => Outcome::Cancelled,
        }
    }
}
