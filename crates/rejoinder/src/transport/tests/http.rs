//! Sessions over HTTP, request by request.

use std::{
    future::pending,
    sync::{
        Arc, Barrier,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};

use tower_service::Service;

use super::fixture::{Fixture, dynamic, fixture, until};
use crate::{
    error::lock,
    prelude::*,
    transport::{McpService, ResponseBody},
};

impl McpService {
    /// The sessions that are open, each as the number of requests that it serves.
    pub(super) fn sessions(&self) -> Vec<usize> {
        let sessions = &self.0.sessions.as_ref().expect("there are sessions").sessions;
        lock(sessions).open.values().map(|session| session.state().requests.len()).collect()
    }
}

/// A server, and a client with a session.
pub(super) struct Http {
    pub(super) server: McpService,
    pub(super) session: Option<String>,
    pub(super) version: Option<&'static str>,
}

impl Http {
    pub(super) fn new(fixture: &Fixture) -> Self {
        Self { server: McpService::new(fixture.engine()), session: None, version: None }
    }

    /// Another client of the same server.
    pub(super) fn another(&self) -> Self {
        Self { server: self.server.clone(), session: None, version: None }
    }

    pub(super) async fn send(&self, method: &str, headers: &[(&str, &str)], body: Value) -> Response<ResponseBody> {
        let mut request =
            Request::builder().method(method).uri("http://localhost/mcp").header("content-type", "application/json");
        if headers.iter().all(|(name, _)| *name != "accept") {
            request = request.header("accept", "application/json, text/event-stream");
        }
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session);
        }
        if let Some(version) = self.version {
            request = request.header("mcp-protocol-version", version);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = if body.is_null() { Bytes::new() } else { body.to_string().into() };
        let Ok(response) = self.server.clone().call(request.body(Full::new(body)).expect("a request")).await;
        response
    }

    pub(super) async fn post(&self, body: Value) -> Response<ResponseBody> {
        self.send("POST", &[], body).await
    }

    pub(super) async fn initialize(&mut self, version: &'static str) {
        self.initialize_with(version, json!({})).await;
    }

    pub(super) async fn initialize_with(&mut self, version: &'static str, capabilities: Value) {
        let mut request = initialize(version);
        request["params"]["capabilities"] = capabilities;
        let response = self.post(request).await;
        assert_eq!(response.status(), StatusCode::OK);
        self.session = Some(response.headers()["mcp-session-id"].to_str().expect("text").to_owned());
        let reply = Events::of(response).last().await;
        let negotiated = reply["result"]["protocolVersion"].as_str().expect("a version");
        self.version = crate::model::version::SESSION.iter().copied().find(|version| *version == negotiated);
        let initialized = self.post(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        assert_eq!(initialized.status(), StatusCode::ACCEPTED);
    }

    pub(super) async fn call(&self, tool: &str, arguments: Value) -> Response<ResponseBody> {
        let params = json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": 5 } });
        self.post(json!({ "jsonrpc": "2.0", "id": "call", "method": "tools/call", "params": params })).await
    }
}

pub(super) fn initialize(version: &str) -> Value {
    let client = json!({ "name": "http", "version": "1" });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": { "protocolVersion": version, "capabilities": {}, "clientInfo": client } })
}

/// A response's events.
pub(super) struct Events {
    body: ResponseBody,
    /// The response is one message instead.
    is_json: bool,
    text: String,
}

/// An event: its id, its message, and when to come back.
pub(super) struct Event {
    pub(super) id: Option<String>,
    pub(super) data: Option<Value>,
    pub(super) retry: bool,
}

impl Events {
    pub(super) fn of(response: Response<ResponseBody>) -> Self {
        assert_eq!(response.status(), StatusCode::OK);
        let is_json = response.headers()["content-type"] == "application/json";
        Self { body: response.into_body(), is_json, text: String::new() }
    }

    pub(super) async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.text = rest;
                let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
                return Some(Event {
                    id: field("id:").map(str::to_owned),
                    data: field("data:").filter(|data| !data.is_empty()).map(|data| data.parse().expect("JSON")),
                    retry: field("retry:").is_some(),
                });
            }
            if std::mem::take(&mut self.is_json) {
                let message = (&mut self.body).collect().await.expect("a whole body").to_bytes();
                let message = serde_json::from_slice(&message).expect("JSON");
                return Some(Event { id: None, data: Some(message), retry: false });
            }
            let frame = self.body.frame().await?.expect("a whole body");
            self.text.push_str(std::str::from_utf8(&frame.into_data().expect("data")).expect("text"));
        }
    }

    /// All messages until the stream ends.
    pub(super) async fn messages(mut self) -> Vec<Value> {
        let mut messages = Vec::new();
        while let Some(event) = self.next().await {
            messages.extend(event.data);
        }
        messages
    }

    pub(super) async fn last(self) -> Value {
        self.messages().await.pop().expect("a message")
    }
}

