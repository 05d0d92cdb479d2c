//! Resolvers: functions whose values fill parameters, and which may ask.

mod keys;
mod node;
mod resolver;
mod walk;

pub use keys::Keys;
pub use node::{Edge, Node, NodeArgument};
pub use resolver::Resolver;
pub use walk::{Arguments, Settled, Walk};
