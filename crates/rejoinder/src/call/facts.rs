use std::fmt;

use bytes::Bytes;
use http::{Extensions, HeaderMap};
use rmcp::model::{ClientCapabilities, Implementation};
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

/// Which way of talking the client uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Era {
    /// 2026-07-28 and later: each request stands alone.
    #[default]
    Stateless,
    /// 2025-11-25 and earlier: `initialize` opens a session.
    Session,
}

/// How severe a log message is, as the protocol orders it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum Level {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

/// The token under which a client wants progress: a string or an integer, kept as it was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ProgressToken {
    /// An integer.
    Number(i64),
    /// A string.
    Text(String),
}

impl ProgressToken {
    /// Reads a token; `None` if it is neither a string nor an integer.
    pub fn from_json(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Self::Text(text.clone())),
            Value::Number(number) => number.as_i64().map(Self::Number),
            _ => None,
        }
    }
}

/// Who the client says it is. It is free to lie: nothing may depend on it.
pub(crate) type ClientInfo = Implementation;

/// What a request said of itself.
///
/// `Debug` shows neither the values of headers nor `_meta`: there are passwords and tokens among them.
#[derive(Default)]
pub struct RequestInfo {
    /// The request's id, as JSON.
    pub request_id: Bytes,
    /// Its era.
    pub era: Era,
    /// Its protocol version.
    pub protocol_version: &'static str,
    /// What the client declared for this request.
    pub capabilities: ClientCapabilities,
    /// The client's `clientInfo`, as JSON; it was checked, and is decoded when somebody asks.
    pub client: Option<Bytes>,
    /// The least severe log message the request wants; without it, none.
    pub log_level: Option<Level>,
    /// The token for progress; without it, none.
    pub progress_token: Option<ProgressToken>,
    /// What the HTTP request brought, if there was one.
    pub http: Option<Box<(HeaderMap, Extensions)>>,
    /// The request's `_meta`, as JSON.
    pub meta: Option<Bytes>,
    /// Who calls, as `Server::principal` says.
    pub principal: Option<String>,
}

impl RequestInfo {
    /// The request's headers, if it came over HTTP.
    pub fn headers(&self) -> Option<&HeaderMap> {
        self.http.as_deref().map(|(headers, _)| headers)
    }

    /// What layers in front of the server attached to the HTTP request.
    pub fn extensions(&self) -> Option<&Extensions> {
        self.http.as_deref().map(|(_, extensions)| extensions)
    }

    /// Who the client says it is.
    pub fn client(&self) -> Option<ClientInfo> {
        serde_json::from_slice(self.client.as_ref()?).ok()
    }

    /// An entry of the request's `_meta`, as JSON.
    pub fn meta(&self, key: &str) -> Option<Value> {
        let meta: std::collections::BTreeMap<String, &RawValue> = serde_json::from_slice(self.meta.as_ref()?).ok()?;
        serde_json::from_str(meta.get(key)?.get()).ok()
    }
}

impl fmt::Debug for RequestInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Option<Vec<&str>> =
            self.headers().map(|headers| headers.keys().map(|name| name.as_str()).collect());
        f.debug_struct("RequestInfo")
            .field("request_id", &self.request_id)
            .field("era", &self.era)
            .field("protocol_version", &self.protocol_version)
            .field("capabilities", &self.capabilities)
            .field("client", &self.client)
            .field("log_level", &self.log_level)
            .field("progress_token", &self.progress_token)
            .field("headers", &headers)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn what_is_printed_for_an_author_holds_no_secret() {
        let mut headers = HeaderMap::new();
        headers.insert("authorization", HeaderValue::from_static("Bearer hunter2"));
        let mut extensions = Extensions::new();
        extensions.insert("hunter2");
        let http = Some(Box::new((headers, extensions)));
        let meta = Some(Bytes::from_static(br#"{"token":"hunter2"}"#));
        let printed = format!("{:?}", RequestInfo { http, meta, ..RequestInfo::default() });
        assert!(!printed.contains("hunter2"), "{printed}");
        assert!(printed.contains("authorization"), "which headers there are may be seen: {printed}");
    }
}
