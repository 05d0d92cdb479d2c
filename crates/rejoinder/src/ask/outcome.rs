use std::path::{Path, PathBuf};

use crate::error::Halt;

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

/// What a parameter can make of a resolver's outcome: the value, a look at it, or the outcome itself.
///
/// That the value can be had more than once is not asked for here but of [`FromOutcome::Owned`], so that what fits but
/// is not `Clone` is told apart from what does not fit.
#[diagnostic::on_unimplemented(
    message = "the resolver makes a `{T}`, the parameter is a `{Self}`",
    label = "wrong type for this resolver",
    note = "take `T` or `&T` (`&str` for a `String`), or an `Option` (`None` if declined) or `Outcome` of either"
)]
pub trait FromOutcome<'a, T: 'a>: Sized {
    /// What it needs one more of; `()` if it only looks.
    type Owned;

    /// Makes the parameter of that name.
    ///
    /// # Errors
    ///
    /// [`Halt::Declined`] where the parameter cannot do without the value.
    fn from_outcome(
        outcome: &'a Outcome<T>,
        another: fn(&Self::Owned) -> Self::Owned,
        parameter: &'static str,
    ) -> Result<Self, Halt>;
}

/// A value that is kept for all its takers.
#[derive(Debug)]
pub enum Value {}

/// What several parameters can have a value of their own of.
///
/// It is a trait of [`Value`] and not of `T` because the compiler tells of the outer bound where both are of one type.
#[diagnostic::on_unimplemented(
    message = "`{T}` is taken by value, and others may take it too: it must be `Clone`",
    label = "not `Clone`",
    note = "derive `Clone` for it, or borrow it: `&{T}`, also inside of `Option` and `Outcome`"
)]
pub trait Keeps<T> {
    /// One more of it.
    fn another(value: &T) -> T;
}

#[diagnostic::do_not_recommend]
impl<T: Clone> Keeps<T> for Value {
    fn another(value: &T) -> T {
        value.clone()
    }
}

/// The value, for a parameter that cannot do without it.
fn needed<'a, T>(outcome: &'a Outcome<T>, parameter: &'static str) -> Result<&'a T, Halt> {
    match outcome {
        Outcome::Accepted(value) => Ok(value),
        Outcome::Declined => Err(Halt::Declined { parameter, cancelled: false }),
        Outcome::Cancelled => Err(Halt::Declined { parameter, cancelled: true }),
    }
}

#[diagnostic::do_not_recommend]
impl<'a, T: 'a> FromOutcome<'a, T> for T {
    type Owned = T;

    fn from_outcome(outcome: &'a Outcome<T>, another: fn(&T) -> T, parameter: &'static str) -> Result<Self, Halt> {
        needed(outcome, parameter).map(another)
    }
}

#[diagnostic::do_not_recommend]
impl<'a, T: 'a> FromOutcome<'a, T> for &'a T {
    type Owned = ();

    fn from_outcome(outcome: &'a Outcome<T>, _: fn(&()), parameter: &'static str) -> Result<Self, Halt> {
        needed(outcome, parameter)
    }
}

macro_rules! lent {
    ($($lent:ty, of $owner:ty $(, for $of:ident)?;)*) => { $(
        #[diagnostic::do_not_recommend]
        impl<'a $(, $of: 'a)?> FromOutcome<'a, $owner> for &'a $lent {
            type Owned = ();

            fn from_outcome(outcome: &'a Outcome<$owner>, _: fn(&()), parameter: &'static str) -> Result<Self, Halt> {
                needed(outcome, parameter).map(|owner| &**owner)
            }
        }
    )* };
}

// As with arguments that resolvers take by name.
lent! {
    str, of String;
    [T], of Vec<T>, for T;
    Path, of PathBuf;
}

#[diagnostic::do_not_recommend]
impl<'a, T: 'a> FromOutcome<'a, T> for Option<T> {
    type Owned = T;

    fn from_outcome(outcome: &'a Outcome<T>, another: fn(&T) -> T, _: &'static str) -> Result<Self, Halt> {
        Ok(outcome.as_ref().map(another).accepted())
    }
}

#[diagnostic::do_not_recommend]
impl<'a, T: 'a> FromOutcome<'a, T> for Option<&'a T> {
    type Owned = ();

    fn from_outcome(outcome: &'a Outcome<T>, _: fn(&()), _: &'static str) -> Result<Self, Halt> {
        Ok(outcome.as_ref().accepted())
    }
}

#[diagnostic::do_not_recommend]
impl<'a, T: 'a> FromOutcome<'a, T> for Outcome<T> {
    type Owned = T;

    fn from_outcome(outcome: &'a Outcome<T>, another: fn(&T) -> T, _: &'static str) -> Result<Self, Halt> {
        Ok(outcome.as_ref().map(another))
    }
}

#[diagnostic::do_not_recommend]
impl<'a, T: 'a> FromOutcome<'a, T> for Outcome<&'a T> {
    type Owned = ();

    fn from_outcome(outcome: &'a Outcome<T>, _: fn(&()), _: &'static str) -> Result<Self, Halt> {
        Ok(outcome.as_ref())
    }
}
