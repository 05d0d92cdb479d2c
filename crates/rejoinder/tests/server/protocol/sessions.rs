//! The test client in both eras: the same server, the same answers.

use std::time::Duration;

use rejoinder::{
    Ask, BuiltServer,
    call::{Era, Level},
    http::McpService,
    model::Reference,
    prelude::*,
    testing::{Client, Filter, Notification},
};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::protocol::{
    fixture::{built, server},
    questions::asking,
    wire::{Answer, Pipe, post},
};

fn both_eras() -> [Client; 2] {
    [Era::Stateless, Era::Session].map(|era| Client::new(server().page_size(2)).era(era))
}

#[tokio::test]
async fn c21_both_eras_share_one_endpoint() {
    let stateless = Client::new(server());
    let session = stateless.clone().era(Era::Session);
    for _ in 0..2 {
        assert_eq!(session.call_tool("add", json!({ "a": 1, "b": 2 })).await.unwrap().text(), "3");
        assert_eq!(stateless.call_tool("add", json!({ "a": 3, "b": 4 })).await.unwrap().text(), "7");
    }
    let refused = Client::new(server().stateless_only()).era(Era::Session).list_tools().await.unwrap_err();
    assert_eq!(refused.code(), Some(-32022), "there are no sessions where they are turned off");
}

#[tokio::test]
async fn calls_are_answered_alike() {
    for client in both_eras() {
        assert_eq!(client.call_tool("add", json!({ "a": 1, "b": 2 })).await.unwrap().text(), "3");
        assert!(client.call_tool("add", json!({})).await.unwrap().is_error());
        assert_eq!(client.get_prompt("greet", json!({ "name": "Ada" })).await.unwrap().text(), "Say hello to Ada.");
        assert_eq!(client.read_resource("item://7").await.unwrap().text(), "item 7");
        let completion = client.complete(Reference::prompt("greet"), "name", "al").await.unwrap();
        assert_eq!(completion.values, ["alan"]);
    }
}

#[tokio::test]
async fn errors_have_the_same_codes() {
    for client in both_eras() {
        assert_eq!(client.call_tool("none", json!({})).await.unwrap_err().code(), Some(-32602));
        assert_eq!(client.get_prompt("none", json!({})).await.unwrap_err().code(), Some(-32602));
        assert_eq!(client.request("no/such/method", json!({})).await.unwrap_err().code(), Some(-32601));
    }
}

#[tokio::test]
async fn lists_are_followed_to_their_end() {
    for client in both_eras() {
        assert_eq!(client.list_tools().await.unwrap().len(), 8);
        assert_eq!(client.list_prompts().await.unwrap().len(), 1);
        assert_eq!(client.list_resources().await.unwrap()[0].uri, "text://readme");
        assert_eq!(client.list_resource_templates().await.unwrap()[0].uri_template, "item://{id}");
    }
}

#[tokio::test]
async fn progress_and_logs_come_with_the_reply() {
    for client in both_eras() {
        let counted = client.call_tool("count", json!({})).await.unwrap();
        assert_eq!(counted.progress.iter().map(|report| report.progress).collect::<Vec<_>>(), [1.0, 2.0, 3.5]);
        let talked = client.log_level(Level::Warning).call_tool("talk", json!({})).await.unwrap();
        assert_eq!(talked.logs.iter().map(|log| log.level).collect::<Vec<_>>(), [Level::Warning, Level::Error]);
    }
}

#[tokio::test]
async fn headers_extensions_and_the_client_s_name_reach_the_tool() {
    for client in both_eras() {
        let client = client.name("tester").header("x-request-id", "7").extension("ada");
        let seen: Value = client.call_tool("whoami", json!({})).await.unwrap().structured().unwrap();
        assert_eq!(seen["client"], "tester");
        assert_eq!((&seen["header"], &seen["extension"]), (&json!("7"), &json!("ada")));
    }
}

#[tokio::test]
async fn changes_are_notified() {
    for client in both_eras() {
        let mut subscription = client.listen(Filter::default().tools().resource("item://1")).await.unwrap();
        let handle = client.server().handle();
        handle.remove_tool("find");
        assert_eq!(subscription.next().await, Some(Notification::ToolsChanged));
        handle.resource_updated("item://2");
        handle.resource_updated("item://1");
        assert_eq!(subscription.next().await, Some(Notification::ResourceUpdated("item://1".into())));
    }
}

