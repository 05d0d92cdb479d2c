//! What a server offers: [`Server`] puts it together, [`ServerHandle`] changes it while it runs.

mod builder;
mod completion;
mod door;
mod engine;
mod gates;
mod graph;
mod handle;
mod lifecycle;
mod limits;
mod mcp_header;
pub mod middleware;
mod options;
mod registry;
mod running;
mod subscriptions;
mod timeout;
mod tool_filter;
mod uri_template;
mod wiring;

pub use builder::{BuiltServer, Server};
pub use graph::Graph;
pub use handle::{AddError, ServerHandle};
pub use lifecycle::StartError;
pub use limits::Limits;
pub use options::{CacheHints, CacheScope};
pub use wiring::{BuildError, BuildProblem};

pub use crate::item::Gated;

pub(crate) use completion::CompleteArgument;
pub(crate) use door::{Exchange, Operation, Refusal, Started, Target, TargetKind, shortened};
pub(crate) use engine::Engine;
pub(crate) use mcp_header::{ENCODED_HEADER, decoded_header};
pub(crate) use middleware::{OperationEnd, ReplySubject, WrappedEvent};
pub(crate) use options::{Callback, ServerOptions};
pub(crate) use registry::{Contents, List, Page};
pub(crate) use running::{Event, Running};
pub(crate) use subscriptions::{Change, ChangeFilter, Listener};
#[cfg(feature = "cli")]
pub(crate) use tool_filter::FilterRule;
