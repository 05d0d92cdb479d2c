use std::path::{Path, PathBuf};

use super::Settled;
use crate::{ask::Outcome, error::Halt};

/// A parameter that a resolver fills: the value, a reference to it, or the outcome itself.
#[diagnostic::on_unimplemented(
    message = "this parameter cannot take what its resolver makes, a `{T}`",
    label = "take `&{T}`, or `{T}` if it is `Clone`",
    note = "by value, the type must be `Clone`, because other parameters may take the same value",
    note = "a `String` can be taken as `&str`; an `Option` (`None` if the user declines) or an `Outcome` of each of these works too"
)]
pub trait FromOutcome<'a, T: 'a>: Sized {
    /// Whether the value is optional: then a user who declines does not end the call.
    const OPTIONAL: bool = false;

    /// Makes the parameter of that name.
    ///
    /// # Errors
    ///
    /// [`Halt::Declined`] where the parameter needs the value.
    fn from_outcome(outcome: &'a Outcome<T>, parameter: &'static str) -> Result<Self, Halt>;

    /// Makes the parameter of that name from what its resolver settled to.
    ///
    /// # Errors
    ///
    /// The error that stopped the resolver.
    fn from_settled(settled: &'a Settled<T>, parameter: &'static str) -> Result<Self, Halt> {
        Self::from_outcome(settled.outcome().map_err(Halt::clone)?, parameter)
    }
}

impl<T> Outcome<T> {
    /// The value, for a parameter that requires it.
    pub(super) fn needed(&self, parameter: &'static str) -> Result<&T, Halt> {
        match self {
            Self::Accepted(value) => Ok(value),
            Self::Declined => Err(Halt::Declined { parameter, cancelled: false }),
            Self::Cancelled => Err(Halt::Declined { parameter, cancelled: true }),
        }
    }
}

impl<'a, T: Clone + 'a> FromOutcome<'a, T> for T {
    fn from_outcome(outcome: &'a Outcome<T>, parameter: &'static str) -> Result<Self, Halt> {
        outcome.needed(parameter).cloned()
    }
}

impl<'a, T: 'a> FromOutcome<'a, T> for &'a T {
    fn from_outcome(outcome: &'a Outcome<T>, parameter: &'static str) -> Result<Self, Halt> {
        outcome.needed(parameter)
    }
}

macro_rules! borrowed {
    ($($borrowed:ty, of $owner:ty $(, for $of:ident)?;)*) => { $(
        impl<'a $(, $of: 'a)?> FromOutcome<'a, $owner> for &'a $borrowed {
            fn from_outcome(outcome: &'a Outcome<$owner>, parameter: &'static str) -> Result<Self, Halt> {
                outcome.needed(parameter).map(|owner| &**owner)
            }
        }

        impl<'a $(, $of: 'a)?> FromOutcome<'a, $owner> for Option<&'a $borrowed> {
            const OPTIONAL: bool = true;

            fn from_outcome(outcome: &'a Outcome<$owner>, _: &'static str) -> Result<Self, Halt> {
                Ok(outcome.as_ref().accepted().map(|owner| &**owner))
            }
        }

        impl<'a $(, $of: 'a)?> FromOutcome<'a, $owner> for Outcome<&'a $borrowed> {
            const OPTIONAL: bool = true;

            fn from_outcome(outcome: &'a Outcome<$owner>, _: &'static str) -> Result<Self, Halt> {
                Ok(outcome.as_ref().map(|owner| &**owner))
            }
        }
    )* };
}

// As with arguments that resolvers take by name.
borrowed! {
    str, of String;
    [T], of Vec<T>, for T;
    Path, of PathBuf;
}

impl<'a, T: Clone + 'a> FromOutcome<'a, T> for Option<T> {
    const OPTIONAL: bool = true;

    fn from_outcome(outcome: &'a Outcome<T>, _: &'static str) -> Result<Self, Halt> {
        Ok(outcome.as_ref().accepted().cloned())
    }
}

impl<'a, T: 'a> FromOutcome<'a, T> for Option<&'a T> {
    const OPTIONAL: bool = true;

    fn from_outcome(outcome: &'a Outcome<T>, _: &'static str) -> Result<Self, Halt> {
        Ok(outcome.as_ref().accepted())
    }
}

impl<'a, T: Clone + 'a> FromOutcome<'a, T> for Outcome<T> {
    const OPTIONAL: bool = true;

    fn from_outcome(outcome: &'a Outcome<T>, _: &'static str) -> Result<Self, Halt> {
        Ok(outcome.clone())
    }
}

impl<'a, T: 'a> FromOutcome<'a, T> for Outcome<&'a T> {
    const OPTIONAL: bool = true;

    fn from_outcome(outcome: &'a Outcome<T>, _: &'static str) -> Result<Self, Halt> {
        Ok(outcome.as_ref())
    }
}
