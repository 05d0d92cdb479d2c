//! Resolvers: functions whose values fill parameters, and which may ask.
//!
//! `#[resolver]` writes a [`Node`] for its function, a static value. Nodes point at the nodes they need, so constant
//! evaluation can walk the whole graph while the program compiles ([`Node::check`], [`ItemNode::check`]) and report what is
//! wrong at the parameter. A call then [walks](Walk) the graph.

mod at_run_time;
mod check;
mod doubles;
mod fits;
mod from_outcome;
mod instance;
mod node;
mod resolver;
mod returned;
mod walk;

pub(crate) use at_run_time::{Resolved, Resolvers};
pub use check::Check;
pub(crate) use doubles::{Doubles, Ran, Unasked};
pub use fits::{FitsIf, FitsIn, HasArgument, Offers, SameAs};
pub use from_outcome::FromOutcome;
pub use futures_util::future::try_join;
pub use instance::Instance;
pub(crate) use instance::{bad_forms, below, needs_of};
pub(crate) use node::ByName;
pub use node::{Edge, ItemNode, Node, NodeArgument};
pub use resolver::{Resolver, ResolverParameter, Unmarked};
pub use returned::{AnyShape, Returned, Shape, shape};
pub(crate) use walk::{Arguments, Keys, Settled};
pub use walk::{FunctionArguments, Walk};
