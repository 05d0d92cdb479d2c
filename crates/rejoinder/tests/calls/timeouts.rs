//! A round that takes too long ends with an error of its own.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

use std::{
    future::pending,
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use futures_util::{StreamExt, stream};
use rejoinder::{
    BoxError, BoxFuture, Tool,
    auth::Principal,
    call::{CallEnd, Era},
    model::{self, Reference},
    prelude::*,
    state::{ReplayStore, StatePolicy},
    testing::{Client, in_both_eras},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    time::{Instant, sleep},
};

use crate::logged::Logged;

/// The ends that deferred functions got.
#[derive(Default)]
struct Ends(Mutex<Vec<CallEnd>>);

impl Ends {
    fn defer(self: Arc<Self>, scope: &Scope) {
        scope.defer(move |end| async move { self.0.lock().unwrap().push(end) });
    }

    fn take(&self) -> Vec<CallEnd> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// Waits for ever, in the place that the argument names.
#[resolver]
async fn opened(place: &str, scope: Scope, ends: Dep<Ends>) {
    ends.into_inner().defer(&scope);
    if place == "resolver" {
        pending::<()>().await;
    }
}

#[tool(timeout = "30s")]
async fn wait(place: String, #[resolve(opened)] _opened: &(), ctx: Context) -> Result<String, CallError> {
    match place.as_str() {
        "body" => pending().await,
        "step" => ctx.once("step", async || pending::<Result<(), CallError>>().await).await?,
        "ask" => drop(ctx.ask("sure", Ask::confirm("Sure?")).await?),
        _ => {}
    }
    Ok(place)
}

/// Its stream never ends.
#[tool(timeout = "30s")]
async fn stalls(scope: Scope, ends: Dep<Ends>) -> ToolStream<String> {
    ends.into_inner().defer(&scope);
    ToolStream::new(stream::iter(["one".to_owned(), "two".to_owned()]).chain(stream::pending()))
}

#[prompt(timeout = "500ms")]
async fn slow_prompt() -> String {
    pending().await
}

#[resource("slow://{name}", timeout = "2m")]
async fn slow_resource(name: String) -> String {
    pending::<()>().await;
    name
}

/// Has no timeout of its own.
#[tool]
async fn wait_by_default() {
    pending::<()>().await;
}

#[completion]
async fn never(_: rejoinder::call::CompletionRequest) -> Vec<String> {
    pending().await
}

#[prompt]
async fn completed(#[arg(complete = never)] word: String) -> String {
    word
}

struct Office;

#[handlers]
impl Office {
    #[tool(timeout = "1h")]
    async fn meeting(&self) {
        pending::<()>().await;
    }
}

fn server(ends: &Arc<Ends>) -> Server {
    let record = model::Tool::new("dynamic", "Waits.", model::JsonObject::new());
    let dynamic = Tool::dynamic(record, |_, _| pending::<()>()).timeout(Duration::from_secs(7));
    Server::new("slow", "1.0.0")
        .timeout(Duration::from_secs(10))
        .provide_arc(Arc::clone(ends))
        .tools(tools![wait, wait_by_default, stalls])
        .tools(Arc::new(Office).tools())
        .tools([dynamic])
        .prompts(prompts![slow_prompt, completed])
        .resources(resources![slow_resource])
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_times_out_returns_an_error_that_the_model_reads() {
    let ends = Arc::new(Ends::default());
    in_both_eras(Client::new(server(&ends)), async |client| {
        for (tool, arguments, seconds) in [
            ("wait", json!({ "place": "body" }), 30),
            ("wait", json!({ "place": "resolver" }), 30),
            // A step in flight is dropped with its function.
            ("wait", json!({ "place": "step" }), 30),
            ("wait_by_default", json!({}), 10),
            ("meeting", json!({}), 3600),
            ("dynamic", json!({}), 7),
        ] {
            let start = Instant::now();
            let reply = client.call_tool(tool, arguments).await.unwrap();
            assert!(reply.is_error());
            assert_eq!(reply.text(), format!("timed out after {seconds} s"), "{tool}");
            assert_eq!(start.elapsed().as_secs(), seconds, "the paused clock moves only while everything waits");
            let expected = if tool == "wait" { vec![CallEnd::TimedOut] } else { vec![] };
            assert_eq!(ends.take(), expected, "{tool}");
        }
        let reply = client.call_tool("wait", json!({ "place": "nowhere" })).await.unwrap();
        assert_eq!((reply.text().as_str(), ends.take()), ("nowhere", vec![CallEnd::Succeeded]));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_stream_is_covered_and_what_was_sent_stays_sent() {
    let ends = Arc::new(Ends::default());
    in_both_eras(Client::new(server(&ends)), async |client| {
        let reply = client.call_tool("stalls", json!({})).await.unwrap();
        assert_eq!((reply.is_error(), reply.text().as_str()), (true, "timed out after 30 s"));
        assert_eq!((reply.progress.len(), ends.take()), (2, vec![CallEnd::TimedOut]));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_prompt_a_resource_and_a_completion_that_time_out_are_json_rpc_errors() {
    in_both_eras(Client::new(server(&Arc::default())), async |client| {
        let errors = [
            (client.get_prompt("slow_prompt", json!({})).await.unwrap_err(), "0.5 s"),
            (client.read_resource("slow://a").await.unwrap_err(), "120 s"),
            (client.complete(Reference::prompt("completed"), "word", "").await.unwrap_err(), "10 s"),
        ];
        for (error, after) in errors {
            let error = error.rpc().unwrap();
            assert_eq!((error.code, error.message.as_str()), (-32603, &*format!("timed out after {after}")));
            assert_eq!(error.data, Some(json!({ "reason": "timed_out" })));
        }
    })
    .await;
}

/// A client of a session on a pipe, which answers when the test wants.
struct Piped {
    input: tokio::io::WriteHalf<tokio::io::DuplexStream>,
    output: tokio::io::Lines<BufReader<tokio::io::ReadHalf<tokio::io::DuplexStream>>>,
}

impl Piped {
    async fn send(&mut self, message: Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn receive(&mut self) -> Value {
        serde_json::from_str(&self.output.next_line().await.unwrap().unwrap()).unwrap()
    }
}

#[tokio::test(start_paused = true)]
async fn the_clock_stops_while_a_question_is_open_on_a_session() {
    let ends = Arc::new(Ends::default());
    let (client, served) = tokio::io::duplex(4096);
    let (input, output) = tokio::io::split(served);
    tokio::spawn(server(&ends).build().unwrap().serve_io(input, output));
    let (output, input) = tokio::io::split(client);
    let mut client = Piped { input, output: BufReader::new(output).lines() };
    let capabilities = json!({ "elicitation": {} });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities,
        "clientInfo": { "name": "piped", "version": "1" } });
    client.send(json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params })).await;
    client.receive().await;

    let params = json!({ "name": "wait", "arguments": { "place": "ask" } });
    client.send(json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params })).await;
    let question = client.receive().await;
    assert_eq!(question["method"], "elicitation/create");
    // Longer than the timeout.
    sleep(Duration::from_secs(60)).await;
    let answer = json!({ "action": "accept", "content": { "yes": true } });
    client.send(json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer })).await;
    let reply = client.receive().await;
    assert_eq!(reply["result"]["content"][0]["text"], "ask", "{reply}");
    assert_eq!(ends.take(), [CallEnd::Succeeded]);
}

#[tokio::test]
async fn each_round_of_a_stateless_call_has_the_full_time() {
    let ends = Arc::new(Ends::default());
    let client =
        Client::new(server(&ends)).era(Era::Stateless).answer("sure", rejoinder::form::ConfirmForm { yes: true });
    assert_eq!(client.call_tool("wait", json!({ "place": "ask" })).await.unwrap().text(), "ask");
    assert_eq!(ends.take(), [CallEnd::Pending, CallEnd::Succeeded]);
}

#[test]
fn a_timeout_of_zero_is_a_mistake() {
    let error = Server::new("slow", "1.0.0").timeout(Duration::ZERO).check().unwrap_err();
    assert_eq!(error.0[0].to_string(), "`Server::timeout`: every call would time out: set a duration above zero");
}

/// A store whose network is dead.
struct Hangs;

impl ReplayStore for Hangs {
    fn spend(&self, _: [u8; 16], _: SystemTime, _: Option<&Principal>) -> BoxFuture<'_, Result<bool, BoxError>> {
        Box::pin(pending())
    }
}

#[tokio::test(start_paused = true)]
async fn r3_l1_the_timeout_covers_the_replay_store() {
    let (logged, _guard) = Logged::here();
    let ends = Arc::new(Ends::default());
    let server = Server::new("slow", "1").provide_arc(Arc::clone(&ends)).tools(tools![wait]);
    let client = Client::new(server.state(StatePolicy::new().single_use(Hangs)));
    let client = client.answer("sure", rejoinder::form::ConfirmForm { yes: true });
    let reply = client.call_tool("wait", json!({ "place": "ask" })).await.unwrap();
    assert_eq!((reply.is_error(), reply.text().as_str()), (true, "timed out after 30 s"));
    assert_eq!(ends.take(), [CallEnd::Pending], "the function does not run");
    let lines = logged.text();
    assert!(lines.contains("the replay store failed, so the state cannot be marked as used"), "{lines}");
}
