//! Messages by hand: what a careful client would never send.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::{HeaderMap, Request};
use http_body_util::{BodyExt, Full};
use rejoinder::{BuiltServer, http::McpService};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tower_service::Service;

pub const VERSION: &str = "2026-07-28";

/// The `_meta` of a good request.
pub fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// A good request, as JSON.
pub fn message(id: impl Into<Value>, method: &str, mut params: Value) -> Value {
    if params.get("_meta").is_none() {
        params["_meta"] = meta();
    }
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

/// An HTTP request with the headers that its body asks for.
#[derive(Clone)]
pub struct Post {
    pub method: &'static str,
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

/// What came back.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: String,
}

pub fn post(method: &str, params: Value) -> Post {
    let mut headers: BTreeMap<String, String> = BTreeMap::new();
    let mut set = |name: &str, value: &str| headers.insert(name.to_owned(), value.to_owned());
    set("host", "localhost");
    set("content-type", "application/json");
    set("accept", "application/json, text/event-stream");
    set("mcp-protocol-version", VERSION);
    set("mcp-method", method);
    if let Some(name) = params["name"].as_str().or(params["uri"].as_str()) {
        set("mcp-name", name);
    }
    Post { method: "POST", headers, body: message(1, method, params).to_string() }
}

impl Post {
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.insert(name.to_owned(), value.to_owned());
        self
    }

    pub fn without(mut self, name: &str) -> Self {
        self.headers.remove(name);
        self
    }

    pub fn body(mut self, body: impl ToString) -> Self {
        self.body = body.to_string();
        self
    }

    pub fn verb(mut self, verb: &'static str) -> Self {
        self.method = verb;
        self
    }

    pub fn request(self) -> Request<Full<Bytes>> {
        let mut request = Request::builder().method(self.method).uri("/mcp");
        for (name, value) in &self.headers {
            request = request.header(name, http::HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        request.body(Full::from(self.body)).unwrap()
    }

    /// Sends it and reads all that comes back.
    pub async fn send(self, server: &BuiltServer) -> Answer {
        self.send_to(&mut server.clone().into_service()).await
    }

    /// The same, to a service that knows of earlier requests: sessions live there.
    pub async fn send_to(self, service: &mut McpService) -> Answer {
        send(self.request(), service).await
    }
}

/// Sends any request and reads all that comes back.
pub async fn send(request: Request<Full<Bytes>>, service: &mut McpService) -> Answer {
    let Ok(response) = service.call(request).await;
    let (parts, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let body = String::from_utf8(body.to_vec()).unwrap();
    Answer { status: parts.status.as_u16(), headers: parts.headers, body }
}

impl Answer {
    /// The one message that it is.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("not JSON: {}", self.body))
    }

    pub fn code(&self) -> Option<i64> {
        self.json()["error"]["code"].as_i64()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The last message, however it came.
    pub fn last(&self) -> Value {
        // The first event of a session's stream has an id and nothing else.
        let mut data = self.body.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
        let last = data.rfind(|data| !data.is_empty());
        last.map_or_else(|| self.json(), |data| serde_json::from_str(data).unwrap())
    }

    /// The messages of a stream of events.
    pub fn events(&self) -> Vec<Value> {
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
        data.map(|data| serde_json::from_str(data).unwrap()).collect()
    }
}

/// A server at the other end of a pipe.
pub struct Pipe {
    input: WriteHalf<DuplexStream>,
    output: Lines<BufReader<ReadHalf<DuplexStream>>>,
}

impl Pipe {
    pub fn open(server: &BuiltServer) -> Self {
        let (client, server_end) = tokio::io::duplex(64 * 1024);
        let (input, output) = tokio::io::split(server_end);
        tokio::spawn(server.clone().serve_io(input, output));
        let (output, input) = tokio::io::split(client);
        Self { input, output: BufReader::new(output).lines() }
    }

    pub async fn send(&mut self, message: impl ToString) {
        self.input.write_all(format!("{}\n", message.to_string()).as_bytes()).await.unwrap();
    }

    /// The next message; nothing at all may come between messages.
    pub async fn next(&mut self) -> Value {
        let line = self.output.next_line().await.unwrap().expect("the server has hung up");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("not JSON: {line}"))
    }

    /// Everything that still comes once the client has closed its end.
    pub async fn close(mut self) -> Vec<Value> {
        self.input.shutdown().await.unwrap();
        let mut rest = Vec::new();
        while let Some(line) = self.output.next_line().await.unwrap() {
            rest.push(serde_json::from_str(&line).unwrap_or_else(|_| panic!("not JSON: {line}")));
        }
        rest
    }
}
