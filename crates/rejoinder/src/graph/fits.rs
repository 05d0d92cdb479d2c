//! Whether the arguments that resolvers take by name have the item's types: checked by the trait solver.

use crate::inject::source;

/// An item that has an argument of the name with that [id](super::NodeArgument::id).
pub trait HasArgument<const NAME: u64> {
    /// The argument's type.
    type Type;
}

/// The same type.
#[diagnostic::on_unimplemented(
    message = "the argument is a `{Self}`, but a resolver takes it as a `{T}`",
    label = "a resolver that takes the argument is reached from here",
    note = "a resolver takes an argument with the type that it has, or borrows it: `&T`, `&str` for a `String`"
)]
pub trait SameAs<T> {}

#[diagnostic::do_not_recommend]
impl<T> SameAs<T> for T {}

/// What an item has for the parameter of that name and [`source`].
///
/// It is an associated type, so that the compiler reports the two types and not how they were found.
pub trait Offers<const NAME: u64, const SOURCE: u8> {
    /// The type of its argument, if the parameter, a `T`, is one.
    type Type<T>;
}

impl<A: HasArgument<NAME>, const NAME: u64> Offers<NAME, { source::ARGUMENT }> for A {
    type Type<T> = A::Type;
}

impl<A, const NAME: u64> Offers<NAME, { source::INJECTED }> for A {
    type Type<T> = T;
}

/// A resolver which, with all that it needs, finds its arguments in the item `A`.
#[diagnostic::on_unimplemented(
    message = "`#[resolve(..)]` names a function that is not a resolver",
    label = "write `#[resolver]` before this function"
)]
pub trait FitsIn<A> {}

/// [`FitsIn`], unless the graph has a mistake that is reported already: a cycle has no end for the trait solver.
pub trait FitsIf<A, const SOUND: bool> {
    /// Exists where the resolver fits.
    const FITS: () = ();
}

impl<R: FitsIn<A>, A> FitsIf<A, true> for R {}

impl<R, A> FitsIf<A, false> for R {}
