use super::{Node, Walk};
use crate::{BoxFuture, ask::Outcome, error::Halt};

/// What `#[resolver]` writes: a function whose value fills a parameter.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a resolver",
    label = "no `#[resolver]` on this function"
)]
pub trait Resolver: 'static {
    /// What it makes.
    type Output: Send + Sync + 'static;

    /// Whether its value is kept for the other parameters of the round.
    const CACHED: bool = true;

    /// Its place in the graph.
    fn node() -> &'static Node;

    /// Fills its own parameters, calls it, and settles what it asks.
    fn run<'a>(walk: &'a Walk<'a>) -> BoxFuture<'a, Result<Outcome<Self::Output>, Halt>>;
}
