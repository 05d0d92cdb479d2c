//! Whether a resolver's outcome ends the call at once, although others still run.

use std::marker::PhantomData;

use super::Settled;
use crate::{ask::Outcome, error::Halt};

/// What a parameter of type `P` makes of a resolver's `T`, for one question about it: [`Wants::is_optional`].
///
/// The inherent methods win over the trait's where their types fit, so the answer needs no specialisation, and a type
/// that does not fit at all is no error here.
#[derive(Debug)]
pub struct Wants<P, T>(PhantomData<fn(P) -> T>);

impl<P, T> Wants<P, T> {
    /// Takes `T` from the outcome.
    pub fn of(_: &Settled<T>) -> Self {
        Self(PhantomData)
    }
}

impl<T> Wants<Option<T>, T> {
    /// It can do without the value.
    pub fn is_optional(&self) -> bool {
        true
    }
}

impl<T> Wants<Option<&T>, T> {
    /// It can do without the value.
    pub fn is_optional(&self) -> bool {
        true
    }
}

impl<T> Wants<Outcome<T>, T> {
    /// It can do without the value.
    pub fn is_optional(&self) -> bool {
        true
    }
}

impl<T> Wants<Outcome<&T>, T> {
    /// It can do without the value.
    pub fn is_optional(&self) -> bool {
        true
    }
}

/// The other answer of [`Wants::is_optional`].
pub trait Needed {
    /// It cannot do without the value.
    fn is_optional(&self) -> bool {
        false
    }
}

impl<P, T> Needed for Wants<P, T> {}

/// A resolver's outcome, unless it ends the call.
///
/// # Errors
///
/// What ends the call: there is no use in waiting for the others.
pub fn unless_over<T>(settled: Settled<T>, is_optional: bool, parameter: &'static str) -> Result<Settled<T>, Halt> {
    match settled.outcome() {
        Err(Halt::Pending) | Ok(Outcome::Accepted(_)) => Ok(settled),
        Ok(_) if is_optional => Ok(settled),
        Ok(Outcome::Declined) => Err(Halt::Declined { parameter, cancelled: false }),
        Ok(Outcome::Cancelled) => Err(Halt::Declined { parameter, cancelled: true }),
        Err(halt) => Err(halt.clone()),
    }
}
