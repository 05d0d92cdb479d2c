//! Lines, as they are.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

use super::fixture::{Fixture, dynamic, fixture};
use crate::{Server, server::Engine, transport::stdio};

/// Serves one client on a pipe in memory.
pub(super) async fn serve_pipe(
    engine: Arc<Engine>,
    reader: impl AsyncRead + Send + Unpin,
    writer: impl AsyncWrite + Send + Unpin,
) {
    stdio::serve_lines(&engine, reader, writer, None).await.expect("it ended in order");
}

pub(super) struct Pipe {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    served: tokio::task::JoinHandle<()>,
}

impl Pipe {
    pub(super) fn open(fixture: &Fixture) -> Self {
        let (near, far) = tokio::io::duplex(64 * 1024);
        let (reader, writer) = tokio::io::split(far);
        let served = tokio::spawn(serve_pipe(fixture.engine(), reader, writer));
        let (reader, writer) = tokio::io::split(near);
        Self { lines: BufReader::new(reader).lines(), writer, served }
    }

    pub(super) async fn send(&mut self, message: Value) {
        self.writer.write_all(format!("{message}\n").as_bytes()).await.expect("it is open");
    }

    pub(super) async fn next(&mut self) -> Value {
        let line = self.lines.next_line().await.expect("it is open").expect("a line");
        serde_json::from_str(&line).expect("JSON")
    }

    pub(super) async fn ask(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        let reply = self.next().await;
        assert_eq!(reply["id"], id, "{reply}");
        reply
    }

    async fn initialize(&mut self, version: &str) -> Value {
        self.initialize_with(version, json!({})).await
    }

    pub(super) async fn initialize_with(&mut self, version: &str, capabilities: Value) -> Value {
        let client = json!({ "name": "lines", "version": "1" });
        let params = json!({ "protocolVersion": version, "capabilities": capabilities, "clientInfo": client });
        let reply = self.ask(0, "initialize", params).await;
        self.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        reply
    }
}

#[tokio::test]
async fn only_versions_of_the_era_are_negotiated() {
    for (asked, negotiated) in [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2025-03-26", "2025-03-26"),
        ("2024-11-05", "2024-11-05"),
        ("2026-07-28", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
        ("1.0", "2025-11-25"),
    ] {
        let mut pipe = Pipe::open(&fixture());
        let reply = pipe.initialize(asked).await;
        assert_eq!(reply["result"]["protocolVersion"], negotiated, "{asked}: {reply}");
        assert_eq!(reply["result"].get("resultType"), None);
        let call = pipe.ask(1, "tools/call", json!({ "name": "facts" })).await;
        let facts = call["result"]["content"][0]["text"].as_str().expect("text");
        assert!(facts.contains(&format!("\"version\":\"{negotiated}\"")), "{facts}");
        assert_eq!(call["result"].get("resultType"), None);
    }
}

#[tokio::test]
async fn what_comes_before_initialize_does_not_end_it() {
    let mut pipe = Pipe::open(&fixture());
    pipe.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    pipe.send(json!({ "jsonrpc": "2.0", "id": 7, "result": {} })).await;
    assert_eq!(pipe.ask(1, "ping", json!({})).await["result"], json!({}));
    assert_eq!(pipe.initialize("2025-11-25").await["result"]["serverInfo"]["name"], "fixture");
}

#[tokio::test]
async fn the_error_before_initialize_says_how_to_begin() {
    let mut pipe = Pipe::open(&fixture());
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2025-11-25",
        "io.modelcontextprotocol/clientCapabilities": {} });
    for (method, params, code) in [
        ("tools/list", json!({}), -32600),
        ("tools/list", json!({ "_meta": meta }), -32600),
        ("server/discover", json!({ "_meta": meta }), -32600),
        ("initialize", json!({ "protocolVersion": "2025-11-25" }), -32602),
    ] {
        let reply = pipe.ask(1, method, params).await;
        assert_eq!(reply["error"]["code"], code, "{method}: {reply}");
        assert!(reply["error"]["message"].as_str().expect("text").contains("`initialize`"), "{reply}");
    }
    assert_eq!(pipe.initialize("2025-11-25").await["result"]["serverInfo"]["name"], "fixture");
}

