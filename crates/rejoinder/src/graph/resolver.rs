use super::{Instance, Walk};
use crate::{
    BoxFuture,
    ask::{Outcome, shape},
    call::Argument,
    error::{CallError, Halt},
    inject::{FromCall, source},
};

/// What `#[resolver]` writes: a function whose value fills a parameter.
#[diagnostic::on_unimplemented(message = "`{Self}` is not a resolver", label = "no `#[resolver]` on this function")]
pub trait Resolver: 'static {
    /// What it makes.
    type Output: Send + Sync + 'static;

    /// Whether its value is kept for the other parameters of the round.
    const CACHED: bool;

    /// It, with its place in the graph.
    fn instance() -> &'static Instance;

    /// Fills its own parameters, calls it, and settles what it asks.
    fn run<'a>(walk: &'a Walk<'a>) -> BoxFuture<'a, Result<Outcome<Self::Output>, Halt>>;

    /// Its function, beside one that it may be: [`Functions`](super::Functions). Looked at for its type alone.
    fn beside<F>(function: F) -> impl Sized;
}

/// Whether a resolver's value is kept, by what `#[resolver(cache = ..)]` says and what its function returns.
///
/// A question is put once, so its answer is always kept.
pub const fn is_cached(said: Option<bool>, returned: u8) -> bool {
    !matches!(said, Some(false)) || shape::asks(returned)
}

/// Whether a resolver is said to ask more than once in a round, which it cannot.
pub const fn asks_again(said: Option<bool>, returned: u8) -> bool {
    matches!(said, Some(false)) && shape::asks(returned)
}

/// How a resolver's own parameter is filled where no resolver fills it, given its [`source`].
///
/// As with [`Parameter`](crate::inject::Parameter), a mistaken one implements it too.
#[diagnostic::on_unimplemented(
    message = "`{Self}` depends on a type parameter, and nothing supplies it",
    label = "cannot be filled",
    note = "take `Dep<T>` or another type that is `FromCall`; for an argument write `#[arg]` before it, and bound its type by `Argument`"
)]
pub trait ResolverParameter<const SOURCE: u8>: Sized {
    /// What it needs one more of; `()` if that is nothing.
    type Owned;

    /// Makes the parameter of that name.
    ///
    /// # Errors
    ///
    /// When an injected parameter cannot be supplied.
    fn fill(walk: &Walk<'_>, another: fn(&Self::Owned) -> Self::Owned, name: &'static str) -> Result<Self, CallError>;
}

#[diagnostic::do_not_recommend]
impl<T: FromCall> ResolverParameter<{ source::INJECTED }> for T {
    type Owned = ();

    fn fill(walk: &Walk<'_>, _: fn(&()), name: &'static str) -> Result<Self, CallError> {
        T::from_call(walk.call(), name)
    }
}

#[diagnostic::do_not_recommend]
impl<T: Argument> ResolverParameter<{ source::ARGUMENT }> for T {
    type Owned = T;

    fn fill(walk: &Walk<'_>, another: fn(&T) -> T, name: &'static str) -> Result<Self, CallError> {
        Ok(another(walk.argument(name)))
    }
}

macro_rules! mistaken {
    ($($source:ident)*) => { $(
        impl<T> ResolverParameter<{ source::$source }> for T {
            type Owned = ();

            fn fill(_: &Walk<'_>, _: fn(&()), _: &'static str) -> Result<Self, CallError> {
                unreachable!("a function with a mistaken parameter does not compile")
            }
        }
    )* };
}

mistaken!(EITHER NOTHING);
