//! Resolvers: functions whose values fill parameters, and which may ask.
//!
//! `#[resolver]` writes a [`Node`] for its function, a static value. Nodes point at the nodes they need, so constant
//! evaluation can walk the whole graph while the program compiles ([`check_cycle`], [`check_item`]), and what is wrong
//! with it is told in our words, at the parameter. What is left for a call is to [`Walk`] it.

mod at_run_time;
mod by_type;
mod check;
mod double;
mod fits;
mod forms;
mod halts;
mod instance;
mod keys;
mod meant;
mod named;
mod needs;
mod node;
mod over;
mod ran;
mod report;
mod resolver;
mod seen;
mod shared;
mod unknown;
mod walk;

pub(crate) use at_run_time::{Resolved, Resolvers};
pub use check::{CycleCheck, ItemCheck, check_cycle, check_item};
pub(crate) use double::{Doubles, find_below};
pub use fits::{C, Fits, FitsIn, HasArgument, Name, Offers, SameAs};
pub(crate) use forms::bad_forms;
pub use futures_util::future::try_join;
pub use halts::Halts;
pub use instance::Instance;
pub use keys::Keys;
pub use meant::{Functions, Meant, NamedBy, Told, look_at};
pub use named::{
    GenericOver, Naming, NotGeneric, NotResolver, NotTold, NotUngiven, Place, Sound, Taken, Ungiven, Unmarked, naming,
};
pub use needs::needs_below;
pub(crate) use node::ByName;
pub use node::{Edge, ItemNode, Node, NodeArgument, node_id};
pub use over::{Needed, Wants, unless_over};
pub(crate) use ran::{Ran, Unasked};
pub(crate) use report::Report;
pub use resolver::{Resolver, ResolverParameter, asks_again, is_cached};
pub use shared::{Awaited, Made, NotShared, Shared, Sharing};
pub(crate) use walk::{Arguments, Settled};
pub use walk::{FunctionArguments, Walk};
