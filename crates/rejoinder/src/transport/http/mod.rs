//! Streamable HTTP: one endpoint, one POST for each request. And what else is reached over HTTP: WebSocket, HTTP+SSE.

#[cfg(feature = "auth")]
mod authorize;
mod body;
mod guard;
mod limited_stream;
mod request;
mod serve;
mod service;
mod session_stream;
mod sessions;
#[cfg(feature = "sse")]
mod sse;
#[cfg(feature = "ws")]
mod websocket;

pub use body::ResponseBody;
pub use serve::listen_address;
#[cfg(test)]
pub(super) use serve::serve;
pub use service::McpService;
pub use session_stream::ReplyStream;
