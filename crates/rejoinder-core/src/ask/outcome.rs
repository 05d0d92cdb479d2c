use crate::error::Halt;

/// What became of a question.
///
/// A parameter that takes the value itself ends the call when the user declines; one that takes the `Outcome` sees it.
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

    /// The value, or the end of the call in the name of the parameter that wanted it.
    pub(crate) fn required(&self, parameter: &'static str) -> Result<&T, Halt> {
        match self {
            Self::Accepted(value) => Ok(value),
            Self::Declined => Err(Halt::Declined { parameter, cancelled: false }),
            Self::Cancelled => Err(Halt::Declined { parameter, cancelled: true }),
        }
    }
}

/// What a parameter may make of a resolver's outcome: `T`, `&T`, `Option<T>` or `Outcome<T>`.
#[diagnostic::on_unimplemented(
    message = "the resolver makes a `{T}`, the parameter is a `{Self}`",
    label = "wrong type for this resolver",
    note = "take `T` (it must be `Clone`), `&T`, `Option<T>` (`None` if declined) or `Outcome<T>`"
)]
pub trait FromOutcome<'a, T: 'a>: Sized {
    /// Makes the parameter.
    ///
    /// # Errors
    ///
    /// When the parameter needs the value and the user gave none.
    fn from_outcome(outcome: &'a Outcome<T>, parameter: &'static str) -> Result<Self, Halt>;
}

impl<'a, T: Clone + 'a> FromOutcome<'a, T> for T {
    fn from_outcome(outcome: &'a Outcome<T>, parameter: &'static str) -> Result<Self, Halt> {
        outcome.required(parameter).cloned()
    }
}

impl<'a, T: 'a> FromOutcome<'a, T> for &'a T {
    fn from_outcome(outcome: &'a Outcome<T>, parameter: &'static str) -> Result<Self, Halt> {
        outcome.required(parameter)
    }
}

impl<'a, T: Clone + 'a> FromOutcome<'a, T> for Option<T> {
    fn from_outcome(outcome: &'a Outcome<T>, _: &'static str) -> Result<Self, Halt> {
        Ok(outcome.clone().accepted())
    }
}

impl<'a, T: Clone + 'a> FromOutcome<'a, T> for Outcome<T> {
    fn from_outcome(outcome: &'a Outcome<T>, _: &'static str) -> Result<Self, Halt> {
        Ok(outcome.clone())
    }
}
