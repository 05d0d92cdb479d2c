//! What a server offers, and how a name finds it.
//!
//! [`Server`] is what an author writes; building it checks the wiring and makes an [`Engine`], which all
//! transports share. This room knows nothing of bytes on a wire, except that it keeps its lists rendered.

mod build;
mod builder;
mod cache;
mod calls;
mod completion;
mod door;
mod engine;
mod filter;
mod graph;
mod handle;
mod hub;
mod limits;
mod listening;
mod mcp_header;
mod options;
mod page;
mod registry;
mod running;
mod shelf;
mod similar;
mod state;
mod uri_template;
mod wiring;

pub use builder::{BuiltServer, Server};
pub use cache::{CacheHints, CacheScope};
pub use graph::Graph;
pub use handle::{AddError, NotOffered, ServerHandle};
pub use wiring::{BuildError, BuildProblem};

pub(crate) use calls::{Calls, RunningCall};
pub(crate) use completion::{CompleteArgument, Completion, Reference};
pub(crate) use door::{Exchange, Operation, Refusal, Started, Target, TargetKind};
pub(crate) use engine::Engine;
pub(crate) use filter::{Filter, TooMuch};
pub(crate) use hub::{Change, Subscription};
pub(crate) use limits::Limits;
pub(crate) use mcp_header::{ENCODED_HEADER, decoded_header};
pub(crate) use options::Options;
pub(crate) use page::Page;
pub(crate) use registry::{List, PromptEntry, ResourceEntry, ToolEntry};
pub(crate) use running::{Event, Failed, Running};
