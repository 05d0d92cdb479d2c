use std::path::{Path, PathBuf};

use super::{Node, Settled};
use crate::{ask::Outcome, call::Halt, error::CallError};

/// A parameter that a resolver fills: the value, a reference to it, or the outcome itself.
#[diagnostic::on_unimplemented(
    message = "this parameter cannot take what its resolver makes, a `{T}`",
    label = "take `&{T}`, or `{T}` if it is `Clone`",
    note = "by value, the type must be `Clone`, because other parameters may take the same value",
    note = "a `String` can be taken as `&str`; an `Option` (`None` if the user declines) or an `Outcome` of each of these works too",
    note = "a resolver that may ask returns an `Ask<T>`, which is `Ask::known(value)` where it need not ask"
)]
pub trait FromOutcome<'a, T: 'a>: Sized {
    /// Whether the value is optional: then a user who declines does not end the call.
    const OPTIONAL: bool = false;

    /// Makes the parameter of that name.
    ///
    /// # Errors
    ///
    /// If the user declined a value that the parameter needs.
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

/// Refuses an `Option` that would not be `None` when the user declines: the resolver asks for an `Option` itself.
///
/// # Panics
///
/// If it is one, while the program compiles.
#[track_caller] // so that the compiler shows the parameter, and not what is here
pub const fn check_option(is_optional: bool, node: &Node) {
    assert!(
        is_optional || !node.asks,
        "this `Option` is the answer, so a user who declines ends the call: return `Ask<T>` from the resolver for `None` on a \
         decline, or take `&Option<T>` or `Option<Option<T>>`"
    );
}

impl<T> Outcome<T> {
    /// The value, for a parameter that requires it. An error has this name.
    pub(super) fn needed(&self, name: &str) -> Result<&T, Halt> {
        match self {
            Self::Accepted(value) => Ok(value),
            Self::Declined => Err(CallError::declined(name).into()),
            Self::Cancelled => Err(CallError::cancelled(name).into()),
        }
    }
}

/// Implements the trait for a parameter that is made of a reference to the value, and for an `Option` and an `Outcome` of it.
macro_rules! from_outcome {
    ($($parameter:ty, of $value:ty $(, for $of:ident $(: $bound:ident)?)?, by $make:expr;)*) => { $(
        impl<'a $(, $of: 'a $(+ $bound)?)?> FromOutcome<'a, $value> for $parameter {
            fn from_outcome(outcome: &'a Outcome<$value>, parameter: &'static str) -> Result<Self, Halt> {
                outcome.needed(parameter).map($make)
            }
        }

        impl<'a $(, $of: 'a $(+ $bound)?)?> FromOutcome<'a, $value> for Option<$parameter> {
            const OPTIONAL: bool = true;

            fn from_outcome(outcome: &'a Outcome<$value>, _: &'static str) -> Result<Self, Halt> {
                Ok(outcome.as_ref().accepted().map($make))
            }
        }

        impl<'a $(, $of: 'a $(+ $bound)?)?> FromOutcome<'a, $value> for Outcome<$parameter> {
            const OPTIONAL: bool = true;

            fn from_outcome(outcome: &'a Outcome<$value>, _: &'static str) -> Result<Self, Halt> {
                Ok(outcome.as_ref().map($make))
            }
        }
    )* };
}

// The last three are as with arguments that resolvers take by name.
from_outcome! {
    T, of T, for T: Clone, by Clone::clone;
    &'a T, of T, for T, by |value| value;
    &'a str, of String, by String::as_str;
    &'a [T], of Vec<T>, for T, by Vec::as_slice;
    &'a Path, of PathBuf, by PathBuf::as_path;
}
