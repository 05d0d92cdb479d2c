//! Argument or injected: decided by trait, in constant evaluation.

use std::{future::ready, marker::PhantomData};

use super::{Dep, FromCall, Need, PipeContext, SessionState, State};
use crate::{
    argument::{Argument, ByName, Injected},
    call::Call,
    error::CallError,
    form::Elicit,
};

/// Where a parameter comes from. A number, because constant generics take no enum.
pub mod source {
    /// The model supplies it.
    pub const ARGUMENT: u8 = 0;
    /// The server supplies it.
    pub const INJECTED: u8 = 1;
    /// The framework supplies it, to a pipe.
    pub const PIPE_CONTEXT: u8 = 2;

    /// The source of a parameter without an attribute, by what can supply its type.
    ///
    /// # Panics
    ///
    /// If both could, or if the user could, while the program compiles.
    #[track_caller] // so that the compiler shows the parameter, and not what is here
    pub const fn of(injected: bool, argument: bool, form: bool) -> u8 {
        assert!(
            !form,
            "this type is a form that the user fills in: write `#[resolve(function)]` before the parameter to ask the user, \
             or `#[arg]` if the model may fill it in"
        );
        assert!(
            !(injected && argument),
            "this parameter can come from the model or from the server: write `#[arg]` or `#[inject]` before it"
        );
        if injected { INJECTED } else { ARGUMENT }
    }

    /// The same for a parameter of a pipe.
    ///
    /// # Panics
    ///
    /// If the user could supply it, while the program compiles.
    #[track_caller]
    pub const fn of_pipe(form: bool, pipe_context: bool) -> u8 {
        if pipe_context { PIPE_CONTEXT } else { of(true, false, form) }
    }
}

/// Shows what can supply `T`: `Probe::<T>::INJECTED`, `Probe::<T>::ARGUMENT` and `Probe::<T>::FORM`. It needs a concrete
/// type.
///
/// The inherent constants win over those of [`AnyType`] where their bounds hold, so this needs no specialisation.
#[derive(Debug)]
pub struct Probe<T>(PhantomData<T>);

impl<T: FromCall> Probe<T> {
    /// The server can supply `T`.
    pub const INJECTED: bool = true;
}

impl<T: Argument> Probe<T> {
    /// The model can supply `T`.
    pub const ARGUMENT: bool = true;
    /// How it is read where only its name is known.
    pub const BY_NAME: Option<ByName> = Some(ByName::of::<T>());
}

impl<T: Elicit> Probe<T> {
    /// The user can supply `T`.
    pub const FORM: bool = true;
}

impl<T: Elicit> Probe<Option<T>> {
    /// The user can supply `T`.
    pub const FORM: bool = true;
}

impl<T: ?Sized> Probe<Dep<T>> {
    /// It is a service, even if calls cannot share it: that is then the error, and not that the model cannot supply it.
    pub const DEP: bool = true;
}

impl<T> Probe<State<T>> {
    /// It is a state, even if it cannot begin as a default.
    pub const DEP: bool = true;
}

impl<T> Probe<SessionState<T>> {
    /// It is a state, even if it cannot begin as a default.
    pub const DEP: bool = true;
}

impl Probe<PipeContext> {
    /// It is what a pipe knows of its value.
    pub const PIPE_CONTEXT: bool = true;
}

/// The answers of [`Probe`] for all other types.
pub trait AnyType {
    /// The server cannot supply `T`.
    const INJECTED: bool = false;
    /// The model cannot supply `T`.
    const ARGUMENT: bool = false;
    /// The model cannot supply `T`, but a pipe can make one.
    const BY_NAME: Option<ByName> = None;
    /// The user cannot supply `T`.
    const FORM: bool = false;
    /// It is not a service.
    const DEP: bool = false;
    /// It is not what a pipe knows of its value.
    const PIPE_CONTEXT: bool = false;
}

impl<T> AnyType for Probe<T> {}

/// What the graph knows of a parameter, given its [`source`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither an argument nor something that the server supplies",
    label = "nothing supplies this type",
    note = "an argument implements `serde::Deserialize` and `schemars::JsonSchema`",
    note = "what the server supplies is a `Dep<T>`, a `Context`, or a type that implements `FromCall`",
    note = "what a resolver makes is taken with `#[resolve(function)]` before the parameter"
)]
pub trait Parameter<const SOURCE: u8>: Sized {
    /// Whether it is for functions that make their rounds by hand.
    const BY_HAND: bool = false;

    /// Whether what it takes of the call is known.
    const IS_OURS: bool = true;

    /// How it is read where only its name is known, if it is an argument.
    const BY_NAME: Option<ByName> = None;

    /// What it needs to have been provided.
    fn need() -> Option<Need> {
        None
    }
}

impl<T: FromCall> Parameter<{ source::INJECTED }> for T {
    const BY_HAND: bool = T::BY_HAND;
    const IS_OURS: bool = T::IS_OURS;

    fn need() -> Option<Need> {
        T::need()
    }
}

impl<T: Argument> Parameter<{ source::ARGUMENT }> for T {
    const BY_NAME: Option<ByName> = Some(ByName::of::<T>());
}

impl Parameter<{ source::PIPE_CONTEXT }> for PipeContext {}

/// How a parameter of a tool, prompt or resource is filled, given its [`source`].
///
/// It is filled in two steps: what the server supplies is made before any resolver runs, so that a [`FromCall`] which
/// refuses a call does so before anybody is asked.
pub trait ItemParameter<const SOURCE: u8>: Parameter<SOURCE> {
    /// What the argument tuple holds for it.
    type Slot: Send + Sync + 'static;

    /// What the server supplies for it.
    type Supplied: Send;

    /// Makes what the server supplies.
    fn supply(call: &Call, name: &'static str) -> impl Future<Output = Result<Self::Supplied, CallError>> + Send;

    /// Makes the parameter.
    fn fill(slot: Self::Slot, supplied: Self::Supplied) -> Self;
}

impl<T: FromCall> ItemParameter<{ source::INJECTED }> for T {
    type Slot = Injected;
    type Supplied = T;

    fn supply(call: &Call, name: &'static str) -> impl Future<Output = Result<T, CallError>> + Send {
        T::from_call(call, name)
    }

    fn fill(_: Injected, supplied: T) -> T {
        supplied
    }
}

impl<T: Argument> ItemParameter<{ source::ARGUMENT }> for T {
    type Slot = T;
    type Supplied = ();

    fn supply(_: &Call, _: &'static str) -> impl Future<Output = Result<(), CallError>> + Send {
        ready(Ok(()))
    }

    fn fill(slot: T, (): ()) -> T {
        slot
    }
}
