//! The names of HTTP headers, in lower case.
//!
//! ```
//! use rejoinder_wire::header_name;
//!
//! assert_eq!(format!("{}{}", header_name::PARAM_PREFIX, "region"), "mcp-param-region");
//! ```

/// Of every request after `initialize`: the version of the protocol.
pub const PROTOCOL_VERSION: &str = "mcp-protocol-version";
/// Of a request without a session: its method.
pub const METHOD: &str = "mcp-method";
/// Of a request without a session: the tool, prompt or resource that it is about.
pub const NAME: &str = "mcp-name";
/// Of a request in a session: the session.
pub const SESSION_ID: &str = "mcp-session-id";
/// Begins the name of a header that repeats an argument.
pub const PARAM_PREFIX: &str = "mcp-param-";
