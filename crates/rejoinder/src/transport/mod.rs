//! Bytes in, bytes out. A transport knows nothing of tools.

mod args;
mod http;
mod shutdown;
mod stdio;

pub use self::{args::log_to_stderr, http::McpService};

pub(crate) use self::http::ResponseBody;
