//! One file for each thing a parameter can be.
//!
//! A parameter without an attribute is *injected* if its type implements [`FromCall`] and the model's
//! argument otherwise. The trait decides, not the type's name, so aliases and your own extractors work.

mod argument_of;
mod asking;
mod check;
mod context;
mod dep;
mod from_call;
mod lent;
mod parameter;
mod progress;
mod rounds;
mod scope;

pub use argument_of::{PromptArgument, ResolverArgument, ResourceArgument, ToolArgument};
pub use check::{Injectable, Suspect, refuse};
pub use context::Context;
pub use dep::Dep;
pub use from_call::{FromCall, Need};
pub use lent::Lent;
pub use parameter::{Injected, NotArgument, NotInjected, Parameter, Probe, needs, source};
pub(crate) use progress::Progress;
pub use rounds::{NotByHand, Rounds};
pub use scope::Scope;
