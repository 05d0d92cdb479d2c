//! Bytes in, bytes out. A transport knows nothing of tools.

mod args;
mod http;
mod session;
mod shutdown;
mod stdio;
#[cfg(test)]
mod waiting;

pub use self::{
    args::{listen_address, log_to_stderr},
    http::{McpService, ResponseBody},
    session::ReplyStream,
};
