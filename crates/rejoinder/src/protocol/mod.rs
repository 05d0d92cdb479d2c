//! Both eras on the wire: envelopes, `_meta`, headers, versions, sessions, and every error code.
//!
//! One request goes in as bytes, an [`Dispatched`] comes out; how the bytes travel is the transport's matter.

mod answer;
mod dispatch;
mod envelope;
mod error;
mod input_response;
mod listen;
mod meta;
mod older;
mod session;
mod write;

#[cfg(test)]
mod tests;

pub(crate) use answer::{Dispatched, Frame, Stream};
#[cfg(any(feature = "stdio", feature = "ws", feature = "sse"))]
pub(crate) use dispatch::is_about_session;
pub(crate) use dispatch::{Http, RequestKey, admit_request, cancelled_request, dispatch, end_request};
pub(crate) use envelope::{Envelope, batch};
pub(crate) use error::RpcError;
pub(crate) use meta::{LEGACY, MODERN, is_of_session};
pub(crate) use session::{Session, random_id};
pub(crate) use write::{ReplyBody, RpcReply, error_reply};
