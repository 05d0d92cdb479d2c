//! Whether the name of a resolver also means its function. Functions and types are looked up apart: where a plain function
//! stands nearer than a resolver of its name, the name alone would still lead to the resolver's hidden type.
//!
//! The type of a function has no name to compare it by. But a type that a function returns as `impl Sized` shows whether it
//! is `Unpin`, and [`Functions`] are just where both are one.

use std::marker::PhantomData;

use super::naming;

/// The types of two functions: `Unpin` only if they are one.
#[derive(Debug)]
pub struct Functions<A, B>(PhantomData<(A, B)>);

impl<F> Unpin for Functions<F, F> {}

impl<A, B> Functions<A, B> {
    /// Those of these functions.
    pub const fn of(_: &A, _: &B) -> Self {
        Self(PhantomData)
    }
}

/// A resolver, by what [`Resolver::beside`](super::Resolver::beside) makes of its own function.
#[diagnostic::on_unimplemented(
    message = "this names a function that is not a resolver, and hides the resolver `{Self}`",
    label = "no `#[resolver]` on this function",
    note = "write `#[resolver]` before the function, or name the resolver by a path that leads to it"
)]
pub trait NamedBy<T> {
    /// Cannot be said of another function.
    fn named(_: T) {}
}

#[diagnostic::do_not_recommend]
impl<R, T: Unpin> NamedBy<T> for R {}

/// Lets the compiler find out the types of these: `function` is beside a resolver's, and the resolver is named by both.
pub const fn look_at<F, T>(_beside: fn(F) -> T, _function: &F, _named: fn(T)) {}

/// The resolver whose function is looked for, given its [`naming`].
///
/// There is none where the name is mistaken. Constants that refuse it are given here as the naming, so that nothing else is
/// said where they are.
pub trait Meant<const NAMING: u8> {
    /// It.
    type Type;
}

impl<T> Meant<{ naming::SOUND }> for T {
    type Type = T;
}

impl<T: Told> Meant<{ naming::TOLD }> for T {
    type Type = T::Meant;
}

/// A resolver that may have a mistake in it.
pub trait Told {
    /// Whether it has one, which the compiler has been given.
    const TOLD: bool;

    /// It, if it is a resolver in spite of that; otherwise what was given to the compiler, of which it says nothing more.
    type Meant;
}
