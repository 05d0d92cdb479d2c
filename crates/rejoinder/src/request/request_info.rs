use std::{borrow::Cow, collections::BTreeMap, fmt, sync::Arc};

use bytes::Bytes;
use http::{Extensions, HeaderMap, HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};
use tokio_util::task::TaskTracker;

use super::SharedValues;
use crate::{
    auth::{Held, Principal},
    model::Implementation,
};

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

/// What the client can do, as it declares it.
///
/// ```
/// use rejoinder::prelude::*;
///
/// #[tool]
/// async fn publish(ctx: Context) -> &'static str {
///     if ctx.capabilities().forms { "I shall ask you first." } else { "Please confirm in the web interface." }
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "they are independent of each other")]
pub struct Capabilities {
    /// Its user can fill in forms (`elicitation.form`).
    pub forms: bool,
    /// Its user can visit pages (`elicitation.url`).
    pub urls: bool,
    /// It has a model that answers (`sampling`).
    pub sampling: bool,
    /// Its model can use tools (`sampling.tools`).
    pub sampling_tools: bool,
    /// Its model can be given context (`sampling.context`).
    pub sampling_context: bool,
    /// It has roots (`roots`).
    pub roots: bool,
    /// It follows tasks (the extension `io.modelcontextprotocol/tasks`).
    #[serde(default)]
    pub tasks: bool,
}

/// Who the client says it is. It may lie, so nothing may depend on it.
pub(crate) type ClientInfo = Implementation;

/// How the door finds out who sends a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum CallerSource {
    /// The HTTP request says it; without one, it is nobody.
    #[default]
    Http,
    /// The request came over a pipe: its caller is the process that started the server.
    #[cfg_attr(not(feature = "stdio"), expect(dead_code, reason = "there is no pipe"))]
    Stdio,
    /// Its transport had to know, and has asked already.
    Known,
}

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
    pub capabilities: Capabilities,
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
    /// Who is asked for the caller.
    pub(crate) caller_source: CallerSource,
    /// What functions keep in that session.
    pub(crate) session_values: Option<Arc<SharedValues>>,
    /// What middleware attached to a request that did not come over HTTP.
    pub(crate) attached: Option<Box<Extensions>>,
    /// The room that the operation takes, for as long as anything keeps its request.
    pub(crate) held: Option<Arc<Held>>,
    /// What calls leave behind on a pipe that waits for it: deferred functions and background tasks.
    pub(crate) left: Option<TaskTracker>,
}

/// What is kept of a request that its call outlives. Each part is named here, and headers and entries of `_meta` by who stores
/// it: what is not named, such as credentials, is not stored.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredRequest {
    request_id: Box<RawValue>,
    era: Era,
    protocol_version: Cow<'static, str>,
    capabilities: Capabilities,
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    principal: Option<Principal>,
    /// Name and value. A value may be any bytes: each is stored as the character of that number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    headers: Option<Vec<(String, String)>>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    meta: BTreeMap<String, Box<RawValue>>,
}

/// Copies the values of headers, so that they do not keep the buffer that they came in, which is much larger.
pub(crate) fn compact(headers: &mut HeaderMap) {
    for value in headers.values_mut() {
        let mut copy = HeaderValue::from_bytes(value.as_bytes()).expect("it was a value");
        copy.set_sensitive(value.is_sensitive());
        *value = copy;
    }
}

/// About how many bytes of memory headers take.
pub(crate) fn head_size(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum()
}

impl RequestInfo {
    /// The request's headers, if it came over HTTP.
    pub fn headers(&self) -> Option<&HeaderMap> {
        self.http.as_deref().map(|(headers, _)| headers)
    }

    /// The same for what outlives its connection.
    pub(crate) fn compacted(mut self) -> Self {
        if let Some(http) = &mut self.http {
            compact(&mut Arc::make_mut(http).0);
        }
        self
    }

    /// About how many bytes of memory it takes.
    pub(crate) fn size(&self) -> usize {
        let said = [&self.meta, &self.client].into_iter().flatten().map(Bytes::len);
        self.headers().map_or(0, head_size) + said.sum::<usize>()
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
        serde_json::from_str(self.meta_entries().get(key)?.get()).ok()
    }

    fn meta_entries(&self) -> BTreeMap<String, &RawValue> {
        self.meta.as_ref().and_then(|meta| serde_json::from_slice(meta).ok()).unwrap_or_default()
    }

