//! The ways to a server: each era, on every transport.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, duplex, split};

use crate::{
    client::{Connection, Post, Response, request, within},
    fixture::Host,
    sse::SseClient,
    websocket::WebSocket,
};

pub(crate) const LEGACY: &str = "2025-11-25";

/// The first request of a session.
pub(crate) fn initialize(id: impl Into<Value>) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": "initialize", "params": { "protocolVersion": LEGACY,
        "capabilities": {}, "clientInfo": { "name": "robust", "version": "1" } } })
}

/// A session over HTTP.
#[derive(Clone)]
pub(crate) struct Session {
    pub(crate) address: SocketAddr,
    pub(crate) id: String,
}

impl Session {
    pub(crate) async fn begin(host: &Host) -> Self {
        Self::begin_as(host, |post| post).await
    }

    pub(crate) async fn begin_as(host: &Host, who: impl Fn(Post) -> Post) -> Self {
        let response = host.post(&who(without_session(initialize(0).to_string()))).await;
        assert_eq!(response.status, 200, "{response:?}");
        let id =
            response.head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).expect("an id").to_owned();
        let session = Self { address: host.address, id };
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(host.post(&who(session.raw(ready.to_string()))).await.status, 202);
        session
    }

    /// Any body at all, in this session.
    pub(crate) fn raw(&self, body: impl Into<Vec<u8>>) -> Post {
        without_session(body).set("Mcp-Session-Id", &self.id)
    }

    /// Sends a message; the answer.
    pub(crate) async fn ask(&self, message: &Value) -> Response {
        let mut connection = self.open(message).await;
        connection.response().await.expect("an answer")
    }

    /// Opens the session's own stream.
    pub(crate) async fn open_stream(&self) -> Connection {
        let mut connection = Connection::open(self.address).await;
        connection.send(self.raw("").line("GET /mcp HTTP/1.1").bytes()).await;
        connection
    }

    /// Sends a message; where the answer comes.
    pub(crate) async fn open(&self, message: &Value) -> Connection {
        let mut connection = Connection::open(self.address).await;
        connection.send(self.raw(message.to_string()).bytes()).await;
        connection
    }
}

/// Any body at all, of the session era.
pub(crate) fn without_session(body: impl Into<Vec<u8>>) -> Post {
    Post::raw(body).without("Mcp-Method").without("Mcp-Name").set("MCP-Protocol-Version", LEGACY)
}

/// A request of the session era.
pub(crate) fn in_session(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

/// A pipe in memory, with the server at its other end.
pub(crate) struct Pipe {
    input: WriteHalf<DuplexStream>,
    output: Lines<BufReader<ReadHalf<DuplexStream>>>,
}

impl Pipe {
    pub(crate) fn open(host: &Host) -> Self {
        let (ours, theirs) = duplex(64 * 1024);
        let (reader, writer) = split(theirs);
        tokio::spawn(host.server.clone().serve_io(reader, writer));
        let (output, input) = split(ours);
        Self { input, output: BufReader::new(output).lines() }
    }

    pub(crate) async fn in_session(host: &Host) -> Self {
        let mut pipe = Self::open(host);
        pipe.send(initialize(0).to_string()).await;
        assert_eq!(pipe.message().await["result"]["protocolVersion"], LEGACY);
        pipe.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string()).await;
        pipe
    }

    pub(crate) async fn send(&mut self, line: impl AsRef<[u8]>) {
        within(self.input.write_all(&[line.as_ref(), b"\n"].concat())).await.expect("the server reads");
    }

    pub(crate) async fn message(&mut self) -> Value {
        let line = within(self.output.next_line()).await.expect("text").expect("a line");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("not JSON: {line}"))
    }

    /// The next message that is not a notification.
    pub(crate) async fn reply(&mut self) -> Value {
        loop {
            let message = self.message().await;
            if message.get("method").is_none() {
                return message;
            }
        }
    }
}

/// A connection that carries messages in both directions.
pub(crate) enum Link {
    Pipe(Pipe),
    WebSocket(Box<WebSocket>),
    Sse(SseClient),
}

impl Link {
    /// One of each kind.
    pub(crate) async fn all(host: &Host) -> [Self; 3] {
        [
            Self::Pipe(Pipe::open(host)),
            Self::WebSocket(Box::new(WebSocket::open(host).await)),
            Self::Sse(SseClient::open(host).await),
        ]
    }

