//! Resolvers: functions whose values fill parameters, and which may ask.
//!
//! `#[resolver]` writes a [`Node`] for its function, a static value. Nodes point at the nodes they need, so constant
//! evaluation can walk the whole graph while the program compiles ([`Node::check`], [`ItemNode::check`]) and report what is
//! wrong at the parameter. A call then [walks](Walk) the graph.

mod at_run_time;
mod check;
mod completes;
mod from_outcome;
mod gate;
mod node;
mod pipe;
mod resolver;
mod walk;

pub(crate) use at_run_time::{Resolvers, schema_arguments};
pub use check::{Check, FitsIn, HasArgument, Offers, SameAs};
pub(crate) use completes::Complete;
pub use completes::{Completes, CompletionPart};
pub use from_outcome::{FromOutcome, check_option};
pub use futures_util::future::try_join;
pub use gate::{Gate, GateResolver};
pub use node::{Edge, Instance, ItemNode, Node, NodeArgument};
pub(crate) use node::{bad_forms, below, headers_of, may_share_states, needs_of};
pub use pipe::{IntoOut, Pipe, PipeField, PipeReturned, Piped, PipedSlot, PipesInto, finish_pipes};
pub use resolver::{AnyShape, IntoAsk, IsShared, Resolver, ResolverParameter, Returned, Shape, Unmarked, shape};
pub use walk::Walk;
pub(crate) use walk::{Arguments, Double, FunctionArguments, Keys, Settled};
