use std::fmt;

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode, header};
use http_body_util::{BodyExt, Full};
use serde_json::Value;
use tower_service::Service;

use super::{Error, Result, RpcError, events::Events, taking_back::TakingBack};
use crate::transport::{McpService, ResponseBody};

/// One HTTP request, and the messages that come back: one as JSON, or many as events.
pub(super) struct Exchange {
    method: String,
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    body: ResponseBody,
    events: Option<Events>,
    /// What is done if it is dropped before the reply.
    pub(super) taking_back: Option<TakingBack>,
}

/// What came back in the end, and what came before it.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) result: Value,
    pub(super) notifications: Vec<Value>,
}

/// What a client does something about.
pub(super) enum Turn {
    /// The server asks something, and waits.
    Asked(Value),
    /// This is the result.
    Over(Value),
}

impl Exchange {
    pub(super) async fn open(mut service: McpService, method: &str, request: Request<Full<Bytes>>) -> Self {
        let Ok(response) = service.call(request).await;
        let (parts, body) = response.into_parts();
        let kind = parts.headers.get(header::CONTENT_TYPE).map(header::HeaderValue::as_bytes).unwrap_or_default();
        let events = kind.starts_with(b"text/event-stream").then(Events::default);
        let (status, headers) = (parts.status, parts.headers);
        Self { method: method.to_owned(), status, headers, body, events, taking_back: None }
    }

    /// The next message; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Value>> {
        loop {
            if let Some(event) = self.events.as_mut().and_then(Events::next) {
                return self.parse(event.as_bytes()).map(Some);
            }
            let Some(events) = &mut self.events else { return self.whole().await };
            match self.body.frame().await {
                Some(Ok(frame)) => events.push(frame.data_ref().map(Bytes::as_ref).unwrap_or_default()),
                Some(Err(_)) | None => return Ok(None),
            }
        }
    }

    /// The message that the whole body is.
    async fn whole(&mut self) -> Result<Option<Value>> {
        let mut whole = Vec::new();
        while let Some(Ok(frame)) = self.body.frame().await {
            whole.extend_from_slice(frame.data_ref().map(Bytes::as_ref).unwrap_or_default());
        }
        if whole.is_empty() { Ok(None) } else { self.parse(&whole).map(Some) }
    }

    fn parse(&self, message: &[u8]) -> Result<Value> {
        serde_json::from_slice(message).map_err(|_| Error::Http {
            method: self.method.clone(),
            status: self.status,
            body: String::from_utf8_lossy(message).into_owned(),
        })
    }

    /// Reads on until the reply has come.
    pub(super) async fn finish(&mut self) -> Result<Outcome> {
        let mut notifications = Vec::new();
        match self.turn(&mut notifications).await? {
            Turn::Over(result) => Ok(Outcome { result, notifications }),
            Turn::Asked(question) => Err(Error::Unexpected {
                method: self.method.clone(),
                reason: "it asks, and only `call`, `get` and `read` answer".to_owned(),
                message: question.to_string(),
            }),
        }
    }

    /// Reads on until it is the client's turn, or the call is over.
    pub(super) async fn turn(&mut self, notifications: &mut Vec<Value>) -> Result<Turn> {
        while let Some(mut message) = self.next().await? {
            match (message.get("method").is_some(), message.get("id").is_some()) {
                (true, false) => notifications.push(message),
                (true, true) => return Ok(Turn::Asked(message)),
                (false, _) => {
                    self.taking_back.iter_mut().for_each(TakingBack::is_over);
                    return match message.get_mut("result") {
                        Some(result) => Ok(Turn::Over(result.take())),
                        None => Err(self.error(message)),
                    };
                }
            }
        }
        Err(Error::NoReply { method: self.method.clone() })
    }

    pub(super) fn error(&self, mut message: Value) -> Error {
        let code = message["error"]["code"].as_i64().and_then(|code| i32::try_from(code).ok());
        match (code, message["error"]["message"].as_str().map(str::to_owned)) {
            (Some(code), Some(text)) => {
                let data = message["error"].get_mut("data").map(Value::take);
                let (method, status) = (self.method.clone(), self.status);
                Box::new(RpcError { method, status, code, message: text, data, unanswered: None, remedy: None }).into()
            }
            _ => Error::unexpected(&self.method, "neither a result nor an error", &message),
        }
    }
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange").field("method", &self.method).field("status", &self.status).finish_non_exhaustive()
    }
}
