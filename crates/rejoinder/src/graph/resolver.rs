use std::marker::PhantomData;

use super::{Instance, Node, Walk};
use crate::{
    BoxFuture,
    ask::Outcome,
    call::Argument,
    error::Halt,
    inject::{FromCall, Parameter, source},
};

/// A function whose value fills a parameter. `#[resolver]` implements it.
#[diagnostic::on_unimplemented(
    message = "`#[resolve(..)]` names a function that is not a resolver",
    label = "write `#[resolver]` before this function"
)]
pub trait Resolver: 'static {
    /// The type of its value.
    type Output: Send + Sync + 'static;

    /// Its place in the graph, with its types.
    #[doc(hidden)]
    fn instance() -> &'static Instance;

    /// Fills its own parameters, calls it, and settles what it asks.
    #[doc(hidden)]
    fn run<'a>(walk: &'a Walk<'a>) -> BoxFuture<'a, Result<Outcome<Self::Output>, Halt>>;
}

/// What `#[resolve(..)]` means where it names a function without `#[resolver]`. It may have been written with types.
#[derive(Debug)]
pub struct Unmarked<A = (), B = (), C = (), D = ()>(PhantomData<(A, B, C, D)>);

impl<A, B, C, D> Unmarked<A, B, C, D> {
    /// It has no node: that it is not a [`Resolver`] is the error that the author sees.
    #[doc(hidden)]
    pub const fn __node() -> &'static Node {
        panic!("not a resolver")
    }
}

/// How a resolver's own parameter is filled where no resolver fills it, given its [`source`].
pub trait ResolverParameter<const SOURCE: u8>: Parameter<SOURCE> {
    /// Makes the parameter of that name from what the call supplied, or from the item's argument.
    fn fill_shared(walk: &Walk<'_>, name: &'static str, supplied: Self::Supplied) -> Self;
}

impl<T: FromCall> ResolverParameter<{ source::INJECTED }> for T {
    fn fill_shared(_: &Walk<'_>, _: &'static str, supplied: T) -> T {
        supplied
    }
}

impl<T: Argument + Clone> ResolverParameter<{ source::ARGUMENT }> for T {
    fn fill_shared(walk: &Walk<'_>, name: &'static str, (): ()) -> T {
        walk.argument::<T>(name).clone()
    }
}