#[tokio::test]
async fn a_session_begins_once() {
    let mut pipe = Pipe::open(&fixture());
    pipe.initialize("2025-06-18").await;
    assert_eq!(pipe.initialize("2026-07-28").await["error"]["code"], -32600);
    let call = pipe.ask(1, "tools/call", json!({ "name": "facts" })).await;
    assert!(call.to_string().contains("2025-06-18"), "{call}");
}

#[tokio::test]
async fn empty_results_are_empty() {
    let mut pipe = Pipe::open(&fixture());
    pipe.initialize("2025-11-25").await;
    for (method, params) in [
        ("ping", json!({})),
        ("logging/setLevel", json!({ "level": "warning" })),
        ("resources/subscribe", json!({ "uri": "docs://readme" })),
        ("resources/unsubscribe", json!({ "uri": "docs://readme" })),
    ] {
        assert_eq!(pipe.ask(1, method, params).await["result"], json!({}), "{method}");
    }
}

#[tokio::test]
async fn what_is_not_declared_is_not_there() {
    let server = Server::new("tools", "1").tools([dynamic("one", |_, _| async {})]).build().expect("a good server");
    let mut pipe = Pipe::open(&Fixture { server, seen: Default::default() });
    pipe.initialize("2025-11-25").await;
    for (method, params) in [
        ("prompts/list", json!({})),
        ("prompts/get", json!({ "name": "x" })),
        ("prompts/get", json!({ "name": 1 })),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({ "uri": "x://y" })),
        ("resources/subscribe", json!({ "uri": "x://y" })),
        ("resources/unsubscribe", json!({ "uri": "x://y" })),
        (
            "completion/complete",
            json!({ "ref": { "type": "ref/prompt", "name": "x" }, "argument": { "name": "a", "value": "" } }),
        ),
        ("subscriptions/listen", json!({ "notifications": {} })),
        ("tasks/get", json!({ "taskId": "1" })),
        ("no/such", json!({})),
    ] {
        let reply = pipe.ask(1, method, params).await;
        assert_eq!(reply["error"]["code"], -32601, "{method}: {reply}");
    }
}

#[tokio::test]
async fn params_of_the_wrong_shape_are_invalid_params() {
    let mut pipe = Pipe::open(&fixture());
    pipe.initialize("2025-11-25").await;
    for (method, params) in [
        ("tools/call", json!({})),
        ("tools/call", json!({ "name": "add", "arguments": [1, 2] })),
        ("prompts/get", json!({ "name": 1 })),
        ("prompts/get", json!({ "name": "greet", "arguments": { "name": 1 } })),
        ("resources/read", json!({ "uri": {} })),
        ("logging/setLevel", json!({ "level": "loud" })),
        ("completion/complete", json!({})),
    ] {
        let reply = pipe.ask(1, method, params).await;
        assert_eq!(reply["error"]["code"], -32602, "{method}: {reply}");
    }
}

#[tokio::test]
async fn notifications_come_before_the_reply_and_in_order() {
    let mut pipe = Pipe::open(&fixture());
    pipe.initialize("2025-11-25").await;
    let params = json!({ "name": "emit", "arguments": { "who": "me" }, "_meta": { "progressToken": "token" } });
    pipe.send(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })).await;
    for step in 1..=3 {
        let progress = pipe.next().await;
        assert_eq!(progress["method"], "notifications/progress");
        assert_eq!(progress["params"]["progressToken"], "token");
        assert_eq!(progress["params"]["progress"].as_f64(), Some(f64::from(step)));
        let log = pipe.next().await;
        assert_eq!(log["method"], "notifications/message");
        assert_eq!(log["params"], json!({ "level": "info", "data": format!("me {step}") }));
    }
    assert_eq!(pipe.next().await["id"], 1);
}

#[tokio::test]
async fn without_a_token_there_is_no_progress() {
    let mut pipe = Pipe::open(&fixture());
    pipe.initialize("2025-11-25").await;
    pipe.ask(1, "logging/setLevel", json!({ "level": "error" })).await;
    pipe.ask(2, "tools/call", json!({ "name": "emit" })).await;
}

#[tokio::test]
async fn the_end_of_the_pipe_ends_it() {
    let mut pipe = Pipe::open(&fixture());
    pipe.initialize("2025-11-25").await;
    let Pipe { lines, writer, served } = pipe;
    drop((lines, writer));
    served.await.expect("it ended in order");
    let unopened = Pipe::open(&fixture());
    drop((unopened.lines, unopened.writer));
    unopened.served.await.expect("it ended in order");
}
