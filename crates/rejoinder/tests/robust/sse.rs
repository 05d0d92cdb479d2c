//! HTTP+SSE of 2024-11-05: one stream of events, and a POST for each message.

use std::{net::SocketAddr, time::Duration};

use rejoinder::prelude::*;
use serde_json::{Value, json};

use crate::{
    client::{Connection, Post, Response, call, observed, within},
    fixture::{Events, Host, everywhere, mount},
    ways::{LEGACY, in_session, initialize},
};

/// A client of HTTP+SSE.
pub(crate) struct SseClient {
    address: SocketAddr,
    /// Where it posts to.
    endpoint: String,
    stream: Connection,
}

fn get(path: &str) -> Post {
    Post::raw("")
        .line(&format!("GET {path} HTTP/1.1"))
        .set("Accept", "text/event-stream")
        .without("MCP-Protocol-Version")
}

impl SseClient {
    pub(crate) async fn open(host: &Host) -> Self {
        Self::open_as(host, |post| post).await
    }

    async fn open_as(host: &Host, who: impl Fn(Post) -> Post) -> Self {
        let mut stream = Connection::open(host.address).await;
        stream.send(who(get("/sse")).bytes()).await;
        let head = stream.head().await.expect("an answer");
        assert_eq!(head.status, 200, "{head:?}");
        let endpoint = within(stream.data()).await.expect("the endpoint");
        // As a browser resolves it against `/sse`.
        let endpoint = format!("/{endpoint}");
        Self { address: host.address, endpoint, stream }
    }

    fn request(&self, body: impl Into<Vec<u8>>) -> Post {
        let post = Post::raw(body).line(&format!("POST {} HTTP/1.1", self.endpoint));
        post.without("MCP-Protocol-Version").without("Mcp-Method").without("Mcp-Name")
    }

    async fn exchange(&self, post: &Post) -> Response {
        let mut connection = Connection::open(self.address).await;
        connection.send(post.bytes()).await;
        connection.response().await.expect("an answer")
    }

    pub(crate) async fn post(&self, body: impl Into<Vec<u8>>) -> Response {
        self.exchange(&self.request(body)).await
    }

    pub(crate) async fn message(&mut self) -> Value {
        within(self.stream.event()).await.expect("a message")
    }

    async fn ask(&mut self, message: &Value) -> Value {
        assert_eq!(self.post(message.to_string()).await.status, 202);
        self.message().await
    }
}

