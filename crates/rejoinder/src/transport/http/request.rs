//! What a request must be before anybody looks into it.

use std::{future::poll_fn, task::Poll, time::Duration};

use ::http::{HeaderMap, StatusCode, header};
use bytes::Bytes;
use http_body::Body;
use http_body_util::{BodyExt, Limited};

use crate::protocol::RpcError;

/// Why a request was not read.
pub(super) struct Refused {
    pub(super) status: StatusCode,
    pub(super) error: RpcError,
}

impl Refused {
    pub(super) fn new(status: StatusCode, message: impl Into<std::borrow::Cow<'static, str>>) -> Self {
        Self { status, error: RpcError::invalid_request(message) }
    }
}

/// Whether the client takes a stream of events; an error if it takes nothing that there is.
pub(super) fn accepts_events(headers: &HeaderMap) -> Result<bool, Refused> {
    // What nearly every client sends.
    if headers.get(header::ACCEPT).is_some_and(|accept| accept == "application/json, text/event-stream") {
        return Ok(true);
    }
    let mut values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok()).peekable();
    if values.peek().is_none() {
        return Ok(true);
    }
    let (mut json, mut events) = (false, false);
    for kind in values.flat_map(|value| value.split(',')) {
        match &*kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase() {
            "*/*" => (json, events) = (true, true),
            "application/json" | "application/*" => json = true,
            "text/event-stream" | "text/*" => events = true,
            _ => {}
        }
    }
    if json || events {
        return Ok(events);
    }
    Err(Refused::new(StatusCode::NOT_ACCEPTABLE, "Accept must name application/json and text/event-stream"))
}

/// The body must say that it is JSON: a form in a browser cannot.
pub(super) fn check_content_type(headers: &HeaderMap) -> Result<(), Refused> {
    let kind = headers.get(header::CONTENT_TYPE);
    // What nearly every client sends.
    if kind.is_some_and(|kind| kind == "application/json") {
        return Ok(());
    }
    let kind = kind.and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(Refused::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "Content-Type must be application/json"))
}

/// Reads the body, if it is not too long and does not take too long.
pub(super) async fn read_body<B>(body: B, limit: usize, timeout: Duration) -> Result<Bytes, Refused>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let too_long = || Refused::new(StatusCode::PAYLOAD_TOO_LARGE, format!("the body is longer than {limit} bytes"));
    if body.size_hint().lower() > limit as u64 {
        return Err(too_long());
    }
    let mut read = std::pin::pin!(Limited::new(body, limit).collect());
    // Most bodies have come with their heads: only one that has not needs a clock.
    let read = match poll_fn(|cx| Poll::Ready(read.as_mut().poll(cx))).await {
        Poll::Ready(read) => Ok(read),
        Poll::Pending => tokio::time::timeout(timeout, read).await,
    };
    match read {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => Err(too_long()),
        Ok(Err(_)) => Err(Refused::new(StatusCode::BAD_REQUEST, "the body ended before it was complete")),
        Err(_) => Err(Refused::new(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time")),
    }
}
