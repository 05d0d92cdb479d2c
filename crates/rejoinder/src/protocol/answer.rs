//! What becomes of a message: a reply, or something that runs and replies in the end.

use std::task::{Context, Poll, ready};

use bytes::Bytes;

use super::{
    listen::poll_subscription,
    session::Questions,
    write::{RpcReply, Writer, notification},
};
use crate::server::{Event, OperationEnd, Running, Started, WrappedEvent};

/// What becomes of a message.
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
    questions: Option<Box<OpenQuestions>>,
    writer: Writer,
    running: Started,
}

/// What a call asks over its session, which leaves before the reply.
struct OpenQuestions {
    questions: Questions,
    /// The reply, while questions before it are taken.
    last: Option<RpcReply>,
}

/// A message on its way to the client.
pub(crate) enum Frame {
    Notification(Bytes),
    /// What the server asks over a session, or withdraws.
    Request(Bytes),
    Last(RpcReply),
}

impl Dispatched {
    /// What becomes of an operation that has passed the door, and where the questions of its call over a session arrive.
    pub(super) fn new(writer: Writer, started: Started, questions: Option<Questions>) -> Self {
        match started {
            Started::Discovered => Self::Reply(writer.discovered()),
            Started::Listed(page) => Self::Reply(writer.listed(page)),
            running => {
                let questions = questions.map(|questions| Box::new(OpenQuestions { questions, last: None }));
                Self::Stream(Stream { questions, writer, running })
            }
        }
    }
}

impl Stream {
    /// Whether this stays open until the client or the server ends it.
    pub(crate) fn is_subscription(&self) -> bool {
        match &self.running {
            Started::Wrapped(wrapped) => wrapped.is_subscription(),
            running => matches!(running, Started::Listening(_)),
        }
    }

    /// Whether gates and middleware have let it in.
    pub(crate) fn is_decided(&self) -> bool {
        !matches!(self.running, Started::Gated(_) | Started::Wrapped(_))
    }

    /// The next message; after [`Frame::Last`] there is none.
    pub(crate) fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Frame> {
        let is_over = self.questions.as_ref().is_some_and(|open| open.last.is_some());
        let polled = if is_over { Poll::Pending } else { self.poll_running(cx) };
        let Some(open) = &mut self.questions else { return polled };
        match polled {
            Poll::Ready(Frame::Last(reply)) => open.last = Some(reply),
            Poll::Ready(frame) => return Poll::Ready(frame),
            Poll::Pending => {}
        }
        match open.questions.poll_recv(cx) {
            Poll::Ready(Some(message)) => Poll::Ready(Frame::Request(message)),
            _ => open.last.take().map_or(Poll::Pending, |reply| Poll::Ready(Frame::Last(reply))),
        }
    }

    fn poll_running(&mut self, cx: &mut Context<'_>) -> Poll<Frame> {
        let writer = &self.writer;
        match &mut self.running {
            Started::Running(running) => {
                let event = ready!(running.poll_event(cx));
                Poll::Ready(writer.frame(running, event))
            }
            Started::Discovered => Poll::Ready(Frame::Last(writer.discovered())),
            Started::Listed(page) => Poll::Ready(Frame::Last(writer.listed(page.clone()))),
            Started::Listening(subscription) => poll_subscription(subscription, cx, writer),
            Started::Gated(gated) => match ready!(gated.as_mut().poll(cx)) {
                Ok(started) => self.go_on(started, cx),
                Err(refusal) => Poll::Ready(Frame::Last(writer.refused(refusal))),
            },
            Started::Wrapped(wrapped) => {
                let (ended, after) = match ready!(wrapped.poll_event(cx)) {
                    WrappedEvent::Ended(ended, after) => (ended, after),
                    WrappedEvent::Emitted(emitted) => {
                        return Poll::Ready(Frame::Notification(notification(&emitted, wrapped.request())));
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
                    OperationEnd::Started(started) => return self.go_on(started, cx),
                };
                Poll::Ready(Frame::Last(reply.followed_by(after)))
            }
        }
    }

    /// Continues with an operation that something decided about first.
    fn go_on(&mut self, started: Started, cx: &mut Context<'_>) -> Poll<Frame> {
        self.running = started;
        self.poll_running(cx)
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
            Event::Emitted(emitted) => return Frame::Notification(notification(&emitted, running.call().request())),
            Event::Done(Ok(output)) => self.output(running.subject(), output),
            Event::Done(Err(failed)) => self.failed(running.subject(), failed),
            Event::InputRequired { questions, state } => self.input_required(&questions, &state),
            Event::Refused(refusal) => self.refused(refusal),
        };
        Frame::Last(reply.followed_by(running.after_reply()))
    }
}
