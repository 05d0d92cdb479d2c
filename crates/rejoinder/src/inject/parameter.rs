//! Argument or injected: decided by trait, in constant evaluation.

use std::marker::PhantomData;

use super::{FromCall, Need};
use crate::{
    ask::{Keeps, Value},
    call::{Argument, Call},
    error::CallError,
    graph::{ByName, Walk},
};

/// Where a parameter comes from, as far as its type tells. A number, because constant generics take no enum.
pub mod source {
    /// The model supplies it.
    pub const ARGUMENT: u8 = 0;
    /// The call supplies it.
    pub const INJECTED: u8 = 1;
    /// Both could, so its author must say which.
    pub const EITHER: u8 = 2;
    /// Nothing does.
    pub const NOTHING: u8 = 3;

    /// The source of a parameter whose author left it to the type.
    pub const fn of_type(injected: bool, argument: bool) -> u8 {
        match (injected, argument) {
            (false, true) => ARGUMENT,
            (true, false) => INJECTED,
            (true, true) => EITHER,
            (false, false) => NOTHING,
        }
    }

    /// The source of a parameter marked `#[arg]`.
    pub const fn argument(_injected: bool, argument: bool) -> u8 {
        if argument { ARGUMENT } else { NOTHING }
    }

    /// The source of a parameter marked `#[inject]`.
    pub const fn injected(injected: bool, _argument: bool) -> u8 {
        if injected { INJECTED } else { NOTHING }
    }
}

/// Tells what can supply `T`: `Probe::<T>::INJECTED` and `Probe::<T>::ARGUMENT`.
///
/// The inherent constants win over the traits' where their bounds hold, so the answer needs no specialisation.
/// It works on concrete types only.
#[derive(Debug)]
pub struct Probe<T>(PhantomData<T>);

impl<T: FromCall> Probe<T> {
    /// `T` is supplied by the call.
    pub const INJECTED: bool = true;
}

impl<T: Argument> Probe<T> {
    /// `T` is supplied by the model.
    pub const ARGUMENT: bool = true;
}

/// The other answer of [`Probe::INJECTED`].
pub trait NotInjected {
    /// The call cannot supply `T`.
    const INJECTED: bool = false;
}

/// The other answer of [`Probe::ARGUMENT`].
pub trait NotArgument {
    /// The model cannot supply `T`.
    const ARGUMENT: bool = false;
}

impl<T> NotInjected for Probe<T> {}
impl<T> NotArgument for Probe<T> {}

/// What stands in the argument tuple for a parameter that the call supplies.
#[derive(Debug, Default, Clone, Copy)]
pub struct Injected;

/// How a parameter is filled, given its [`source`].
///
/// A mistaken parameter implements it too, so that the one check that is made for it is the only one that fails; except
/// where its type depends on a type parameter, and no check can be made.
#[diagnostic::on_unimplemented(
    message = "`{Self}` depends on a type parameter, and nothing supplies it",
    label = "cannot be filled",
    note = "take `Dep<T>` or another type that is `FromCall`; for an argument write `#[arg]` before it, and bound its type by `Argument`"
)]
pub trait Parameter<const SOURCE: u8>: Sized {
    /// What the argument tuple holds for it.
    type Slot: Send + Sync + 'static;

    /// Makes the parameter from its slot and the call.
    ///
    /// # Errors
    ///
    /// When an injected parameter cannot be supplied.
    fn fill(slot: Self::Slot, call: &Call, name: &'static str) -> Result<Self, CallError>;

    /// Makes an injected parameter.
    ///
    /// # Errors
    ///
    /// When it cannot be supplied.
    fn inject(_call: &Call, _name: &'static str) -> Result<Self, CallError> {
        unreachable!("only what is injected is asked for here")
    }

    /// One more of an argument that the item has.
    fn another(_walk: &Walk<'_>, _name: &'static str) -> Self
    where
        Value: Keeps<Self>,
    {
        unreachable!("only an argument is asked for here")
    }

    /// What it needs to have been provided.
    fn need() -> Option<Need>;

    /// How it is found where only its name is known, if it is an argument.
    fn by_name() -> Option<ByName> {
        None
    }
}

#[diagnostic::do_not_recommend]
impl<T: FromCall> Parameter<{ source::INJECTED }> for T {
    type Slot = Injected;

    fn fill(_: Injected, call: &Call, name: &'static str) -> Result<Self, CallError> {
        T::from_call(call, name)
    }

    fn inject(call: &Call, name: &'static str) -> Result<Self, CallError> {
        T::from_call(call, name)
    }

    fn need() -> Option<Need> {
        T::need()
    }
}

#[diagnostic::do_not_recommend]
impl<T: Argument> Parameter<{ source::ARGUMENT }> for T {
    type Slot = T;

    fn fill(slot: T, _: &Call, _: &'static str) -> Result<Self, CallError> {
        Ok(slot)
    }

    fn another(walk: &Walk<'_>, name: &'static str) -> Self
    where
        Value: Keeps<Self>,
    {
        <Value as Keeps<T>>::another(walk.argument(name))
    }

    fn need() -> Option<Need> {
        None
    }

    fn by_name() -> Option<ByName> {
        Some(ByName::of::<T>())
    }
}

macro_rules! mistaken {
    ($($source:ident)*) => { $(
        impl<T> Parameter<{ source::$source }> for T {
            type Slot = Injected;

            fn fill(_: Injected, _: &Call, _: &'static str) -> Result<Self, CallError> {
                unreachable!("a function with a mistaken parameter does not compile")
            }

            fn need() -> Option<Need> {
                None
            }
        }
    )* };
}

mistaken!(EITHER NOTHING);

/// What the parameters of a function need, without those that need nothing.
pub fn needs<const N: usize>(parameters: [(&'static str, Option<Need>); N]) -> Vec<(&'static str, Need)> {
    parameters.into_iter().filter_map(|(name, need)| Some((name, need?))).collect()
}
