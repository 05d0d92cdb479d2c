//! The session era: clients of 2025-11-25 back to 2024-11-05.
//!
//! rmcp's session service speaks the wire; [`SessionHandler`] is the bridge from it to the same [`Engine`] that
//! serves the stateless era, so a function cannot tell which one called it. [`SessionHttp`] carries sessions over
//! Streamable HTTP, [`serve_pipe`] one session over a pair of byte streams.
//!
//! [`Engine`]: crate::server::Engine

mod awake;
mod changes;
mod drive;
mod error;
mod facts;
mod handler;
mod http;
mod line;
mod lines;
mod manager;
mod notify;
mod owners;
mod pipe;
mod readable;
mod refusal;
mod reply_stream;
mod state;

#[cfg(test)]
mod tests;

pub(crate) use handler::SessionHandler;
pub(crate) use http::{SessionBody, SessionHttp};
pub(crate) use pipe::serve_pipe;
pub(crate) use readable::readable;
pub use reply_stream::ReplyStream;
