//! The codes of JSON-RPC errors.
//!
//! ```
//! assert_eq!(rejoinder_wire::error_code::INVALID_PARAMS, -32602);
//! ```

/// The message is not JSON.
pub const PARSE_ERROR: i32 = -32700;
/// The message is not a request.
pub const INVALID_REQUEST: i32 = -32600;
/// There is no such method.
pub const METHOD_NOT_FOUND: i32 = -32601;
/// The params are wrong.
pub const INVALID_PARAMS: i32 = -32602;
/// The server failed.
pub const INTERNAL_ERROR: i32 = -32603;
/// There is no such resource, in versions up to 2025-11-25.
pub const RESOURCE_NOT_FOUND: i32 = -32002;
/// A header does not repeat what the message says.
pub const HEADER_MISMATCH: i32 = -32020;
/// The client did not declare a capability that the request needs.
pub const MISSING_CAPABILITY: i32 = -32021;
/// The server does not speak this version.
pub const UNSUPPORTED_VERSION: i32 = -32022;
/// The user of a session's client refused what the server asked.
pub const USER_REJECTED: i32 = -1;
