//! Both eras on the wire: envelopes, `_meta`, headers, versions, sessions, and every error code.
//!
//! One request goes in as bytes, an [`Dispatched`] comes out; how the bytes travel is the transport's matter.

mod dispatch;
mod dispatched;
mod envelope;
mod error;
mod input_response;
mod listen;
mod meta;
mod older;
mod session;
mod tasks;
mod write;

#[cfg(test)]
mod tests;

#[cfg(any(feature = "stdio", feature = "ws", feature = "sse"))]
pub(crate) use dispatch::is_about_session;
pub(crate) use dispatch::{Http, RequestKey, admit_request, cancelled_request, dispatch, end_request};
pub(crate) use dispatched::{Dispatched, Frame, Stream};
pub(crate) use envelope::Envelope;
pub(crate) use error::RpcError;
pub(crate) use meta::is_of_session;
pub(crate) use session::{Session, random_id};
pub(crate) use write::{ReplyBody, RpcReply, error_reply};