/// A message of a session, with the headers that sessions have.
async fn in_session(service: &mut McpService, session: Option<(&str, &str)>, message: &Value) -> Answer {
    let mut request = post("", json!({})).body(message).without("mcp-method").without("mcp-protocol-version");
    if let Some((id, version)) = session {
        request = request.header("mcp-session-id", id).header("mcp-protocol-version", version);
    }
    request.send_to(service).await
}

fn initialize(version: &str, capabilities: &Value) -> Value {
    let client = json!({ "name": "old", "version": "1" });
    let params = json!({ "protocolVersion": version, "capabilities": capabilities, "clientInfo": client });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}

fn initialized() -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })
}

#[tokio::test]
async fn every_version_of_the_session_era_is_agreed_on_over_http() {
    let mut service = built().into_service();
    for version in ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] {
        let hello = in_session(&mut service, None, &initialize(version, &json!({}))).await;
        assert_eq!(hello.status, 200, "{version}: {}", hello.body);
        let id = hello.header("mcp-session-id").expect("a session").to_owned();
        assert_eq!(hello.last()["result"]["protocolVersion"], version);
        let session = Some((id.as_str(), version));
        assert_eq!(in_session(&mut service, session, &initialized()).await.status, 202, "{version}");
        let params = json!({ "name": "add", "arguments": { "a": 1, "b": 2 } });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let reply = in_session(&mut service, session, &call).await.last();
        assert_eq!(reply["result"]["content"][0]["text"], "3", "{version}: {reply}");
    }
}

/// Begins a session of that version, and returns its id.
async fn begin(service: &mut McpService, version: &str) -> String {
    let hello = in_session(service, None, &initialize(version, &json!({}))).await;
    hello.header("mcp-session-id").expect("a session").to_owned()
}

fn add(id: u64) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": { "name": "add", "arguments": { "a": id, "b": 2 } } })
}

#[tokio::test]
async fn a_session_is_answered_whatever_the_client_accepts() {
    let mut service = built().into_service();
    let id = begin(&mut service, "2025-11-25").await;
    for accept in [Some("*/*"), Some("application/json, text/event-stream"), None] {
        let request = post("", json!({})).body(add(1)).without("mcp-method").without("mcp-protocol-version");
        let request = request.without("accept").header("mcp-session-id", &id);
        let request = if let Some(accept) = accept { request.header("accept", accept) } else { request };
        let answer = request.send_to(&mut service).await;
        assert_eq!(answer.last()["result"]["content"][0]["text"], "3", "{accept:?}: {}", answer.body);
    }
}

#[tokio::test]
async fn a_result_has_the_words_of_the_version_of_its_session() {
    let mut service = built().into_service();
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let whoami = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "whoami" } });
    for (version, has_structure) in [("2025-06-18", true), ("2025-03-26", false), ("2024-11-05", false)] {
        let id = begin(&mut service, version).await;
        let tools = in_session(&mut service, Some((&id, version)), &list).await.last();
        let tool = tools["result"]["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "whoami").unwrap();
        assert_eq!(tool.get("outputSchema").is_some(), has_structure, "{version}: {tool}");
        let result = in_session(&mut service, Some((&id, version)), &whoami).await.last();
        assert_eq!(result["result"].get("structuredContent").is_some(), has_structure, "{version}: {result}");
        assert!(result["result"]["content"][0]["text"].is_string(), "{version}: {result}");
    }
}

