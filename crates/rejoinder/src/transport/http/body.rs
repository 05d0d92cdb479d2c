use std::{
    collections::VecDeque,
    fmt,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::{BufMut, Bytes, BytesMut};
use futures_util::{
    FutureExt,
    stream::{self, BoxStream, StreamExt, unfold},
};
use http_body::{Body, Frame as BodyFrame, SizeHint};
use tokio::time::timeout;

use super::serve::RequestCount;
use crate::{
    call::AfterReply,
    error::BoxError,
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
    Events(BoxStream<'static, Bytes>),
}

impl ResponseBody {
    pub(super) fn empty() -> Self {
        Self::whole(Bytes::new())
    }

    pub(super) fn whole(body: Bytes) -> Self {
        Self::of(BodyKind::Whole(body))
    }

    pub(super) fn reply(body: ReplyBody) -> Self {
        match body {
            ReplyBody::Whole(whole) => Self::whole(whole),
            list @ ReplyBody::List(_) => Self::of(BodyKind::Pieces(list.pieces().collect())),
        }
    }

    /// A stream of events.
    pub(super) fn events(source: impl stream::Stream<Item = Bytes> + Send + 'static) -> Self {
        let events = unfold(source.boxed(), async |mut source| {
            let event = timeout(KEEP_ALIVE, source.next()).await;
            Some((event.unwrap_or(Some(COMMENT))?, source))
        });
        Self::of(BodyKind::Events(events.fuse().boxed()))
    }

    fn of(kind: BodyKind) -> Self {
        Self { kind, _request: None }
    }

    /// Holds on to the request until the body has been written.
    pub(super) fn hold(&mut self, request: RequestCount) {
        self._request = Some(request);
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
                events.poll_next_unpin(cx).map(|event| event.map(|event| Ok(BodyFrame::data(event))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            BodyKind::Whole(whole) => whole.is_empty(),
            BodyKind::Pieces(pieces) => pieces.is_empty(),
            BodyKind::Events(_) => false,
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
pub(super) fn call_events(first: Bytes, call: Stream) -> impl stream::Stream<Item = Bytes> + Send {
    let events = unfold(Some(call), async |call| {
        let mut call = call?;
        let mut events = BytesMut::new();
        let mut frame = call.frame().await;
        loop {
            match frame {
                Frame::Notification(message) | Frame::Request(message) => put_event(&mut events, [message]),
                Frame::Last(reply) => {
                    let (body, after) = reply.into_parts();
                    put_event(&mut events, body.pieces());
                    return Some((AfterReply::hold(after, events.freeze()), None));
                }
            }
            // What is ready leaves in one piece: each costs a chunk of the body and a timer.
            let ready = if events.len() < TOGETHER { call.frame().now_or_never() } else { None };
            let Some(ready) = ready else { return Some((events.freeze(), Some(call))) };
            frame = ready;
        }
    });
    stream::iter([first]).chain(events)
}

/// How many bytes of events leave together, and perhaps one event more.
const TOGETHER: usize = 4 * 1024;

/// An event that clients ignore.
pub(super) const COMMENT: Bytes = Bytes::from_static(b":\n\n");

/// How often a comment keeps proxies from closing a silent stream.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

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
