//! What the client says about itself, and its requests in both eras.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{Extensions, HeaderMap, HeaderName, HeaderValue, Method, Request, header};
use http_body_util::Full;
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use super::{
    ClientError, Result,
    exchange::{CancelOnDrop, HttpExchange},
    response::read,
};
use crate::{
    call::{CallTrace, Era, Level},
    model::{ClientCapabilities, Implementation},
    protocol::MODERN,
    server::{BuiltServer, TargetKind},
    transport::McpService,
};

/// The newest version of the session era.
const SESSION_VERSION: &str = "2025-11-25";

#[derive(Debug, Clone)]
pub(super) struct ClientConnection {
    pub(super) server: BuiltServer,
    /// One for all requests: it holds the sessions.
    pub(super) service: McpService,
    pub(super) era: Era,
    pub(super) info: Implementation,
    pub(super) capabilities: ClientCapabilities,
    pub(super) log_level: Option<Level>,
    pub(super) headers: HeaderMap,
    pub(super) extensions: Extensions,
    /// The headers of every request in the session, once there is one.
    pub(super) session: Arc<OnceCell<HeaderMap>>,
    ids: Arc<AtomicU64>,
}

impl ClientConnection {
    pub(super) fn new(server: BuiltServer) -> Self {
        Self {
            service: McpService::new(Arc::clone(&server.0)),
            server,
            era: Era::Stateless,
            info: Implementation::new("rejoinder-testing", env!("CARGO_PKG_VERSION")),
            capabilities: ClientCapabilities::default(),
            log_level: None,
            headers: HeaderMap::new(),
            extensions: Extensions::new(),
            session: Arc::default(),
            ids: Arc::new(AtomicU64::new(1)),
        }
    }

    /// Sends a request of the client's era. `trace` sees what happens in the call.
    pub(super) async fn open(&self, method: &str, params: Value, trace: CallTrace) -> Result<HttpExchange> {
        let (id, params) = (self.next_id(), if params.is_null() { json!({}) } else { params });
        let session = match self.era {
            Era::Session => Some(self.session_headers().await?),
            _ => None,
        };
        let mut request = self.request(id, session, method, params);
        request.extensions_mut().insert(trace);
        let mut exchange = self.exchange(method, request).await;
        exchange.cancel = session.map(|headers| {
            let params = json!({ "requestId": id });
            let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
            CancelOnDrop::new(&self.service, self.post(headers.clone(), &cancelled))
        });
        Ok(exchange)
    }

    async fn exchange(&self, method: &str, request: Request<Full<Bytes>>) -> HttpExchange {
        HttpExchange::open(self.service.clone(), method, request).await
    }