#[tokio::test]
async fn l19_the_first_event_is_a_url_to_post_to() {
    let host = Host::start().await;
    let mut connection = host.connect().await;
    connection.send(get("/sse").bytes()).await;
    let head = connection.head().await.expect("an answer");
    assert!(head.head.contains("content-type: text/event-stream"), "{head:?}");
    let data = connection.data().await.expect("the first event");
    let id = data.strip_prefix("sse?session_id=").expect(&data);
    assert!(id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
}

#[tokio::test]
async fn l25_a_session_begins_with_initialize_and_a_foreign_page_cannot_open_one() {
    let host = Host::start().await;
    for (header, value) in [("Origin", "https://evil.example"), ("Host", "evil.example")] {
        assert_eq!(host.post(&get("/sse").set(header, value)).await.status, 403, "{header}");
    }
    let mut client = SseClient::open(&host).await;
    for (header, value) in [("Origin", "https://evil.example"), ("Host", "evil.example")] {
        let post = client.request(initialize(0).to_string()).set(header, value);
        assert_eq!(client.exchange(&post).await.status, 403, "{header}");
    }
    let answer = client.ask(&in_session("tools/call", json!({ "name": "add" }))).await;
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
    assert_eq!(client.ask(&initialize(0)).await["result"]["protocolVersion"], LEGACY);
}

#[tokio::test]
async fn a_message_for_no_stream_is_refused() {
    let host = Host::start().await;
    let client = SseClient::open(&host).await;
    let body = initialize(0).to_string();
    let cases = [
        (client.request(body.clone()).line("POST /sse HTTP/1.1"), 404),
        (client.request(body.clone()).line("POST /sse?session_id=0 HTTP/1.1"), 404),
        (client.request(body.clone()).set("Content-Type", "text/plain"), 415),
        (client.request(vec![b' '; 5 * 1024 * 1024]), 413),
        (client.request(body.clone()).line("DELETE /sse HTTP/1.1"), 405),
        (client.request(body).line("GET /sse HTTP/1.1").set("Accept", "application/json"), 406),
    ];
    for (post, status) in cases {
        let refused = client.exchange(&post).await;
        assert_eq!(refused.status, status, "{}", post.line);
        // It may be a client of Streamable HTTP at the wrong address.
        assert_eq!(status == 404, String::from_utf8_lossy(&refused.body).contains("`/mcp`"), "{}", post.line);
    }
    host.still_answers().await;
}

#[tool]
fn tenant(ctx: Context) -> String {
    format!("{:?}", ctx.header("x-tenant"))
}

#[tokio::test]
async fn each_call_sees_the_headers_of_its_own_post() {
    let host = Host::start_with(|server| server.tools(tools![tenant])).await;
    let mut client = SseClient::open_as(&host, |post| post.set("X-Tenant", "of the stream")).await;
    client.ask(&initialize(0)).await;
    let tenant = in_session("tools/call", json!({ "name": "tenant" })).to_string();
    for name in ["a", "b"] {
        let post = client.request(tenant.clone()).set("X-Tenant", name);
        assert_eq!(client.exchange(&post).await.status, 202);
        assert_eq!(client.message().await["result"]["content"][0]["text"], format!("Some({name:?})"));
    }
}

#[tokio::test]
async fn a_stream_that_ends_ends_its_session_and_its_calls() {
    let host = Host::start().await;
    let mut client = SseClient::open(&host).await;
    client.ask(&initialize(0)).await;
    let forever = in_session("tools/call", json!({ "name": "forever" })).to_string();
    assert_eq!(client.post(forever).await.status, 202);
    Events::happened(&host.events.waiting, 1).await;
    let SseClient { address, endpoint, stream } = client;
    drop(stream);
    Events::happened(&host.events.dropped, 1).await;
    Events::happened(&host.events.cancelled, 1).await;
    let gone = SseClient { address, endpoint, stream: host.connect().await };
    while gone.post(in_session("ping", json!({})).to_string()).await.status != 404 {
        tokio::task::yield_now().await;
    }
    host.still_answers().await;
}

#[tokio::test]
async fn messages_for_a_client_that_does_not_read_are_refused_in_the_end() {
    let http = everywhere().body_timeout(Duration::from_secs(1));
    let host = Host::start_at(http, |server| server).await;
    let client = SseClient::open(&host).await;
    assert_eq!(client.post(observed(call("flood", json!({})), 7).to_string()).await.status, 202);
    host.stopped_sending().await;
    let refused = async {
        loop {
            let response = client.post(call("add", json!({ "a": 1, "b": 2 })).to_string()).await;
            if response.status != 202 {
                return response;
            }
        }
    };
    assert_eq!(within(refused).await.status, 503);
    host.still_answers().await;
}

#[tokio::test]
async fn streams_over_the_limit_are_refused() {
    let host = Host::start_at(everywhere().max_sessions(1), |server| server).await;
    let mut client = SseClient::open(&host).await;
    assert_eq!(host.post(&get("/sse")).await.status, 503);
    assert_eq!(client.ask(&initialize(0)).await["result"]["protocolVersion"], LEGACY);
}

#[tokio::test]
async fn the_stream_of_somebody_else_looks_like_none() {
    let who = |request: &rejoinder::call::RequestInfo| {
        request.headers()?.get("x-user").and_then(|user| user.to_str().ok()).map(Principal::new)
    };
    let host = Host::start_with(|server| server.principal(who)).await;
    let mut client = SseClient::open_as(&host, |post| post.set("X-User", "ada")).await;
    let body = initialize(0).to_string();
    for post in [client.request(body.clone()), client.request(body.clone()).set("X-User", "bob")] {
        assert_eq!(client.exchange(&post).await.status, 404);
    }
    assert_eq!(client.exchange(&client.request(body).set("X-User", "ada")).await.status, 202);
    assert_eq!(client.message().await["result"]["protocolVersion"], LEGACY);
}

#[tokio::test]
async fn a_mounted_server_has_it_too() {
    let service = Server::new("mounted", "1").tools(tools![tenant]).build().expect("wired right").into_service();
    let inner = axum::Router::new().route_service("/events", service.sse());
    let app = axum::Router::new().nest("/deep", inner);
    let address = mount(app).await;
    let mut stream = Connection::open(address).await;
    stream.send(get("/deep/events").bytes()).await;
    stream.head().await.expect("an answer");
    let endpoint = stream.data().await.expect("the endpoint");
    let mut client = SseClient { address, endpoint: format!("/deep/{endpoint}"), stream };
    assert_eq!(client.ask(&initialize(0)).await["result"]["serverInfo"]["name"], "mounted");
    service.close().await;
    assert!(within(client.stream.event()).await.is_none(), "the stream ends with the server");
}
