//! What becomes of a message: a reply, or something that runs and replies in the end.

use std::task::{Context, Poll, ready};

use bytes::Bytes;

use super::{
    listen::poll_subscription,
    session::Questions,
    write::{RpcReply, Writer, notification},
};
use crate::server::{OperationEnd, Running, RunningEnd, Started};

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
    questions: Option<Questions>,
    writer: Writer,
    running: Started,
    /// The reply, while what comes before it is taken.
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
            running => Self::Stream(Stream { questions, writer, running, last: None }),
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
        !matches!(self.running, Started::Later(_) | Started::Wrapped(_))
    }

    /// The next message; after [`Frame::Last`] there is none. What is emitted comes before what is asked at the same time.
    pub(crate) fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Frame> {
        if self.last.is_none() {
            match self.poll_running(cx) {
                Poll::Ready(Frame::Last(reply)) => self.last = Some(reply),
                Poll::Ready(frame) => return Poll::Ready(frame),
                Poll::Pending => {}
            }
        }
        let from = match &self.running {
            Started::Running(running) => Some((running.call().outbox(), &running.call().request().progress_token)),
            Started::Wrapped(wrapped) => Some((&*wrapped.outbox, &wrapped.progress_token)),
            _ => None,
        };
        if let Some((outbox, token)) = from
            && let Poll::Ready(emitted) = outbox.poll_take(cx)
        {
            return Poll::Ready(Frame::Notification(notification(&emitted, token.as_ref())));
        }
        if let Some(questions) = &mut self.questions
            && let Poll::Ready(Some(message)) = questions.poll_recv(cx)
        {
            return Poll::Ready(Frame::Request(message));
        }
        self.last.take().map_or(Poll::Pending, |reply| Poll::Ready(Frame::Last(reply)))
    }

    fn poll_running(&mut self, cx: &mut Context<'_>) -> Poll<Frame> {
        let writer = &self.writer;
        Poll::Ready(Frame::Last(match &mut self.running {
            Started::Running(running) => {
                let end = ready!(running.poll_end(cx));
                writer.ran(running, end)
            }
            Started::Discovered => writer.discovered(),
            Started::Listed(page) => writer.listed(page.clone()),
            Started::Task(task) => writer.task(task),
            Started::Acknowledged => writer.acknowledged(),
            Started::Listening(subscription) => return poll_subscription(subscription, cx, writer),
            Started::Later(later) => match ready!(later.as_mut().poll(cx)) {
                Ok(started) => return self.go_on(started, cx),
                Err(refusal) => writer.refused(refusal),
            },
            Started::Wrapped(wrapped) => {
                let reply = match ready!(wrapped.poll_end(cx)) {
                    OperationEnd::Ran(end, running) => {
                        let reply = writer.ran(&running, end);
                        // A server that stops waits for the call until its reply is taken.
                        wrapped.ran = Some(running);
                        reply
                    }
                    OperationEnd::Answered(Ok(output)) => writer.output(wrapped.subject(), output),
                    OperationEnd::Answered(Err(failed)) => writer.failed(wrapped.subject(), failed),
                    OperationEnd::Refused(refusal) => writer.refused(refusal),
                    OperationEnd::Started(started) => return self.go_on(started, cx),
                };
                reply.followed_by(wrapped.outbox.abandon())
            }
        }))
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
    /// The reply to a call that has run.
    fn ran(&self, running: &Running, end: RunningEnd) -> RpcReply {
        let reply = match end {
            RunningEnd::Done(Ok(output)) => self.output(running.subject(), output),
            RunningEnd::Done(Err(failed)) => self.failed(running.subject(), failed),
            RunningEnd::InputRequired { questions, state } => self.input_required(&questions, &state),
            RunningEnd::Detached(task) => self.detached(&task),
            RunningEnd::Parked(parking) => Self::parked(parking),
            RunningEnd::Refused(refusal) => self.refused(refusal),
        };
        reply.followed_by(running.after_reply())
    }
}
