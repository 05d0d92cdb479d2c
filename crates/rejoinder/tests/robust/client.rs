//! A raw HTTP/1.1 client that can send anything.

use std::{collections::VecDeque, net::SocketAddr, time::Duration};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Waits for something that must happen; a test that hangs fails instead.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(30), future).await.expect("it hangs")
}

/// A request of the stateless era.
pub(crate) fn request(method: &str, params: Value) -> Value {
    let mut request = json!({ "jsonrpc": "2.0", "id": 1, "method": method });
    request["params"] = params;
    let meta = &mut request["params"]["_meta"];
    meta["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
    request
}

/// A call of a tool.
pub(crate) fn call(tool: &str, arguments: Value) -> Value {
    let mut call = request("tools/call", json!({ "name": tool }));
    call["params"]["arguments"] = arguments;
    call
}

/// The same request, of a client that can be asked.
pub(crate) fn asked(mut request: Value) -> Value {
    request["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({ "elicitation": {} });
    request
}

/// The same request, with progress and logs wanted.
pub(crate) fn observed(mut request: Value, token: impl Into<Value>) -> Value {
    request["params"]["_meta"]["progressToken"] = token.into();
    request["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = "debug".into();
    request
}

/// An HTTP request, byte for byte.
#[derive(Clone)]
pub(crate) struct Post {
    pub(crate) line: String,
    headers: Vec<(String, Vec<u8>)>,
    pub(crate) body: Vec<u8>,
}

impl Post {
    /// The request that an ordinary client makes of this message.
    pub(crate) fn of(message: &Value) -> Self {
        let params = &message["params"];
        let name = params["name"].as_str().or_else(|| params["uri"].as_str());
        let post = Self::raw(message.to_string()).set("Mcp-Method", message["method"].as_str().unwrap_or_default());
        match name {
            Some(name) => post.set("Mcp-Name", name),
            None => post.without("Mcp-Name"),
        }
    }

    /// Any body at all, with the headers of a call of `add`.
    pub(crate) fn raw(body: impl Into<Vec<u8>>) -> Self {
        let headers = [
            ("Host", "localhost"),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", "add"),
        ];
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec())).collect();
        let post = Self { line: "POST /mcp HTTP/1.1".into(), headers, body: body.into() };
        let length = post.body.len().to_string();
        post.set("Content-Length", length)
    }

    /// Says a header, instead of what it said before.
    pub(crate) fn set(self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.without(name).also(name, value)
    }

    /// Says a header once more.
    pub(crate) fn also(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push((name.into(), value.as_ref().to_vec()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    pub(crate) fn line(mut self, line: &str) -> Self {
        self.line = line.into();
        self
    }

    /// The request up to its body.
    pub(crate) fn head(&self) -> Vec<u8> {
        let mut bytes = format!("{}\r\n", self.line).into_bytes();
        for (name, value) in &self.headers {
            bytes.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
        }
        bytes.extend(b"\r\n");
        bytes
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        [self.head(), self.body.clone()].concat()
    }
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Response {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }

    /// The status and the JSON-RPC error code.
    pub(crate) fn refusal(&self) -> (u16, i64) {
        (self.status, self.json()["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {}", self.json())))
    }

    pub(crate) fn message(&self) -> String {
        self.json()["error"]["message"].as_str().unwrap_or_default().to_owned()
    }

    /// All messages: one as JSON, or those of a stream of events.
    pub(crate) fn messages(&self) -> Vec<Value> {
        if !self.head.contains("content-type: text/event-stream") {
            return vec![self.json()];
        }
        let text = String::from_utf8_lossy(&self.body);
        let data = text.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
        data.filter(|data| !data.is_empty()).map(|data| data.parse().expect("events are JSON")).collect()
    }

    /// The text of a tool's result.
    pub(crate) fn text(&self) -> String {
        text(&self.json())
    }
}

/// The text of a tool's result.
pub(crate) fn text(message: &Value) -> String {
    let text = message["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("not a result with text: {message}")).to_owned()
}

/// A connection.
pub(crate) struct Connection {
    pub(crate) socket: TcpStream,
    buffer: Vec<u8>,
    chunked: bool,
    /// The data of events that came together with one that was read.
    events: VecDeque<String>,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Self {
        let socket = within(TcpStream::connect(address)).await.expect("the server accepts");
        Self { socket, buffer: Vec::new(), chunked: false, events: VecDeque::new() }
    }

    /// Sends bytes. A server may hang up before it has read all of them, having answered.
    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let _ = within(self.socket.write_all(bytes.as_ref())).await;
    }

    /// Reads more; `false` at the end.
    async fn more(&mut self) -> bool {
        within(self.socket.read_buf(&mut self.buffer)).await.is_ok_and(|read| read > 0)
    }

    async fn until(&mut self, mark: &[u8]) -> Option<Vec<u8>> {
        loop {
            if let Some(at) = self.buffer.windows(mark.len()).position(|window| window == mark) {
                let rest = self.buffer.split_off(at + mark.len());
                let mut taken = std::mem::replace(&mut self.buffer, rest);
                taken.truncate(at);
                return Some(taken);
            }
            if !self.more().await {
                return None;
            }
        }
    }

    async fn exactly(&mut self, length: usize) -> Vec<u8> {
        while self.buffer.len() < length {
            assert!(self.more().await, "the body ended early");
        }
        let rest = self.buffer.split_off(length);
        std::mem::replace(&mut self.buffer, rest)
    }

    /// The head of the next response, without its body.
    pub(crate) async fn head(&mut self) -> Option<Response> {
        let head = String::from_utf8(self.until(b"\r\n\r\n").await?).expect("a head is text");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        let head = head.to_ascii_lowercase();
        self.chunked = head.contains("transfer-encoding: chunked");
        Some(Response { status, head, body: Vec::new() })
    }

    /// The next response; `None` if the server hung up instead.
    pub(crate) async fn response(&mut self) -> Option<Response> {
        within(self.whole_response()).await
    }

    async fn whole_response(&mut self) -> Option<Response> {
        let mut response = self.head().await?;
        if response.status == 204 {
            return Some(response);
        }
        let length = response.head.lines().find_map(|line| line.strip_prefix("content-length: "));
        if let Some(length) = length {
            response.body = self.exactly(length.parse().expect("a length")).await;
        } else {
            while let Some(chunk) = self.chunk().await {
                response.body.extend(chunk);
            }
        }
        Some(response)
    }

    /// The next piece of a body without a length.
    async fn chunk(&mut self) -> Option<Vec<u8>> {
        if !self.chunked {
            return if self.buffer.is_empty() && !self.more().await {
                None
            } else {
                Some(std::mem::take(&mut self.buffer))
            };
        }
        let size = String::from_utf8(self.until(b"\r\n").await?).expect("a chunk's size is text");
        let size = usize::from_str_radix(&size, 16).expect("a chunk's size");
        let chunk = self.exactly(size).await;
        self.exactly(2).await;
        (size > 0).then_some(chunk)
    }

    /// The next message of a stream of events, as text; `None` at its end. A chunk has whole events.
    pub(crate) async fn data(&mut self) -> Option<String> {
        while self.events.is_empty() {
            let chunk = String::from_utf8(self.chunk().await?).expect("events are text");
            self.events.extend(chunk.lines().filter_map(|line| line.strip_prefix("data: ")).map(str::to_owned));
        }
        self.events.pop_front()
    }

    pub(crate) async fn event(&mut self) -> Option<Value> {
        Some(serde_json::from_str(&self.data().await?).expect("events are JSON"))
    }

    /// Sends a request and reads all messages of its answer: one, or a stream of them.
    pub(crate) async fn messages(&mut self, message: &Value) -> Vec<Value> {
        self.send(Post::of(message).bytes()).await;
        let head = self.head().await.expect("an answer");
        if !head.head.contains("text/event-stream") {
            let length = head.head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
            let body = self.exactly(length.parse().expect("a length")).await;
            return vec![serde_json::from_slice(&body).expect("JSON")];
        }
        let mut messages = Vec::new();
        while let Some(event) = self.event().await {
            messages.push(event);
        }
        messages
    }
}
