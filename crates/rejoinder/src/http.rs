//! How a server is reached over HTTP: [`Config`], and [`McpService`] to mount it in an application of your own.

pub use crate::server::http::{Config, PeerAddress};
#[cfg(feature = "http")]
pub use crate::transport::{McpService, ReplyStream, ResponseBody, listen_address};