    /// What is stored of it, with these headers and entries of `_meta`.
    pub(crate) fn to_stored(&self, headers: &[HeaderName], meta: &[&str]) -> StoredRequest {
        let json = |json: &Bytes| RawValue::from_string(String::from_utf8_lossy(json).into_owned()).ok();
        let text = |value: &HeaderValue| value.as_bytes().iter().map(|byte| char::from(*byte)).collect::<String>();
        let named = |sent: &HeaderMap| {
            let values = headers.iter().flat_map(|name| sent.get_all(name).iter().map(move |value| (name, value)));
            values.map(|(name, value)| (name.to_string(), text(value))).collect()
        };
        let entries = self.meta_entries();
        StoredRequest {
            request_id: json(&self.request_id).unwrap_or_else(|| RawValue::NULL.to_owned()),
            era: self.era,
            protocol_version: self.protocol_version.clone(),
            capabilities: self.capabilities,
            client: self.client.as_ref().and_then(json),
            principal: self.principal.clone(),
            headers: self.headers().map(named),
            meta: meta.iter().filter_map(|key| Some(((*key).to_owned(), (*entries.get(*key)?).to_owned()))).collect(),
        }
    }
}

impl From<StoredRequest> for RequestInfo {
    fn from(stored: StoredRequest) -> Self {
        let bytes = |json: Box<RawValue>| Bytes::from(String::from(Box::<str>::from(json)));
        let read = |(name, value): (String, String)| {
            let value = value.chars().map(u8::try_from).collect::<Result<Vec<_>, _>>().ok()?;
            Some((HeaderName::try_from(name).ok()?, HeaderValue::try_from(value).ok()?))
        };
        let http = stored.headers.map(|headers| headers.into_iter().filter_map(read).collect::<HeaderMap>());
        let meta = serde_json::to_vec(&stored.meta).ok().filter(|_| !stored.meta.is_empty());
        Self {
            request_id: bytes(stored.request_id),
            era: stored.era,
            protocol_version: stored.protocol_version,
            capabilities: stored.capabilities,
            client: stored.client.map(bytes),
            principal: stored.principal,
            http: http.map(|headers| Arc::new((headers, Extensions::new()))),
            meta: meta.map(Bytes::from),
            caller_source: CallerSource::Known,
            ..Self::default()
        }
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
    use super::*;

    #[test]
    fn compact_headers_have_the_same_values_in_a_buffer_of_their_own() {
        let buffer = Bytes::from("en".to_owned() + &"x".repeat(60_000));
        let mut headers = HeaderMap::new();
        headers.append("accept-language", HeaderValue::from_maybe_shared(buffer.slice(..2)).expect("a value"));
        headers.append("accept-language", HeaderValue::from_static(""));
        headers.insert("cookie", HeaderValue::from_static("a=b"));
        headers.get_mut("cookie").expect("it is there").set_sensitive(true);
        let before = headers.clone();
        compact(&mut headers);
        assert!(headers == before && headers["cookie"].is_sensitive());
        drop(before);
        assert!(buffer.is_unique(), "nothing keeps the buffer");
    }

    #[test]
    fn what_is_stored_of_it_is_what_was_named() {
        let mut headers = HeaderMap::new();
        headers.append("x-tenant", HeaderValue::from_static("acme"));
        headers.append("x-tenant", HeaderValue::from_bytes(b"caf\xe9").expect("any bytes"));
        let kept = headers.clone();
        for name in ["authorization", "x-api-key"] {
            headers.insert(name, HeaderValue::from_static("secret"));
        }
        let mut extensions = Extensions::new();
        extensions.insert("a layer's user");
        let request = RequestInfo {
            request_id: Bytes::from_static(br#""seven""#),
            protocol_version: "2026-07-28".into(),
            capabilities: Capabilities { urls: true, ..Capabilities::default() },
            client: Some(Bytes::from_static(br#"{"name":"test","version":"1"}"#)),
            progress_token: Some(ProgressToken::Number((-7).into())),
            http: Some(Arc::new((headers, extensions))),
            meta: Some(Bytes::from_static(br#"{"traceparent":"00-1","token":"secret"}"#)),
            principal: Some(Principal::new("ada")),
            ..RequestInfo::default()
        };
        let stored = request.to_stored(&[HeaderName::from_static("x-tenant")], &["traceparent", "tracestate"]);
        let stored = serde_json::to_string(&stored).expect("it can be stored");
        assert!(!stored.contains("secret"), "{stored}");
        let read = RequestInfo::from(serde_json::from_str::<StoredRequest>(&stored).expect("it can be read"));
        assert_eq!((read.headers(), read.meta("traceparent")), (Some(&kept), Some("00-1".into())));
        assert_eq!(
            (&read.request_id, read.era, &read.principal),
            (&request.request_id, request.era, &request.principal)
        );
        assert_eq!((read.capabilities, &read.client), (request.capabilities, &request.client));
        assert!(read.extensions().is_some_and(Extensions::is_empty), "extensions are not stored");
        assert_eq!((read.caller_source, read.progress_token), (CallerSource::Known, None));
        let stored = serde_json::to_string(&RequestInfo::default().to_stored(&[], &[])).expect("it can be stored");
        let read = RequestInfo::from(serde_json::from_str::<StoredRequest>(&stored).expect("it can be read"));
        assert!(read.http.is_none() && read.meta.is_none() && read.client.is_none(), "{stored}");
    }

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
