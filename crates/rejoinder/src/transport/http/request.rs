//! The checks of a request before its message is read: headers, and the size and time of its body.

use std::{
    future::poll_fn,
    ops::Deref,
    pin::pin,
    sync::atomic::{AtomicUsize, Ordering},
    task::Poll,
    time::Duration,
};

use ::http::{HeaderMap, Response, StatusCode, header};
use bytes::{Bytes, BytesMut};
use http_body::Body;
use http_body_util::BodyExt;

use super::{ResponseBody, service::json};
use crate::{
    auth::ShareUsedUp,
    protocol::{RpcError, error_reply},
    server::Refusal,
};

/// Why a request is refused before its message is read.
pub(super) struct HttpRefusal {
    pub(super) status: StatusCode,
    pub(super) error: RpcError,
}

impl HttpRefusal {
    pub(super) fn new(status: StatusCode, message: impl Into<std::borrow::Cow<'static, str>>) -> Self {
        Self { status, error: RpcError::invalid_request(message) }
    }

    pub(super) fn response(self, id: Option<&str>) -> Response<ResponseBody> {
        json(error_reply(id, &self.error).with_status(self.status))
    }
}

impl From<ShareUsedUp> for HttpRefusal {
    fn from(used_up: ShareUsedUp) -> Self {
        Self { status: StatusCode::TOO_MANY_REQUESTS, error: Refusal::CallerLimit(used_up).into() }
    }
}

/// Whether the client accepts a stream of events; an error if it accepts neither JSON nor events.
pub(super) fn accepts_events(headers: &HeaderMap) -> Result<bool, HttpRefusal> {
    // Nearly every client sends this.
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
    Err(HttpRefusal::new(StatusCode::NOT_ACCEPTABLE, "Accept must contain application/json and text/event-stream"))
}

/// Checks that the body is declared as JSON, which a form in a web page cannot do.
pub(super) fn check_content_type(headers: &HeaderMap) -> Result<(), HttpRefusal> {
    let kind = headers.get(header::CONTENT_TYPE);
    // Nearly every client sends this.
    if kind.is_some_and(|kind| kind == "application/json") {
        return Ok(());
    }
    let kind = kind.and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(HttpRefusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "Content-Type must be application/json"))
}

/// How much of the body of a refused request is read and thrown away.
const MOST_REFUSED: usize = 64 * 1024 * 1024;

/// Reads on after a refusal, for a time and without keeping anything: many clients send their whole request before they
/// read, and would never see a reply that comes with the end of the connection (RFC 9112, 9.6).
pub(super) fn read_on<B>(mut body: B, waits: bool, longest: Duration)
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Send,
{
    if waits || body.is_end_stream() {
        return;
    }
    let reading = async move {
        let mut left = MOST_REFUSED;
        while left > 0
            && let Some(Ok(frame)) = body.frame().await
        {
            left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
        }
    };
    tokio::spawn(tokio::time::timeout(longest, reading));
}

