use std::{
    sync::Arc,
    task::{Context, Poll},
};

use crate::{
    BoxFuture,
    ask::Parked,
    model::{CallToolResult, GetPromptResult, ResultType},
    reply::ResourceBody,
};
use bytes::Bytes;
use serde_json::json;

use super::{
    RpcError,
    failure::failure,
    listen::Listen,
    round::Bound,
    write::{Reply, error_reply, notification, result_reply, result_reply_with_meta, tool_reply},
};
use crate::server::{CacheHints, Engine, Event, Panicked, Running};

/// What becomes of a message.
#[expect(clippy::large_enum_variant, reason = "it is looked at once, right where it is made")]
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
    /// What must go well before anything runs.
    spend: Option<BoxFuture<'static, Result<(), RpcError>>>,
    kind: Kind,
}

enum Kind {
    Tool(Running<CallToolResult>, Bound),
    Prompt(Running<GetPromptResult>, Bound),
    Resource(Running<ResourceBody>, Bound, Contents),
    Later(BoxFuture<'static, Reply>),
    Listen(Listen),
}

/// What a resource's contents say of themselves.
pub(super) struct Contents {
    pub(super) uri: String,
    pub(super) mime_type: Option<&'static str>,
    pub(super) hints: CacheHints,
}

/// A message on its way to the client.
pub(crate) enum Frame {
    Notification(Bytes),
    Last(Reply),
}

impl Stream {
    pub(super) fn tool(engine: Arc<Engine>, id: Bytes, running: Running<CallToolResult>, bound: Bound) -> Self {
        Self { engine, id, spend: None, kind: Kind::Tool(running, bound) }
    }

    pub(super) fn prompt(engine: Arc<Engine>, id: Bytes, running: Running<GetPromptResult>, bound: Bound) -> Self {
        Self { engine, id, spend: None, kind: Kind::Prompt(running, bound) }
    }

    pub(super) fn resource(
        engine: Arc<Engine>,
        id: Bytes,
        running: Running<ResourceBody>,
        bound: Bound,
        contents: Contents,
    ) -> Self {
        Self { engine, id, spend: None, kind: Kind::Resource(running, bound, contents) }
    }

    /// Nothing runs before this has gone well.
    pub(super) fn after(mut self, spend: Option<BoxFuture<'static, Result<(), RpcError>>>) -> Self {
        self.spend = spend;
        self
    }

    pub(super) fn later(engine: Arc<Engine>, id: Bytes, reply: BoxFuture<'static, Reply>) -> Self {
        Self { engine, id, spend: None, kind: Kind::Later(reply) }
    }

    pub(super) fn listen(engine: Arc<Engine>, id: Bytes, listen: Listen) -> Self {
        Self { engine, id, spend: None, kind: Kind::Listen(listen) }
    }

    /// Whether this stays open until the client or the server ends it.
    pub(crate) fn is_subscription(&self) -> bool {
        matches!(self.kind, Kind::Listen(_))
    }

    /// The next message; after [`Frame::Last`] there is none.
    pub(crate) fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Frame> {
        let (engine, id) = (&self.engine, std::str::from_utf8(&self.id).unwrap_or("null"));
        if let Some(spend) = &mut self.spend {
            match spend.as_mut().poll(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(())) => self.spend = None,
                Poll::Ready(Err(error)) => return Poll::Ready(Frame::Last(error_reply(Some(id), &error))),
            }
        }
        let parked = |bound: &Bound, parked| bound.input_required(engine, id, parked);
        match &mut self.kind {
            Kind::Tool(running, bound) => {
                poll(running, cx, |asked| parked(bound, asked), |outcome| tool(engine, id, bound, outcome))
            }
            Kind::Prompt(running, bound) => {
                poll(running, cx, |asked| parked(bound, asked), |outcome| prompt(engine, id, bound, outcome))
            }
            Kind::Resource(running, bound, contents) => {
                poll(running, cx, |asked| parked(bound, asked), |outcome| resource(engine, id, outcome, contents))
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
pub(crate) type Outcome<O> = Result<Result<O, crate::error::CallError>, Panicked>;

fn poll<O: 'static>(
    running: &mut Running<O>,
    cx: &mut Context<'_>,
    parked: impl FnOnce(Parked) -> Reply,
    done: impl FnOnce(Outcome<O>) -> Reply,
) -> Poll<Frame> {
    running.poll_event(cx).map(|event| match event {
        Event::Emitted(emitted) => Frame::Notification(notification(emitted, running.call().facts())),
        Event::Parked(asked) => Frame::Last(parked(asked)),
        Event::Again => unreachable!("a round of this era ends with a reply"),
        Event::Done(outcome) => Frame::Last(done(outcome)),
    })
}

fn tool(engine: &Engine, id: &str, bound: &Bound, outcome: Outcome<CallToolResult>) -> Reply {
    let result = match outcome {
        Ok(Ok(result)) => Ok(result),
        failed => settle(bound.target(), failed),
    };
    match result {
        Ok(mut result) => {
            result.result_type.get_or_insert(ResultType::COMPLETE);
            tool_reply(id, result, &engine.info_json)
        }
        Err(error) => error_reply(Some(id), &error),
    }
}

fn prompt(engine: &Engine, id: &str, bound: &Bound, outcome: Outcome<GetPromptResult>) -> Reply {
    match flatten(bound.target(), outcome) {
        Ok(mut result) => {
            result.result_type.get_or_insert(ResultType::COMPLETE);
            result_reply_with_meta(id, result, &engine.info_json, |result| result.meta.as_deref_mut())
        }
        Err(error) => error_reply(Some(id), &error),
    }
}

fn resource(engine: &Engine, id: &str, outcome: Outcome<ResourceBody>, about: &Contents) -> Reply {
    let Contents { uri, mime_type, hints } = about;
    match flatten(uri, outcome) {
        Ok(body) => {
            let contents = body.into_contents(uri, *mime_type);
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
pub(crate) fn settle(of: &str, outcome: Outcome<CallToolResult>) -> Result<CallToolResult, RpcError> {
    match outcome {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(error)) => failure(of, Ok(error)),
        Err(panicked) => failure(of, Err(panicked)),
    }
}

/// Prompts and resources have no `isError`: what the author tells the client is a JSON-RPC error there.
pub(crate) fn flatten<O>(of: &str, outcome: Outcome<O>) -> Result<O, RpcError> {
    let error = match outcome {
        Ok(Ok(output)) => return Ok(output),
        Ok(Err(error)) => Ok(error),
        Err(panicked) => Err(panicked),
    };
    let told = matches!(error.as_ref().map(crate::error::CallError::kind), Ok(crate::error::CallErrorKind::Told(_)));
    let result = failure(of, error)?;
    let text = result.content.iter().find_map(|block| block.as_text()).map(|text| text.text.clone());
    let code = if told { RpcError::INVALID_PARAMS } else { RpcError::INTERNAL };
    Err(RpcError::new(code, text.unwrap_or_default()))
}
