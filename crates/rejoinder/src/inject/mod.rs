//! What a parameter can be besides the model's argument.
//!
//! A parameter without an attribute is *injected* if its type implements [`FromCall`] and the model's
//! argument otherwise. The trait decides, not the type's name, so aliases and your own extractors work.

mod background;
mod context;
mod dep;
mod from_call;
mod header;
mod parameter;
mod principal;
mod rounds;
mod scope;
mod session_state;
mod state;

pub use background::BackgroundTasks;
pub(crate) use context::Resolved;
pub use context::{Context, PipeContext, PipeSource};
pub use dep::Dep;
pub(crate) use dep::SharedService;
pub use from_call::FromCall;
pub(crate) use from_call::Need;
#[doc(hidden)]
pub use header::FromHeader;
pub(crate) use parameter::Parameter;
#[doc(hidden)]
pub use parameter::{AnyType, ItemParameter, Probe, source};
pub use rounds::Rounds;
pub use scope::Scope;
pub use session_state::SessionState;
pub use state::State;
