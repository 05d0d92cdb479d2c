//! Replies and notifications as bytes. The one place that turns an outcome into a message, in the words of its era.

use std::{mem, sync::Arc};

use bytes::Bytes;
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json, value::RawValue};

use super::{
    RpcError,
    error::{SeenFailure, failure, incident},
    meta::supported,
    older::in_words_of,
    session::Session,
    tasks::{ShownTask, task_of},
};
use crate::{
    ask::Question,
    call::{AfterReply, Emitted, Utf8Bytes},
    error::Failed,
    model::{
        CacheScope, CallToolResult, ContentBlock, ResultType, Task, error_code,
        meta_key::{self, SUBSCRIPTION_ID},
        version,
    },
    reply::Output,
    request::{Era, ProgressToken},
    server::{CacheHints, Engine, Page, Refusal, ReplySubject, TargetKind},
    tasks::{Parking, TaskSnapshot},
};

/// The final message of a request.
#[derive(Debug)]
pub(crate) struct RpcReply {
    /// What HTTP says, if nothing has been said yet.
    pub(crate) status: StatusCode,
    body: ReplyBody,
    after: Option<AfterReply>,
    /// What the caller must be allowed to do, if that is why it is refused.
    pub(crate) scopes: Vec<String>,
    /// What it is to a run of a task.
    pub(super) to_run: RunReply,
}

/// What a reply is to a run of a task, which keeps it instead of sending it.
#[derive(Debug, Default)]
pub(super) enum RunReply {
    /// The end of the task.
    #[default]
    Replied,
    /// Nothing yet: the task waits.
    Parked(Box<Parking>),
    /// Nothing: the function did not run here.
    NotRun,
}

impl RpcReply {
    fn new(status: StatusCode, body: ReplyBody) -> Self {
        Self { status, body, after: None, scopes: Vec::new(), to_run: RunReply::Replied }
    }

    /// The same reply with another status.
    pub(crate) fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    /// The same reply, with what waits until it has left.
    pub(crate) fn followed_by(self, after: Option<AfterReply>) -> Self {
        Self { after, ..self }
    }

    /// The message, for a transport that sends these bytes themselves: what waits until the reply has left starts when its
    /// last byte is let go of.
    pub(crate) fn into_body(self) -> ReplyBody {
        match self.body {
            ReplyBody::Whole(whole) => ReplyBody::Whole(AfterReply::hold(self.after, whole)),
            ReplyBody::List(mut pieces) => {
                pieces[1] = AfterReply::hold(self.after, mem::take(&mut pieces[1]));
                ReplyBody::List(pieces)
            }
        }
    }

    /// The message, and what to drop when a copy of it has been sent.
    pub(crate) fn into_parts(self) -> (ReplyBody, Option<AfterReply>) {
        (self.body, self.after)
    }
}

/// A reply without its id: it can be kept, and be shown to another request.
#[derive(Debug, Deserialize)]
pub(super) struct StoredReply {
    pub(super) result: Option<Box<RawValue>>,
    pub(super) error: Option<Box<RawValue>>,
}

/// A message: one piece, or a list that is kept as bytes after a head.
#[derive(Debug)]
pub(crate) enum ReplyBody {
    Whole(Bytes),
    List(Box<[Bytes; 2]>),
}

impl ReplyBody {
    /// Its size in bytes.
    #[cfg(any(feature = "stdio", feature = "ws", feature = "sse"))]
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Whole(whole) => whole.len(),
            Self::List(pieces) => pieces.iter().map(Bytes::len).sum(),
        }
    }

    /// The pieces, in order.
    pub(crate) fn pieces(self) -> impl Iterator<Item = Bytes> {
        let (whole, list) = match self {
            Self::Whole(whole) => (Some(whole), None),
            Self::List(list) => (None, Some(*list)),
        };
        whole.into_iter().chain(list.into_iter().flatten())
    }

    /// The message in one piece.
    pub(crate) fn whole(self) -> Bytes {
        match self {
            Self::Whole(whole) => whole,
            list => list.pieces().collect::<Vec<_>>().concat().into(),
        }
    }
}

