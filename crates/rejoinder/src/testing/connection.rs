//! What the client says about itself, and its requests in both eras.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use bytes::Bytes;
use futures_util::stream::{self, StreamExt};
use http::{Extensions, HeaderMap, HeaderName, HeaderValue, Method, Request, header};
use serde_json::{Value, json};
use tokio::{runtime::Handle, sync::OnceCell};

#[cfg(feature = "sse")]
use super::transport::event_stream;
#[cfg(feature = "stdio")]
use super::transport::pipe;
#[cfg(feature = "ws")]
use super::transport::web_socket;
use super::{
    ClientError, Result, Transport, exchange::ClientExchange, kills::MortalKeeper, link::Link, response::read,
};
use crate::{
    call::CallTrace,
    model::{ClientCapabilities, Implementation, Task, encode_header, header_name, header_text, meta_key, version},
    request::{Era, Level},
    server::{BuiltServer, TargetKind},
    transport::McpService,
};

#[derive(Debug, Clone)]
pub(super) struct ClientConnection {
    pub(super) server: BuiltServer,
    /// One for all requests: it holds the sessions.
    pub(super) service: McpService,
    pub(super) transport: Transport,
    pub(super) era: Era,
    pub(super) info: Implementation,
    pub(super) capabilities: ClientCapabilities,
    /// Who keeps tasks, if it declares the extension for them.
    pub(super) tasks: Option<Arc<MortalKeeper>>,
    pub(super) log_level: Option<Level>,
    pub(super) headers: HeaderMap,
    pub(super) extensions: Extensions,
    /// The headers of every request in the session, once there is one.
    session: Arc<OnceCell<HeaderMap>>,
    /// The connection of a transport on which requests share one.
    link: Arc<OnceCell<Option<Arc<Link>>>>,
}

/// No two requests of a process have the same id, so that what happens in a call can be followed by it.
static NEXT_ID: AtomicU64 = AtomicU64::new(1);

impl ClientConnection {
    pub(super) fn new(server: BuiltServer) -> Self {
        Self {
            service: McpService::new(Arc::clone(&server.0)),
            server,
            transport: Transport::Http,
            era: Era::Stateless,
            info: Implementation::new("rejoinder-testing", env!("CARGO_PKG_VERSION")),
            capabilities: ClientCapabilities::default(),
            tasks: None,
            log_level: None,
            headers: HeaderMap::new(),
            extensions: Extensions::new(),
            session: Arc::default(),
            link: Arc::default(),
        }
    }

    /// Opens another connection and another session for the next request.
    pub(super) fn reconnect(&mut self) {
        (self.session, self.link) = Default::default();
    }

    /// Sends a request of the client's era. `trace` sees what happens in the call.
    pub(super) async fn open(&self, method: &str, params: Value, trace: CallTrace) -> Result<ClientExchange> {
        let (id, params) = (next_id(), if params.is_null() { json!({}) } else { params });
        let session = match self.era {
            Era::Session => Some(self.session_headers().await?),
            _ => None,
        };
        let followed = self.server.0.dependencies().traces().follow(id.to_string(), trace);
        let mut exchange = self.send(id, session, method, params).await?;
        exchange.followed = Some(followed);
        if session.is_some() || self.transport != Transport::Http {
            let cancelled =
                json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
            let (connection, headers) = (self.clone(), session.cloned().unwrap_or_default());
            let cancel = async move { connection.deliver(headers, &cancelled).await };
            // Without a runtime no call can be running.
            exchange.cancel = Some(Box::new(|| drop(Handle::try_current().map(|runtime| runtime.spawn(cancel)))));
        }
        Ok(exchange)
    }

