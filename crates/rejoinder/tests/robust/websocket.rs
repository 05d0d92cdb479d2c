//! WebSocket: frames, closing, and what a connection shares and does not share with others.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use rejoinder::prelude::*;
use rejoinder::server::Limits;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{
        Message,
        client::IntoClientRequest,
        handshake::client::Request,
        protocol::frame::{
            Frame,
            coding::{CloseCode, Data, OpCode},
        },
    },
};

use crate::{
    client::{call, observed, request, within},
    fixture::{Events, Host, everywhere, mount},
    ways::{LEGACY, in_session, initialize},
};

/// A client that can send anything.
pub(crate) struct WebSocket(WebSocketStream<TcpStream>);

/// The request of an ordinary client.
fn upgrade(host: &Host) -> Request {
    format!("ws://localhost:{}/mcp/ws", host.address.port()).into_client_request().expect("a request")
}

impl WebSocket {
    pub(crate) async fn open(host: &Host) -> Self {
        Self::open_as(host, upgrade(host)).await
    }

    async fn open_as(host: &Host, request: Request) -> Self {
        let stream = TcpStream::connect(host.address).await.expect("the server accepts");
        let (socket, _) = within(client_async(request, stream)).await.expect("the server upgrades");
        Self(socket)
    }

    async fn in_session(host: &Host) -> Self {
        let mut socket = Self::open(host).await;
        let mut first = initialize(0);
        first["params"]["capabilities"] = json!({ "elicitation": {} });
        socket.send(first.to_string()).await;
        assert_eq!(socket.message().await["result"]["protocolVersion"], LEGACY);
        socket.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string()).await;
        socket
    }

    /// Sends bytes as one text frame, whether they are text or not.
    pub(crate) async fn send(&mut self, message: impl Into<Vec<u8>>) {
        let message: Vec<u8> = message.into();
        self.frame(Message::Frame(Frame::message(message, OpCode::Data(Data::Text), true))).await;
    }

    async fn frame(&mut self, frame: Message) {
        within(self.0.send(frame)).await.expect("the server reads");
    }

    /// The next frame that is not part of the keep-alive.
    async fn next(&mut self) -> Option<Message> {
        within(self.0.next()).await?.ok()
    }

    pub(crate) async fn message(&mut self) -> Value {
        match self.next().await {
            Some(Message::Text(text)) => serde_json::from_str(&text).expect("JSON"),
            other => panic!("not a message: {other:?}"),
        }
    }

    async fn ask(&mut self, message: &Value) -> Value {
        self.send(message.to_string()).await;
        self.message().await
    }

    /// The code with which the server closes the connection, whatever comes before.
    async fn closed(&mut self) -> Option<CloseCode> {
        loop {
            if let Message::Close(frame) = self.next().await? {
                return frame.map(|frame| frame.code);
            }
        }
    }

    async fn still_answers(&mut self) {
        let answer = self.ask(&call("add", json!({ "a": 1, "b": 2 }))).await;
        assert_eq!(answer["result"]["content"][0]["text"], "3", "{answer}");
    }
}

fn numbered(mut message: Value, id: impl Into<Value>) -> Value {
    message["id"] = id.into();
    message
}

#[tokio::test]
async fn both_eras_share_a_connection() {
    let host = Host::start().await;
    let mut socket = WebSocket::open(&host).await;
    socket.still_answers().await;
    let discovered = socket.ask(&request("server/discover", json!({}))).await;
    assert_eq!(discovered["result"]["supportedVersions"][0], "2026-07-28", "{discovered}");
    assert_eq!(socket.ask(&initialize(2)).await["result"]["protocolVersion"], LEGACY);
    let add = in_session("tools/call", json!({ "name": "add", "arguments": { "a": 2, "b": 2 } }));
    assert_eq!(socket.ask(&add).await["result"]["content"][0]["text"], "4");
    socket.still_answers().await;
}

