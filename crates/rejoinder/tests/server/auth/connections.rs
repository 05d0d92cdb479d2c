//! Connections that stay open: WebSocket and HTTP+SSE, in both eras, and sessions over HTTP. The caller is who opened them.

use std::{net::SocketAddr, time::Duration};

use futures_util::{SinkExt, StreamExt};
use rejoinder::http as transport;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{self, Message, client::IntoClientRequest},
};

use crate::{
    auth::{
        client::{Connection, Post, call, text, within},
        initialize,
        issuer::{Issuer, now},
        server_at,
    },
    logged::Logged,
};

/// The server at an address of its own, with every transport.
async fn serve(issuer: &Issuer) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let http = transport::Config::new().websocket("/mcp/ws").sse("/sse").auth(issuer.auth());
    tokio::spawn(server_at(http).build().unwrap().serve_http(listener));
    address
}

fn in_session(id: u32, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// The first message of a session.
fn first() -> Value {
    serde_json::from_str(&initialize()).unwrap()
}

/// Asks who calls, with an identity in everything that a message has.
fn whoami(is_session: bool) -> Value {
    let mut asked = call("whoami", json!({}));
    if is_session {
        asked = in_session(1, "tools/call", &json!({ "name": "whoami", "arguments": {} }));
    }
    asked["params"]["_meta"]["authorization"] = "Bearer root".into();
    asked["params"]["principal"] = json!({ "subject": "root" });
    asked
}

/// Both eras of a connection, with what to send first.
const ERAS: [bool; 2] = [false, true];

type Socket = WebSocketStream<TcpStream>;

/// Opens a WebSocket with these credentials; otherwise the status.
async fn websocket(address: SocketAddr, token: Option<&str>) -> Result<Socket, u16> {
    let mut request = format!("ws://localhost:{}/mcp/ws", address.port()).into_client_request().unwrap();
    if let Some(token) = token {
        request.headers_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
    }
    let stream = TcpStream::connect(address).await.unwrap();
    match within(client_async(request, stream)).await {
        Ok((socket, _)) => Ok(socket),
        Err(tungstenite::Error::Http(response)) => Err(response.status().as_u16()),
        Err(error) => panic!("{error}"),
    }
}

async fn ask(socket: &mut Socket, message: &Value) -> Value {
    socket.send(Message::text(message.to_string())).await.unwrap();
    let reply = within(socket.next()).await.unwrap().unwrap();
    serde_json::from_str(reply.to_text().unwrap()).unwrap()
}

#[tokio::test]
async fn a_websocket_is_opened_with_a_token_and_belongs_to_its_caller() {
    let issuer = Issuer::start().await;
    let address = serve(&issuer).await;
    let (logged, _guard) = Logged::here();
    assert_eq!(websocket(address, None).await.err(), Some(401));
    assert_eq!(websocket(address, Some("hunter2.is.secret")).await.err(), Some(401));
    assert!(logged.text().contains("peer=\"127.0.0.1:") && !logged.text().contains("hunter2"), "{}", logged.text());
    for is_session in ERAS {
        for subject in ["ada", "bob"] {
            let token = issuer.token_with(json!({ "sub": subject }));
            let mut socket = websocket(address, Some(&token)).await.expect("it opens");
            if is_session {
                assert!(ask(&mut socket, &first()).await["result"].is_object());
            }
            assert_eq!(text(&ask(&mut socket, &whoami(is_session)).await), format!(r#"{subject} ["a", "b"]"#));
            let write = if is_session {
                in_session(2, "tools/call", &json!({ "name": "write", "arguments": {} }))
            } else {
                call("write", json!({}))
            };
            let refused = ask(&mut socket, &write).await;
            assert_eq!(refused["error"]["data"]["reason"], "insufficient_scope", "{refused}");
            let hidden = write.to_string().replace("write", "hidden");
            assert!(ask(&mut socket, &serde_json::from_str(&hidden).unwrap()).await["error"].is_object());
            let logged = logged.text();
            let line = logged.lines().last().unwrap();
            assert!(line.contains("peer=127.0.0.1:") && line.contains("there is no such tool"), "{line}");
        }
    }
}

#[tokio::test]
async fn a_websocket_is_of_no_use_when_its_token_has_expired() {
    let issuer = Issuer::start().await;
    let address = serve(&issuer).await;
    // Clocks may differ by 30 seconds. On a machine that takes longer to open it, it is tried again.
    let mut socket = loop {
        let token = issuer.token_with(json!({ "exp": now() - 27 }));
        match websocket(address, Some(&token)).await {
            Ok(socket) => break socket,
            Err(status) => assert_eq!(status, 401),
        }
    };
    let expired = async {
        for is_session in ERAS {
            if is_session {
                ask(&mut socket, &first()).await;
            }
            loop {
                let reply = ask(&mut socket, &whoami(is_session)).await;
                if let Some(error) = reply["error"]["message"].as_str() {
                    assert!(error.contains("have expired: authenticate again"), "{error}");
                    break;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), expired).await.expect("it expires");
}

/// An HTTP request with these credentials.
fn with(post: Post, token: Option<&str>) -> Post {
    match token {
        Some(token) => post.set("Authorization", format!("Bearer {token}")),
        None => post,
    }
}

async fn exchange(address: SocketAddr, post: &Post) -> (Connection, u16) {
    let mut connection = Connection::open(address).await;
    connection.send(post.bytes()).await;
    let status = connection.head().await.expect("an answer").status;
    (connection, status)
}

#[tokio::test]
async fn a_stream_of_sse_and_each_post_to_it_need_the_token_of_one_caller() {
    let issuer = Issuer::start().await;
    let address = serve(&issuer).await;
    let get = || Post::raw("").line("GET /sse HTTP/1.1").set("Accept", "text/event-stream");
    for token in [None, Some("hunter2.is.secret")] {
        assert_eq!(exchange(address, &with(get(), token)).await.1, 401);
    }
    let (ada, bob) = (issuer.token(), issuer.token_with(json!({ "sub": "bob" })));
    for is_session in ERAS {
        let (mut stream, status) = exchange(address, &with(get(), Some(&ada))).await;
        assert_eq!(status, 200);
        let endpoint = within(stream.data()).await.expect("where to post");
        let post = |message: &Value| {
            let post = Post::raw(message.to_string()).line(&format!("POST /{endpoint} HTTP/1.1"));
            post.without("MCP-Protocol-Version").without("Mcp-Method").without("Mcp-Name")
        };
        if is_session {
            assert_eq!(exchange(address, &with(post(&first()), Some(&ada))).await.1, 202);
            assert!(within(stream.event()).await.unwrap()["result"].is_object());
        }
        for (token, status) in [(None, 401), (Some("hunter2.is.secret"), 401), (Some(&*bob), 404)] {
            assert_eq!(exchange(address, &with(post(&whoami(is_session)), token)).await.1, status, "{token:?}");
        }
        // Another token of the same caller.
        let fresh = issuer.token_with(json!({ "scope": "z" }));
        assert_eq!(exchange(address, &with(post(&whoami(is_session)), Some(&fresh))).await.1, 202);
        assert_eq!(text(&within(stream.event()).await.unwrap()), r#"ada ["z"]"#);
    }
}

#[tokio::test]
async fn the_session_of_another_caller_does_not_exist_whatever_is_done_with_it() {
    let issuer = Issuer::start().await;
    let address = serve(&issuer).await;
    let old = |body: String| {
        Post::raw(body).without("Mcp-Method").without("Mcp-Name").set("MCP-Protocol-Version", "2025-11-25")
    };
    let (ada, bob) = (issuer.token(), issuer.token_with(json!({ "sub": "bob" })));
    let mut connection = Connection::open(address).await;
    connection.send(with(old(initialize()), Some(&ada)).bytes()).await;
    let begun = connection.response().await.expect("an answer");
    let id = begun.head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).expect("an id").to_owned();
    let list = in_session(1, "tools/list", &json!({})).to_string();
    let answer = json!({ "jsonrpc": "2.0", "id": 1, "result": { "action": "accept" } }).to_string();
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    for (line, body) in [
        ("POST /mcp HTTP/1.1", list.clone()),
        ("POST /mcp HTTP/1.1", answer),
        ("POST /mcp HTTP/1.1", cancel.to_string()),
        ("GET /mcp HTTP/1.1", String::new()),
        ("DELETE /mcp HTTP/1.1", String::new()),
    ] {
        let mut answers = Vec::new();
        for session in [&*id, "0123456789abcdef0123456789abcdef"] {
            let post = with(old(body.clone()), Some(&bob)).line(line).set("Mcp-Session-Id", session);
            let mut connection = Connection::open(address).await;
            connection.send(post.bytes()).await;
            let response = connection.response().await.expect("an answer");
            answers.push((response.status, response.body));
        }
        assert_eq!(answers[0], answers[1], "{line} {body}");
        assert_eq!(answers[0].0, 404, "{line} {body}");
    }
    let still = with(old(list), Some(&ada)).set("Mcp-Session-Id", &id);
    assert_eq!(exchange(address, &still).await.1, 200, "it goes on");
}
