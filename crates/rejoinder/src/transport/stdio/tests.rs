//! What the tour's tools do not do, on a pipe in memory.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    task::{Context as Cx, Poll},
    time::Duration,
};

use bytes::BufMut;
use futures_util::FutureExt;
use rejoinder::{call::CallEnd, prelude::*};
use serde_json::{Value, json};
use tokio::{
    io::{
        AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
        duplex, split,
    },
    sync::Notify,
};

use super::serve_lines;
use crate::{
    server::Engine,
    transport::{
        connection::ENOUGH,
        tests::waiting::{Seen, wait},
    },
};

#[tool]
fn ping() -> &'static str {
    "pong"
}

/// Reports progress without end, and waits for nothing else.
#[tool]
async fn flood(ctx: Context) {
    for step in 0.. {
        ctx.progress(f64::from(step)).await;
    }
}

fn engine(server: Server) -> Arc<Engine> {
    server.tools(tools![ping, flood]).build().expect("wired right").0
}

struct Client {
    input: WriteHalf<DuplexStream>,
    output: Lines<BufReader<ReadHalf<DuplexStream>>>,
}

impl Client {
    fn connect(server: Server) -> Self {
        Self::connect_through(engine(server), |writer| writer)
    }

    /// Connects with something between the server and its end of the pipe.
    fn connect_through<W>(engine: Arc<Engine>, through: impl FnOnce(WriteHalf<DuplexStream>) -> W) -> Self
    where
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let (ours, theirs) = duplex(16 * 1024);
        let (reader, writer) = split(theirs);
        let writer = through(writer);
        tokio::spawn(async move { serve_lines(&engine, reader, writer, None).await });
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

    /// Begins a session.
    async fn initialize(&mut self) {
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": { "elicitation": {} },
            "clientInfo": { "name": "old", "version": "1" } });
        self.send(json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })).await;
        self.reply().await;
        self.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    }

    async fn call_in_session(&mut self, id: u64, tool: &str) {
        let params = json!({ "name": tool });
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

/// Notes the most that was to be written at once.
struct Noting<W>(W, Arc<AtomicUsize>);

impl<W: AsyncWrite + Unpin> AsyncWrite for Noting<W> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Cx<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.1.fetch_max(bytes.len(), Ordering::Relaxed);
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Cx<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Cx<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

#[tokio::test]
async fn a_flood_of_progress_does_not_pile_up() {
    let most = Arc::new(AtomicUsize::new(0));
    let mut client =
        Client::connect_through(engine(Server::new("pipe", "1.0.0")), |writer| Noting(writer, Arc::clone(&most)));
    client.call(1, "flood").await;
    for _ in 0..1000 {
        assert_eq!(client.message().await["method"], "notifications/progress");
    }
    // One message may cross the line.
    assert!(most.load(Ordering::Relaxed) < 2 * ENOUGH, "{most:?}");
}

/// Lets functions go that block their thread.
struct Gate {
    begun: Notify,
    release: Mutex<mpsc::Receiver<()>>,
}

impl Gate {
    fn wait(&self) -> &'static str {
        self.begun.notify_one();
        let release = self.release.lock().expect("no panic");
        release.recv_timeout(Duration::from_secs(30)).expect("the test releases it");
        "released"
    }
}

/// Blocks its thread, as a tool should not.
#[tool]
fn block(gate: Dep<Gate>) -> &'static str {
    gate.wait()
}

/// Blocks its thread, and says so.
#[tool(blocking)]
fn block_well(gate: Dep<Gate>) -> &'static str {
    gate.wait()
}

