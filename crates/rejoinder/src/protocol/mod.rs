//! The stateless era on the wire: envelopes, `_meta`, headers, versions, and every error code.
//!
//! One request goes in as bytes, an [`Answer`] comes out; how the bytes travel is the transport's matter.

mod answer;
mod dispatch;
mod envelope;
mod error;
mod facts;
mod for_session;
mod headers;
mod input_response;
mod listen;
mod meta;
mod version;
mod wrapped;
mod write;

#[cfg(test)]
mod tests;

pub(crate) use answer::{Answer, Frame, Stream};
pub(crate) use dispatch::{Origin, SessionRequest, dispatch};
pub(crate) use envelope::Envelope;
pub(crate) use error::RpcError;
pub(crate) use for_session::check_for_session;
pub(crate) use version::{LEGACY, MODERN, is_legacy, is_of_session};
pub(crate) use wrapped::{unwrap, wrap};
pub(crate) use write::{Reply, ReplyBody, error_reply};
