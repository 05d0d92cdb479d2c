//! Whether the arguments that resolvers take by name have the item's types: checked by the trait solver, and only where
//! the names are known to be there, so that one mistake is one error.

use std::marker::PhantomData;

use crate::inject::source;

/// A character of a [`Name`]: constant generics take no texts.
#[derive(Debug)]
pub struct C<const CHAR: char>;

/// A name as a type: of a tuple of [`C`]s.
#[derive(Debug)]
pub struct Name<T>(PhantomData<T>);

/// An item that has an argument of that name.
pub trait HasArgument<N> {
    /// The argument's type.
    type Type;
}

/// The same type.
#[diagnostic::on_unimplemented(
    message = "the argument is a `{Self}`, and a resolver takes it as a `{T}`",
    label = "reached from here",
    note = "a resolver takes an argument by its name with the type that it has, or borrows it: `&T`, `&str` for a `String`"
)]
pub trait SameAs<T> {}

#[diagnostic::do_not_recommend]
impl<T> SameAs<T> for T {}

/// An item in which the parameter of that name, type and [`source`] finds its argument.
pub trait FitsArgument<N, T, const SOURCE: u8> {}

impl<A, N, T> FitsArgument<N, T, { source::ARGUMENT }> for A
where
    A: HasArgument<N>,
    A::Type: SameAs<T>,
{
}

impl<A, N, T> FitsArgument<N, T, { source::INJECTED }> for A {}
impl<A, N, T> FitsArgument<N, T, { source::EITHER }> for A {}
impl<A, N, T> FitsArgument<N, T, { source::NOTHING }> for A {}

/// A resolver which, with all that it needs, finds its arguments in the item `A`.
#[diagnostic::on_unimplemented(message = "`{Self}` is not a resolver", label = "no `#[resolver]` on this function")]
pub trait FitsIn<A> {}

/// [`FitsIn`], asked for only where the graph is sound.
pub trait FitsIf<A, const SOUND: bool> {}

impl<R, A> FitsIf<A, false> for R {}
impl<R: FitsIn<A>, A> FitsIf<A, true> for R {}

/// Fails for a resolver that takes an argument of `A` as another type.
pub const fn check_fits<R: FitsIf<A, SOUND>, A, const SOUND: bool>() {}
