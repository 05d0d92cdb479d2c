//! One request, and the messages that come back.

use std::fmt;

use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt};
use http::{HeaderMap, Request, StatusCode, header};
use http_body_util::{BodyExt, Full};
use serde_json::Value;
use tower_service::Service;

use super::{ClientError, JsonRpcError, Result};
use crate::{
    call::FollowedCall,
    model::EventDecoder,
    transport::{McpService, ResponseBody},
};

/// One request, and the messages that come back. Dropping it before the result cancels the request.
pub(super) struct ClientExchange {
    method: String,
    /// The status of an HTTP response; 200 on other transports.
    pub(super) status: StatusCode,
    /// The headers of an HTTP response.
    pub(super) headers: HeaderMap,
    incoming: BoxStream<'static, Value>,
    /// What came before the result.
    pub(super) notifications: Vec<Value>,
    /// Cancels the request. A session outlives its connections, and a connection that other requests use too stays open, so
    /// closing something does not cancel anything.
    pub(super) cancel: Option<Box<dyn FnOnce() + Send>>,
    /// Held until the exchange is over.
    pub(super) followed: Option<FollowedCall>,
}

impl Drop for ClientExchange {
    fn drop(&mut self) {
        if let Some(cancel) = self.cancel.take() {
            cancel();
        }
    }
}

/// A message that a client acts on.
pub(super) enum Incoming {
    Question(Value),
    Result(Value),
}

impl ClientExchange {
    /// The messages that come back over a connection that other requests use too.
    pub(super) fn new(method: &str, incoming: BoxStream<'static, Value>) -> Self {
        Self {
            method: method.to_owned(),
            status: StatusCode::OK,
            headers: HeaderMap::new(),
            incoming,
            notifications: Vec::new(),
            cancel: None,
            followed: None,
        }
    }

    /// Sends an HTTP request. Its response is one message, or a stream of them.
    pub(super) async fn over_http(mut service: McpService, method: &str, request: Request<Bytes>) -> Self {
        let Ok(response) = service.call(request.map(Full::new)).await;
        let (parts, body) = response.into_parts();
        let kind = parts.headers.get(header::CONTENT_TYPE).map(header::HeaderValue::as_bytes).unwrap_or_default();
        let mut exchange = if kind.starts_with(b"text/event-stream") {
            Self::new(method, events(body).map(|event| parse(event.as_bytes())).boxed())
        } else {
            let whole = body.collect().await.map(|whole| whole.to_bytes()).unwrap_or_default();
            Self::new(method, stream::iter((!whole.is_empty()).then(|| parse(&whole))).boxed())
        };
        (exchange.status, exchange.headers) = (parts.status, parts.headers);
        exchange
    }

    /// The next message; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Value>> {
        match self.incoming.next().await {
            Some(Value::String(body)) => Err(ClientError::without_message(&self.method, self.status, &body)),
            message => Ok(message),
        }
    }

    /// Reads until there is a result.
    pub(super) async fn finish(&mut self) -> Result<Value> {
        match self.receive().await? {
            Incoming::Result(result) => Ok(result),
            Incoming::Question(question) => {
                let reason = format!("it asks; only `call_tool`, `get_prompt` and `read_resource` answer: {question}");
                Err(ClientError::unexpected(&self.method, reason))
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
                    self.cancel = None;
                    return match message.get_mut("result") {
                        Some(result) => Ok(Incoming::Result(result.take())),
                        None => Err(self.error(message)),
                    };
                }
            }
        }
        Err(ClientError::unexpected(&self.method, "the stream ended without a reply"))
    }

    /// Reads the response to a notification, which has no body.
    pub(super) async fn accepted(mut self) -> Result<()> {
        self.next().await?.map_or(Ok(()), |message| Err(self.error(message)))
    }

    pub(super) fn error(&self, message: Value) -> ClientError {
        error_in(message, &self.method, self.status)
    }
}

/// The error of a response, or of a task, to that method.
pub(super) fn error_in(mut message: Value, method: &str, status: StatusCode) -> ClientError {
    let code = message["error"]["code"].as_i64().and_then(|code| i32::try_from(code).ok());
    match (code, message["error"]["message"].as_str().map(str::to_owned)) {
        (Some(code), Some(text)) => {
            let data = message["error"].get_mut("data").map(Value::take);
            let method = method.to_owned();
            Box::new(JsonRpcError { method, status, code, message: text, data, remedy: None }).into()
        }
        _ => ClientError::unexpected(method, format!("an unexpected message: {message}")),
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

/// Reads a message. What is not JSON stays a string, which is never a message.
pub(super) fn parse(message: &[u8]) -> Value {
    serde_json::from_slice(message).unwrap_or_else(|_| String::from_utf8_lossy(message).into())
}

/// The data of each event in a body.
pub(super) fn events(body: ResponseBody) -> impl stream::Stream<Item = String> + Send {
    stream::unfold((body, EventDecoder::new(usize::MAX)), |(mut body, mut events)| async {
        loop {
            match events.next_event().ok()? {
                // An event without data only carries an id for a client that reconnects.
                Some(event) => {
                    if let Some(data) = event.data.filter(|data| !data.is_empty()) {
                        return Some((data, (body, events)));
                    }
                }
                None => events.feed(body.frame().await?.ok()?.data_ref()?),
            }
        }
    })
}
