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

/// A value that is kept for all its takers.
#[derive(Debug)]
pub enum Value {}

/// What several parameters can have a value of their own of.
///
/// It is a trait of [`Value`] and not of `T` because the compiler tells of the outer bound where both are of one type.
#[diagnostic::on_unimplemented(
    message = "`{T}` is taken by value, and others may take it too: it must be `Clone`",
    label = "not `Clone`",
    note = "derive `Clone` for it, or borrow it: `&{T}`"
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

impl<'a, T: 'a> FromOutcome<'a, T> for T
where
    Value: Keeps<T>,
{
    fn from_outcome(outcome: &'a Outcome<T>, parameter: &'static str) -> Result<Self, Halt> {
        <&T>::from_outcome(outcome, parameter).map(Value::another)
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

impl<'a, T: 'a> FromOutcome<'a, T> for Option<T>
where
    Value: Keeps<T>,
{
    fn from_outcome(outcome: &'a Outcome<T>, _: &'static str) -> Result<Self, Halt> {
        Ok(outcome.as_ref().map(Value::another).accepted())
    }
}

impl<'a, T: 'a> FromOutcome<'a, T> for Outcome<T>
where
    Value: Keeps<T>,
{
    fn from_outcome(outcome: &'a Outcome<T>, _: &'static str) -> Result<Self, Halt> {
        Ok(outcome.as_ref().map(Value::another))
    }
}
