//! Streamable HTTP: one endpoint, one POST for each request.

mod activity;
mod body;
mod connections;
mod cors;
mod guard;
mod in_one;
mod request;
mod serve;
mod service;

pub use body::ResponseBody;
pub use service::McpService;

pub(super) use serve::serve;
