//! HTTP responses that say no.

use http::{
    HeaderValue, Response, StatusCode,
    header::{CONTENT_LENGTH, CONTENT_TYPE},
};
use http_body_util::{BodyExt, Full};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::SessionBody;
use crate::protocol::{RpcError, error_reply};

/// As much of a request's body as a refusal must know.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    id: Option<Box<RawValue>>,
    method: Option<serde_json::Value>,
}

impl Asked {
    /// Reads it; a body that is none, or not JSON, asks for nothing.
    pub(super) fn of(body: &[u8]) -> Self {
        serde_json::from_slice(body).unwrap_or_default()
    }

    /// Whether the request begins a session.
    pub(super) fn is_initialize(&self) -> bool {
        self.method.as_ref().is_some_and(|method| method == "initialize")
    }
}

/// A JSON-RPC error as a whole response.
pub(super) fn refusal(status: StatusCode, asked: &Asked, error: &RpcError) -> Response<SessionBody> {
    let id = asked.id.as_deref().map(RawValue::get);
    let body: Vec<u8> = error_reply(id, error).body.pieces().flatten().collect();
    let mut response = Response::new(Full::from(body).boxed());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// rmcp says no in plain text. A client wants JSON-RPC.
pub(super) async fn explained(response: Response<SessionBody>, asked: &Asked) -> Response<SessionBody> {
    let status = response.status();
    if !status.is_client_error() && !status.is_server_error() || response.headers().contains_key(CONTENT_TYPE) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let Ok(text) = body.collect().await;
    let text = String::from_utf8_lossy(&text.to_bytes()).into_owned();
    let error = if status.is_server_error() {
        // The text may tell more than a client should know.
        tracing::error!(%status, text, "a session failed");
        RpcError::new(RpcError::INTERNAL, "the session failed")
    } else if asked.is_initialize() && status == StatusCode::BAD_REQUEST {
        // rmcp asks for a session where it could not read what would begin one.
        RpcError::invalid_params("`params` is not what `initialize` takes")
    } else {
        RpcError::invalid_request(text)
    };
    // A body that rmcp cannot read is JSON, but no message of the protocol.
    let status = if status == StatusCode::UNSUPPORTED_MEDIA_TYPE { StatusCode::BAD_REQUEST } else { status };
    parts.headers.remove(CONTENT_LENGTH);
    let mut refused = refusal(status, asked, &error);
    refused.headers_mut().extend(parts.headers);
    refused
}

/// The bytes of a body that is no stream.
#[cfg(test)]
pub(super) async fn bytes(body: SessionBody) -> bytes::Bytes {
    let Ok(body) = body.collect().await;
    body.to_bytes()
}
