//! Streamable HTTP: one endpoint, one POST for each request. And what else is reached over HTTP: WebSocket, HTTP+SSE.

#[cfg(feature = "auth")]
mod authorize;
mod body;
mod guard;
#[cfg_attr(
    not(any(feature = "ws", feature = "sse")),
    expect(dead_code, reason = "no connection stays open; a `cfg` wherever they are closed is harder to read")
)]
mod open_connections;
mod request;
mod serve;
mod service;
mod session_stream;
mod sessions;
#[cfg(feature = "sse")]
mod sse;
#[cfg(feature = "ws")]
mod websocket;
mod write_timeout;

pub use body::ResponseBody;
pub use serve::listen_address;
pub use service::McpService;
pub use session_stream::ReplyStream;
