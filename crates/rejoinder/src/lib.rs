//! A framework for MCP servers in which a tool's parameters say where they come from.

// So that the macros' paths work in this crate's own tests too.
extern crate self as rejoinder;

mod error;
mod macros;
pub mod prelude;
mod protocol;
mod server;
pub mod testing;
mod transport;

#[doc(hidden)]
pub mod __private;

pub use error::{Error, Result};
pub use server::{BuiltServer, CacheHints, CacheScope, NotOffered, Server, ServerHandle, WiringError, WiringErrors};
pub use transport::{McpService, ReplyStream, ResponseBody, log_to_stderr};

pub use rejoinder_core::{
    call::{Argument, Call, Completing, Era, Level},
    error::ToolError,
    inject::{Context, Dep, FromCall},
    item::{Prompt, Resource, Tool},
    model,
    reply::{Audio, Blob, Image, IntoPrompt, IntoReply, IntoResource, Json, Text},
};
pub use rejoinder_macros::{group, prompt, resource, tool};
