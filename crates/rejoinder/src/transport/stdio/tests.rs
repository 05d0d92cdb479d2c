//! What the tour's tools do not do, on a pipe in memory.

use std::time::Duration;

use rejoinder::prelude::*;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, duplex, split};

use super::connection;
use crate::transport::shutdown::Shutdown;

#[tool]
fn ping() -> &'static str {
    "pong"
}

/// Reports progress for ever, without ever waiting for anything else.
#[tool]
async fn flood(ctx: Context) {
    for step in 0.. {
        ctx.progress(f64::from(step)).await;
    }
}

struct Client {
    input: WriteHalf<DuplexStream>,
    output: Lines<BufReader<ReadHalf<DuplexStream>>>,
}

impl Client {
    fn connect(server: Server) -> Self {
        let engine = server.tools(tools![ping, flood]).build().expect("wired right").0;
        let (ours, theirs) = duplex(16 * 1024);
        let (reader, writer) = split(theirs);
        tokio::spawn(async move { connection::serve(&engine, reader, writer, Shutdown::default()).await });
        let (output, input) = split(ours);
        Self { input, output: BufReader::new(output).lines() }
    }

    async fn send(&mut self, message: Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).await.expect("it reads");
    }

    async fn call(&mut self, id: u64, tool: &str) {
        let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {}, "progressToken": id });
        let params = json!({ "name": tool, "_meta": meta });
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })).await;
    }

    async fn message(&mut self) -> Value {
        let line = tokio::time::timeout(Duration::from_secs(30), self.output.next_line()).await.expect("it hangs");
        serde_json::from_str(&line.expect("a pipe").expect("a line")).expect("JSON")
    }

    /// The next message with an id.
    async fn reply(&mut self) -> Value {
        loop {
            let message = self.message().await;
            if !message["id"].is_null() || message["error"].is_object() {
                return message;
            }
        }
    }
}

#[tokio::test]
async fn a_flood_of_progress_lets_others_be_answered_and_can_be_cancelled() {
    let mut client = Client::connect(Server::new("pipe", "1.0.0"));
    client.call(1, "flood").await;
    client.call(2, "ping").await;
    assert_eq!(client.reply().await["id"], 2);
    client.send(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } })).await;
    client.call(3, "ping").await;
    assert_eq!(client.reply().await["id"], 3);
    // What was on its way still comes; after that, nothing does.
    client.call(4, "ping").await;
    assert_eq!(client.reply().await["id"], 4);
    client.call(5, "ping").await;
    assert_eq!(client.message().await["id"], 5);
}

#[tokio::test]
async fn nobody_answers_a_response() {
    let mut client = Client::connect(Server::new("pipe", "1.0.0").modern_only());
    client.send(json!({ "jsonrpc": "2.0", "id": 1, "result": {} })).await;
    client.send(json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32700, "message": "what?" } })).await;
    client.call(7, "ping").await;
    assert_eq!(client.message().await["id"], 7);
}
