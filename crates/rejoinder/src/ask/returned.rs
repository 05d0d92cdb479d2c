//! What a resolver may return: `T`, `Ask<T>`, or a `Result` of either; decided by trait, in constant evaluation.

use std::{convert::Infallible, marker::PhantomData};

use super::Ask;
use crate::form::{Elicit, Form};

/// Which of the four a return type is. A number, because constant generics take no enum.
pub mod shape {
    /// `T`.
    pub const VALUE: u8 = 0;
    /// `Ask<T>`.
    pub const ASK: u8 = 1;
    /// `Result<T, E>`.
    pub const RESULT: u8 = 2;
    /// `Result<Ask<T>, E>`.
    pub const RESULT_OF_ASK: u8 = 3;

    /// The shape of a return type, by what [`Shape`](super::Shape) says of it.
    pub const fn of(ask: bool, result: bool, result_of_ask: bool) -> u8 {
        match (ask, result, result_of_ask) {
            (true, ..) => ASK,
            (_, _, true) => RESULT_OF_ASK,
            (_, true, _) => RESULT,
            _ => VALUE,
        }
    }

    /// Whether a function that returns this may ask.
    pub const fn asks(shape: u8) -> bool {
        shape == ASK || shape == RESULT_OF_ASK
    }
}

/// Tells what `T` is: `Shape::<T>::ASK`, `RESULT` and `RESULT_OF_ASK`. Works through aliases, on concrete types only.
#[derive(Debug)]
pub struct Shape<T>(PhantomData<T>);

impl<T> Shape<Ask<T>> {
    /// It is an `Ask`.
    pub const ASK: bool = true;
}

impl<T, E> Shape<Result<T, E>> {
    /// It is a `Result`.
    pub const RESULT: bool = true;
}

impl<T, E> Shape<Result<Ask<T>, E>> {
    /// It is a `Result` of an `Ask`.
    pub const RESULT_OF_ASK: bool = true;
}

impl<T: Elicit> Shape<Ask<T>> {
    /// The form that it asks the user to fill in.
    pub const FORM: Option<fn() -> Form> = Some(T::form);
}

impl<T: Elicit, E> Shape<Result<Ask<T>, E>> {
    /// The form that it asks the user to fill in.
    pub const FORM: Option<fn() -> Form> = Some(T::form);
}

/// The other answer of `Shape::FORM`.
pub trait NotForm {
    /// Its type does not tell what form it is, if any.
    const FORM: Option<fn() -> Form> = None;
}

/// The other answer of [`Shape::ASK`].
pub trait NotAsk {
    /// It is no `Ask`.
    const ASK: bool = false;
}

/// The other answer of [`Shape::RESULT`].
pub trait NotResult {
    /// It is no `Result`.
    const RESULT: bool = false;
}

/// The other answer of [`Shape::RESULT_OF_ASK`].
pub trait NotResultOfAsk {
    /// It is no `Result` of an `Ask`.
    const RESULT_OF_ASK: bool = false;
}

impl<T> NotForm for Shape<T> {}
impl<T> NotAsk for Shape<T> {}
impl<T> NotResult for Shape<T> {}
impl<T> NotResultOfAsk for Shape<T> {}

/// What a resolver returns, given its [`shape`].
pub trait Returned<const SHAPE: u8> {
    /// What its consumers get.
    type Value;

    /// What it fails with. That it is a `Failure` is checked where it becomes one, once.
    type Error;

    /// The value, or the question for it.
    ///
    /// # Errors
    ///
    /// The resolver's own.
    fn into_ask(self) -> Result<Ask<Self::Value>, Self::Error>;
}

impl<T> Returned<{ shape::VALUE }> for T {
    type Value = T;
    type Error = Infallible;

    fn into_ask(self) -> Result<Ask<T>, Infallible> {
        Ok(Ask::known(self))
    }
}

impl<T> Returned<{ shape::ASK }> for Ask<T> {
    type Value = T;
    type Error = Infallible;

    fn into_ask(self) -> Result<Ask<T>, Infallible> {
        Ok(self)
    }
}

impl<T, E> Returned<{ shape::RESULT }> for Result<T, E> {
    type Value = T;
    type Error = E;

    fn into_ask(self) -> Result<Ask<T>, E> {
        self.map(Ask::known)
    }
}

impl<T, E> Returned<{ shape::RESULT_OF_ASK }> for Result<Ask<T>, E> {
    type Value = T;
    type Error = E;

    fn into_ask(self) -> Result<Ask<T>, E> {
        self
    }
}