/// Reads the body, up to a size and for a time.
pub(super) async fn read_body(
    body: impl Body<Data = Bytes>,
    limit: usize,
    timeout: Duration,
    unfinished: &UnfinishedBodies,
) -> Result<Bytes, HttpRefusal> {
    if body.size_hint().lower() > limit as u64 {
        return Err(too_large(limit));
    }
    let mut read = pin!(collect(body, limit, unfinished));
    // Most bodies arrive with their heads and need no timer.
    match poll_fn(|cx| Poll::Ready(read.as_mut().poll(cx))).await {
        Poll::Ready(read) => read,
        Poll::Pending => Box::pin(tokio::time::timeout(timeout, read))
            .await
            .unwrap_or_else(|_| Err(HttpRefusal::new(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time"))),
    }
}

fn too_large(limit: usize) -> HttpRefusal {
    HttpRefusal::new(StatusCode::PAYLOAD_TOO_LARGE, format!("the body is larger than {limit} bytes"))
}

/// How many bytes of bodies that have not arrived completely the server holds: connections times the size of a message
/// would be more than a machine has.
#[derive(Default)]
pub(super) struct UnfinishedBodies(AtomicUsize);

/// The most bytes of unfinished bodies together, or one message if that is larger.
const MOST_UNFINISHED: usize = 64 * 1024 * 1024;

/// How many bytes of each body do not count, so that those who hold large bodies cannot keep out ordinary requests.
const UNCOUNTED: usize = 16 * 1024;

/// What one unfinished body holds, or one unfinished message of a WebSocket.
pub(super) struct HeldBytes<U: Deref<Target = UnfinishedBodies>> {
    unfinished: U,
    bytes: usize,
}

impl<U: Deref<Target = UnfinishedBodies>> HeldBytes<U> {
    pub(super) fn new(unfinished: U) -> Self {
        Self { unfinished, bytes: 0 }
    }

    /// Counts more bytes; `false` if all together are too many. One message of the largest size is never too many.
    pub(super) fn add(&mut self, bytes: usize, largest: usize) -> bool {
        let before = self.counted();
        self.bytes += bytes;
        let more = self.counted() - before;
        more == 0 || self.unfinished.0.fetch_add(more, Ordering::Relaxed) + more <= MOST_UNFINISHED.max(largest)
    }

    fn counted(&self) -> usize {
        self.bytes.saturating_sub(UNCOUNTED)
    }

    /// Counts from zero: the body, or the message, is there.
    pub(super) fn release(&mut self) {
        self.unfinished.0.fetch_sub(self.counted(), Ordering::Relaxed);
        self.bytes = 0;
    }
}

impl<U: Deref<Target = UnfinishedBodies>> Drop for HeldBytes<U> {
    fn drop(&mut self) {
        self.release();
    }
}

/// The whole body. Written by hand because `BodyExt::collect` keeps each piece: a body of one-byte chunks would take many
/// times its size in memory. A body in one piece is not copied.
async fn collect(
    body: impl Body<Data = Bytes>,
    limit: usize,
    unfinished: &UnfinishedBodies,
) -> Result<Bytes, HttpRefusal> {
    let mut body = pin!(body);
    let mut held = HeldBytes::new(unfinished);
    let (mut first, mut all) = (Bytes::new(), BytesMut::new());
    while let Some(frame) = body.frame().await {
        let incomplete = |_| HttpRefusal::new(StatusCode::BAD_REQUEST, "the body is incomplete");
        let Ok(piece) = frame.map_err(incomplete)?.into_data() else { continue };
        if piece.len() > limit - first.len().max(all.len()) {
            return Err(too_large(limit));
        }
        if !held.add(piece.len(), limit) {
            let message = "too many request bodies are arriving at once, try again later";
            return Err(HttpRefusal::new(StatusCode::SERVICE_UNAVAILABLE, message));
        }
        if first.is_empty() && all.is_empty() {
            first = piece;
            continue;
        }
        if all.is_empty() {
            all.extend_from_slice(&std::mem::take(&mut first));
        }
        all.extend_from_slice(&piece);
    }
    Ok(if all.is_empty() { first } else { all.freeze() })
}

#[cfg(test)]
mod tests {
    use std::{collections::VecDeque, convert::Infallible};

    use futures_util::stream;
    use http_body::Frame;
    use http_body_util::StreamBody;

    use super::*;

    fn pieces(pieces: &[&'static str]) -> impl Body<Data = Bytes, Error = Infallible> {
        let frames: VecDeque<_> =
            pieces.iter().map(|piece| Ok(Frame::data(Bytes::from_static(piece.as_bytes())))).collect();
        StreamBody::new(stream::iter(frames))
    }

    async fn read(body: &[&'static str], limit: usize) -> Result<Bytes, StatusCode> {
        read_body(pieces(body), limit, Duration::from_secs(10), &UnfinishedBodies::default())
            .await
            .map_err(|refused| refused.status)
    }

    #[tokio::test]
    async fn a_body_is_the_same_however_it_is_cut() {
        for body in [&["hello"][..], &["hel", "lo"], &["", "h", "", "e", "l", "l", "o", ""]] {
            assert_eq!(read(body, 5).await.expect("five bytes"), "hello");
        }
        assert!(read(&[], 5).await.expect("no bytes").is_empty());
    }

    #[tokio::test]
    async fn one_byte_too_many_is_too_many_wherever_it_comes() {
        for body in [&["hello!"][..], &["hello", "!"], &["h", "e", "l", "l", "o", "!"]] {
            assert_eq!(read(body, 5).await, Err(StatusCode::PAYLOAD_TOO_LARGE));
        }
    }

    #[tokio::test]
    async fn a_m8_unfinished_bodies_are_limited_together() {
        const SMALL: &str = match str::from_utf8(&[b' '; UNCOUNTED]) {
            Ok(text) => text,
            Err(_) => "",
        };
        let unfinished = UnfinishedBodies::default();
        let mut other = HeldBytes::new(&unfinished);
        assert!(other.add(UNCOUNTED + MOST_UNFINISHED - 4, 5));
        let read = |body: &'static [&'static str]| {
            let body = read_body(pieces(body), UNCOUNTED + 5, Duration::from_secs(10), &unfinished);
            async { body.await.map(|body| body.len()).map_err(|refused| refused.status) }
        };
        assert_eq!(read(&[SMALL, "hel", "lo"]).await, Err(StatusCode::SERVICE_UNAVAILABLE));
        assert_eq!(read(&[SMALL, "hell"]).await, Ok(UNCOUNTED + 4));
        assert!(!other.add(100, 5));
        assert_eq!(read(&[SMALL]).await, Ok(UNCOUNTED), "small ones are always read");
        drop(other);
        assert_eq!(read(&[SMALL, "hel", "lo"]).await, Ok(UNCOUNTED + 5));
        assert_eq!(unfinished.0.into_inner(), 0, "nothing is held");
    }

    #[tokio::test]
    async fn a_body_in_one_piece_is_not_copied() {
        let piece = "hello";
        assert_eq!(read(&[piece], 5).await.expect("five bytes").as_ptr(), piece.as_ptr());
    }
}
