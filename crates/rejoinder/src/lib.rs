//! A framework for MCP servers in which a tool's parameters say where they come from.

pub mod prelude;
mod protocol;
mod server;
mod transport;

#[doc(hidden)]
pub mod __private;

pub use server::{BuiltServer, CacheHints, CacheScope, NotOffered, Server, ServerHandle, WiringError, WiringErrors};
pub use transport::session::ReplyStream;

pub use rejoinder_core::{
    call::{Call, Completing, Era, Level},
    error::ToolError,
    inject::{Context, Dep, FromCall},
    item::{Prompt, Resource, Tool},
    model,
    reply::{Audio, Blob, Image, Json, Text},
};
