//! One request, and the messages that come back.

use std::fmt;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Request, StatusCode, header};
use http_body_util::{BodyExt, Full};
use serde_json::Value;
use tokio::sync::mpsc::UnboundedReceiver;
use tower_service::Service;

use super::{ClientError, JsonRpcError, Result};
use crate::{
    call::FollowedCall,
    transport::{McpService, ResponseBody},
};

/// One request, and the messages that come back.
pub(super) struct ClientExchange {
    method: String,
    /// The status of an HTTP response; 200 on other transports.
    pub(super) status: StatusCode,
    /// The headers of an HTTP response.
    pub(super) headers: HeaderMap,
    incoming: IncomingMessages,
    /// What came before the result.
    pub(super) notifications: Vec<Value>,
    pub(super) cancel: Option<CancelOnDrop>,
    /// Held until the exchange is over.
    pub(super) followed: Option<FollowedCall>,
}

/// Where the messages come from.
enum IncomingMessages {
    /// The body of an HTTP response is one message.
    Json(ResponseBody),
    /// The body of an HTTP response is many of them.
    Events(ResponseBody, SseReader),
    /// A connection that other requests use too.
    Link(UnboundedReceiver<Value>),
}

/// A message that a client acts on.
pub(super) enum Incoming {
    Question(Value),
    Result(Value),
}

impl ClientExchange {
    /// Sends an HTTP request.
    pub(super) async fn over_http(mut service: McpService, method: &str, request: Request<Bytes>) -> Self {
        let Ok(response) = service.call(request.map(Full::new)).await;
        let (parts, body) = response.into_parts();
        let kind = parts.headers.get(header::CONTENT_TYPE).map(header::HeaderValue::as_bytes).unwrap_or_default();
        let incoming = if kind.starts_with(b"text/event-stream") {
            IncomingMessages::Events(body, SseReader::default())
        } else {
            IncomingMessages::Json(body)
        };
        Self { status: parts.status, headers: parts.headers, ..Self::new(method, incoming) }
    }

    /// The messages that come back over a connection that other requests use too.
    pub(super) fn over_link(method: &str, messages: UnboundedReceiver<Value>) -> Self {
        Self::new(method, IncomingMessages::Link(messages))
    }

    fn new(method: &str, incoming: IncomingMessages) -> Self {
        let (method, headers, notifications) = (method.to_owned(), HeaderMap::new(), Vec::new());
        Self { method, status: StatusCode::OK, headers, incoming, notifications, cancel: None, followed: None }
    }

    /// The next message; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Value>> {
        let mut whole = Vec::new();
        match &mut self.incoming {
            IncomingMessages::Link(messages) => return Ok(messages.recv().await),
            IncomingMessages::Events(body, events) => loop {
                if let Some(event) = events.next() {
                    whole = event.into_bytes();
                    break;
                }
                match body.frame().await {
                    Some(Ok(frame)) => events.push(frame.data_ref().map(Bytes::as_ref).unwrap_or_default()),
                    Some(Err(_)) | None => return Ok(None),
                }
            },
            IncomingMessages::Json(body) => {
                while let Some(Ok(frame)) = body.frame().await {
                    whole.extend_from_slice(frame.data_ref().map(Bytes::as_ref).unwrap_or_default());
                }
            }
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

impl fmt::Debug for ClientExchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientExchange")
            .field("method", &self.method)
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}

/// Cancels a request if it is dropped before the result: a session outlives its connections, and a connection that other
/// requests use too stays open, so closing something does not cancel anything.
pub(super) struct CancelOnDrop(Option<Box<dyn FnOnce() + Send + Sync>>);

impl CancelOnDrop {
    pub(super) fn new(cancel: impl FnOnce() + Send + Sync + 'static) -> Self {
        Self(Some(Box::new(cancel)))
    }

    /// Posts a message in a task of its own.
    pub(super) fn post(mut service: McpService, cancelled: Request<Bytes>) -> Self {
        Self::new(move || {
            // Without a runtime there is no call that runs.
            if let Ok(runtime) = tokio::runtime::Handle::try_current() {
                runtime.spawn(async move { service.call(cancelled.map(Full::new)).await });
            }
        })
    }

    fn disarm(&mut self) {
        self.0 = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(cancel) = self.0.take() {
            cancel();
        }
    }
}

/// Reads server-sent events from chunks.
#[derive(Debug, Default)]
pub(super) struct SseReader {
    buffer: BytesMut,
    data: String,
}

impl SseReader {
    pub(super) fn push(&mut self, chunk: &[u8]) {
        self.buffer.extend_from_slice(chunk);
    }

    /// The data of the next complete event. Comments and events without data are skipped.
    pub(super) fn next(&mut self) -> Option<String> {
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
