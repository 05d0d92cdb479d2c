//! Who may call over HTTP: tokens of an issuer that the test runs, attacks on them, introspection and API keys.

#![cfg(feature = "auth")]
#![allow(clippy::unwrap_used, reason = "a test")]

mod attacks;
#[cfg(all(feature = "ws", feature = "sse"))]
#[path = "../../robust/client.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod client;
#[cfg(all(feature = "ws", feature = "sse"))]
mod connections;
mod issuer;
mod keys;
mod methods;
mod rules;

use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use rejoinder::{
    auth::{Auth, Principal},
    http::{self as transport, McpService, PeerAddress},
    prelude::*,
};
use serde_json::{Value, json};
use tower_service::Service;

/// Where requests come from, as a layer in front of a mounted service says it.
pub(crate) const PEER: ([u8; 4], u16) = ([192, 0, 2, 7], 4711);

/// What the tokens of these tests are for.
pub(crate) const AUDIENCE: &str = "https://mcp.example/mcp";

#[tool]
async fn whoami(caller: Option<Principal>) -> String {
    caller.map_or_else(|| "nobody".to_owned(), |caller| format!("{} {:?}", caller.subject(), caller.scopes()))
}

#[tool]
async fn ask(ctx: Context) -> Result<String, CallError> {
    Ok(ctx.ask("sure", Ask::confirm("Sure?")).await?.to_string())
}

/// Only for callers that may write.
#[tool(scopes = ["files:write", "b"])]
async fn write() -> &'static str {
    "written"
}

#[resolver]
fn never() -> bool {
    false
}

#[tool(enabled = never)]
async fn hidden() {}

pub(crate) fn server(auth: Auth) -> Server {
    server_at(transport::Config::new().auth(auth))
}

pub(crate) fn server_at(http: transport::Config) -> Server {
    Server::new("shop", "1.0.0").tools(tools![whoami, ask, write, hidden]).http(http)
}

pub(crate) fn service(auth: Auth) -> McpService {
    server(auth).build().unwrap().into_service()
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

impl Reply {
    pub(crate) fn text(&self) -> &str {
        self.body["result"]["content"][0]["text"].as_str().unwrap_or_default()
    }

    pub(crate) fn challenge(&self) -> &str {
        self.headers.get("www-authenticate").map_or("", |value| value.to_str().unwrap())
    }
}

/// Sends a request with these headers besides those of every request.
pub(crate) async fn send(service: &McpService, method: Method, headers: &[(&str, &str)], body: String) -> Reply {
    let is_post = method == Method::POST;
    let mut request = Request::builder().method(method).uri("/mcp").header("host", "localhost");
    if !headers.iter().any(|(name, _)| *name == "accept") {
        request = request.header("accept", "application/json, text/event-stream");
    }
    request = request.header("content-type", "application/json").extension(PeerAddress(PEER.into()));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = service.clone().call(request.body(Full::from(body)).unwrap()).await.unwrap();
    let (head, body) = response.into_parts();
    let is = |kind: &str| head.headers.get("content-type").is_some_and(|sent| sent == kind);
    let body = if is("application/json") {
        serde_json::from_slice(&body.collect().await.unwrap().to_bytes()).unwrap_or_default()
    } else if is("text/event-stream") && is_post {
        let events = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
        let last = events.lines().filter_map(|line| line.strip_prefix("data: ")).next_back();
        serde_json::from_str(last.unwrap_or_default()).unwrap_or_default()
    } else {
        Value::Null
    };
    Reply { status: head.status, headers: head.headers, body }
}

/// The first message of a session.
pub(crate) fn initialize() -> String {
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }).to_string()
}

/// A stateless call of a tool, with what else its `params` have.
pub(crate) async fn call(service: &McpService, tool: &str, headers: &[(&str, &str)], rest: Value) -> Reply {
    let mut params = json!({ "name": tool, "arguments": {}, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
    } });
    for (name, value) in rest.as_object().into_iter().flatten() {
        params[name] = value.clone();
    }
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let fixed = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", tool)];
    send(service, Method::POST, &[&fixed, headers].concat(), message.to_string()).await
}

/// Who the server thinks is calling with this header.
pub(crate) async fn whoami_with(service: &McpService, authorization: &str) -> Reply {
    call(service, "whoami", &[("authorization", authorization)], json!({})).await
}
