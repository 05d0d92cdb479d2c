//! Replies and notifications as bytes.

use std::sync::Arc;

use crate::{
    ask::Question,
    call::{Emitted, RequestInfo},
    model::{CallToolResult, ContentBlock, GetPromptResult, ResultType},
};
use bytes::Bytes;
use http::StatusCode;
use serde::Serialize;
use serde_json::{Map, Value, json, value::RawValue};

use super::{RpcError, error::incident};
use crate::server::{CacheHints, Page};

/// The key of the `_meta` of every result under which the server says who it is.
pub(super) const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// The final message of a request.
#[derive(Debug)]
pub(crate) struct RpcReply {
    /// What HTTP says, if nothing has been said yet.
    pub(crate) status: StatusCode,
    pub(crate) body: ReplyBody,
}

/// A message: one piece, or a list that is kept as bytes between a head and a tail.
#[derive(Debug)]
pub(crate) enum ReplyBody {
    Whole(Bytes),
    List { head: Bytes, page: Bytes, tail: Bytes },
}

impl ReplyBody {
    /// The pieces, in order.
    pub(crate) fn pieces(self) -> impl Iterator<Item = Bytes> {
        let (head, page, tail) = match self {
            Self::Whole(bytes) => (bytes, None, None),
            Self::List { head, page, tail } => (head, Some(page), Some(tail)),
        };
        std::iter::once(head).chain(page).chain(tail)
    }

    /// The message in one piece.
    pub(crate) fn whole(self) -> Bytes {
        match self {
            Self::Whole(whole) => whole,
            list => list.pieces().collect::<Vec<_>>().concat().into(),
        }
    }
}

fn head(id: &str, capacity: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(capacity);
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    out.extend_from_slice(id.as_bytes());
    out
}

/// A reply with a result that has no `_meta`; the server's is added, if there is one.
pub(super) fn result_reply<R: Serialize>(id: &str, result: &R, server: Option<&RawValue>) -> RpcReply {
    let mut out = head(id, 256);
    out.extend_from_slice(b",\"result\":");
    if let Err(error) = serde_json::to_writer(&mut out, result) {
        let incident = incident();
        tracing::error!(%error, id = incident, "a result could not be written as JSON");
        return error_reply(Some(id), &RpcError::internal(&incident));
    }
    out.pop();
    if server.is_some() && !out.ends_with(b"{") {
        out.push(b',');
    }
    finished(out, server)
}

/// The reply whose result is written up to its end.
fn finished(mut out: Vec<u8>, server: Option<&RawValue>) -> RpcReply {
    end_result(&mut out, server);
    RpcReply { status: StatusCode::OK, body: ReplyBody::Whole(out.into()) }
}

/// Ends a result, and the reply with it, with the `_meta` that names the server, if there is one.
fn end_result(out: &mut Vec<u8>, server: Option<&RawValue>) {
    if let Some(server) = server {
        for part in ["\"_meta\":{\"", SERVER_INFO, "\":", server.get(), "}"] {
            out.extend_from_slice(part.as_bytes());
        }
    }
    out.extend_from_slice(b"}}");
}

