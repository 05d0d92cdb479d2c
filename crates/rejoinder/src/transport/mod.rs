//! Bytes in, bytes out. A transport knows nothing of tools.

mod args;
mod http;
mod session;
mod shutdown;
mod stdio;

pub use self::{
    args::{listen_address, log_to_stderr},
    http::{McpService, ResponseBody},
    session::ReplyStream,
};
