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
mod rounds;
mod scope;
mod session_state;
mod state;

pub use background::{BackgroundTask, BackgroundTasks, TaskFuture, TaskOutput};
pub use context::{Amount, CallKey, Context, PipeContext, PipeSource, Step, StepFn, StepValue};
pub use dep::Dep;
pub use from_call::FromCall;
pub(crate) use from_call::Need;
pub use header::FromHeader;
pub use parameter::{AnyType, ItemParameter, Probe, source};
pub(crate) use parameter::{Injected, Parameter};
pub use rounds::Rounds;
pub use scope::Scope;
pub use session_state::SessionState;
pub use state::State;