/// A reply with what a tool returned. Most return one text and nothing else, which needs no serializer.
pub(super) fn tool_reply(id: &str, mut result: CallToolResult, server: Option<&RawValue>) -> RpcReply {
    result.result_type = result_type(result.result_type, server);
    let Some(text) = only_text(&result) else {
        return result_reply_with_meta(id, result, server, |result| result.meta.as_deref_mut());
    };
    let mut out = head(id, 256 + text.len());
    out.extend_from_slice(br#","result":{"#);
    if server.is_some() {
        out.extend_from_slice(br#""resultType":"complete","#);
    }
    out.extend_from_slice(br#""content":[{"type":"text","text":"#);
    json(&mut out, text);
    out.extend_from_slice(br#"}],"isError":false"#);
    if server.is_some() {
        out.push(b',');
    }
    finished(out, server)
}

/// A reply with a prompt's messages.
pub(super) fn prompt_reply(id: &str, mut result: GetPromptResult, server: Option<&RawValue>) -> RpcReply {
    result.result_type = result_type(result.result_type, server);
    result_reply_with_meta(id, result, server, |result| result.meta.as_deref_mut())
}

/// Only the stateless era has types of results.
fn result_type(given: Option<ResultType>, server: Option<&RawValue>) -> Option<ResultType> {
    server.map(|_| given.unwrap_or(ResultType::COMPLETE))
}

/// The text of a result that has nothing else to say.
fn only_text(result: &CallToolResult) -> Option<&str> {
    let [ContentBlock::Text(block)] = &*result.content else { return None };
    let plain = result.result_type.as_ref().is_none_or(|result_type| *result_type == ResultType::COMPLETE)
        && result.is_error == Some(false)
        && result.structured_content.is_none()
        && result.meta.is_none()
        && block.meta.is_none()
        && block.annotations.is_none();
    plain.then_some(&block.text)
}

/// A reply with what a round asks. Its state is a token, in which there is nothing to escape.
pub(super) fn question_reply(id: &str, questions: &[(Arc<str>, Question)], token: &str, server: &RawValue) -> RpcReply {
    let mut out = head(id, 320 + token.len() + questions.iter().map(about).sum::<usize>());
    out.extend_from_slice(br#","result":{"resultType":"input_required","#);
    if !questions.is_empty() {
        out.extend_from_slice(br#""inputRequests":"#);
        for (index, (key, question)) in questions.iter().enumerate() {
            out.push(if index == 0 { b'{' } else { b',' });
            json(&mut out, &**key);
            out.push(b':');
            write_question(&mut out, question);
        }
        out.extend_from_slice(b"},");
    }
    for part in [r#""requestState":""#, token, r#"","#] {
        out.extend_from_slice(part.as_bytes());
    }
    finished(out, Some(server))
}

/// A question as JSON. Most are forms, in which the message is all that is not written yet.
fn write_question(out: &mut Vec<u8>, question: &Question) {
    let Question::Form { message, form } = question else { return json(out, question) };
    out.extend_from_slice(br#"{"method":"elicitation/create","params":{"mode":"form","message":"#);
    json(out, message);
    out.extend_from_slice(br#","requestedSchema":"#);
    out.extend_from_slice(form.json().get().as_bytes());
    out.extend_from_slice(b"}}");
}

fn json<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    serde_json::to_writer(out, value).expect("texts and questions are JSON, and memory takes them");
}

/// How many bytes a question takes, about: a buffer that is much larger comes from where the allocator is slow.
fn about((key, question): &(Arc<str>, Question)) -> usize {
    let words = match question {
        Question::Form { message, form } => message.len() + form.json().get().len(),
        Question::Visit { message, url } => message.len() + url.len(),
        _ => 256,
    };
    key.len() + words + 96
}

/// A reply with a result that may have a `_meta` of its own.
pub(super) fn result_reply_with_meta<R: Serialize>(
    id: &str,
    mut result: R,
    server: Option<&RawValue>,
    meta: impl FnOnce(&mut R) -> Option<&mut Map<String, Value>>,
) -> RpcReply {
    let (Some(server), Some(own)) = (server, meta(&mut result)) else { return result_reply(id, &result, server) };
    let server = serde_json::from_str(server.get()).unwrap_or_default();
    own.entry(SERVER_INFO).or_insert(server);
    result_reply(id, &result, None)
}

/// A reply with a page that is kept as bytes; the stateless era says for how long it may be cached, and by whom it is.
pub(super) fn list_reply(id: &str, page: Page, about: Option<(CacheHints, &RawValue)>) -> RpcReply {
    let mut out = head(id, 64);
    out.extend_from_slice(b",\"result\":{");
    let tail = about.map_or(Bytes::from_static(b"}}"), |(hints, server)| {
        out.extend_from_slice(br#""resultType":"complete","#);
        let mut tail = format!(",\"ttlMs\":{},\"cacheScope\":", hints.ttl_ms).into_bytes();
        json(&mut tail, &hints.scope);
        tail.push(b',');
        end_result(&mut tail, Some(server));
        tail.into()
    });
    RpcReply { status: StatusCode::OK, body: ReplyBody::List { head: out.into(), page, tail } }
}

/// A reply with an error; without an id where none could be read.
pub(crate) fn error_reply(id: Option<&str>, error: &RpcError) -> RpcReply {
    let code = error.legal_code();
    if code != error.code {
        tracing::warn!(code = error.code, sent = code, "this protocol version has no such error code for tools to use");
    }
    RpcReply { status: error.status(), body: error_body(id.unwrap_or("null"), code, error) }
}

/// A reply of a session with an error, under whatever code.
pub(super) fn session_error_reply(id: &str, error: &RpcError) -> RpcReply {
    RpcReply { status: StatusCode::OK, body: error_body(id, error.code, error) }
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

/// What a call tells its client, as the method and params of a notification.
pub(super) fn notification(emitted: Emitted, facts: &RequestInfo) -> Bytes {
    let message = match emitted {
        Emitted::Progress { progress, total, message } => {
            json!({ "jsonrpc": "2.0", "method": "notifications/progress",
                "params": progress_params(facts, progress, total, message.as_deref()) })
        }
        Emitted::Log { level, logger, data } => {
            let mut params = json!({ "level": level, "data": data });
            if let Some(logger) = logger {
                params["logger"] = logger.into();
            }
            json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params })
        }
    };
    message.to_string().into()
}

/// The params of a progress notification.
pub(crate) fn progress_params(facts: &RequestInfo, progress: f64, total: Option<f64>, message: Option<&str>) -> Value {
    let mut params = json!({ "progressToken": facts.progress_token, "progress": progress });
    if let Some(total) = total {
        params["total"] = total.into();
    }
    if let Some(message) = message {
        params["message"] = message.into();
    }
    params
}

#[cfg(test)]
mod tests {
    use crate::form::{Field, Form};

    use super::*;

    #[test]
    fn one_text_is_written_as_the_serializer_would() {
        let server = RawValue::from_string(r#"{"name":"test","version":"1"}"#.to_owned()).expect("JSON");
        let written = |reply: RpcReply| reply.body.pieces().map(|piece| piece.to_vec()).collect::<Vec<_>>().concat();
        for text in ["", "3", "a \"quote\"\n", "\u{1}", "ünïcödé \u{2028}"] {
            let result = CallToolResult::success(vec![ContentBlock::text(text)]);
            assert_eq!(only_text(&result), Some(text));
            let expected = written(result_reply("1", &result, Some(&server)));
            assert_eq!(written(tool_reply("1", result.clone(), Some(&server))), expected, "{text:?}");
            let mut in_session = result.clone();
            in_session.result_type = None;
            let expected = written(result_reply("1", &in_session, None));
            assert_eq!(written(tool_reply("1", result, None)), expected, "{text:?}");
        }
    }

    #[test]
    fn a_form_is_written_as_the_serializer_would() {
        for message in ["", "Sure?", "a \"quote\"\n", "ünïcödé \u{2028}"] {
            let field = Field::<bool>::new("yes").title(message).description(message);
            let question = Question::Form { message: message.to_owned(), form: Form::new().with(&field) };
            let mut written = Vec::new();
            write_question(&mut written, &question);
            assert_eq!(String::from_utf8(written).unwrap(), serde_json::to_string(&question).unwrap());
        }
    }

    #[test]
    fn anything_else_is_left_to_the_serializer() {
        let text = || vec![ContentBlock::text("x")];
        let mut others = [CallToolResult::success(text()), CallToolResult::success(text())];
        others[0].meta = Some(crate::model::MetaObject::default());
        others[1].structured_content = Some(Value::Null);
        let more = [CallToolResult::error(text()), CallToolResult::success([text(), text()].concat())];
        for result in others.iter().chain(&more) {
            assert_eq!(only_text(result), None, "{result:?}");
        }
    }
}