async fn error(response: Response<ResponseBody>) -> (u16, Value) {
    let status = response.status().as_u16();
    assert_eq!(response.headers()["content-type"], "application/json");
    let body = response.into_body().collect().await.expect("a whole body").to_bytes();
    (status, serde_json::from_slice(&body).expect("JSON"))
}

#[tokio::test]
async fn a_session_lives_from_initialize_to_delete() {
    let mut client = Http::new(&fixture());
    client.initialize("2025-11-25").await;
    assert_eq!(client.server.sessions().len(), 1);
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    assert_eq!(Events::of(client.post(list.clone()).await).last().await["result"]["tools"][0]["name"], "add");
    let deleted = client.send("DELETE", &[], Value::Null).await;
    assert_eq!(deleted.status(), 204);
    let (status, body) = error(client.post(list).await).await;
    assert_eq!((status, &body["id"], &body["error"]["code"]), (404, &json!(1), &json!(-32600)));
    assert_eq!(client.send("DELETE", &[], Value::Null).await.status(), 404);
    assert_eq!(client.server.sessions().len(), 0);
}

#[tokio::test]
async fn the_error_without_a_session_says_how_to_begin() {
    let client = Http::new(&fixture());
    let list = json!({ "jsonrpc": "2.0", "id": "a", "method": "tools/list" });
    let (status, body) = error(client.post(list).await).await;
    assert_eq!((status, &body["id"]), (400, &json!("a")));
    for way in ["`initialize`", "2026-07-28"] {
        assert!(body["error"]["message"].as_str().expect("text").contains(way), "{body}");
    }
    assert_eq!(error(client.send("GET", &[], Value::Null).await).await.0, 400);
    assert_eq!(error(client.send("DELETE", &[], Value::Null).await).await.0, 400);
    assert_eq!(error(client.send("GET", &[("mcp-session-id", "lost")], Value::Null).await).await.0, 404);
}

#[tokio::test]
async fn only_versions_of_the_era_are_served() {
    let client = Http::new(&fixture());
    for (asked, header) in [("2026-07-28", "2025-06-18"), ("2099-01-01", "2024-11-05"), ("2025-06-18", "2025-11-25")] {
        let response = client.send("POST", &[("mcp-protocol-version", header)], initialize(asked)).await;
        let negotiated = Events::of(response).last().await["result"]["protocolVersion"].clone();
        assert_eq!(negotiated, if asked == "2025-06-18" { asked } else { "2025-11-25" });
    }
}

#[tokio::test]
async fn refusals_of_the_service_are_json() {
    let mut client = Http::new(&fixture());
    client.initialize("2025-11-25").await;
    let (status, body) = error(client.post(json!({ "jsonrpc": "1.0", "id": 3, "method": 4 })).await).await;
    assert_eq!((status, &body["id"], &body["error"]["code"]), (400, &json!(3), &json!(-32600)));
    let unreadable = json!({ "jsonrpc": "2.0", "id": 4, "method": "initialize", "params": {} });
    let (status, body) = error(client.another().post(unreadable).await).await;
    assert_eq!((status, &body["id"], &body["error"]["code"]), (400, &json!(4), &json!(-32602)));
    let (status, _) = error(client.send("PUT", &[], Value::Null).await).await;
    assert_eq!(status, 405);
}

