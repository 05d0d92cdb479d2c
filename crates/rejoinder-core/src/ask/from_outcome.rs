use super::Outcome;
use crate::error::Halt;

/// What a parameter can make of a resolver's outcome: the value, a look at it, or the outcome itself.
#[diagnostic::on_unimplemented(
    message = "the resolver makes a `{T}`, the parameter is a `{Self}`",
    label = "wrong type for this resolver",
    note = "take `T`, `&T`, `Option<T>` (`None` if declined) or `Outcome<T>`"
)]
pub trait FromOutcome<'a, T: 'a>: Sized {
    /// Makes the parameter of that name.
    ///
    /// # Errors
    ///
    /// [`Halt::Declined`] where the parameter cannot do without the value.
    fn from_outcome(outcome: &'a Outcome<T>, parameter: &'static str) -> Result<Self, Halt>;
}

/// What several parameters can have a value of their own of.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is taken by value, and others may take it too: it must be `Clone`",
    label = "not `Clone`",
    note = "derive `Clone` for it, or borrow it: `&{Self}`"
)]
pub trait Kept {
    /// One more of it.
    #[must_use]
    fn another(&self) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Clone> Kept for T {
    fn another(&self) -> Self {
        self.clone()
    }
}

impl<'a, T: Kept + 'a> FromOutcome<'a, T> for T {
    fn from_outcome(outcome: &'a Outcome<T>, parameter: &'static str) -> Result<Self, Halt> {
        <&T>::from_outcome(outcome, parameter).map(T::another)
    }
}

impl<'a, T: 'a> FromOutcome<'a, T> for &'a T {
    fn from_outcome(outcome: &'a Outcome<T>, parameter: &'static str) -> Result<Self, Halt> {
        match outcome {
            Outcome::Accepted(value) => Ok(value),
            Outcome::Declined => Err(Halt::Declined { parameter, cancelled: false }),
            Outcome::Cancelled => Err(Halt::Declined { parameter, cancelled: true }),
        }
    }
}

impl<'a, T: Kept + 'a> FromOutcome<'a, T> for Option<T> {
    fn from_outcome(outcome: &'a Outcome<T>, _: &'static str) -> Result<Self, Halt> {
        Ok(outcome.as_ref().map(T::another).accepted())
    }
}

impl<'a, T: Kept + 'a> FromOutcome<'a, T> for Outcome<T> {
    fn from_outcome(outcome: &'a Outcome<T>, _: &'static str) -> Result<Self, Halt> {
        Ok(outcome.as_ref().map(T::another))
    }
}

/// Fails for a parameter that cannot be made of what the resolver makes.
pub const fn check_consumer<'a, P: FromOutcome<'a, T>, T: 'a>() {}
