//! What becomes of a message: a reply, or something that runs and replies in the end.

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::StatusCode;
use serde_json::{Map, Value, json, value::RawValue};

use super::{
    RpcError,
    error::failure,
    listen::Listen,
    meta::supported,
    session::Questions,
    write::{self, RpcReply, notification},
};
use crate::{
    call::{Era, Utf8Bytes},
    item::Output,
    model::{CallToolResult, ContentBlock},
    server::{Completion, Engine, Event, Failed, Page, Refusal, Running, TargetKind},
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
    /// What a call asks over its session. Dropped before the call: what it takes back then has to go another way.
    questions: Option<Questions>,
    writer: Writer,
    kind: StreamKind,
    /// The reply, while messages before it are taken.
    last: Option<RpcReply>,
}

#[expect(clippy::large_enum_variant, reason = "nearly every one is a call")]
enum StreamKind {
    Running(Running),
    Listen(Listen),
}

/// A message on its way to the client.
pub(crate) enum Frame {
    Notification(Bytes),
    /// What the server asks over a session, or takes back.
    Request(Bytes),
    Last(RpcReply),
}

impl Stream {
    /// A call, with what it asks over a session.
    pub(super) fn running(writer: Writer, running: Running, questions: Option<Questions>) -> Self {
        Self { writer, kind: StreamKind::Running(running), questions, last: None }
    }

    pub(super) fn listen(writer: Writer, listen: Listen) -> Self {
        Self { writer, kind: StreamKind::Listen(listen), questions: None, last: None }
    }

    /// Whether this stays open until the client or the server ends it.
    pub(crate) fn is_subscription(&self) -> bool {
        matches!(self.kind, StreamKind::Listen(_))
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
            StreamKind::Running(running) => running.poll_event(cx).map(|event| match event {
                Event::Emitted(emitted) => Frame::Notification(notification(emitted, running.call().request())),
                event => Frame::Last(writer.ended(running, event)),
            }),
            StreamKind::Listen(listen) => listen.poll_frame(cx, &writer.engine, writer.id()),
        }
    }

    /// The next message.
    pub(crate) async fn frame(&mut self) -> Frame {
        std::future::poll_fn(|cx| self.poll_frame(cx)).await
    }
}

/// Writes the reply to one request, in the words of its era. The one place that turns an outcome into a message.
pub(super) struct Writer {
    engine: Arc<Engine>,
    /// The request's id, as JSON.
    id: Utf8Bytes,
    era: Era,
}

impl Writer {
    pub(super) fn new(engine: &Arc<Engine>, id: Utf8Bytes, in_session: bool) -> Self {
        let era = if in_session { Era::Session } else { Era::Stateless };
        Self { engine: Arc::clone(engine), id, era }
    }

    fn id(&self) -> &str {
        &self.id
    }

    /// The last message of a call.
    fn ended(&self, running: &Running, event: Event) -> RpcReply {
        match event {
            Event::Done(Ok(output)) => self.output(running, output),
            Event::Done(Err(failed)) => self.failed(running, failed),
            Event::InputRequired { questions, state } => {
                write::question_reply(self.id(), &questions, &state, &self.engine.info_json)
            }
            Event::Refused(refusal) => self.refused(refusal),
            Event::Emitted(_) => unreachable!("a notification does not end a call"),
        }
    }

    fn output(&self, running: &Running, output: Output) -> RpcReply {
        let server = self.server();
        match output {
            Output::Tool(result) => write::tool_reply(self.id(), result, server),
            Output::Prompt(result) => write::prompt_reply(self.id(), result, server),
            Output::Completion(values) => {
                let completion = Completion::new(values);
                let completion = json!({ "values": completion.values, "total": completion.total,
                    "hasMore": completion.has_more() });
                self.result(json!({ "completion": completion }))
            }
            Output::Resource(body) => {
                let contents = running.contents();
                let mime_type = contents.and_then(|contents| contents.mime_type);
                let mut result = json!({ "contents": body.into_contents(running.target(), mime_type) });
                if let (Era::Stateless, Some(contents)) = (self.era, contents) {
                    result["ttlMs"] = contents.hints.ttl_ms.into();
                    result["cacheScope"] = json!(contents.hints.scope);
                }
                self.result(result)
            }
        }
    }

    /// What the client gets of a call that failed. Only tools have `isError`: elsewhere the text is a JSON-RPC error.
    fn failed(&self, running: &Running, failed: Failed) -> RpcReply {
        let is_tool = running.is_tool();
        let (code, text) = match failure(running.target(), failed) {
            Err(error) => return self.error(error),
            Ok(text) if is_tool => {
                return write::tool_reply(
                    self.id(),
                    CallToolResult::error(vec![ContentBlock::text(text.1)]),
                    self.server(),
                );
            }
            Ok(text) => text,
        };
        let error = RpcError::new(code, text);
        if running.contents().is_some() && code == RpcError::INVALID_PARAMS {
            let code = if self.era == Era::Session { RpcError::RESOURCE_NOT_FOUND } else { code };
            return self.error(RpcError { code, ..error.with_data(json!({ "uri": running.target() })) });
        }
        self.error(error)
    }

    pub(super) fn refused(&self, refusal: Refusal) -> RpcReply {
        match refusal {
            Refusal::BadArguments { kind: TargetKind::Tool, bad } if !self.engine.options.strict_arguments => {
                let result = CallToolResult::error(vec![ContentBlock::text(bad.to_string())]);
                write::tool_reply(self.id(), result, self.server())
            }
            Refusal::TooManySubscriptions(_) => {
                RpcReply { status: StatusCode::SERVICE_UNAVAILABLE, ..self.error(refusal.into()) }
            }
            Refusal::Unknown { kind: TargetKind::Resource, .. } if self.era == Era::Session => {
                self.error(RpcError { code: RpcError::RESOURCE_NOT_FOUND, ..refusal.into() })
            }
            refusal => self.error(refusal.into()),
        }
    }

    pub(super) fn error(&self, error: RpcError) -> RpcReply {
        match self.era {
            Era::Session => write::session_error_reply(self.id(), &error),
            _ => write::error_reply(Some(self.id()), &error),
        }
    }

    /// A page of a list, kept as bytes.
    pub(super) fn listed(&self, page: Page) -> RpcReply {
        let hints = (self.era == Era::Stateless).then_some((self.engine.options.list_hints, &*self.engine.info_json));
        write::list_reply(self.id(), page, hints)
    }

    pub(super) fn discovered(&self) -> RpcReply {
        let engine = &self.engine;
        let mut result = json!({
            "supportedVersions": supported(engine.options.sessions),
            "capabilities": engine.capabilities,
            "ttlMs": engine.options.list_hints.ttl_ms,
            "cacheScope": engine.options.list_hints.scope,
        });
        if let Some(instructions) = &engine.instructions {
            result["instructions"] = instructions.as_str().into();
        }
        self.result(result)
    }

    pub(super) fn result(&self, mut members: Value) -> RpcReply {
        let mut result = Map::new();
        if self.era == Era::Stateless {
            result.insert("resultType".to_owned(), "complete".into());
        }
        result.append(members.as_object_mut().unwrap_or(&mut Map::new()));
        write::result_reply(self.id(), &result, self.server())
    }

    /// What every result of the stateless era says about the server.
    fn server(&self) -> Option<&RawValue> {
        (self.era == Era::Stateless).then_some(&self.engine.info_json)
    }
}