    fn next_id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::Relaxed)
    }

    fn post(&self, headers: HeaderMap, body: &Value) -> Request<Full<Bytes>> {
        self.http(Method::POST, headers, body.to_string().into())
    }

    /// A request with the headers that all have, and then those that the test sets.
    fn http(&self, method: Method, headers: HeaderMap, body: Bytes) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = http::Uri::from_static("/mcp");
        *request.headers_mut() = headers;
        let all = [
            (header::HOST, "localhost"),
            (header::CONTENT_TYPE, "application/json"),
            (header::ACCEPT, "application/json, text/event-stream"),
        ];
        for (name, value) in all {
            request.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        for (name, value) in &self.headers {
            request.headers_mut().insert(name, value.clone());
        }
        *request.extensions_mut() = self.extensions.clone();
        request
    }

    /// A request; in a session with the headers of all its requests.
    fn request(&self, id: u64, session: Option<&HeaderMap>, method: &str, mut params: Value) -> Request<Full<Bytes>> {
        if method != "initialize"
            && let Value::Object(params) = &mut params
        {
            let own = params.remove("_meta");
            params.insert("_meta".into(), self.meta(id, session.is_some(), own));
        }
        let headers = session.cloned().unwrap_or_else(|| self.stateless_headers(method, &params));
        self.post(headers, &json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
    }

    /// The `_meta` of a request; an entry of the test's own replaces the client's, and `null` removes it.
    fn meta(&self, id: u64, is_session: bool, own: Option<Value>) -> Value {
        let mut meta = json!({ "progressToken": id });
        if !is_session {
            meta["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
            meta["io.modelcontextprotocol/clientCapabilities"] = json!(self.capabilities);
            meta["io.modelcontextprotocol/clientInfo"] = json!(self.info);
            meta["io.modelcontextprotocol/logLevel"] = json!(self.log_level);
        }
        let own = own.unwrap_or_else(|| json!({}));
        match (own, &mut meta) {
            (Value::Object(own), Value::Object(entries)) => {
                entries.extend(own);
                entries.retain(|_, entry| !entry.is_null());
                meta
            }
            (own, _) => own,
        }
    }

    /// The headers that mirror the body.
    fn stateless_headers(&self, method: &str, params: &Value) -> HeaderMap {
        let version = params["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str();
        let name = match method {
            "tools/call" | "prompts/get" => params["name"].as_str(),
            "resources/read" => params["uri"].as_str(),
            _ => None,
        };
        let mut headers = HeaderMap::new();
        for (header, value) in [("mcp-protocol-version", version), ("mcp-method", Some(method)), ("mcp-name", name)] {
            if let Some(value) = value {
                headers.insert(header, header_value(value));
            }
        }
        let tool = name.filter(|_| method == "tools/call").and_then(|name| self.server.0.entry(TargetKind::Tool, name));
        for param in tool.iter().flat_map(|tool| &tool.param_headers) {
            let argument = param.path.iter().try_fold(&params["arguments"], |value, key| value.get(key));
            let text = match argument {
                None | Some(Value::Null) => continue,
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
            };
            if let Ok(name) = HeaderName::try_from(&param.header) {
                headers.insert(name, header_value(&text));
            }
        }
        headers
    }

    /// The headers of every request in the session, which is opened first if there is none.
    async fn session_headers(&self) -> Result<&HeaderMap> {
        self.session.get_or_try_init(|| self.open_session()).await
    }

    async fn open_session(&self) -> Result<HeaderMap> {
        let params =
            json!({ "protocolVersion": SESSION_VERSION, "capabilities": self.capabilities, "clientInfo": self.info });
        let request = self.request(self.next_id(), Some(&HeaderMap::new()), "initialize", params);
        let mut exchange = self.exchange("initialize", request).await;
        let result = exchange.finish().await?;
        let version = HeaderValue::try_from(read::<String>("initialize", &result["protocolVersion"])?)
            .map_err(|error| ClientError::unexpected("initialize", error.to_string(), &result))?;
        let mut headers = HeaderMap::from_iter([(HeaderName::from_static("mcp-protocol-version"), version)]);
        if let Some(id) = exchange.headers.remove("mcp-session-id") {
            headers.insert("mcp-session-id", id);
        }
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        self.exchange("notifications/initialized", self.post(headers.clone(), &initialized)).await.accepted().await?;
        if let Some(level) = self.log_level {
            let request = self.request(self.next_id(), Some(&headers), "logging/setLevel", json!({ "level": level }));
            self.exchange("logging/setLevel", request).await.finish().await?;
        }
        Ok(headers)
    }

    /// Answers a request of the server.
    pub(super) async fn respond(&self, response: &Value) -> Result<()> {
        let request = self.post(self.session_headers().await?.clone(), response);
        self.exchange("response", request).await.accepted().await
    }

    /// The stream of messages that belong to no request.
    pub(super) async fn session_stream(&self) -> Result<HttpExchange> {
        let request = self.http(Method::GET, self.session_headers().await?.clone(), Bytes::new());
        Ok(self.exchange("GET", request).await)
    }
}

/// Text as the value of a header: as it is where that is allowed, otherwise in base64.
fn header_value(text: &str) -> HeaderValue {
    let plain = text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        && text.trim() == text
        && !(text.starts_with("=?base64?") && text.ends_with("?="));
    let text = if plain { text.to_owned() } else { format!("=?base64?{}?=", STANDARD.encode(text)) };
    HeaderValue::try_from(text).expect("printable ASCII is a header's value")
}
