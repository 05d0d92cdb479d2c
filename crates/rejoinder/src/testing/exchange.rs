//! One HTTP request to the service, and the messages that come back.

use std::fmt;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Request, StatusCode, header};
use http_body_util::{BodyExt, Full};
use serde_json::Value;
use tower_service::Service;

use super::{ClientError, JsonRpcError, Result};
use crate::transport::{McpService, ResponseBody};

/// One HTTP request, and the messages that come back: one as JSON, or many as events.
pub(super) struct HttpExchange {
    method: String,
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    body: ResponseBody,
    events: Option<SseReader>,
    /// What came before the result.
    pub(super) notifications: Vec<Value>,
    pub(super) cancel: Option<CancelOnDrop>,
}

/// A message that a client acts on.
pub(super) enum Incoming {
    Question(Value),
    Result(Value),
}

impl HttpExchange {
    pub(super) async fn open(mut service: McpService, method: &str, request: Request<Full<Bytes>>) -> Self {
        let Ok(response) = service.call(request).await;
        let (parts, body) = response.into_parts();
        let kind = parts.headers.get(header::CONTENT_TYPE).map(header::HeaderValue::as_bytes).unwrap_or_default();
        let events = kind.starts_with(b"text/event-stream").then(SseReader::default);
        let (status, headers) = (parts.status, parts.headers);
        Self { method: method.to_owned(), status, headers, body, events, notifications: Vec::new(), cancel: None }
    }

    /// The next message; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Value>> {
        loop {
            if let Some(event) = self.events.as_mut().and_then(SseReader::next) {
                return self.parse(event.as_bytes()).map(Some);
            }
            let Some(events) = &mut self.events else { return self.whole().await };
            match self.body.frame().await {
                Some(Ok(frame)) => events.push(frame.data_ref().map(Bytes::as_ref).unwrap_or_default()),
                Some(Err(_)) | None => return Ok(None),
            }
        }
    }

    /// The whole body as one message.
    async fn whole(&mut self) -> Result<Option<Value>> {
        let mut whole = Vec::new();
        while let Some(Ok(frame)) = self.body.frame().await {
            whole.extend_from_slice(frame.data_ref().map(Bytes::as_ref).unwrap_or_default());
        }
        if whole.is_empty() { Ok(None) } else { self.parse(&whole).map(Some) }
    }

    fn parse(&self, message: &[u8]) -> Result<Value> {
        serde_json::from_slice(message).map_err(|_| ClientError::Http {
            method: self.method.clone(),
            status: self.status,
            body: String::from_utf8_lossy(message).into_owned(),
        })
    }

    /// Reads until there is a result.
    pub(super) async fn finish(&mut self) -> Result<Value> {
        match self.receive().await? {
            Incoming::Result(result) => Ok(result),
            Incoming::Question(question) => {
                let reason = "it asks; only `call_tool`, `get_prompt` and `read_resource` answer";
                Err(ClientError::unexpected(&self.method, reason, &question))
            }
        }
    }

    /// Reads until there is a question or the result.
    pub(super) async fn receive(&mut self) -> Result<Incoming> {
        while let Some(mut message) = self.next().await? {
            match (message.get("method").is_some(), message.get("id").is_some()) {
                (true, false) => self.notifications.push(message),
                (true, true) => return Ok(Incoming::Question(message)),
                (false, _) => {
                    self.cancel.iter_mut().for_each(CancelOnDrop::disarm);
                    return match message.get_mut("result") {
                        Some(result) => Ok(Incoming::Result(result.take())),
                        None => Err(self.error(message)),
                    };
                }
            }
        }
        Err(ClientError::NoReply { method: self.method.clone() })
    }

    /// Reads the response to a notification, which has no body.
    pub(super) async fn accepted(mut self) -> Result<()> {
        self.next().await?.map_or(Ok(()), |message| Err(self.error(message)))
    }

    pub(super) fn error(&self, mut message: Value) -> ClientError {
        let code = message["error"]["code"].as_i64().and_then(|code| i32::try_from(code).ok());
        match (code, message["error"]["message"].as_str().map(str::to_owned)) {
            (Some(code), Some(text)) => {
                let data = message["error"].get_mut("data").map(Value::take);
                let (method, status) = (self.method.clone(), self.status);
                Box::new(JsonRpcError { method, status, code, message: text, data, unanswered: None, remedy: None })
                    .into()
            }
            _ => ClientError::unexpected(&self.method, "neither a result nor an error", &message),
        }
    }
}

impl fmt::Debug for HttpExchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpExchange")
            .field("method", &self.method)
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}

/// Cancels a request of a session if it is dropped before the result: a session outlives its connections, so closing one
/// does not cancel anything.
pub(super) struct CancelOnDrop(Option<(McpService, Request<Full<Bytes>>)>);

impl CancelOnDrop {
    pub(super) fn new(service: &McpService, cancelled: Request<Full<Bytes>>) -> Self {
        Self(Some((service.clone(), cancelled)))
    }

    fn disarm(&mut self) {
        self.0 = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        // Without a runtime there is no call that runs.
        if let (Some((mut service, cancelled)), Ok(runtime)) = (self.0.take(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(async move { service.call(cancelled).await });
        }
    }
}

/// Reads server-sent events from chunks.
#[derive(Debug, Default)]
struct SseReader {
    buffer: BytesMut,
    data: String,
}

impl SseReader {
    fn push(&mut self, chunk: &[u8]) {
        self.buffer.extend_from_slice(chunk);
    }

    /// The data of the next complete event. Comments and events without data are skipped.
    fn next(&mut self) -> Option<String> {
        while let Some(end) = self.buffer.iter().position(|&byte| byte == b'\n') {
            let line = self.buffer.split_to(end + 1);
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end_matches(['\n', '\r']);
            if line.is_empty() && !self.data.is_empty() {
                return Some(std::mem::take(&mut self.data));
            }
            if let Some(data) = line.strip_prefix("data:") {
                if !self.data.is_empty() {
                    self.data.push('\n');
                }
                self.data.push_str(data.strip_prefix(' ').unwrap_or(data));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_wherever_the_chunks_end() {
        let mut events = SseReader::default();
        let mut read = Vec::new();
        for chunk in ["event: message\nda", "ta: 1\n", "\n: comment\n\ndata: 2\r\ndata:3\r\n\r\ndata: 4\n"] {
            events.push(chunk.as_bytes());
            read.extend(std::iter::from_fn(|| events.next()));
        }
        assert_eq!(read, ["1", "2\n3"]);
    }
}
