use std::{
    collections::VecDeque,
    fmt,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::{BufMut, Bytes, BytesMut};
use http_body::{Body, Frame as BodyFrame, SizeHint};
use tokio::time::{Instant, Sleep, sleep};

use crate::{
    BoxError,
    protocol::{Frame, ReplyBody, Stream},
};

/// The body of a response: one message, or a stream of them.
pub struct ResponseBody(BodyKind);

enum BodyKind {
    /// Empty once it has been sent.
    Whole(Bytes),
    Pieces(VecDeque<Bytes>),
    Events(Box<EventStream>),
    Other(Pin<Box<dyn Body<Data = Bytes, Error = BoxError> + Send>>),
}

impl ResponseBody {
    pub(super) fn empty() -> Self {
        Self(BodyKind::Whole(Bytes::new()))
    }

    pub(super) fn text(text: &'static str) -> Self {
        Self(BodyKind::Whole(Bytes::from_static(text.as_bytes())))
    }

    pub(super) fn reply(body: ReplyBody) -> Self {
        match body {
            ReplyBody::Whole(whole) => Self(BodyKind::Whole(whole)),
            list @ ReplyBody::List { .. } => Self(BodyKind::Pieces(list.pieces().collect())),
        }
    }

    /// A stream of events; the first one may have been taken from it already.
    pub(super) fn events(first: Option<Bytes>, stream: Stream) -> Self {
        let keep_alive = Box::pin(sleep(KEEP_ALIVE));
        Self(BodyKind::Events(Box::new(EventStream { first, stream: Some(stream), keep_alive })))
    }

    /// A body of the session era.
    pub(super) fn other<B>(body: B) -> Self
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Self(BodyKind::Other(Box::pin(http_body_util::BodyExt::map_err(body, Into::into))))
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
        match &mut self.get_mut().0 {
            BodyKind::Whole(whole) => {
                let whole = std::mem::take(whole);
                Poll::Ready((!whole.is_empty()).then(|| Ok(BodyFrame::data(whole))))
            }
            BodyKind::Pieces(pieces) => Poll::Ready(pieces.pop_front().map(|piece| Ok(BodyFrame::data(piece)))),
            BodyKind::Events(events) => {
                events.poll_event(cx).map(|event| event.map(|event| Ok(BodyFrame::data(event))))
            }
            BodyKind::Other(body) => body.as_mut().poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            BodyKind::Whole(whole) => whole.is_empty(),
            BodyKind::Pieces(pieces) => pieces.is_empty(),
            BodyKind::Events(events) => events.stream.is_none(),
            BodyKind::Other(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            BodyKind::Whole(whole) => SizeHint::with_exact(whole.len() as u64),
            BodyKind::Pieces(pieces) => SizeHint::with_exact(pieces.iter().map(|piece| piece.len() as u64).sum()),
            BodyKind::Events(_) => SizeHint::default(),
            BodyKind::Other(body) => body.size_hint(),
        }
    }
}

/// Server-sent events. The call runs while the client reads; a client that disconnects drops it.
struct EventStream {
    first: Option<Bytes>,
    stream: Option<Stream>,
    keep_alive: Pin<Box<Sleep>>,
}

/// A comment that often keeps proxies from closing a silent stream.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

impl EventStream {
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(event([first])));
        }
        let Some(stream) = &mut self.stream else { return Poll::Ready(None) };
        let event = match stream.poll_frame(cx) {
            Poll::Ready(Frame::Notification(message)) => event([message]),
            Poll::Ready(Frame::Last(reply)) => {
                self.stream = None;
                event(reply.body.pieces())
            }
            Poll::Pending => match self.keep_alive.as_mut().poll(cx) {
                Poll::Ready(()) => Bytes::from_static(b":\n\n"),
                Poll::Pending => return Poll::Pending,
            },
        };
        self.keep_alive.as_mut().reset(Instant::now() + KEEP_ALIVE);
        Poll::Ready(Some(event))
    }
}

/// One event. A message is JSON without line breaks, so it is one line of data.
fn event(pieces: impl IntoIterator<Item = Bytes>) -> Bytes {
    let mut event = BytesMut::from(&b"event: message\ndata: "[..]);
    pieces.into_iter().for_each(|piece| event.put(piece));
    event.put_slice(b"\n\n");
    event.freeze()
}