/// Writes the reply to one request.
pub(super) struct Writer {
    engine: Arc<Engine>,
    /// The request's id, as JSON.
    id: Utf8Bytes,
    era: Era,
    /// The version of a session that does not use the newest one.
    older: Option<&'static str>,
}

impl Writer {
    pub(super) fn new(engine: &Arc<Engine>, id: Utf8Bytes, session: Option<&Session>) -> Self {
        let era = if session.is_some() { Era::Session } else { Era::Stateless };
        let older = session.and_then(Session::version).filter(|version| *version != version::SESSION[0]);
        Self { engine: Arc::clone(engine), id, era, older }
    }

    /// What a call returned.
    pub(super) fn output(&self, subject: ReplySubject<'_>, output: Output) -> RpcReply {
        match output {
            Output::Tool(result) => self.tool(*result),
            Output::Prompt(mut result) => {
                result.result_type = self.result_type(result.result_type);
                let has_server = self.add_server(result.meta.as_mut());
                self.serialized(&result, has_server)
            }
            Output::Completion(values) => {
                // The protocol allows a hundred values.
                let (total, has_more) = (values.len(), values.len() > 100);
                let values = &values[..total.min(100)];
                self.result(json!({ "completion": { "values": values, "total": total, "hasMore": has_more } }))
            }
            Output::Resource(body) => {
                let ReplySubject { name, contents, .. } = subject;
                let mime_type = contents.and_then(|contents| contents.mime_type);
                let mut result = json!({ "contents": body.into_contents(name, mime_type) });
                if let (Era::Stateless, Some(contents)) = (self.era, contents) {
                    result["ttlMs"] = contents.hints.ttl_ms.into();
                    result["cacheScope"] = json!(contents.hints.scope);
                }
                self.result(result)
            }
        }
    }

