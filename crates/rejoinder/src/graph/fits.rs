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

/// What an item has for the parameter of that name and [`source`].
///
/// It is looked up and not asked for, so that the compiler speaks of the types alone, and not of how they were found.
pub trait Offers<N, const SOURCE: u8> {
    /// The type of its argument, if the parameter, a `T`, is one.
    type Type<T>;
}

impl<A: HasArgument<N>, N> Offers<N, { source::ARGUMENT }> for A {
    type Type<T> = A::Type;
}

impl<A, N> Offers<N, { source::INJECTED }> for A {
    type Type<T> = T;
}

impl<A, N> Offers<N, { source::EITHER }> for A {
    type Type<T> = T;
}

impl<A, N> Offers<N, { source::NOTHING }> for A {
    type Type<T> = T;
}

/// A resolver which, with all that it needs, finds its arguments in the item `A`.
#[diagnostic::on_unimplemented(message = "`{Self}` is not a resolver", label = "no `#[resolver]` on this function")]
pub trait FitsIn<A> {}

/// [`FitsIn`], as it is asked for: of a trait with one implementation for all, the compiler does not list who has it.
pub trait Fits<A> {
    /// Cannot be said of a resolver that takes an argument of `A` as another type.
    const FITS: () = ();
}

impl<R: FitsIn<A>, A> Fits<A> for R {}