#[tokio::test]
async fn a_function_sees_the_headers_and_extensions() {
    let mut client = Http::new(&fixture());
    client.initialize("2025-06-18").await;
    let params = json!({ "name": "facts", "_meta": { "own": 1 } });
    let call = json!({ "jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": params });
    let reply = Events::of(client.send("POST", &[("x-tenant", "acme")], call).await).last().await;
    let text = reply["result"]["content"][0]["text"].as_str().expect("text");
    let facts: Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(
        facts,
        json!({ "era": "Session", "version": "2025-06-18", "client": "http", "id": "\"x\"",
            "header": "acme", "meta": 1, "roots": false })
    );
}

#[tokio::test]
async fn changes_come_on_the_stream_of_the_session() {
    let fixture = fixture();
    let mut client = Http::new(&fixture);
    client.initialize("2025-11-25").await;
    let mut events = Events::of(client.send("GET", &[], Value::Null).await);
    fixture.server.handle().remove_tool("fails");
    let change = events.next().await.expect("an event");
    assert_eq!(change.data.expect("a message")["method"], "notifications/tools/list_changed");
    // A client that comes back hears what it has missed, and nothing twice.
    drop(events);
    fixture.server.handle().remove_prompt("greet");
    let last = change.id.expect("an id");
    let mut events = Events::of(client.send("GET", &[("last-event-id", &last)], Value::Null).await);
    let change = events.next().await.expect("an event").data.expect("a message");
    assert_eq!(change["method"], "notifications/prompts/list_changed");
}

/// Counts how many of it there are.
#[derive(Default)]
struct Kept(Option<Arc<()>>);

#[resolver]
fn keeps(kept: Option<SessionState<Kept>>) -> bool {
    kept.is_some_and(|kept| kept.with(|kept| kept.0.is_some()))
}

#[tool]
async fn keep(kept: SessionState<Kept>, value: Dep<()>, ctx: Context, server: ServerHandle) -> &'static str {
    kept.set(Kept(Some(value.into_inner())));
    server.gates_changed_for_session(ctx.session_id().unwrap_or_default());
    "kept"
}

#[tool(enabled = keeps)]
async fn show() -> &'static str {
    "shown"
}

#[tokio::test]
async fn u3_5_the_state_of_a_session_is_dropped_when_its_client_ends_it() {
    let value = Arc::new(());
    let server = Server::new("keeper", "1.0.0").provide_arc(Arc::clone(&value)).tools(tools![keep, show]);
    let fixture = Fixture { server: server.build().expect("a good server"), seen: Arc::default() };
    let before = Arc::strong_count(&value);
    let mut client = Http::new(&fixture);
    client.initialize("2025-11-25").await;
    let mut other = client.another();
    other.initialize("2025-11-25").await;
    let mut events = Events::of(client.send("GET", &[], Value::Null).await);
    client.call("keep", json!({})).await;
    assert_eq!(Arc::strong_count(&value), before + 1);
    let change = events.next().await.expect("an event").data.expect("a message");
    assert_eq!(change["method"], "notifications/tools/list_changed");
    let other_events = Events::of(other.send("GET", &[], Value::Null).await);
    assert_eq!(other.send("DELETE", &[], Value::Null).await.status(), 204);
    assert_eq!(other_events.messages().await, [] as [Value; 0], "another session hears nothing");
    assert_eq!(Arc::strong_count(&value), before + 1);
    assert_eq!(client.send("DELETE", &[], Value::Null).await.status(), 204);
    drop(events);
    until("it is dropped", || Arc::strong_count(&value) == before).await;
}

#[tokio::test]
async fn closing_ends_sessions_calls_and_streams() {
    let fixture = fixture();
    let mut client = Http::new(&fixture);
    client.initialize("2025-11-25").await;
    let mut other = client.another();
    other.initialize("2025-11-25").await;
    let listening = Events::of(other.send("GET", &[], Value::Null).await);
    let waiting = Events::of(client.call("wait", json!({})).await);
    until("it runs", || fixture.seen.running.load(Ordering::SeqCst) == 1).await;
    client.server.close().await;
    let ends = async {
        until("it was dropped", || fixture.seen.running.load(Ordering::SeqCst) == 0).await;
        (waiting.messages().await, listening.messages().await)
    };
    tokio::time::timeout(Duration::from_secs(60), ends).await.expect("calls and streams end");
    assert_eq!(client.server.sessions().len(), 0);
    assert_eq!(error(client.another().post(initialize("2025-11-25")).await).await.0, 503);
    until("nobody listens", || fixture.engine().hub().subscribers() == 0).await;
}

