//! What becomes of a message: a reply, or something that runs and replies in the end.

use std::task::{Context, Poll, ready};

use bytes::Bytes;

use super::{
    listen::Listen,
    session::Questions,
    write::{RpcReply, Writer, notification},
};
use crate::{
    BoxFuture,
    server::{Event, OperationEnd, Refusal, Running, Started, Wrapped, WrappedEvent},
};

/// What becomes of a message.
#[expect(clippy::large_enum_variant, reason = "it is matched once, where it is made")]
pub(crate) enum Dispatched {
    /// A notification: there is no reply.
    Nothing,
    /// The reply, at once.
    Reply(RpcReply),
    /// Something that runs: notifications, perhaps, and a reply in the end.
    Stream(Stream),
}

/// Something that runs for a request. Dropping it cancels it.
pub(crate) struct Stream {
    /// What a call asks over its session. Dropped before the call: what the call withdraws then goes another way.
    questions: Option<Questions>,
    writer: Writer,
    kind: StreamKind,
    /// The reply, while messages before it are taken.
    last: Option<RpcReply>,
}

enum StreamKind {
    Running(Box<Running>),
    Wrapped(Box<Wrapped>),
    Listen(Listen),
    /// Gates decide first.
    Gated(BoxFuture<'static, Result<Started, Refusal>>),
}

/// A message on its way to the client.
pub(crate) enum Frame {
    Notification(Bytes),
    /// What the server asks over a session, or withdraws.
    Request(Bytes),
    Last(RpcReply),
}

impl Stream {
    /// A call, with what it asks over a session.
    pub(super) fn running(writer: Writer, running: Box<Running>, questions: Option<Questions>) -> Self {
        Self { writer, kind: StreamKind::Running(running), questions, last: None }
    }

    pub(super) fn listen(writer: Writer, listen: Listen) -> Self {
        Self { writer, kind: StreamKind::Listen(listen), questions: None, last: None }
    }

    /// An operation with middleware around it.
    pub(super) fn wrapped(writer: Writer, wrapped: Box<Wrapped>, questions: Option<Questions>) -> Self {
        Self { writer, kind: StreamKind::Wrapped(wrapped), questions, last: None }
    }

    /// An operation that gates decide about.
    pub(super) fn gated(
        writer: Writer,
        gated: BoxFuture<'static, Result<Started, Refusal>>,
        questions: Option<Questions>,
    ) -> Self {
        Self { writer, kind: StreamKind::Gated(gated), questions, last: None }
    }

    /// Whether this stays open until the client or the server ends it.
    pub(crate) fn is_subscription(&self) -> bool {
        match &self.kind {
            StreamKind::Running(_) | StreamKind::Gated(_) => false,
            StreamKind::Wrapped(wrapped) => wrapped.is_subscription(),
            StreamKind::Listen(_) => true,
        }
    }

    /// The next message; after [`Frame::Last`] there is none.
    pub(crate) fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Frame> {
        if self.last.is_none()
            && let Poll::Ready(frame) = self.poll_kind(cx)
        {
            match frame {
                Frame::Last(reply) => self.last = Some(reply),
                frame => return Poll::Ready(frame),
            }
        }
        if let Some(questions) = &mut self.questions
            && let Poll::Ready(Some(message)) = questions.poll_recv(cx)
        {
            return Poll::Ready(Frame::Request(message));
        }
        self.last.take().map_or(Poll::Pending, |reply| Poll::Ready(Frame::Last(reply)))
    }

    fn poll_kind(&mut self, cx: &mut Context<'_>) -> Poll<Frame> {
        let writer = &self.writer;
        match &mut self.kind {
            StreamKind::Running(running) => {
                let event = ready!(running.poll_event(cx));
                Poll::Ready(writer.frame(running, event))
            }
            StreamKind::Listen(listen) => listen.poll_frame(cx, writer),
            StreamKind::Gated(gated) => Poll::Ready(Frame::Last(match ready!(gated.as_mut().poll(cx)) {
                Ok(Started::Running(running)) => {
                    self.kind = StreamKind::Running(running);
                    return self.poll_kind(cx);
                }
                Ok(Started::Listed(page)) => writer.listed(page),
                Ok(_) => unreachable!("gates decide about calls, completions and lists"),
                Err(refusal) => writer.refused(refusal),
            })),
            StreamKind::Wrapped(wrapped) => {
                let (ended, after) = match ready!(wrapped.poll_event(cx)) {
                    WrappedEvent::Ended(ended, after) => (ended, after),
                    WrappedEvent::Emitted(emitted) => {
                        return Poll::Ready(Frame::Notification(notification(emitted, wrapped.request())));
                    }
                };
                let reply = match ended {
                    OperationEnd::Ran(event, running) => match writer.frame(&running, event) {
                        Frame::Last(reply) => reply,
                        frame => return Poll::Ready(frame),
                    },
                    OperationEnd::Answered(Ok(output)) => writer.output(wrapped.subject(), output),
                    OperationEnd::Answered(Err(failed)) => writer.failed(wrapped.subject(), failed),
                    OperationEnd::Refused(refusal) => writer.refused(refusal),
                    OperationEnd::Started(Started::Discovered) => writer.discovered(),
                    OperationEnd::Started(Started::Listed(page)) => writer.listed(page),
                    OperationEnd::Started(Started::Listening(subscription, filter)) => {
                        self.kind = StreamKind::Listen(Listen::new(subscription, &filter));
                        return self.poll_kind(cx);
                    }
                    OperationEnd::Started(Started::Running(_) | Started::Wrapped(_) | Started::Gated(_)) => {
                        unreachable!("a call is driven to its end")
                    }
                };
                Poll::Ready(Frame::Last(reply.followed_by(after)))
            }
        }
    }

    /// The next message.
    pub(crate) async fn frame(&mut self) -> Frame {
        std::future::poll_fn(|cx| self.poll_frame(cx)).await
    }
}

impl Writer {
    /// An event of a call as a message.
    fn frame(&self, running: &Running, event: Event) -> Frame {
        let reply = match event {
            Event::Emitted(emitted) => return Frame::Notification(notification(emitted, running.call().request())),
            Event::Done(Ok(output)) => self.output(running.subject(), output),
            Event::Done(Err(failed)) => self.failed(running.subject(), failed),
            Event::InputRequired { questions, state } => self.input_required(&questions, &state),
            Event::Refused(refusal) => self.refused(refusal),
        };
        Frame::Last(reply.followed_by(running.after_reply()))
    }
}
