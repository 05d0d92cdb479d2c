//! Batches: several messages in one POST, which only protocol version 2025-03-26 has.

use std::future::ready;

use ::http::{Response, StatusCode, header, request::Parts};
use bytes::Bytes;
use futures_util::stream::{self, StreamExt, select_all};
use http_body_util::BodyExt;

use super::{
    ResponseBody,
    body::event,
    request::HttpRefusal,
    service::{event_stream, json, status},
    sessions::HttpSessions,
};
use crate::{
    call::held,
    protocol::{Envelope, batch, error_reply},
};

impl HttpSessions {
    /// Takes a batch. The replies are an array, or events if one of its calls does not end at once.
    pub(super) async fn post_batch(&self, parts: &Parts, body: &Bytes) -> Result<Response<ResponseBody>, HttpRefusal> {
        let session = self.of_request(parts)?;
        if session.session.version() != Some("2025-03-26") {
            let reason = "batches are only in protocol version 2025-03-26: send one message per request";
            return Err(HttpRefusal::new(StatusCode::BAD_REQUEST, reason));
        }
        let Some(messages) = batch(body) else {
            return Err(HttpRefusal::new(StatusCode::BAD_REQUEST, "a batch is an array of 1 to 100 messages"));
        };
        let (mut replies, mut streams) = (Vec::new(), Vec::new());
        for message in messages {
            let response = match Envelope::read(&message) {
                Ok(envelope) => self.receive(&session, parts.clone(), &message, envelope).await,
                Err(bad) => json(error_reply(bad.id.as_deref(), &bad.error)),
            };
            match response.headers().get(header::CONTENT_TYPE).map(|kind| kind == "application/json") {
                // It has no reply.
                None => {}
                Some(true) => replies.extend(response.into_body().collect().await.map(|body| body.to_bytes()).ok()),
                Some(false) => streams.push(response.into_body().into_data_stream()),
            }
        }
        Ok(if !streams.is_empty() {
            let replies = stream::iter(replies).map(|reply| held(event([reply.clone()]), reply));
            let running = select_all(streams).filter_map(|piece| ready(piece.ok()));
            event_stream(ResponseBody::events(replies.chain(running)))
        } else if replies.is_empty() {
            status(StatusCode::ACCEPTED)
        } else {
            let each: Vec<&[u8]> = replies.iter().map(|reply| &reply[..]).collect();
            let array = Bytes::from([b"[", &*each.join(&b','), b"]"].concat());
            // What waits until a reply has left waits for the array.
            let mut response = Response::new(ResponseBody::whole(held(array, replies)));
            response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
            response
        })
    }
}
