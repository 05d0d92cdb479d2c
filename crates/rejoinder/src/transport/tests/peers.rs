//! A client of a session on each transport, as bytes.

use std::{future::ready, net::SocketAddr, sync::Arc, time::Duration};

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, WriteHalf},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
    time::timeout,
};
use tokio_tungstenite::{WebSocketStream, client_async, tungstenite::Message};

use crate::{
    Server,
    server::Engine,
    transport::{http::serve, shutdown::finish_teardown, stdio::serve_lines},
};

/// How a client is connected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Way {
    Pipe,
    WebSocket,
    Sse,
    /// A session of Streamable HTTP.
    Http,
}

impl Way {
    pub(super) const ALL: [Self; 4] = [Self::Pipe, Self::WebSocket, Self::Sse, Self::Http];
    /// Those with one connection for everything.
    pub(super) const CONNECTED: [Self; 3] = [Self::Pipe, Self::WebSocket, Self::Sse];
}

type Bytes = Box<dyn AsyncBufRead + Send + Unpin>;

enum Connection {
    Pipe(WriteHalf<DuplexStream>, Bytes),
    WebSocket(Box<WebSocketStream<TcpStream>>),
    /// Where to post to, and what comes as events.
    Posts(SocketAddr, String, Bytes),
    Gone,
}

/// A server and its client, which has begun a session of 2025-11-25.
pub(super) struct Peer {
    connection: Connection,
    pub(super) engine: Arc<Engine>,
    serving: JoinHandle<std::io::Result<()>>,
}

/// Waits for what must come, but not without end.
pub(super) async fn within<T>(future: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(30), future).await.expect("it hangs")
}

impl Peer {
    pub(super) async fn open(way: Way, server: Server) -> Self {
        Self::open_version(way, server, "2025-11-25").await
    }

