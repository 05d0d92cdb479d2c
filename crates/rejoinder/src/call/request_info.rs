use std::{borrow::Cow, fmt, sync::Arc};

use bytes::Bytes;
use http::{Extensions, HeaderMap};
use rmcp::model::{ClientCapabilities, Implementation};
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use crate::auth::Principal;

/// How the client talks to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Era {
    /// 2026-07-28 and later: each request is independent.
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ProgressToken {
    /// An integer.
    Number(serde_json::Number),
    /// A string.
    Text(String),
}

/// Who the client says it is. It may lie, so nothing may depend on it.
pub(crate) type ClientInfo = Implementation;

/// The metadata of a request.
///
/// `Debug` shows neither the values of headers nor `_meta`, because they contain passwords and tokens.
#[derive(Default, Clone)]
#[non_exhaustive]
pub struct RequestInfo {
    /// The request's id, as JSON.
    pub request_id: Bytes,
    /// How the client talks to the server.
    pub era: Era,
    /// The protocol version of the request.
    pub protocol_version: Cow<'static, str>,
    /// The capabilities that the client declared.
    pub capabilities: ClientCapabilities,
    /// The client's `clientInfo`, as a JSON object; see [`client`](Self::client).
    pub client: Option<Bytes>,
    /// The least severe log message that the client wants; without it, none.
    pub log_level: Option<Level>,
    /// The token for progress; without it, none.
    pub progress_token: Option<ProgressToken>,
    /// Headers and extensions of the HTTP request, or of the request that opened the connection; `None` on stdio.
    pub http: Option<Arc<(HeaderMap, Extensions)>>,
    /// The fields of `_meta` that the protocol does not define, as a JSON object.
    pub meta: Option<Bytes>,
    /// The caller, if the server knows it.
    pub principal: Option<Principal>,
    /// The session that the request belongs to, if there is one.
    pub session_id: Option<Arc<str>>,
    /// What middleware attached to a request that did not come over HTTP.
    pub(crate) attached: Option<Box<Extensions>>,
}

impl RequestInfo {
    /// The request's headers, if it came over HTTP.
    pub fn headers(&self) -> Option<&HeaderMap> {
        self.http.as_deref().map(|(headers, _)| headers)
    }

    /// The value of a header, if it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers()?.get(name)?.to_str().ok()
    }

    /// What layers in front of the server attached to the HTTP request, and what middleware attached.
    pub fn extensions(&self) -> Option<&Extensions> {
        self.http.as_deref().map(|(_, extensions)| extensions).or(self.attached.as_deref())
    }

    pub(crate) fn extensions_mut(&mut self) -> &mut Extensions {
        match &mut self.http {
            Some(http) => &mut Arc::make_mut(http).1,
            None => self.attached.get_or_insert_default(),
        }
    }

    /// Who the client says it is.
    pub fn client(&self) -> Option<ClientInfo> {
        serde_json::from_slice(self.client.as_ref()?).ok()
    }

    /// An entry of the request's `_meta` that the protocol does not define, such as `traceparent`.
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
        let http = Some(Arc::new((headers, extensions)));
        let meta = Some(Bytes::from_static(br#"{"token":"hunter2"}"#));
        let printed = format!("{:?}", RequestInfo { http, meta, ..RequestInfo::default() });
        assert!(!printed.contains("hunter2"), "{printed}");
        assert!(printed.contains("authorization"), "which headers there are may be seen: {printed}");
    }
}
