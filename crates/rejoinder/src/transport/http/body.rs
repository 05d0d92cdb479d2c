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

use super::activity::Answering;
use crate::{
    BoxError,
    protocol::{Frame, ReplyBody, Stream},
};

/// The body of a response: one message, or a stream of them.
pub struct ResponseBody {
    kind: Kind,
    /// Dropped with the body, once all of it has been taken.
    _answering: Option<Answering>,
}

enum Kind {
    /// Empty once it has been sent.
    Whole(Bytes),
    Pieces(VecDeque<Bytes>),
    Events(Box<Events>),
    Other(Pin<Box<dyn Body<Data = Bytes, Error = BoxError> + Send>>),
}

impl ResponseBody {
    pub(super) fn empty() -> Self {
        Kind::Whole(Bytes::new()).into()
    }

    pub(super) fn text(text: &'static str) -> Self {
        Kind::Whole(Bytes::from_static(text.as_bytes())).into()
    }

    pub(super) fn reply(body: ReplyBody) -> Self {
        match body {
            ReplyBody::Whole(whole) => Kind::Whole(whole).into(),
            list @ ReplyBody::List { .. } => Kind::Pieces(list.pieces().collect()).into(),
        }
    }

    /// A stream of events, the first of which may have come already.
    pub(super) fn events(first: Option<Bytes>, stream: Stream) -> Self {
        let keep_alive = Box::pin(sleep(KEEP_ALIVE));
        Kind::Events(Box::new(Events { first, stream: Some(stream), keep_alive })).into()
    }

    /// A body that somebody else made.
    pub(super) fn other<B>(body: B) -> Self
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Kind::Other(Box::pin(http_body_util::BodyExt::map_err(body, Into::into))).into()
    }

    /// The same body; until all of it has been taken, its request is being answered.
    pub(super) fn until_made(mut self, answering: Answering) -> Self {
        self._answering = Some(answering);
        self
    }
}

impl From<Kind> for ResponseBody {
    fn from(kind: Kind) -> Self {
        Self { kind, _answering: None }
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
            Kind::Whole(whole) => {
                let whole = std::mem::take(whole);
                Poll::Ready((!whole.is_empty()).then(|| Ok(BodyFrame::data(whole))))
            }
            Kind::Pieces(pieces) => Poll::Ready(pieces.pop_front().map(|piece| Ok(BodyFrame::data(piece)))),
            Kind::Events(events) => events.poll_event(cx).map(|event| event.map(|event| Ok(BodyFrame::data(event)))),
            Kind::Other(body) => body.as_mut().poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Whole(whole) => whole.is_empty(),
            Kind::Pieces(pieces) => pieces.is_empty(),
            Kind::Events(events) => events.stream.is_none(),
            Kind::Other(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Whole(whole) => SizeHint::with_exact(whole.len() as u64),
            Kind::Pieces(pieces) => SizeHint::with_exact(pieces.iter().map(|piece| piece.len() as u64).sum()),
            Kind::Events(_) => SizeHint::default(),
            Kind::Other(body) => body.size_hint(),
        }
    }
}

/// Server-sent events. The call runs while the client reads; a client that goes away drops it.
struct Events {
    first: Option<Bytes>,
    stream: Option<Stream>,
    keep_alive: Pin<Box<Sleep>>,
}

/// A comment that often keeps proxies from closing a silent stream.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

impl Events {
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