    pub(super) async fn open_version(way: Way, server: Server, version: &str) -> Self {
        let server = server.http(crate::http::Config::new().websocket("/ws").sse("/sse"));
        let built = server.build().expect("a good server");
        let engine = Arc::clone(&built.0);
        let (connection, serving) = if way == Way::Pipe {
            let (ours, theirs) = tokio::io::duplex(64 * 1024);
            let (reader, writer) = tokio::io::split(theirs);
            let engine = Arc::clone(&engine);
            let serving = tokio::spawn(async move {
                let served = serve_lines(&engine, reader, writer, None).await;
                finish_teardown(&engine, ready(())).await;
                served
            });
            let (output, input) = tokio::io::split(ours);
            (Connection::Pipe(input, Box::new(BufReader::new(output))), serving)
        } else {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
            let address = listener.local_addr().expect("an address");
            let serving = tokio::spawn(serve(built, listener));
            let connection = match way {
                Way::WebSocket => {
                    let stream = TcpStream::connect(address).await.expect("it accepts");
                    let (socket, _) = client_async(format!("ws://{address}/ws"), stream).await.expect("it upgrades");
                    Connection::WebSocket(Box::new(socket))
                }
                Way::Sse => {
                    let (_, mut events) = http(address, "GET", "/sse", "").await;
                    let endpoint = event(&mut events).await.expect("an event");
                    Connection::Posts(address, format!("POST /{endpoint}"), events)
                }
                _ => Connection::Posts(address, "POST /mcp".to_owned(), Box::new(tokio::io::empty())),
            };
            (connection, serving)
        };
        let mut peer = Self { connection, engine, serving };
        let params = json!({ "protocolVersion": version, "capabilities": { "elicitation": {} },
            "clientInfo": { "name": "peer", "version": "1" } });
        peer.send(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })).await;
        assert_eq!(peer.next().await["result"]["protocolVersion"], version);
        peer.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        peer
    }

    /// Sends a message. The status of the response if it is sent in a POST.
    pub(super) async fn send(&mut self, message: &Value) -> u16 {
        match &mut self.connection {
            Connection::Pipe(input, _) => {
                within(input.write_all(format!("{message}\n").as_bytes())).await.expect("it reads");
            }
            Connection::WebSocket(socket) => {
                within(socket.send(Message::text(message.to_string()))).await.expect("it reads");
            }
            Connection::Posts(address, to, events) => {
                let (method, path) = to.split_once(' ').expect("both");
                let (head, body) = http(*address, method, path, &message.to_string()).await;
                if path.starts_with("/mcp") {
                    let session = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
                    *to = session.map_or(to.clone(), |id| format!("POST /mcp\r\nMcp-Session-Id: {id}"));
                    if !head.contains(" 202 ") {
                        *events = body;
                    }
                }
                return head[9..12].parse().expect("a status");
            }
            Connection::Gone => panic!("it is closed"),
        }
        202
    }

    pub(super) async fn request(&mut self, id: u64, method: &str, params: Value) -> u16 {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await
    }

    /// The reply to a request, while a call runs.
    pub(super) async fn ask_aside(&mut self, way: Way, id: u64, method: &str) -> Value {
        let stream = match &mut self.connection {
            // Over HTTP each request has its own stream.
            Connection::Posts(_, _, events) if way == Way::Http => {
                Some(std::mem::replace(events, Box::new(tokio::io::empty())))
            }
            _ => None,
        };
        self.request(id, method, json!({})).await;
        let reply = self.next().await;
        if let (Connection::Posts(_, _, events), Some(stream)) = (&mut self.connection, stream) {
            *events = stream;
        }
        reply
    }

    /// The next message, except for events without one.
    pub(super) async fn next(&mut self) -> Value {
        let message = match &mut self.connection {
            Connection::Pipe(_, output) => {
                let mut line = String::new();
                within(output.read_line(&mut line)).await.expect("a pipe");
                line
            }
            Connection::WebSocket(socket) => {
                let frame = within(socket.next()).await.expect("it is open").expect("a frame");
                frame.into_text().expect("text").to_string()
            }
            Connection::Posts(_, _, events) => event(events).await.expect("an event"),
            Connection::Gone => panic!("it is closed"),
        };
        serde_json::from_str(&message).unwrap_or_else(|_| panic!("JSON, and not {message:?}"))
    }

    /// Waits until the server has stopped.
    pub(super) async fn served(mut self) {
        if let Connection::WebSocket(socket) = &mut self.connection {
            // The client closes its side, too.
            while let Some(Ok(_)) = within(socket.next()).await {}
            drop(std::mem::replace(&mut self.connection, Connection::Gone));
        }
        within(self.serving).await.expect("it does not panic").expect("it stops well");
    }
}

/// Sends a request over a connection of its own; the head of the response, and its body.
async fn http(address: SocketAddr, method: &str, path: &str, body: &str) -> (String, Bytes) {
    let mut stream = TcpStream::connect(address).await.expect("it accepts");
    // What follows the path may be a header of its own.
    let (path, header) =
        path.split_once("\r\n").map_or((path, String::new()), |(path, header)| (path, format!("{header}\r\n")));
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, \
         text/event-stream\r\n{header}Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    within(stream.write_all(request.as_bytes())).await.expect("it reads");
    let mut stream = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(within(stream.read_line(&mut head)).await.expect("a response"), 0, "{head}");
    }
    (head, Box::new(stream))
}

/// The data of the next event that has some, or a whole body of JSON.
async fn event(stream: &mut Bytes) -> Option<String> {
    loop {
        let mut line = Vec::new();
        let length = within(async {
            // A body of JSON has no line break at its end.
            loop {
                let piece = stream.fill_buf().await.expect("a stream");
                let end = piece.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
                let taken = end.unwrap_or(piece.len());
                line.extend_from_slice(&piece[..taken]);
                stream.consume(taken);
                if taken == 0 || end.is_some() || line.ends_with(b"}") && line.starts_with(b"{") {
                    return line.len();
                }
            }
        })
        .await;
        if length == 0 {
            return None;
        }
        let line = String::from_utf8(line).expect("UTF-8");
        match line.trim_end().strip_prefix("data: ") {
            Some(data) if !data.is_empty() => return Some(data.to_owned()),
            None if line.starts_with('{') => return Some(line),
            _ => {}
        }
    }
}