#[tokio::test]
async fn only_2025_03_26_has_batches() {
    let unknown = json!({ "jsonrpc": "2.0", "id": 3, "method": "no/such/method" });
    let batch = json!([add(1), initialized(), add(2), unknown]);
    let mut service = built().into_service();
    let id = begin(&mut service, "2025-03-26").await;
    let session = Some((&*id, "2025-03-26"));
    let replies = Value::from(in_session(&mut service, session, &batch).await.events());
    let texts = |index: usize| (replies[index]["id"].clone(), replies[index]["result"]["content"][0]["text"].clone());
    assert_eq!([texts(0), texts(1)], [(json!(1), json!("3")), (json!(2), json!("4"))], "{replies}");
    assert_eq!((&replies[2]["id"], &replies[2]["error"]["code"]), (&json!(3), &json!(-32601)), "{replies}");
    assert_eq!(in_session(&mut service, session, &json!([initialized()])).await.status, 202);
    for bad in [json!([]), json!([[add(1)]]), json!([1]), Value::from(vec![add(1); 101])] {
        let refused = in_session(&mut service, session, &bad).await;
        assert_eq!((refused.status, &refused.last()["error"]["code"]), (400, &json!(-32600)));
    }
    let id = begin(&mut service, "2025-11-25").await;
    let refused = in_session(&mut service, Some((&id, "2025-11-25")), &batch).await;
    assert_eq!((refused.status, &refused.last()["error"]["code"]), (400, &json!(-32600)), "{}", refused.body);

    for (version, replies) in [("2025-03-26", 3), ("2025-06-18", 1)] {
        let mut pipe = Pipe::open(&built());
        pipe.send(initialize(version, &json!({}))).await;
        pipe.next().await;
        pipe.send(batch.clone()).await;
        let mut ids = Vec::new();
        for _ in 0..replies {
            ids.push(pipe.next().await["id"].to_string());
        }
        ids.sort();
        assert_eq!(ids, if replies == 3 { vec!["1", "2", "3"] } else { vec!["null"] }, "{version}");
    }
}

#[tokio::test]
async fn the_calls_of_a_batch_that_take_longer_are_answered_with_events() {
    let mut service = built().into_service();
    let id = begin(&mut service, "2025-03-26").await;
    let mut count = add(2);
    count["params"] = json!({ "name": "count", "_meta": { "progressToken": "t" } });
    let answer = in_session(&mut service, Some((&id, "2025-03-26")), &json!([add(1), count])).await;
    let ids: Vec<_> = answer.events().iter().filter_map(|message| message.get("id").cloned()).collect();
    assert_eq!(ids, [json!(1), json!(2)], "{}", answer.body);
}

/// A pipe on which a session has begun, with a client that can be asked.
async fn session_on_a_pipe(server: &BuiltServer) -> Pipe {
    let mut pipe = Pipe::open(server);
    pipe.send(initialize("2025-11-25", &json!({ "elicitation": {} }))).await;
    assert_eq!(pipe.next().await["result"]["protocolVersion"], "2025-11-25");
    pipe.send(initialized()).await;
    pipe
}

#[tokio::test]
async fn e8_an_error_for_an_answer_is_read_by_the_model() {
    let mut pipe = session_on_a_pipe(&asking()).await;
    pipe.send(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "pack" } })).await;
    let question = loop {
        let message = pipe.next().await;
        if message["method"] == "elicitation/create" {
            break message;
        }
    };
    let error = json!({ "code": -32001, "message": "no screen" });
    pipe.send(json!({ "jsonrpc": "2.0", "id": question["id"], "error": error })).await;
    let reply = loop {
        let message = pipe.next().await;
        if message["id"] == 1 {
            break message;
        }
    };
    assert_eq!(reply["result"]["isError"], true);
    let text = reply["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("the client did not answer `") && text.ends_with("`: no screen (-32001)"), "{text}");
}

/// The answers that each caller got.
struct Heard(mpsc::UnboundedSender<String>);

/// Asks in a task, which is there longer than the call.
#[tool]
async fn ask_in_a_task(ctx: Context, heard: Dep<Heard>) {
    tokio::spawn(async move {
        let answer = ctx.ask("sure", Ask::confirm("Sure?")).await;
        heard.0.send(answer.map_or_else(|error| error.to_string(), |yes| yes.to_string()))
    });
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn a_session_that_closes_during_a_question_is_an_error() {
    let (sender, mut heard) = mpsc::unbounded_channel();
    let server = Server::new("asking", "1.0.0").provide(Heard(sender)).tools(tools![ask_in_a_task]);
    let mut pipe = session_on_a_pipe(&server.grace_period(Duration::ZERO).build().unwrap()).await;
    let params = json!({ "name": "ask_in_a_task" });
    pipe.send(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })).await;
    assert_eq!(pipe.next().await["method"], "elicitation/create");
    pipe.close().await;
    assert_eq!(
        heard.recv().await.unwrap(),
        "the client could not be asked `sure`: nothing more is read from its pipe, so no answer can come"
    );
}