/// Calls a tool that blocks, and then others, which do not wait for it.
async fn answers_while_one_blocks(tool: &str) {
    for in_session in [false, true] {
        let (release, gate) = mpsc::channel();
        let gate = Arc::new(Gate { begun: Notify::new(), release: Mutex::new(gate) });
        let server = Server::new("pipe", "1.0.0").provide_arc(Arc::clone(&gate)).tools(tools![block, block_well]);
        let mut client = Client::connect(server);
        if in_session {
            client.initialize().await;
        }
        for (id, tool) in [(1, tool), (2, "ping"), (3, "ping")] {
            if in_session {
                client.call_in_session(id, tool).await;
            } else {
                client.call(id, tool).await;
            }
            if id == 1 {
                gate.begun.notified().await;
            } else {
                assert_eq!(client.reply().await["id"], id);
            }
        }
        release.send(()).expect("it waits");
        let reply = client.reply().await;
        assert_eq!((&reply["id"], &reply["result"]["content"][0]["text"]), (&json!(1), &json!("released")));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn o13_r_m6_a_m12_a_tool_that_blocks_does_not_stop_the_pipe() {
    answers_while_one_blocks("block").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r_m6_a_tool_that_blocks_does_not_keep_what_was_sent_with_it() {
    let (release, gate) = mpsc::channel();
    let gate = Arc::new(Gate { begun: Notify::new(), release: Mutex::new(gate) });
    let mut client = Client::connect(Server::new("pipe", "1.0.0").provide_arc(gate).tools(tools![block]));
    client.initialize().await;
    let messages = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "block" } }),
    ];
    let lines = messages.map(|message| format!("{message}\n")).concat();
    client.input.write_all(lines.as_bytes()).await.expect("it reads");
    assert_eq!(client.reply().await["id"], 1);
    client.call_in_session(3, "ping").await;
    assert_eq!(client.reply().await["id"], 3);
    release.send(()).expect("it waits");
    assert_eq!(client.reply().await["id"], 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_blocking_tool_takes_no_thread_from_the_others() {
    answers_while_one_blocks("block_well").await;
}

#[tokio::test]
async fn a_blocking_tool_works_in_a_runtime_of_one_thread() {
    let (release, gate) = mpsc::channel();
    let gate = Arc::new(Gate { begun: Notify::new(), release: Mutex::new(gate) });
    let mut client = Client::connect(Server::new("pipe", "1.0.0").provide_arc(gate).tools(tools![block_well]));
    release.send(()).expect("it waits");
    client.call(1, "block_well").await;
    assert_eq!(client.reply().await["result"]["content"][0]["text"], "released");
}

#[tokio::test]
async fn only_a_request_begins_a_session() {
    let engine = engine(Server::new("pipe", "1.0.0"));
    let mut client = Client::connect_through(Arc::clone(&engine), |writer| writer);
    // The call may have been over already.
    client.send(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } })).await;
    client.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    client.send(json!({ "jsonrpc": "2.0", "id": 1, "result": {} })).await;
    client.call(2, "ping").await;
    assert_eq!(client.message().await["id"], 2);
    // Every session hears of changes.
    assert_eq!(engine.hub().subscribers(), 0);
    client.initialize().await;
    assert_eq!(engine.hub().subscribers(), 1);
    client.call_in_session(3, "ping").await;
    assert_eq!(client.message().await["id"], 3);
}

#[tokio::test]
async fn nobody_answers_a_response() {
    for server in [Server::new("pipe", "1.0.0").stateless_only(), Server::new("pipe", "1.0.0")] {
        let mut client = Client::connect(server);
        client.send(json!({ "jsonrpc": "2.0", "id": 1, "result": {} })).await;
        client.send(json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32700, "message": "what?" } })).await;
        // Nor one that cannot be read.
        client
            .input
            .write_all(b"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"number\":1e999}}\n")
            .await
            .expect("it reads");
        client.call(7, "ping").await;
        assert_eq!(client.message().await["id"], 7);
    }
}

/// A client that leaves while the call is running, and what it has deferred has run when serving is over.
async fn leave_while_it_waits(in_session: bool) -> Option<CallEnd> {
    let seen = Arc::new(Seen::default());
    let server = Server::new("pipe", "1.0.0").provide_arc(Arc::clone(&seen)).tools(tools![wait]);
    let server = server.grace_period(Duration::from_millis(20)).build().expect("wired right");
    let (ours, theirs) = duplex(16 * 1024);
    let (reader, writer) = split(theirs);
    let serving = tokio::spawn(server.serve_io(reader, writer));
    let (output, input) = split(ours);
    let mut client = Client { input, output: BufReader::new(output).lines() };
    if in_session {
        client.initialize().await;
        client.call_in_session(1, "wait").await;
    } else {
        client.call(1, "wait").await;
    }
    seen.begun.notified().await;
    client.input.shutdown().await.expect("it is open");
    serving.await.expect("it does not panic").expect("it ends well");
    seen.ending()
}

#[tokio::test]
async fn what_cancelled_calls_deferred_is_done_before_the_pipe_is_done() {
    assert_eq!(leave_while_it_waits(false).await, Some(CallEnd::Cancelled));
    assert_eq!(leave_while_it_waits(true).await, Some(CallEnd::Cancelled));
}