#[tokio::test(start_paused = true)]
async fn closing_does_not_wait_for_a_client_that_does_not_read() {
    let mut client = Http::new(&fixture());
    client.initialize_with("2025-11-25", super::asking::can_be_asked()).await;
    let _unread = client.call("ask_much", json!({})).await;
    // Its session takes messages all the same.
    let changed = json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" });
    for _ in 0..100 {
        let posted = tokio::time::timeout(Duration::from_secs(1), client.post(changed.clone())).await;
        assert_eq!(posted.expect("it is taken").status(), StatusCode::ACCEPTED);
    }
    tokio::time::timeout(Duration::from_secs(60), client.server.close()).await.expect("it ends");
    assert_eq!(client.server.sessions().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_nobody_uses_ends() {
    let mut client = Http::new(&fixture());
    client.initialize("2025-11-25").await;
    tokio::time::sleep(Duration::from_secs(20 * 60)).await;
    assert_eq!(client.server.sessions().len(), 1);
    tokio::time::sleep(Duration::from_secs(20 * 60)).await;
    assert_eq!(client.server.sessions().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_h4_a_session_that_is_never_used_ends_after_a_minute() {
    let mut used = Http::new(&fixture());
    used.initialize("2025-11-25").await;
    for _ in 0..3 {
        used.another().post(initialize("2025-11-25")).await;
    }
    tokio::time::sleep(Duration::from_secs(59)).await;
    assert_eq!(used.server.sessions().len(), 4);
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(used.server.sessions().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_somebody_listens_to_does_not_end() {
    let mut client = Http::new(&fixture());
    client.initialize("2025-11-25").await;
    let listening = client.send("GET", &[], Value::Null).await;
    tokio::time::sleep(Duration::from_secs(5 * 60 * 60)).await;
    assert_eq!(client.server.sessions().len(), 1);
    drop(listening);
    tokio::time::sleep(Duration::from_secs(60 * 60)).await;
    assert_eq!(client.server.sessions().len(), 0);
}

/// The second arrives while the first is polled for the first time, before it is known whether it waits.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_m10_two_requests_of_one_id_that_arrive_together_are_not_both_served() {
    let (release, begun, ended) = (Arc::new(Barrier::new(2)), Arc::new(AtomicUsize::new(0)), Arc::default());
    let tool = dynamic("meet", {
        let (release, begun, ended) = (Arc::clone(&release), Arc::clone(&begun), Arc::clone(&ended));
        move |_, _| {
            let (release, begun, guard) = (Arc::clone(&release), Arc::clone(&begun), CountsDrop(Arc::clone(&ended)));
            async move {
                let _guard = guard;
                begun.fetch_add(1, Ordering::Relaxed);
                release.wait();
                pending::<()>().await;
            }
        }
    });
    let server = Server::new("meeting", "1.0.0").tools([tool]).build().expect("a good server");
    let mut http = Http { server: server.into_service(), session: None, version: None };
    http.initialize("2025-11-25").await;
    let http = Arc::new(http);
    let call = || {
        let http = Arc::clone(&http);
        tokio::spawn(async move { http.call("meet", json!({})).await })
    };
    let first = call();
    until("the first one runs", || begun.load(Ordering::Relaxed) == 1).await;
    let refused = call().await.expect("a response");
    assert_eq!(refused.headers()["content-type"], "application/json");
    assert_eq!(Events::of(refused).last().await["error"]["code"], -32600);
    release.wait();
    let served = first.await.expect("a response");
    assert_eq!(served.headers()["content-type"], "text/event-stream", "it waits");
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "call" } });
    http.post(cancelled).await;
    until("it can be cancelled", || ended.load(Ordering::Relaxed) == 1).await;
    assert_eq!(begun.load(Ordering::Relaxed), 1, "the refused one has not run");
}

struct CountsDrop(Arc<AtomicUsize>);

impl Drop for CountsDrop {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