    /// Sends a request, with the `_meta` and the headers of its era.
    async fn send(&self, id: u64, session: Option<&HeaderMap>, method: &str, params: Value) -> Result<ClientExchange> {
        let params = if method == "initialize" { params } else { self.with_meta(params, id, session.is_some()) };
        let headers = session.cloned().unwrap_or_else(|| self.stateless_headers(method, &params));
        self.deliver(headers, &json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await
    }

    /// Sends a message over the transport. The exchange has what comes back.
    async fn deliver(&self, headers: HeaderMap, message: &Value) -> Result<ClientExchange> {
        let (method, request) = (message["method"].as_str(), self.post(headers, message));
        let name = method.unwrap_or("response");
        let Some(link) = self.link().await? else {
            return Ok(ClientExchange::over_http(self.service.clone(), name, request).await);
        };
        let incoming = match message["id"].as_u64().filter(|_| method.is_some()) {
            Some(id) => link.receive(Some(id)),
            None => stream::empty().boxed(),
        };
        link.send(request);
        Ok(ClientExchange::new(name, incoming))
    }

    /// The connection, if requests share one.
    async fn link(&self) -> Result<Option<&Arc<Link>>> {
        Ok(self.link.get_or_try_init(|| self.open_link()).await?.as_ref())
    }

    async fn open_link(&self) -> Result<Option<Arc<Link>>> {
        let link = match self.transport {
            Transport::Http => None,
            #[cfg(feature = "stdio")]
            Transport::Stdio => Some(pipe::open(&self.server)),
            #[cfg(feature = "ws")]
            Transport::WebSocket => Some(web_socket::open(&self.service, self.opening()).await?),
            #[cfg(feature = "sse")]
            Transport::Sse => Some(event_stream::open(&self.service, self.opening()).await?),
        };
        Ok(link.map(Arc::new))
    }

    /// The request that opens a connection.
    #[cfg(any(feature = "ws", feature = "sse"))]
    fn opening(&self) -> Request<Bytes> {
        self.http(Method::GET, HeaderMap::new(), Bytes::new())
    }

    fn post(&self, headers: HeaderMap, body: &Value) -> Request<Bytes> {
        self.http(Method::POST, headers, body.to_string().into())
    }

    /// A request with the headers that all have, and then those that the test sets.
    fn http(&self, method: Method, headers: HeaderMap, body: Bytes) -> Request<Bytes> {
        let mut request = Request::new(body);
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

    /// The params of a request, with the `_meta` of its era; an entry of the test's own replaces the client's, and `null`
    /// removes it.
    fn with_meta(&self, mut params: Value, id: u64, is_session: bool) -> Value {
        let mut meta = json!({ meta_key::PROGRESS_TOKEN: id });
        if !is_session {
            meta[meta_key::PROTOCOL_VERSION] = version::STATELESS.into();
            meta[meta_key::CLIENT_CAPABILITIES] = self.declared();
            meta[meta_key::CLIENT_INFO] = json!(self.info);
            meta[meta_key::LOG_LEVEL] = json!(self.log_level);
        }
        match (params.get_mut("_meta").map(Value::take), &mut meta) {
            (Some(Value::Object(own)), Value::Object(entries)) => entries.extend(own),
            (Some(own), _) => meta = own,
            (None, _) => {}
        }
        if let Value::Object(entries) = &mut meta {
            entries.retain(|_, entry| !entry.is_null());
        }
        if params.is_object() {
            params["_meta"] = meta;
        }
        params
    }

    /// What the client can do, as it declares it.
    fn declared(&self) -> Value {
        let mut capabilities = json!(self.capabilities);
        if self.tasks.is_some() {
            capabilities["extensions"][Task::EXTENSION] = json!({});
        }
        capabilities
    }

    /// The headers that mirror the body.
    fn stateless_headers(&self, method: &str, params: &Value) -> HeaderMap {
        let version = params["_meta"][meta_key::PROTOCOL_VERSION].as_str();
        let name = match method {
            "tools/call" | "prompts/get" => params["name"].as_str(),
            "resources/read" => params["uri"].as_str(),
            "tasks/get" | "tasks/update" | "tasks/cancel" => params["taskId"].as_str(),
            _ => None,
        };
        let mut headers = HeaderMap::new();
        for (header, value) in
            [(header_name::PROTOCOL_VERSION, version), (header_name::METHOD, Some(method)), (header_name::NAME, name)]
        {
            if let Some(value) = value {
                headers.insert(header, header_value(value));
            }
        }
        let tool = name.filter(|_| method == "tools/call").and_then(|name| self.server.0.entry(TargetKind::Tool, name));
        for param in tool.iter().flat_map(|tool| &tool.param_headers) {
            let argument = param.path.iter().try_fold(&params["arguments"], |value, key| value.get(key));
            if let (Some(text), Ok(name)) = (argument.and_then(header_text), HeaderName::try_from(&param.header)) {
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
            json!({ "protocolVersion": version::SESSION[0], "capabilities": self.declared(), "clientInfo": self.info });
        let mut exchange = self.send(next_id(), Some(&HeaderMap::new()), "initialize", params).await?;
        let result = exchange.finish().await?;
        let version = HeaderValue::try_from(read::<String>("initialize", &result["protocolVersion"])?)
            .map_err(|error| ClientError::unexpected("initialize", format_args!("{error}: {result}")))?;
        let mut headers = HeaderMap::from_iter([(HeaderName::from_static(header_name::PROTOCOL_VERSION), version)]);
        if let Some(id) = exchange.headers.remove(header_name::SESSION_ID) {
            headers.insert(header_name::SESSION_ID, id);
        }
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        self.deliver(headers.clone(), &initialized).await?.accepted().await?;
        if let Some(level) = self.log_level {
            self.send(next_id(), Some(&headers), "logging/setLevel", json!({ "level": level })).await?.finish().await?;
        }
        Ok(headers)
    }

    /// Answers a request of the server.
    pub(super) async fn respond(&self, response: &Value) -> Result<()> {
        self.deliver(self.session_headers().await?.clone(), response).await?.accepted().await
    }

    /// The stream of messages that belong to no request.
    pub(super) async fn session_stream(&self) -> Result<ClientExchange> {
        let headers = self.session_headers().await?;
        if let Some(link) = self.link().await? {
            return Ok(ClientExchange::new("listen", link.receive(None)));
        }
        let request = self.http(Method::GET, headers.clone(), Bytes::new());
        Ok(ClientExchange::over_http(self.service.clone(), "GET", request).await)
    }
}

fn next_id() -> u64 {
    NEXT_ID.fetch_add(1, Ordering::Relaxed)
}

/// Text as the value of a header: as it is where that is allowed, otherwise in base64.
fn header_value(text: &str) -> HeaderValue {
    HeaderValue::try_from(&*encode_header(text)).expect("printable ASCII is a header's value")
}