#[tool]
async fn delete(ctx: Context) -> Result<&'static str, CallError> {
    let sure = ctx.ask("sure", Ask::confirm("Sure?")).await?;
    Ok(if sure { "gone" } else { "kept" })
}

#[tokio::test]
async fn who_closes_the_pipe_with_a_question_open_is_not_waited_for() {
    let server = Server::new("pipe", "1.0.0").tools(tools![delete]);
    let mut client = Client::connect(server.grace_period(Duration::MAX));
    client.initialize().await;
    client.call_in_session(1, "delete").await;
    let question = client.reply().await;
    assert_eq!(question["method"], "elicitation/create");
    client.input.shutdown().await.expect("it is open");
    let reply = client.reply().await;
    assert_eq!((&reply["id"], &reply["result"]["isError"]), (&json!(1), &json!(true)), "{reply}");
    assert_eq!(
        reply["result"]["content"][0]["text"],
        "the client could not be asked `sure`: nothing more is read from its pipe, so no answer can come"
    );
}

#[tokio::test]
async fn an_answer_just_before_the_pipe_is_closed_counts() {
    let server = Server::new("pipe", "1.0.0").tools(tools![delete]);
    let mut client = Client::connect(server.grace_period(Duration::MAX));
    client.initialize().await;
    client.call_in_session(1, "delete").await;
    let question = client.reply().await;
    let result = json!({ "action": "accept", "content": { "yes": true } });
    client.send(json!({ "jsonrpc": "2.0", "id": question["id"], "result": result })).await;
    client.input.shutdown().await.expect("it is open");
    assert_eq!(client.reply().await["result"]["content"][0]["text"], "gone");
}

/// Returns when the test releases it.
#[tool]
async fn held(held: Dep<Held>) -> &'static str {
    held.begun.notify_one();
    held.release.notified().await;
    "done"
}

#[derive(Default)]
struct Held {
    begun: Notify,
    release: Notify,
}

#[tokio::test]
async fn a_session_without_end_to_its_grace_period_finishes_what_is_in_flight() {
    let held = Arc::new(Held::default());
    let server = Server::new("pipe", "1.0.0").provide_arc(Arc::clone(&held)).tools(tools![held]);
    let mut client = Client::connect(server.grace_period(Duration::MAX));
    client.initialize().await;
    client.call_in_session(1, "held").await;
    held.begun.notified().await;
    client.input.shutdown().await.expect("it is open");
    tokio::time::sleep(Duration::from_millis(20)).await;
    held.release.notify_one();
    assert_eq!(client.reply().await["result"]["content"][0]["text"], "done");
}

/// Leaves a background task, and replies with more than the pipe of the test takes.
#[tool]
async fn leave(background: BackgroundTasks, started: Dep<Notify>) -> Result<String, CallError> {
    background.add(async move { started.notify_one() })?;
    Ok("x".repeat(1000))
}

#[tokio::test]
async fn l6_a_background_task_starts_when_the_last_byte_of_the_reply_is_in_the_pipe() {
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {} });
    let call = |params: Value| json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let initialize = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "old", "version": "1" } } });
    for messages in
        [vec![call(json!({ "name": "leave", "_meta": meta }))], vec![initialize, call(json!({ "name": "leave" }))]]
    {
        let started = Arc::new(Notify::new());
        let server = Server::new("pipe", "1.0.0").provide_arc(Arc::clone(&started)).tools(tools![leave]);
        let (client, stream) = duplex(64);
        let (reader, writer) = split(stream);
        tokio::spawn(server.build().expect("a good server").serve_io(reader, writer));
        let (mut output, mut input) = split(client);
        let lines = messages.iter().map(|message| format!("{message}\n")).collect::<String>();
        tokio::spawn(async move {
            input.write_all(lines.as_bytes()).await.expect("it reads");
            std::future::pending::<()>().await;
        });
        let mut reply = Vec::new();
        while reply.windows(900).next_back().is_none_or(|last| last.iter().any(|byte| *byte != b'x')) {
            output.read_buf(&mut (&mut reply).limit(16)).await.expect("a reply");
        }
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert!(started.notified().now_or_never().is_none(), "a part of the reply is not written yet");
        tokio::spawn(async move { tokio::io::copy(&mut output, &mut tokio::io::sink()).await });
        tokio::time::timeout(Duration::from_secs(30), started.notified()).await.expect("it starts");
    }
}
