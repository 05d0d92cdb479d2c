//! Streamable HTTP: one endpoint, one POST for each request.

mod body;
mod guard;
mod request;
mod serve;
mod service;

pub use body::ResponseBody;
pub use service::McpService;

pub(super) use serve::serve;