    pub(crate) async fn begin_session(&mut self) {
        self.send(initialize(0).to_string()).await;
        assert_eq!(self.message().await["result"]["protocolVersion"], LEGACY);
        self.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string()).await;
    }

    pub(crate) async fn send(&mut self, message: impl Into<Vec<u8>>) {
        let message = message.into();
        match self {
            Self::Pipe(pipe) => pipe.send(message).await,
            Self::WebSocket(socket) => socket.send(message).await,
            Self::Sse(client) => assert_eq!(client.post(message).await.status, 202),
        }
    }

    pub(crate) async fn message(&mut self) -> Value {
        match self {
            Self::Pipe(pipe) => pipe.message().await,
            Self::WebSocket(socket) => socket.message().await,
            Self::Sse(client) => client.message().await,
        }
    }

    /// The next message that is not a notification.
    pub(crate) async fn reply(&mut self) -> Value {
        loop {
            let message = self.message().await;
            if message.get("method").is_none() {
                return message;
            }
        }
    }
}

/// One of them.
pub(crate) enum Way {
    Stateless(SocketAddr),
    Session(Session),
    StatelessLink(Link),
    SessionLink(Link),
}

impl Way {
    pub(crate) async fn all(host: &Host) -> Vec<Self> {
        let mut all = vec![Self::Stateless(host.address), Self::Session(Session::begin(host).await)];
        all.extend(Self::links(host).await);
        all
    }

    /// Each era on each connection that carries messages in both directions.
    pub(crate) async fn links(host: &Host) -> Vec<Self> {
        let mut links = Link::all(host).await.map(Self::StatelessLink).into_iter().collect::<Vec<_>>();
        for mut link in Link::all(host).await {
            link.begin_session().await;
            links.push(Self::SessionLink(link));
        }
        links
    }

    /// The connection of a way that has one.
    pub(crate) fn link(&mut self) -> &mut Link {
        let (Self::StatelessLink(link) | Self::SessionLink(link)) = self else {
            unreachable!("only over a connection")
        };
        link
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Stateless(_) => "stateless HTTP",
            Self::Session(_) => "a session over HTTP",
            Self::StatelessLink(Link::Pipe(_)) => "a stateless pipe",
            Self::StatelessLink(Link::WebSocket(_)) => "a stateless WebSocket",
            Self::StatelessLink(Link::Sse(_)) => "a stateless client of HTTP+SSE",
            Self::SessionLink(Link::Pipe(_)) => "a session on a pipe",
            Self::SessionLink(Link::WebSocket(_)) => "a session over WebSocket",
            Self::SessionLink(Link::Sse(_)) => "a session over HTTP+SSE",
        }
    }

    pub(crate) fn is_session(&self) -> bool {
        matches!(self, Self::Session(_) | Self::SessionLink(_))
    }

    /// Whether a message can be any bytes: a text frame is UTF-8, or it is not one.
    pub(crate) fn carries_bytes(&self) -> bool {
        !matches!(self, Self::StatelessLink(Link::WebSocket(_)) | Self::SessionLink(Link::WebSocket(_)))
    }

    /// A request as this way wants it.
    pub(crate) fn request(&self, method: &str, params: Value) -> Value {
        if self.is_session() { in_session(method, params) } else { request(method, params) }
    }

    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Sends bytes that are, or should be, one request; the JSON-RPC message that answers it, and its HTTP status.
    pub(crate) async fn raw(&mut self, bytes: impl Into<Vec<u8>>) -> (Option<u16>, Value) {
        let post = match self {
            Self::Stateless(_) => Post::raw(bytes),
            Self::Session(session) => session.raw(bytes),
            Self::StatelessLink(link) | Self::SessionLink(link) => {
                link.send(bytes).await;
                return (None, link.reply().await);
            }
        };
        self.post(&post).await
    }

    /// The same for a message whose headers, if it has any, are right.
    pub(crate) async fn ask(&mut self, message: &Value) -> Value {
        match self {
            Self::Stateless(_) => self.post(&Post::of(message)).await.1,
            _ => self.raw(message.to_string()).await.1,
        }
    }

    pub(crate) async fn post(&self, post: &Post) -> (Option<u16>, Value) {
        let (Self::Stateless(address) | Self::Session(Session { address, .. })) = self else {
            unreachable!("only over HTTP")
        };
        let mut connection = Connection::open(*address).await;
        connection.send(post.bytes()).await;
        let response = connection.response().await.expect("an answer");
        (Some(response.status), response.messages().pop().expect("a message"))
    }

    pub(crate) async fn still_answers(&mut self) {
        let add = self.call("add", json!({ "a": 1, "b": 2 }));
        let answer = self.ask(&add).await;
        assert_eq!(answer["result"]["content"][0]["text"], "3", "{}: {answer}", self.name());
    }
}
