//! Argument or injected: decided by trait, in constant evaluation.

use std::marker::PhantomData;

use super::{FromCall, Need};
use crate::{
    call::{Argument, Call},
    error::ToolError,
};

/// Tells whether `T` is injected: `Probe::<T>::INJECTED`.
///
/// The inherent constant wins over the trait's where `T: FromCall`, so the answer needs no specialisation.
/// It works on concrete types only; a generic parameter says `#[inject]` or `#[arg]`.
#[derive(Debug)]
pub struct Probe<T>(PhantomData<T>);

impl<T: FromCall> Probe<T> {
    /// `T` is supplied by the call.
    pub const INJECTED: bool = true;
}

/// The other answer of [`Probe`].
pub trait NotInjected {
    /// `T` is the model's argument.
    const INJECTED: bool = false;
}

impl<T> NotInjected for Probe<T> {}

/// What stands in the argument tuple for a parameter that the call supplies.
#[derive(Debug, Default, Clone, Copy)]
pub struct Injected;

/// How a parameter is filled, given what [`Probe`] said of its type.
pub trait Parameter<const INJECTED: bool>: Sized {
    /// What the argument tuple holds for it.
    type Slot: Send + Sync + 'static;

    /// Makes the parameter from its slot and the call.
    ///
    /// # Errors
    ///
    /// When an injected parameter cannot be supplied.
    fn fill(slot: Self::Slot, call: &Call, name: &'static str) -> Result<Self, ToolError>;

    /// What it needs to have been provided.
    fn need() -> Option<Need>;
}

impl<T: FromCall> Parameter<true> for T {
    type Slot = Injected;

    fn fill(_: Injected, call: &Call, name: &'static str) -> Result<Self, ToolError> {
        T::from_call(call, name)
    }

    fn need() -> Option<Need> {
        T::need()
    }
}

#[diagnostic::do_not_recommend]
impl<T: Argument> Parameter<false> for T {
    type Slot = T;

    fn fill(slot: T, _: &Call, _: &'static str) -> Result<Self, ToolError> {
        Ok(slot)
    }

    fn need() -> Option<Need> {
        None
    }
}