#[tokio::test]
async fn l25_a_session_begins_with_initialize() {
    let host = Host::start().await;
    let mut socket = WebSocket::open(&host).await;
    let answer = socket.ask(&in_session("tools/call", json!({ "name": "add" }))).await;
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l12_many_requests_run_at_once_and_end_in_any_order() {
    const CALLS: u32 = 64;
    let host = Host::start().await;
    let mut socket = WebSocket::open(&host).await;
    for number in 0..CALLS {
        socket.send(numbered(call("wait", json!({ "number": number })), number).to_string()).await;
    }
    Events::happened(&host.events.waiting, CALLS).await;
    // All of them wait, and others are answered.
    assert_eq!(socket.ask(&numbered(call("add", json!({ "a": 1, "b": 2 })), "fast")).await["id"], "fast");
    host.events.release.add_permits(CALLS as usize);
    let mut seen = Vec::new();
    for _ in 0..CALLS {
        let answer = socket.message().await;
        assert_eq!(answer["result"]["content"][0]["text"], answer["id"].to_string());
        seen.push(answer["id"].as_u64().expect("a number"));
    }
    seen.sort_unstable();
    assert!(seen.into_iter().eq(0..u64::from(CALLS)));
}

#[tokio::test]
async fn l17_subscriptions_of_two_clients_do_not_mix() {
    let host = Host::start().await;
    let subscribe = |uri: &str| in_session("resources/subscribe", json!({ "uri": uri }));
    let (mut one, mut other) = (WebSocket::in_session(&host).await, WebSocket::in_session(&host).await);
    for (socket, uris) in [(&mut one, ["panic://now", "mine://a"]), (&mut other, ["panic://now", "mine://b"])] {
        for uri in uris {
            assert_eq!(socket.ask(&subscribe(uri)).await["result"], json!({}));
        }
    }
    for uri in ["mine://b", "panic://now", "mine://a"] {
        host.handle.resource_updated(uri);
    }
    for (socket, uris) in [(&mut one, ["mine://a", "panic://now"]), (&mut other, ["mine://b", "panic://now"])] {
        let mut updates =
            [socket.message().await, socket.message().await].map(|update| update["params"]["uri"].clone());
        updates.sort_by_key(Value::to_string);
        assert_eq!(updates, uris);
    }
    // One that leaves takes its subscriptions with it, and only those.
    drop(one);
    host.handle.resource_updated("panic://now");
    assert_eq!(other.message().await["params"]["uri"], "panic://now");
}

#[tokio::test]
async fn a_subscription_of_the_stateless_era_runs_beside_calls() {
    let host = Host::start().await;
    let mut socket = WebSocket::open(&host).await;
    let listen = request("subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } }));
    let acknowledged = socket.ask(&numbered(listen, "all")).await;
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged", "{acknowledged}");
    socket.still_answers().await;
    host.handle.remove_tool("add");
    assert_eq!(socket.message().await["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn progress_arrives_before_the_result_that_it_belongs_to() {
    let host = Host::start().await;
    let mut socket = WebSocket::open(&host).await;
    for name in ["ada", "bob"] {
        socket.send(numbered(observed(call("chat", json!({ "name": name })), name), name).to_string()).await;
    }
    let (mut reports, mut results) = ([0, 0], 0);
    while results < 2 {
        let message = socket.message().await;
        if let Some(name) = message["params"]["progressToken"].as_str() {
            assert_eq!(message["params"]["message"], name);
            reports[usize::from(name == "bob")] += 1;
        } else if let Some(name) = message["id"].as_str() {
            assert_eq!(message["result"]["content"][0]["text"], name);
            assert_eq!(reports[usize::from(name == "bob")], 20, "{name}");
            results += 1;
        }
    }
}

#[tokio::test]
async fn a_ping_is_answered_with_its_own_content() {
    let host = Host::start().await;
    let mut socket = WebSocket::open(&host).await;
    socket.frame(Message::Ping("are you there".into())).await;
    assert_eq!(socket.next().await, Some(Message::Pong("are you there".into())));
    socket.still_answers().await;
}

#[tool]
fn long(length: usize) -> String {
    "x".repeat(length)
}

#[tokio::test]
async fn a_long_reply_arrives_whole_however_it_is_cut() {
    let host = Host::start_with(|server| server.tools(tools![long])).await;
    let mut socket = WebSocket::open(&host).await;
    // Around the size of a fragment, and several of them.
    for length in [256 * 1024 - 200, 256 * 1024, 512 * 1024, 3_000_000] {
        let answer = socket.ask(&call("long", json!({ "length": length }))).await;
        assert_eq!(answer["result"]["content"][0]["text"].as_str().map(str::len), Some(length));
    }
}

/// The time stands still here and jumps to the next timer, so this takes no time.
#[tokio::test(start_paused = true)]
async fn a_silent_client_is_pinged_and_dropped_when_it_does_not_answer() {
    let host = Host::start().await;
    let mut socket = WebSocket::open(&host).await;
    socket.send(call("forever", json!({})).to_string()).await;
    Events::happened(&host.events.waiting, 1).await;
    // The client answers pings while it reads.
    for _ in 0..3 {
        assert!(matches!(socket.0.next().await, Some(Ok(Message::Ping(_)))));
    }
    assert_eq!(host.events.dropped.available_permits(), 0);
    // Now it does not read.
    host.events.dropped.acquire().await.expect("its call is dropped").forget();
}

#[tokio::test]
async fn what_is_not_a_message_closes_the_connection_with_a_code_that_says_why() {
    let host = Host::start_with(|server| server.limits(Limits::new().message_size(1000))).await;
    let text = |payload: Vec<u8>, is_final| Message::Frame(Frame::message(payload, OpCode::Data(Data::Text), is_final));
    let more = |payload: Vec<u8>| Message::Frame(Frame::message(payload, OpCode::Data(Data::Continue), true));
    let cases = [
        ("a binary frame", vec![Message::Binary("{}".into())], CloseCode::Unsupported),
        ("no UTF-8", vec![text(b"\xFF\xFE".to_vec(), true)], CloseCode::Invalid),
        ("too long", vec![text(vec![b' '; 1001], true)], CloseCode::Size),
        ("much too long", vec![text(vec![b' '; 8 * 1024 * 1024], true)], CloseCode::Size),
        ("too long in two frames", vec![text(vec![b' '; 600], false), more(vec![b' '; 600])], CloseCode::Size),
        ("the end of nothing", vec![more(b"{}".to_vec())], CloseCode::Protocol),
    ];
    for (what, frames, code) in cases {
        let mut socket = WebSocket::open(&host).await;
        socket.send(call("forever", json!({})).to_string()).await;
        Events::happened(&host.events.waiting, 1).await;
        for frame in frames {
            socket.frame(frame).await;
        }
        assert_eq!(socket.closed().await, Some(code), "{what}");
        // Its call is dropped with it.
        Events::happened(&host.events.dropped, 1).await;
        Events::happened(&host.events.cancelled, 1).await;
        host.still_answers().await;
    }
    // A message of exactly the limit is read, and so is one in several frames.
    let mut socket = WebSocket::open(&host).await;
    let add = call("add", json!({ "a": 1, "b": 2 })).to_string();
    let padded = format!("{add}{}", " ".repeat(1000 - add.len()));
    socket.send(padded.clone()).await;
    assert_eq!(socket.message().await["result"]["content"][0]["text"], "3");
    let (start, end) = padded.as_bytes().split_at(500);
    socket.frame(text(start.to_vec(), false)).await;
    socket.frame(Message::Ping("in between".into())).await;
    socket.frame(more(end.to_vec())).await;
    assert_eq!(socket.next().await, Some(Message::Pong("in between".into())));
    assert_eq!(socket.message().await["result"]["content"][0]["text"], "3");
}

#[tokio::test]
async fn l25_a_foreign_page_cannot_open_a_websocket() {
    let host = Host::start_at(everywhere().allow_origin("https://app.example"), |server| server).await;
    let own = format!("http://localhost:{}", host.address.port());
    let cases = [
        ("origin", "https://evil.example", 403),
        ("origin", "null", 403),
        ("host", "evil.example", 403),
        ("origin", "https://app.example", 101),
        // No rule of the browser keeps other pages of this machine from it.
        ("origin", "http://localhost:3000", 403),
        ("origin", "http://127.0.0.1", 403),
        ("origin", &*own, 101),
    ];
    for (name, value, status) in cases {
        let mut request = upgrade(&host);
        request.headers_mut().insert(name, value.parse().expect("a header"));
        assert_eq!(status_of(&host, request).await, status, "{name}: {value}");
    }
}

/// The status with which the server answers.
async fn status_of(host: &Host, request: Request) -> u16 {
    use tokio_tungstenite::tungstenite::Error;
    let stream = TcpStream::connect(host.address).await.expect("the server accepts");
    match within(client_async(request, stream)).await {
        Ok((_, response)) => response.status().as_u16(),
        Err(Error::Http(response)) => response.status().as_u16(),
        Err(error) => panic!("no response: {error}"),
    }
}

#[tokio::test]
async fn a_request_that_does_not_open_a_websocket_is_refused() {
    let host = Host::start().await;
    for (missing, status) in
        [("Upgrade", 426), ("Connection", 426), ("Sec-WebSocket-Version", 426), ("Sec-WebSocket-Key", 400)]
    {
        let head: String = upgrade_lines().filter(|line| !line.starts_with(missing)).collect();
        let response = host.exchange(format!("GET /mcp/ws HTTP/1.1\r\n{head}\r\n")).await.expect("an answer");
        assert_eq!(response.status, status, "without {missing}");
        assert!(response.message().contains("WebSocket"), "{}", response.message());
    }
    let head: String = upgrade_lines().collect();
    let response = host.exchange(format!("POST /mcp/ws HTTP/1.1\r\n{head}\r\n")).await.expect("an answer");
    assert_eq!(response.status, 426);
    // It is only where it was put.
    for path in ["/mcp", "/ws"] {
        let response = host.exchange(format!("GET {path} HTTP/1.1\r\n{head}\r\n")).await.expect("an answer");
        assert!([400, 404].contains(&response.status), "{path}: {response:?}");
    }
}

fn upgrade_lines() -> impl Iterator<Item = String> {
    let lines = [
        "Host: localhost",
        "Connection: keep-alive, Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ];
    lines.into_iter().map(|line| format!("{line}\r\n"))
}

#[tokio::test]
async fn the_subprotocol_is_accepted_if_it_is_offered() {
    let host = Host::start().await;
    for (offered, accepted) in [(None, None), (Some("mcp"), Some("mcp")), (Some("chat, mcp"), Some("mcp"))] {
        let mut request = upgrade(&host);
        if let Some(offered) = offered {
            request.headers_mut().insert("sec-websocket-protocol", offered.parse().expect("a header"));
        }
        let stream = TcpStream::connect(host.address).await.expect("the server accepts");
        let (_, response) = within(client_async(request, stream)).await.expect("the server upgrades");
        let protocol = response.headers().get("sec-websocket-protocol").map(|value| value.to_str().expect("text"));
        assert_eq!(protocol, accepted, "{offered:?}");
    }
}

#[tool]
fn tenant(ctx: Context) -> String {
    format!("{:?} {:?}", ctx.header("x-tenant"), ctx.header("mcp-method"))
}

#[tokio::test]
async fn the_headers_of_the_upgrade_are_those_of_every_call() {
    let host = Host::start_with(|server| server.tools(tools![tenant])).await;
    let mut request = upgrade(&host);
    request.headers_mut().insert("x-tenant", "acme".parse().expect("a header"));
    let mut socket = WebSocket::open_as(&host, request).await;
    socket.ask(&initialize(0)).await;
    for message in [call("tenant", json!({})), in_session("tools/call", json!({ "name": "tenant" }))] {
        assert_eq!(socket.ask(&message).await["result"]["content"][0]["text"], r#"Some("acme") None"#);
    }
}

#[tokio::test]
async fn a_client_that_closes_the_connection_cancels_its_calls() {
    let host = Host::start().await;
    let mut socket = WebSocket::open(&host).await;
    socket.send(call("forever", json!({})).to_string()).await;
    Events::happened(&host.events.waiting, 1).await;
    socket.frame(Message::Close(None)).await;
    assert_eq!(socket.closed().await, None, "its own close frame comes back");
    Events::happened(&host.events.dropped, 1).await;
    Events::happened(&host.events.cancelled, 1).await;
}

#[tokio::test]
async fn a_client_that_does_not_read_for_too_long_is_dropped() {
    let http = everywhere().header_timeout(Duration::from_secs(1));
    let host = Host::start_at(http, |server| server).await;
    let mut socket = WebSocket::open(&host).await;
    socket.send(observed(call("flood", json!({})), 7).to_string()).await;
    Events::happened(&host.events.dropped, 1).await;
    drop(socket);
    host.still_answers().await;
}

#[tokio::test]
async fn websockets_over_the_limit_are_refused() {
    let host = Host::start_at(everywhere().max_sessions(2), |server| server).await;
    let (mut one, _other) = (WebSocket::open(&host).await, WebSocket::open(&host).await);
    assert_eq!(status_of(&host, upgrade(&host)).await, 503);
    one.still_answers().await;
    one.frame(Message::Close(None)).await;
    while one.next().await.is_some() {}
    // The server has closed it, and there is room again.
    while status_of(&host, upgrade(&host)).await == 503 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a3_m8_the_heads_that_websockets_keep_are_limited() {
    let host = Host::start_with(|server| server.limits(Limits::new().memory(60_000).memory_per_caller(60_000))).await;
    let mut request = upgrade(&host);
    request.headers_mut().insert("x-long", "x".repeat(20_000).parse().expect("a header"));
    let mut first = WebSocket::open_as(&host, request.clone()).await;
    let _second = WebSocket::open_as(&host, request.clone()).await;
    assert_eq!(status_of(&host, request).await, 503);
    first.still_answers().await;
}

#[tokio::test]
async fn a_websocket_is_one_of_the_connections_that_are_limited() {
    let host = Host::start_at(everywhere().max_connections(1), |server| server).await;
    let mut socket = WebSocket::open(&host).await;
    let mut second = host.connect().await;
    second.send(crate::client::Post::of(&call("wait", json!({ "number": 3 }))).bytes()).await;
    socket.still_answers().await;
    assert_eq!(host.events.waiting.available_permits(), 0, "it waits to be accepted");
    drop(socket);
    Events::happened(&host.events.waiting, 1).await;
}

#[tokio::test]
async fn a_mounted_server_has_websockets_too() {
    let service = Server::new("mounted", "1").tools(tools![tenant]).build().expect("wired right").into_service();
    let app = axum::Router::new().route_service("/deep/ws", service.websocket()).route_service("/mcp", service.clone());
    let address = mount(app).await;
    let mut request = format!("ws://localhost:{}/deep/ws", address.port()).into_client_request().expect("a request");
    request.headers_mut().insert("x-tenant", "acme".parse().expect("a header"));
    let stream = TcpStream::connect(address).await.expect("the server accepts");
    let (socket, _) = within(client_async(request, stream)).await.expect("the server upgrades");
    let mut socket = WebSocket(socket);
    let answer = socket.ask(&call("tenant", json!({}))).await;
    assert_eq!(answer["result"]["content"][0]["text"], r#"Some("acme") None"#);
    let closed = async {
        assert_eq!(socket.closed().await, Some(CloseCode::Away));
        drop(socket);
    };
    tokio::join!(closed, service.close());
}

#[tokio::test]
async fn a_websocket_closes_when_its_calls_are_done_and_the_server_stops() {
    let host = Host::start().await;
    let service = host.server.clone().into_service();
    let app = axum::Router::new().route_service("/mcp/ws", service.websocket());
    let address = mount(app).await;
    let request = format!("ws://localhost:{}/mcp/ws", address.port()).into_client_request().expect("a request");
    let stream = TcpStream::connect(address).await.expect("the server accepts");
    let (socket, _) = within(client_async(request.clone(), stream)).await.expect("the server upgrades");
    let mut socket = WebSocket(socket);
    socket.send(call("wait", json!({ "number": 7 })).to_string()).await;
    Events::happened(&host.events.waiting, 1).await;
    let closing = tokio::spawn(async move { service.close().await });
    // It accepts no more.
    let refused = async {
        loop {
            let stream = TcpStream::connect(address).await.expect("the server accepts");
            if client_async(request.clone(), stream).await.is_err() {
                return;
            }
        }
    };
    within(refused).await;
    host.events.release.add_permits(1);
    assert_eq!(socket.message().await["result"]["content"][0]["text"], "7");
    assert_eq!(socket.closed().await, Some(CloseCode::Away));
    drop(socket);
    within(closing).await.expect("it does not panic");
}
