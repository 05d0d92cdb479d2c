use std::{
    collections::VecDeque,
    fmt,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::{BufMut, Bytes, BytesMut};
use futures_util::stream::{self, BoxStream, StreamExt};
use http_body::{Body, Frame as BodyFrame, SizeHint};
use tokio::time::{Instant, Sleep, sleep};

use super::serve::RequestCount;
use crate::{
    BoxError,
    call::AfterReply,
    protocol::{Frame, ReplyBody, Stream},
};

/// The body of a response: one message, or a stream of them.
pub struct ResponseBody {
    kind: BodyKind,
    /// Held until the body has been written.
    _request: Option<RequestCount>,
}

enum BodyKind {
    /// Empty once it has been sent.
    Whole(Bytes),
    Pieces(VecDeque<Bytes>),
    Events(Box<EventStream>),
}

impl ResponseBody {
    pub(super) fn empty() -> Self {
        Self::of(BodyKind::Whole(Bytes::new()))
    }

    pub(super) fn whole(body: Bytes) -> Self {
        Self::of(BodyKind::Whole(body))
    }

    pub(super) fn reply(body: ReplyBody) -> Self {
        match body {
            ReplyBody::Whole(whole) => Self::of(BodyKind::Whole(whole)),
            list @ ReplyBody::List(_) => Self::of(BodyKind::Pieces(list.pieces().collect())),
        }
    }

    /// A stream of events.
    pub(super) fn events(source: impl stream::Stream<Item = Bytes> + Send + 'static) -> Self {
        let keep_alive = Box::pin(sleep(KEEP_ALIVE));
        Self::of(BodyKind::Events(Box::new(EventStream { source: Some(source.boxed()), keep_alive })))
    }

    fn of(kind: BodyKind) -> Self {
        Self { kind, _request: None }
    }

    /// The same body, which holds on to its request until it has been written.
    pub(super) fn holding(self, request: RequestCount) -> Self {
        Self { _request: Some(request), ..self }
    }
}

impl fmt::Debug for ResponseBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ResponseBody")
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<BodyFrame<Bytes>, BoxError>>> {
        match &mut self.get_mut().kind {
            BodyKind::Whole(whole) => {
                let whole = std::mem::take(whole);
                Poll::Ready((!whole.is_empty()).then(|| Ok(BodyFrame::data(whole))))
            }
            BodyKind::Pieces(pieces) => Poll::Ready(pieces.pop_front().map(|piece| Ok(BodyFrame::data(piece)))),
            BodyKind::Events(events) => {
                events.poll_event(cx).map(|event| event.map(|event| Ok(BodyFrame::data(event))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            BodyKind::Whole(whole) => whole.is_empty(),
            BodyKind::Pieces(pieces) => pieces.is_empty(),
            BodyKind::Events(events) => events.source.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            BodyKind::Whole(whole) => SizeHint::with_exact(whole.len() as u64),
            BodyKind::Pieces(pieces) => SizeHint::with_exact(pieces.iter().map(|piece| piece.len() as u64).sum()),
            BodyKind::Events(_) => SizeHint::default(),
        }
    }
}

/// The events of a stateless request. The call runs while the client reads; a client that goes away drops it.
pub(super) struct CallEvents {
    /// What the stream begins with.
    pub(super) first: Option<Bytes>,
    pub(super) stream: Option<Stream>,
}

impl stream::Stream for CallEvents {
    type Item = Bytes;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(first));
        }
        let Some(stream) = &mut self.stream else { return Poll::Ready(None) };
        // What is ready leaves in one piece: each costs a chunk of the body and a timer.
        let mut events = BytesMut::new();
        while events.len() < TOGETHER {
            match stream.poll_frame(cx) {
                Poll::Ready(Frame::Notification(message) | Frame::Request(message)) => {
                    put_event(&mut events, [message]);
                }
                Poll::Ready(Frame::Last(reply)) => {
                    self.stream = None;
                    let (body, after) = reply.into_parts();
                    put_event(&mut events, body.pieces());
                    return Poll::Ready(Some(AfterReply::hold(after, events.freeze())));
                }
                Poll::Pending if events.is_empty() => return Poll::Pending,
                Poll::Pending => break,
            }
        }
        Poll::Ready(Some(events.freeze()))
    }
}

/// How many bytes of events leave together, and perhaps one event more.
const TOGETHER: usize = 4 * 1024;

struct EventStream {
    source: Option<BoxStream<'static, Bytes>>,
    keep_alive: Pin<Box<Sleep>>,
}

/// An event that clients ignore.
pub(super) const COMMENT: Bytes = Bytes::from_static(b":\n\n");

/// How often a comment keeps proxies from closing a silent stream.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

impl EventStream {
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let Some(source) = &mut self.source else { return Poll::Ready(None) };
        let event = match source.poll_next_unpin(cx) {
            Poll::Ready(Some(event)) => event,
            Poll::Ready(None) => {
                self.source = None;
                return Poll::Ready(None);
            }
            Poll::Pending => match self.keep_alive.as_mut().poll(cx) {
                Poll::Ready(()) => COMMENT,
                Poll::Pending => return Poll::Pending,
            },
        };
        self.keep_alive.as_mut().reset(Instant::now() + KEEP_ALIVE);
        Poll::Ready(Some(event))
    }
}

/// One event.
pub(super) fn event(pieces: impl IntoIterator<Item = Bytes>) -> Bytes {
    let mut event = BytesMut::with_capacity(256);
    put_event(&mut event, pieces);
    event.freeze()
}

/// Adds one event. A message is JSON without line breaks, so it is one line of data.
fn put_event(events: &mut BytesMut, pieces: impl IntoIterator<Item = Bytes>) {
    events.put_slice(b"event: message\ndata: ");
    pieces.into_iter().for_each(|piece| events.put(piece));
    events.put_slice(b"\n\n");
}

/// An event that a client can come back after.
pub(super) fn event_with_id(stream: u64, number: u64, message: &Bytes) -> Bytes {
    [format!("id: {stream}-{number}\n").into(), event([message.clone()])].concat().into()
}

/// An event without a message: it has an id to come back with, and says when.
pub(super) fn retry_event(stream: u64, number: u64, retry: Duration) -> Bytes {
    format!("id: {stream}-{number}\nretry: {}\ndata: \n\n", retry.as_millis()).into()
}