    /// What a tool returned. Most return one text and nothing else, which needs no serializer.
    fn tool(&self, mut result: CallToolResult) -> RpcReply {
        result.result_type = self.result_type(result.result_type);
        let is_simple = result.structured_content.is_none() || self.older.is_none();
        let Some(text) = only_text(&result).filter(|_| is_simple) else {
            let has_server = self.add_server(result.meta.as_mut());
            return self.serialized(&result, has_server);
        };
        let mut out = self.result_head(256 + text.len());
        out.extend_from_slice(br#""content":[{"type":"text","text":"#);
        json(&mut out, text);
        out.extend_from_slice(b"}]");
        if let Some(structured) = &result.structured_content {
            out.extend_from_slice(br#","structuredContent":"#);
            json(&mut out, structured);
        }
        out.extend_from_slice(br#","isError":false"#);
        self.end(out, false)
    }

    /// A tool's result with `isError`.
    fn tool_error(&self, text: impl Into<String>) -> RpcReply {
        self.tool(CallToolResult::error(vec![ContentBlock::text(text)]))
    }

    /// What the client gets of a call that failed. Only tools have `isError`.
    pub(super) fn failed(&self, subject: ReplySubject<'_>, failed: Failed) -> RpcReply {
        let error = match failure(subject, self.era, failed) {
            SeenFailure::Text(error) if subject.kind == Some(TargetKind::Tool) => {
                return self.tool_error(error.message);
            }
            SeenFailure::Text(error) | SeenFailure::Error(error) => error,
        };
        // An error of the author's code says nothing about the request, so it does not choose the status.
        let is_refused = self.era == Era::Stateless && error.code == error_code::MISSING_CAPABILITY;
        let status = if is_refused { StatusCode::BAD_REQUEST } else { StatusCode::OK };
        RpcReply { status, ..self.error(error) }
    }

    /// Why an operation did not start.
    pub(super) fn refused(&self, refusal: Refusal) -> RpcReply {
        // What a client that probes for hidden items sends. Nothing of the request is logged: it may be a secret.
        let probed = match &refusal {
            Refusal::UnknownCursor => Some("its cursor is unknown"),
            Refusal::HeaderMismatch(_) => Some("a header differs from the argument that it repeats"),
            Refusal::NothingToComplete(_) => Some("it completes an unknown argument"),
            Refusal::InsufficientScope(_) => Some("its caller lacks a scope"),
            _ => None,
        };
        if let Some((reason, times)) = probed.and_then(|reason| Some((reason, self.engine.refusal_due(reason.into())?)))
        {
            tracing::warn!(times, "refused a request: {reason}");
        }
        let stateless = |status| (self.era == Era::Stateless).then_some(status);
        let (status, scopes) = match &refusal {
            Refusal::BadArguments { kind: TargetKind::Tool, bad } if !self.engine.is_strict() => {
                return self.tool_error(bad.to_string());
            }
            Refusal::Full(full) => (stateless(full.status()), Vec::new()),
            Refusal::Stopping => (stateless(StatusCode::SERVICE_UNAVAILABLE), Vec::new()),
            Refusal::Expired => (stateless(StatusCode::UNAUTHORIZED), Vec::new()),
            Refusal::Keeper(error) => {
                if let Some(times) = self.engine.refusal_due("the keeper of tasks".into()) {
                    tracing::error!(times, %error, "refused a request");
                }
                (stateless(StatusCode::SERVICE_UNAVAILABLE), Vec::new())
            }
            Refusal::SealedTask => {
                if let Some(times) = self.engine.refusal_due("a sealed task".into()) {
                    tracing::warn!(times, "refused a request: {refusal}: give all processes the same keys");
                }
                (stateless(StatusCode::SERVICE_UNAVAILABLE), Vec::new())
            }
            Refusal::NeedsTasks if self.era == Era::Session => return self.tool_error(refusal.to_string()),
            // Clients of both eras ask their user for more. Where they cannot, some of them end at such a status.
            Refusal::InsufficientScope(scopes) if self.engine.can_step_up() => {
                (Some(StatusCode::FORBIDDEN), scopes.clone())
            }
            Refusal::InsufficientScope(_) => (Some(StatusCode::OK), Vec::new()),
            _ => (None, Vec::new()),
        };
        let is_resource = matches!(refusal, Refusal::Unknown { kind: TargetKind::Resource, .. });
        // Another process may have the tool, or the room.
        let may_run_elsewhere = matches!(refusal, Refusal::Unknown { .. } | Refusal::Full(_) | Refusal::Stopping);
        let to_run = if may_run_elsewhere { RunReply::NotRun } else { RunReply::Replied };
        let mut error = RpcError::from(refusal);
        if is_resource && self.era == Era::Session {
            error.code = error_code::RESOURCE_NOT_FOUND;
        }
        let reply = self.error(error);
        RpcReply { status: status.unwrap_or(reply.status), scopes, to_run, ..reply }
    }

    pub(super) fn error(&self, error: RpcError) -> RpcReply {
        match self.era {
            // A session may use any code, and some of its clients do not read the body of an error status.
            Era::Session => RpcReply::new(StatusCode::OK, error_body(&self.id, error.code, &error)),
            _ => error_reply(Some(&self.id), &error),
        }
    }

    /// What a round asks. Its state is a token, in which there is nothing to escape.
    pub(super) fn input_required(&self, questions: &[(Arc<str>, Question)], token: &str) -> RpcReply {
        let mut out = head(&self.id, 640 + token.len());
        out.extend_from_slice(br#","result":{"resultType":"input_required","#);
        if !questions.is_empty() {
            out.extend_from_slice(br#""inputRequests":"#);
            for (index, (key, question)) in questions.iter().enumerate() {
                out.push(if index == 0 { b'{' } else { b',' });
                json(&mut out, &**key);
                out.push(b':');
                json(&mut out, question);
            }
            out.extend_from_slice(b"},");
        }
        for part in [r#""requestState":""#, token, r#"""#] {
            out.extend_from_slice(part.as_bytes());
        }
        self.end(out, false)
    }

    /// The task as which a call goes on.
    pub(super) fn detached(&self, task: &TaskSnapshot) -> RpcReply {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct CreateTaskResult {
            result_type: &'static str,
            #[serde(flatten)]
            task: Task,
        }
        self.serialized(&CreateTaskResult { result_type: "task", task: task_of(task, self.engine.tasks_now()) }, false)
    }

    /// What a run of a task waits for. It is not sent.
    pub(super) fn parked(parking: Box<Parking>) -> RpcReply {
        RpcReply { to_run: RunReply::Parked(parking), ..RpcReply::new(StatusCode::OK, ReplyBody::Whole(Bytes::new())) }
    }

    /// A task, as it is now.
    pub(super) fn task(&self, task: &TaskSnapshot) -> RpcReply {
        let mut out = self.result_head(512);
        let shown = ShownTask::of(task, self.engine.tasks_now()).to_json();
        out.extend_from_slice(&shown.as_bytes()[1..shown.len() - 1]);
        self.end(out, false)
    }

    /// What the client wanted is done, and there is nothing to say about it: not even which server did it, because the client
    /// of rmcp takes an acknowledgement with `_meta` for the result of a tool.
    pub(super) fn acknowledged(&self) -> RpcReply {
        self.serialized(&json!({ "resultType": "complete" }), true)
    }

    /// A page of a list, which is kept as bytes. The stateless era says for how long it may be cached, and by whom.
    pub(super) fn listed(&self, page: Page) -> RpcReply {
        if self.older.is_some()
            && let Ok(result) = serde_json::from_slice::<Value>(&[b"{", &*page.members, b"}"].concat())
        {
            return self.result(result);
        }
        let is_stateless = self.era == Era::Stateless;
        let ended = page.ended[usize::from(is_stateless)].get_or_init(|| {
            let mut ended = page.members.to_vec();
            if is_stateless {
                // The next request may find other gates open.
                let default = if page.is_gated { CacheHints::CONTENTS } else { CacheHints::LISTS };
                let hints = self.engine.list_hints().unwrap_or(&default);
                ended.extend_from_slice(format!(",\"ttlMs\":{},\"cacheScope\":", hints.ttl_ms).as_bytes());
                json(&mut ended, if page.is_gated { &CacheScope::Private } else { &hints.scope });
            }
            self.end_result(&mut ended, false);
            ended.into()
        });
        let list = [self.result_head(64).into(), ended.clone()];
        RpcReply::new(StatusCode::OK, ReplyBody::List(Box::new(list)))
    }

    pub(super) fn discovered(&self) -> RpcReply {
        let engine = &self.engine;
        let hints = engine.list_hints().unwrap_or(&CacheHints::LISTS);
        let mut result = json!({
            "supportedVersions": supported(engine.has_sessions()),
            "capabilities": engine.capabilities(),
            "ttlMs": hints.ttl_ms,
            "cacheScope": hints.scope,
        });
        if let Some(instructions) = engine.instructions() {
            result["instructions"] = instructions.into();
        }
        self.result(result)
    }

    /// The last message of a subscription that the server ends.
    pub(super) fn unsubscribed(&self) -> RpcReply {
        let mut out = self.result_head(256);
        // The id as it was sent: a number may be too large for any type of ours.
        for part in [r#""_meta":{""#, SUBSCRIPTION_ID, r#"":"#, &self.id, r#",""#, meta_key::SERVER_INFO, r#"":"#] {
            out.extend_from_slice(part.as_bytes());
        }
        out.extend_from_slice(self.engine.info_json().get().as_bytes());
        out.push(b'}');
        self.end(out, true)
    }

    /// A notification of a subscription, which names it.
    pub(super) fn of_subscription(&self, method: &str, mut params: String) -> Bytes {
        params.pop();
        if params.len() > 1 {
            params.push(',');
        }
        let id = &*self.id;
        Bytes::from(format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\",\"params\":{params}\"_meta\":{{\"{SUBSCRIPTION_ID}\":{id}}}}}}}"
        ))
    }

    /// A result of these members.
    pub(super) fn result(&self, mut members: Value) -> RpcReply {
        let mut result = Map::new();
        if self.era == Era::Stateless {
            result.insert("resultType".to_owned(), "complete".into());
        }
        result.append(members.as_object_mut().unwrap_or(&mut Map::new()));
        self.serialized(&result, false)
    }

    fn serialized<R: Serialize>(&self, result: &R, has_server: bool) -> RpcReply {
        let mut out = head(&self.id, 256);
        out.extend_from_slice(b",\"result\":");
        let written = match self.older {
            None => serde_json::to_writer(&mut out, result),
            Some(version) => serde_json::to_value(result).and_then(|mut result| {
                in_words_of(version, &mut result);
                serde_json::to_writer(&mut out, &result)
            }),
        };
        if let Err(error) = written {
            let incident = incident();
            tracing::error!(%error, id = incident, "a result could not be written as JSON");
            return self.error(RpcError::internal(&incident));
        }
        out.pop();
        self.end(out, has_server)
    }

    /// Only the stateless era has types of results.
    fn result_type(&self, given: Option<ResultType>) -> Option<ResultType> {
        (self.era == Era::Stateless).then(|| given.unwrap_or(ResultType::Complete))
    }

    /// Adds the server to the `_meta` of a result that has one; `false` if it has none.
    fn add_server(&self, meta: Option<&mut Map<String, Value>>) -> bool {
        if let (Era::Stateless, Some(meta)) = (self.era, meta) {
            meta.entry(meta_key::SERVER_INFO).or_insert_with(|| json!(self.engine.info_json()));
            return true;
        }
        false
    }

    /// A reply up to the first member of its result.
    fn result_head(&self, capacity: usize) -> Vec<u8> {
        let mut out = head(&self.id, capacity);
        out.extend_from_slice(b",\"result\":{");
        if self.era == Era::Stateless {
            out.extend_from_slice(br#""resultType":"complete","#);
        }
        out
    }

    /// The reply whose result is written up to its last member.
    fn end(&self, mut out: Vec<u8>, has_server: bool) -> RpcReply {
        self.end_result(&mut out, has_server);
        RpcReply::new(StatusCode::OK, ReplyBody::Whole(out.into()))
    }

    /// Ends a result, and the reply with it. In the stateless era every result names the server.
    fn end_result(&self, out: &mut Vec<u8>, has_server: bool) {
        if self.era == Era::Stateless && !has_server {
            let comma = if out.ends_with(b"{") { "" } else { "," };
            for part in [comma, "\"_meta\":{\"", meta_key::SERVER_INFO, "\":", self.engine.info_json().get(), "}"] {
                out.extend_from_slice(part.as_bytes());
            }
        }
        out.extend_from_slice(b"}}");
    }
}

fn head(id: &str, capacity: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(capacity);
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    out.extend_from_slice(id.as_bytes());
    out
}

/// The text of a result that has nothing else to say, but for structured content.
fn only_text(result: &CallToolResult) -> Option<&str> {
    let [ContentBlock::Text(block)] = &*result.content else { return None };
    let plain = result.result_type.as_ref().is_none_or(|result_type| *result_type == ResultType::Complete)
        && result.is_error == Some(false)
        && result.meta.is_none()
        && result.other.is_empty()
        && block.meta.is_none()
        && block.annotations.is_none()
        && block.other.is_empty();
    plain.then_some(&block.text)
}

fn json<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    serde_json::to_writer(out, value).expect("texts and questions are JSON, and memory takes them");
}

/// A reply with an error; without an id where none could be read.
pub(crate) fn error_reply(id: Option<&str>, error: &RpcError) -> RpcReply {
    let code = error.legal_code();
    if code != error.code {
        tracing::warn!(code = error.code, sent = code, "this protocol version has no such error code for tools to use");
    }
    RpcReply::new(error.status(), error_body(id.unwrap_or("null"), code, error))
}

fn error_body(id: &str, code: i32, error: &RpcError) -> ReplyBody {
    let mut fields = json!({ "code": code, "message": error.message });
    if let Some(data) = &error.data {
        fields["data"] = data.clone();
    }
    let mut out = head(id, 256);
    out.extend_from_slice(b",\"error\":");
    out.extend_from_slice(fields.to_string().as_bytes());
    out.push(b'}');
    ReplyBody::Whole(out.into())
}

/// What a call emits, as a notification.
pub(super) fn notification(emitted: &Emitted, token: Option<&ProgressToken>) -> Bytes {
    #[derive(Serialize)]
    struct EmittedMessage<'a> {
        jsonrpc: &'static str,
        method: &'static str,
        params: EmittedParams<'a>,
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct EmittedParams<'a> {
        #[serde(skip_serializing_if = "Option::is_none")]
        progress_token: Option<&'a ProgressToken>,
        #[serde(flatten)]
        emitted: &'a Emitted,
    }
    let (method, progress_token) = match emitted {
        Emitted::Progress { .. } => ("notifications/progress", token),
        Emitted::Log { .. } => ("notifications/message", None),
    };
    let params = EmittedParams { progress_token, emitted };
    let mut out = Vec::with_capacity(256);
    json(&mut out, &EmittedMessage { jsonrpc: "2.0", method, params });
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Server;

    #[test]
    fn one_text_is_written_as_the_serializer_would() {
        let engine = Server::new("test", "1").build().expect("a server").0;
        let session = Session::new(&engine, None);
        for session in [None, Some(&session)] {
            let writer = Writer::new(&engine, "1".into(), session);
            for text in ["", "3", "a \"quote\"\n", "\u{1}", "ünïcödé \u{2028}"] {
                let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
                result.structured_content = (text == "3").then(|| json!({ "result": 3 }));
                assert_eq!(only_text(&result), Some(text));
                let written = writer.tool(result.clone()).into_body().whole();
                result.result_type = writer.result_type(result.result_type);
                assert_eq!(written, writer.serialized(&result, false).into_body().whole(), "{text:?}");
            }
        }
    }

    #[test]
    fn a_stored_reply_is_the_same_to_another_request() {
        let engine = Server::new("test", "1").build().expect("a server").0;
        let replies = |id: &'static str| {
            let writer = Writer::new(&engine, id.into(), None);
            let mut wide = CallToolResult::success(vec![ContentBlock::text("a \"quote\"")]);
            wide.structured_content = Some(json!({ "number": 1e21 }));
            let refused = RpcError::invalid_request("no");
            [writer.tool(wide), writer.tool_error("sold out"), writer.discovered(), writer.error(refused)]
                .map(|reply| reply.into_body().whole())
        };
        for (reply, other) in replies("\"seven\"").iter().zip(replies("1")) {
            let [stored, other] = [reply, &other].map(|reply| {
                let StoredReply { result, error } = serde_json::from_slice(reply).expect("a reply");
                [result, error].map(|json| json.map(|json| json.get().to_owned()))
            });
            assert_eq!(stored, other);
            let stored = stored.into_iter().flatten().collect::<String>();
            assert!(!stored.contains("seven") && std::str::from_utf8(reply).is_ok_and(|reply| reply.contains(&stored)));
        }
    }

    #[test]
    fn progress_is_written_as_the_serializer_would() {
        for (token, progress, total, message) in [
            (json!(1), 1.0, None, None),
            (json!("a \"token\""), 0.5, Some(2.0), Some("a \"quote\"\n")),
            (json!(18_446_744_073_709_551_615_u64), 1e21, None, Some("ünïcödé \u{2028}")),
        ] {
            let mut params = json!({ "progressToken": token, "progress": progress });
            params.as_object_mut().unwrap().extend(total.map(|total| ("total".to_owned(), json!(total))));
            params.as_object_mut().unwrap().extend(message.map(|message| ("message".to_owned(), json!(message))));
            let token: ProgressToken = serde_json::from_value(token).unwrap();
            let emitted = Emitted::Progress { progress, total, message: message.map(Into::into) };
            let written = notification(&emitted, Some(&token));
            assert_eq!(
                written,
                json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params }).to_string()
            );
        }
    }

    #[test]
    fn anything_else_is_left_to_the_serializer() {
        let text = || vec![ContentBlock::text("x")];
        let mut with_meta = CallToolResult::success(text());
        with_meta.meta = Some(crate::model::JsonObject::default());
        let others = [with_meta, CallToolResult::error(text()), CallToolResult::success([text(), text()].concat())];
        for result in &others {
            assert_eq!(only_text(result), None, "{result:?}");
        }
    }
}
