//! What a server offers: [`Server`] puts it together, [`ServerHandle`] changes it while it runs.

mod builder;
mod completion;
mod door;
mod drawing;
mod engine;
mod gates;
mod handle;
pub(crate) mod http;
mod lifecycle;
mod limits;
mod mcp_header;
pub mod middleware;
mod operation;
mod options;
mod refusal;
mod registry;
mod running;
mod subscriptions;
mod tasks;
mod timeout;
mod tool_filter;
mod uri_template;
mod wiring;

pub use crate::model::CacheScope;
pub use builder::{BuiltServer, Server};
pub use drawing::Graph;
pub use handle::{AddError, ServerHandle};
pub use lifecycle::StartError;
pub use limits::Limits;
pub use options::CacheHints;
pub use wiring::{BuildError, BuildProblem};

pub use crate::item::Gated;

pub(crate) use completion::CompleteArgument;
pub(crate) use door::{Exchange, Started};
pub(crate) use engine::Engine;
pub(crate) use mcp_header::decoded_header;
pub(crate) use middleware::OperationEnd;
pub(crate) use operation::{Operation, Target, TargetKind};
use options::Callback;
pub(crate) use options::ServerOptions;
pub(crate) use refusal::{Refusal, shortened};
pub(crate) use registry::{Contents, List, Page};
pub(crate) use running::{ReplySubject, Running, RunningEnd};
pub(crate) use subscriptions::{Change, ChangeFilter, Heard, Listener};
pub(crate) use tasks::TaskOperation;
#[cfg(feature = "cli")]
pub(crate) use tool_filter::FilterRule;
