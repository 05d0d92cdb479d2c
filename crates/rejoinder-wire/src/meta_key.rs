//! The keys of `_meta` that the protocol defines.
//!
//! ```
//! assert_eq!(rejoinder_wire::meta_key::SERVER_INFO, "io.modelcontextprotocol/serverInfo");
//! ```

/// In a request: the version of the protocol.
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// In a request: what the client can do.
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// In a request: who the client is.
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// In a request: the least severe log message that the client wants.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// In a request: the token under which the client wants progress.
pub const PROGRESS_TOKEN: &str = "progressToken";
/// In a result: who the server is.
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// In a notification: the subscription that it belongs to.
pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
