//! Streamable HTTP: one endpoint, one POST for each request.

mod batch;
mod body;
mod guard;
mod request;
mod serve;
mod service;
mod session_stream;
mod sessions;

pub use body::ResponseBody;
pub use serve::listen_address;
pub use service::McpService;
pub use session_stream::ReplyStream;
