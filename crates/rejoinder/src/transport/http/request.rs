//! The checks of a request before its message is read: headers, and the size and time of its body.

use std::{future::poll_fn, pin::pin, task::Poll, time::Duration};

use ::http::{HeaderMap, Response, StatusCode, header, request::Parts};
use bytes::Bytes;
use http_body::Body;
use http_body_util::BodyExt;

use super::{ResponseBody, service::json};
use crate::{
    auth::{BudgetFull, Held},
    protocol::{RpcError, error_reply},
    request::head_size,
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

    /// The client does not accept the reply.
    pub(super) fn not_acceptable() -> Self {
        Self::new(StatusCode::NOT_ACCEPTABLE, "Accept must name application/json and text/event-stream")
    }

    pub(super) fn response(self, id: Option<&str>) -> Response<ResponseBody> {
        json(error_reply(id, &self.error).with_status(self.status))
    }
}

impl From<BudgetFull> for HttpRefusal {
    fn from(full: BudgetFull) -> Self {
        Self { status: full.status(), error: Refusal::Full(full).into() }
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
    if json || events { Ok(events) } else { Err(HttpRefusal::not_acceptable()) }
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

/// The longest head, in bytes: its URI and its headers.
pub(super) const LONGEST_HEAD: usize = 32 * 1024;

/// Checks the size of the head, which calls keep. A connection of our own reads no larger one.
pub(super) fn check_head(parts: &Parts) -> Result<(), HttpRefusal> {
    let uri = parts.uri.path_and_query().map_or(0, |path| path.as_str().len());
    if uri + head_size(&parts.headers) <= LONGEST_HEAD {
        return Ok(());
    }
    let reason = format!("the head is larger than {LONGEST_HEAD} bytes");
    Err(HttpRefusal::new(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, reason))
}

/// Reads the body, up to a size and for a time, while there is room for what arrives.
pub(super) async fn read_body(
    body: impl Body<Data = Bytes>,
    limit: usize,
    timeout: Duration,
    hold: impl Fn() -> Held,
) -> Result<Bytes, HttpRefusal> {
    if body.size_hint().lower() > limit as u64 {
        return Err(too_large(limit));
    }
    let mut read = pin!(collect(body, limit, hold));
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

/// How much of a body is in one piece while it arrives.
const PIECE: usize = 16 * 1024;

/// The whole body. Written by hand because `BodyExt::collect` keeps each piece: a body of one-byte chunks would take many
/// times its size in memory. One buffer that grows would leave holes of all sizes behind. A body in one piece is not copied.
async fn collect(body: impl Body<Data = Bytes>, limit: usize, hold: impl Fn() -> Held) -> Result<Bytes, HttpRefusal> {
    let (mut body, mut held) = (pin!(body), None);
    let (mut first, mut pieces, mut length) = (Bytes::new(), Vec::<Vec<u8>>::new(), 0);
    while let Some(frame) = body.frame().await {
        let incomplete = |_| HttpRefusal::new(StatusCode::BAD_REQUEST, "the body is incomplete");
        let Ok(piece) = frame.map_err(incomplete)?.into_data() else { continue };
        if piece.len() > limit - length {
            return Err(too_large(limit));
        }
        // Most bodies are here at once, and nobody waits while they are held.
        if length > 0 || !body.is_end_stream() {
            held.get_or_insert_with(&hold).grow(piece.len())?;
        }
        let added = piece.len();
        if length == 0 {
            first = piece;
        } else {
            add(&mut pieces, &std::mem::take(&mut first));
            add(&mut pieces, &piece);
        }
        length += added;
    }
    Ok(if pieces.is_empty() { first } else { pieces.concat().into() })
}

/// Adds bytes to pieces of the same size.
fn add(pieces: &mut Vec<Vec<u8>>, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match pieces.last_mut().filter(|last| last.len() < PIECE) {
            Some(last) => {
                let (now, later) = bytes.split_at(bytes.len().min(PIECE - last.len()));
                last.extend_from_slice(now);
                bytes = later;
            }
            None => pieces.push(Vec::with_capacity(if pieces.is_empty() { 0 } else { PIECE })),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::VecDeque, convert::Infallible};

    use futures_util::stream;
    use http_body::Frame;
    use http_body_util::StreamBody;

    use super::*;
    use crate::auth::{Budget, Principal};

    fn pieces(pieces: &[&'static str]) -> impl Body<Data = Bytes, Error = Infallible> {
        let frames: VecDeque<_> =
            pieces.iter().map(|piece| Ok(Frame::data(Bytes::from_static(piece.as_bytes())))).collect();
        StreamBody::new(stream::iter(frames))
    }

    async fn read(body: &[&'static str], limit: usize) -> Result<Bytes, StatusCode> {
        let read = read_body(pieces(body), limit, Duration::from_secs(10), Held::default).await;
        read.map_err(|refused| refused.status)
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
        const SMALL: &str = match str::from_utf8(&[b' '; 4 * 1024]) {
            Ok(text) => text,
            Err(_) => "",
        };
        let budget = &Budget::of_bytes(10, 8);
        let mut other = budget.hold(None).another();
        other.grow(6).expect("there is room");
        let read = async |body: &'static [&'static str], caller: Option<&Principal>| {
            let body = read_body(pieces(body), 10_000, Duration::from_secs(10), || budget.hold(caller)).await;
            body.map(|body| body.len()).map_err(|refused| refused.status)
        };
        assert_eq!(read(&[SMALL, "hel", "lo"], None).await, Err(StatusCode::SERVICE_UNAVAILABLE));
        assert_eq!(read(&[SMALL, "hell"], None).await, Ok(SMALL.len() + 4), "there is room");
        other.grow(4).expect("there is room");
        assert_eq!(read(&[SMALL], None).await, Ok(SMALL.len()), "small ones are always read");
        drop(other);
        let ada = Principal::new("ada");
        let mut first = budget.hold(Some(&ada)).another();
        first.grow(5).expect("there is room");
        assert_eq!(read(&[SMALL, "hell"], Some(&ada)).await, Err(StatusCode::TOO_MANY_REQUESTS));
        drop(first);
        assert_eq!(budget.used(), 0, "nothing is held");
    }

    #[tokio::test]
    async fn a_body_in_one_piece_is_not_copied() {
        let piece = "hello";
        assert_eq!(read(&[piece], 5).await.expect("five bytes").as_ptr(), piece.as_ptr());
    }
}
