//! What a call is, without network and without wire.
//!
//! Users depend on the `rejoinder` crate, which re-exports what they need from here.
//! The rooms:
//!
//! * [`ask`]: what a function may ask of the client, and what became of it.
//! * [`call`]: one call and what it knows: its facts, its arguments, what it emits.
//! * [`form`]: forms that a user can be asked to fill in.
//! * [`graph`]: resolvers, whose values fill parameters: the graph of them, its checks, and the walk through it.
//! * [`inject`]: one file for each thing a parameter can be.
//! * [`item`]: what a server offers: tools, prompts, resources, in the form the server runs them.
//! * [`reply`]: what a function may return, and what becomes of it.
//! * [`schema`]: JSON Schema that clients accept.
//! * [`error`]: how a function says that it cannot.

pub mod ask;
pub mod call;
pub mod error;
pub mod form;
pub mod graph;
pub mod inject;
pub mod item;
pub mod reply;
pub mod schema;

pub use rmcp::model;

/// A boxed future that can move between threads.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
