//! The parts of a return type. Where it is no reply, the part at fault is looked at by itself, so that the compiler tells
//! of that alone, and not of what it is wrapped in.

use std::{convert::Infallible, marker::PhantomData};

use super::{Json, Reply};

/// What a return type wraps its reply in. A number, because constant generics take no enum.
pub(crate) mod layer {
    /// Nothing: it is the reply itself.
    pub(crate) const NONE: u8 = 0;
    /// `Result<T, E>`.
    pub(crate) const RESULT: u8 = 1;
    /// `Reply<T>`.
    pub(crate) const REPLY: u8 = 2;
    /// `Json<T>`.
    pub(crate) const JSON: u8 = 3;
}

/// Tells the outermost [`layer`] of `T`: `Outermost::<T>::LAYER`. Works through aliases, on concrete types only.
#[derive(Debug)]
pub struct Outermost<T>(PhantomData<T>);

impl<T, E> Outermost<Result<T, E>> {
    /// It is a `Result`.
    pub const LAYER: u8 = layer::RESULT;
}

impl<T> Outermost<Reply<T>> {
    /// It is a `Reply`.
    pub const LAYER: u8 = layer::REPLY;
}

impl<T> Outermost<Json<T>> {
    /// It is a `Json`.
    pub const LAYER: u8 = layer::JSON;
}

/// The other answer of `Outermost::LAYER`.
pub trait NotWrapped {
    /// It is none of these.
    const LAYER: u8 = layer::NONE;
}

impl<T> NotWrapped for Outermost<T> {}

/// A type without its outermost [`layer`].
pub trait Wraps<const LAYER: u8> {
    /// What is inside of a `Result` or `Reply`.
    type Inner;
    /// What a `Result` fails with; otherwise something that is a failure.
    type Error;
    /// What a `Json` carries; otherwise something that it could.
    type Carried;
    /// The type itself; but for a `Json`, which can be returned if it can carry what it does, a reply.
    type Plain;
}

impl<T> Wraps<{ layer::NONE }> for T {
    type Inner = T;
    type Error = Infallible;
    type Carried = ();
    type Plain = T;
}

impl<T, E> Wraps<{ layer::RESULT }> for Result<T, E> {
    type Inner = T;
    type Error = E;
    type Carried = ();
    type Plain = Self;
}

impl<T> Wraps<{ layer::REPLY }> for Reply<T> {
    type Inner = T;
    type Error = Infallible;
    type Carried = ();
    type Plain = Self;
}

impl<T> Wraps<{ layer::JSON }> for Json<T> {
    type Inner = Self;
    type Error = Infallible;
    type Carried = T;
    type Plain = String;
}

/// What is looked at of a part, given whether all of the type is sound: then nothing that could be at fault.
pub trait Doubted<const SOUND: bool> {
    /// The part that must be a reply.
    type Reply;
    /// The part that must be a failure.
    type Error;
}

impl<T> Doubted<true> for T {
    type Reply = String;
    type Error = Infallible;
}

impl<T> Doubted<false> for T {
    type Reply = T;
    type Error = T;
}
