use std::{
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use rejoinder_core::{
    BoxFuture,
    model::{CallToolResult, GetPromptResult},
    reply::ResourceBody,
};
use serde_json::json;

use super::{
    RpcError,
    listen::Listen,
    write::{Reply, error_reply, failure, notification, result_reply, result_reply_with_meta},
};
use crate::server::{CacheHints, Engine, Event, Panicked, Running};

/// What becomes of a message.
pub(crate) enum Answer {
    /// A notification: nothing is to be said.
    Nothing,
    /// The reply, at once.
    Reply(Reply),
    /// Something that runs: notifications, perhaps, and a reply in the end.
    Stream(Stream),
}

/// Something that runs for a request. Whoever drops it, cancels it.
pub(crate) struct Stream {
    engine: Arc<Engine>,
    /// The request's id, as JSON.
    id: Bytes,
    kind: Kind,
}

enum Kind {
    Tool(Running<CallToolResult>),
    Prompt(Running<GetPromptResult>),
    Resource { running: Running<ResourceBody>, uri: String, mime_type: Option<&'static str>, hints: CacheHints },
    Later(BoxFuture<'static, Reply>),
    Listen(Listen),
}

/// A message on its way to the client.
pub(crate) enum Frame {
    Notification(Bytes),
    Last(Reply),
}

impl Stream {
    pub(super) fn tool(engine: Arc<Engine>, id: Bytes, running: Running<CallToolResult>) -> Self {
        Self { engine, id, kind: Kind::Tool(running) }
    }

    pub(super) fn prompt(engine: Arc<Engine>, id: Bytes, running: Running<GetPromptResult>) -> Self {
        Self { engine, id, kind: Kind::Prompt(running) }
    }

    pub(super) fn resource(
        engine: Arc<Engine>,
        id: Bytes,
        running: Running<ResourceBody>,
        uri: String,
        mime_type: Option<&'static str>,
        hints: CacheHints,
    ) -> Self {
        Self { engine, id, kind: Kind::Resource { running, uri, mime_type, hints } }
    }

    pub(super) fn later(engine: Arc<Engine>, id: Bytes, reply: BoxFuture<'static, Reply>) -> Self {
        Self { engine, id, kind: Kind::Later(reply) }
    }

    pub(super) fn listen(engine: Arc<Engine>, id: Bytes, listen: Listen) -> Self {
        Self { engine, id, kind: Kind::Listen(listen) }
    }

    /// Whether this stays open until the client or the server ends it.
    pub(crate) fn is_subscription(&self) -> bool {
        matches!(self.kind, Kind::Listen(_))
    }

    /// The next message; after [`Frame::Last`] there is none.
    pub(crate) fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Frame> {
        let (engine, id) = (&self.engine, std::str::from_utf8(&self.id).unwrap_or("null"));
        match &mut self.kind {
            Kind::Tool(running) => poll(running, cx, |outcome| tool(engine, id, outcome)),
            Kind::Prompt(running) => poll(running, cx, |outcome| prompt(engine, id, outcome)),
            Kind::Resource { running, uri, mime_type, hints } => {
                poll(running, cx, |outcome| resource(engine, id, outcome, uri, *mime_type, *hints))
            }
            Kind::Later(reply) => reply.as_mut().poll(cx).map(Frame::Last),
            Kind::Listen(listen) => listen.poll_frame(cx, engine, id),
        }
    }

    /// The next message.
    pub(crate) async fn frame(&mut self) -> Frame {
        std::future::poll_fn(|cx| self.poll_frame(cx)).await
    }
}

/// How a function ended.
pub(crate) type Outcome<O> = Result<Result<O, rejoinder_core::error::ToolError>, Panicked>;

fn poll<O>(running: &mut Running<O>, cx: &mut Context<'_>, reply: impl FnOnce(Outcome<O>) -> Reply) -> Poll<Frame> {
    running.poll_event(cx).map(|event| match event {
        Event::Emitted(emitted) => Frame::Notification(notification(emitted, running.call().facts())),
        Event::Done(outcome) => Frame::Last(reply(outcome)),
    })
}

fn tool(engine: &Engine, id: &str, outcome: Outcome<CallToolResult>) -> Reply {
    match settle(outcome) {
        Ok(result) => {
            result_reply_with_meta(id, result, &engine.info_json, |result| result.meta.as_mut().map(|meta| &mut **meta))
        }
        Err(error) => error_reply(Some(id), &error),
    }
}

fn prompt(engine: &Engine, id: &str, outcome: Outcome<GetPromptResult>) -> Reply {
    match flatten("prompt", outcome) {
        Ok(result) => {
            result_reply_with_meta(id, result, &engine.info_json, |result| result.meta.as_mut().map(|meta| &mut **meta))
        }
        Err(error) => error_reply(Some(id), &error),
    }
}

fn resource(
    engine: &Engine,
    id: &str,
    outcome: Outcome<ResourceBody>,
    uri: &str,
    mime_type: Option<&str>,
    hints: CacheHints,
) -> Reply {
    match flatten("resource", outcome) {
        Ok(body) => {
            let contents = body.into_contents(uri, mime_type);
            let result = json!({ "resultType": "complete", "contents": contents,
                "ttlMs": hints.ttl_ms, "cacheScope": hints.scope });
            result_reply(id, &result, &engine.info_json)
        }
        Err(error) if error.code == RpcError::INVALID_PARAMS && error.data.is_none() => {
            error_reply(Some(id), &error.with_data(json!({ "uri": uri })))
        }
        Err(error) => error_reply(Some(id), &error),
    }
}

/// What the client gets of a tool's outcome.
pub(crate) fn settle(outcome: Outcome<CallToolResult>) -> Result<CallToolResult, RpcError> {
    match outcome {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(error)) => failure("tool", Ok(error)),
        Err(panicked) => failure("tool", Err(panicked)),
    }
}

/// Prompts and resources have no `isError`: what the author tells the client is a JSON-RPC error there.
pub(crate) fn flatten<O>(of: &str, outcome: Outcome<O>) -> Result<O, RpcError> {
    let error = match outcome {
        Ok(Ok(output)) => return Ok(output),
        Ok(Err(error)) => Ok(error),
        Err(panicked) => Err(panicked),
    };
    let told = matches!(
        error.as_ref().map(rejoinder_core::error::ToolError::kind),
        Ok(rejoinder_core::error::ToolErrorKind::Told(_))
    );
    let result = failure(of, error)?;
    let text = result.content.iter().find_map(|block| block.as_text()).map(|text| text.text.clone());
    let code = if told { RpcError::INVALID_PARAMS } else { RpcError::INTERNAL };
    Err(RpcError::new(code, text.unwrap_or_default()))
}
