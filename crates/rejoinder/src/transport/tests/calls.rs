#![expect(deprecated, reason = "log messages are deprecated in the protocol, and still part of it")]

use std::sync::atomic::Ordering;

use rmcp::model::{
    CallToolRequest, ClientRequest, GetPromptRequestParams, LoggingLevel, PaginatedRequestParams,
    ReadResourceRequestParams, ResourceContents, SetLevelRequestParams,
};
use rmcp::service::PeerRequestOptions;
use serde_json::{Value, json};

use super::{
    client::{Client, params, rpc, text},
    fixture::{Fixture, dynamic, fixture, until},
};
use crate::Server;

#[tokio::test]
async fn a_session_begins_with_what_the_server_is() {
    let client = Client::connect(&fixture()).await;
    let server = client.peer.peer_info().expect("it knows the server");
    assert_eq!(server.server_info.as_ref().expect("it knows the server").name, "fixture");
    assert_eq!(server.instructions.as_deref(), Some("Use it in tests."));
    assert_eq!(server.protocol_version.as_str(), "2025-11-25");
    assert!(server.capabilities.tools.is_some() && server.capabilities.logging.is_some());
}

#[tokio::test]
async fn lists_are_complete_and_have_no_hints() {
    let client = Client::connect(&fixture()).await;
    let tools = client.peer.list_tools(None).await.expect("a list");
    assert_eq!(tools.tools[0].name, "add");
    assert_eq!((tools.ttl_ms, tools.result_type, tools.next_cursor), (None, None, None));
    assert_eq!(client.peer.list_all_prompts().await.expect("a list")[0].name, "greet");
    assert_eq!(client.peer.list_all_resources().await.expect("a list")[0].uri, "docs://readme");
    assert_eq!(client.peer.list_all_resource_templates().await.expect("a list")[0].uri_template, "files://{path}");
    let lost = PaginatedRequestParams::default().with_cursor(Some("lost".into()));
    let error = rpc(client.peer.list_tools(Some(lost)).await).expect_err("no such cursor");
    assert_eq!(error.message, "unknown `params.cursor`: request the list again without one");
}

#[tokio::test]
async fn pages_follow_each_other() {
    let tools = (0..5).map(|number| dynamic(["a", "b", "c", "d", "e"][number], |_, _| async {}));
    let server = Server::new("pages", "1").tools(tools).page_size(2).build().expect("a good server");
    let client = Client::connect(&Fixture { server, seen: Default::default() }).await;
    let names: Vec<_> = client.peer.list_all_tools().await.expect("a list").into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["a", "b", "c", "d", "e"]);
}

#[tokio::test]
async fn a_tool_is_called() {
    let client = Client::connect(&fixture()).await;
    assert_eq!(client.text("add", json!({ "a": 2, "b": 3 })).await, "5");
    let facts: Value = serde_json::from_str(&client.text("facts", json!({})).await).expect("JSON");
    assert_eq!((&facts["era"], &facts["version"]), (&json!("Session"), &json!("2025-11-25")));
    assert_eq!((&facts["client"], &facts["header"]), (&json!("rmcp"), &json!(null)));
}

#[tokio::test]
async fn failures_are_the_same_as_in_the_other_era() {
    let client = Client::connect(&fixture()).await;
    let bad = client.call("add", json!({ "a": "two", "c": 1 })).await.expect("a result");
    assert_eq!(bad.is_error, Some(true));
    let said = text(&bad);
    assert!(said.contains("`a`") && said.contains("`b`") && said.contains("`c`"), "{said}");
    let failed = client.call("fails", json!({})).await.expect("a result");
    assert_eq!((failed.is_error, text(&failed).as_str()), (Some(true), "try another"));
    let hidden = client.call("hidden", json!({})).await.expect("a result");
    assert!(!text(&hidden).contains("password"), "{hidden:?}");
    let error = client.call("protocol", json!({})).await.expect_err("an error");
    assert_eq!((error.code.0, &*error.message), (-30001, "not today"));
    let error = client.call("nothing", json!({})).await.expect_err("an error");
    assert_eq!((error.code.0, &*error.message), (-32602, "there is no tool `nothing`"));
}

#[tokio::test]
async fn a_panic_is_an_error_and_the_session_goes_on() {
    let client = Client::connect(&fixture()).await;
    assert_eq!(client.call("panic", json!({})).await.expect("a result").is_error, Some(true));
    let complete = client.peer.complete_prompt_argument("greet", "name", "panic", None).await;
    assert_eq!(rpc(complete).expect_err("an error").code.0, -32603);
    assert_eq!(client.text("add", json!({ "a": 1, "b": 1 })).await, "2");
}

#[tokio::test]
async fn a_prompt_is_got() {
    let client = Client::connect(&fixture()).await;
    let get = |arguments: Value| {
        let arguments = arguments.as_object().expect("an object").clone();
        client.peer.get_prompt(GetPromptRequestParams::new("greet").with_arguments(arguments))
    };
    let prompt = get(json!({ "name": "Ada" })).await.expect("a prompt");
    assert_eq!(prompt.messages[0].content.as_text().expect("text").text, "Greet Ada.");
    let error = rpc(get(json!({})).await).expect_err("the name is missing");
    assert_eq!((error.code.0, &error.data.expect("data")["field"]), (-32602, &json!("name")));
    let error = rpc(client.peer.get_prompt(GetPromptRequestParams::new("part")).await).expect_err("no such prompt");
    assert_eq!((error.code.0, &*error.message), (-32602, "there is no prompt `part`"));
}

#[tokio::test]
async fn a_resource_is_read() {
    let client = Client::connect(&fixture()).await;
    let read = |uri| client.peer.read_resource(ReadResourceRequestParams::new(uri));
    let contents = read("files://a.txt").await.expect("contents").contents;
    let ResourceContents::TextResourceContents { uri, text, .. } = &contents[0] else { panic!("{contents:?}") };
    assert_eq!((uri.as_str(), text.as_str()), ("files://a.txt", "a.txt"));
    for (uri, code, message, data) in [
        ("other://x", -32002, "there is no resource `other://x`", Some(json!({ "uri": "other://x" }))),
        ("files://gone", -32603, "it was deleted", None),
    ] {
        let error = rpc(read(uri).await).expect_err("it is not there");
        assert_eq!((error.code.0, &*error.message, error.data), (code, message, data));
    }
}

#[tokio::test]
async fn an_argument_is_completed() {
    let client = Client::connect(&fixture()).await;
    let proposed = client.peer.complete_prompt_argument("greet", "name", "ad", None).await.expect("values");
    assert_eq!(
        (proposed.values, proposed.total, proposed.has_more),
        (vec!["ada".into(), "adam".into()], Some(2), Some(false))
    );
    let lost = client.peer.complete_prompt_argument("part", "name", "", None).await;
    assert_eq!(rpc(lost).expect_err("no such prompt").message, "there is no prompt `part` with the argument `name`");
}

#[tokio::test]
async fn what_a_call_emits_comes_before_its_reply_and_in_order() {
    let client = Client::connect(&fixture()).await;
    assert_eq!(client.text("emit", json!({ "who": "ada" })).await, "emitted");
    // The client handles each notification in a task of its own, so only it may be late.
    until("everything has arrived", || client.received.all().len() == 6).await;
    let mut received = client.received.all();
    received.sort_by_key(ToString::to_string);
    assert_eq!(
        received,
        [json!("ada 1"), json!("ada 2"), json!("ada 3"), json!([1.0, "ada"]), json!([2.0, "ada"]), json!([3.0, "ada"])]
    );
}

#[tokio::test]
async fn o15_the_client_sets_the_level_of_its_own_session() {
    let fixture = fixture();
    let (one, other) = (Client::connect(&fixture).await, Client::connect(&fixture).await);
    one.peer.set_level(SetLevelRequestParams::new(LoggingLevel::Debug)).await.expect("it is set");
    other.peer.set_level(SetLevelRequestParams::new(LoggingLevel::Error)).await.expect("it is set");
    for client in [&one, &other] {
        client.text("emit", json!({ "who": "x" })).await;
    }
    until("both have everything", || one.received.all().len() == 9 && other.received.all().len() == 3).await;
    assert!(one.received.has("x debug 1"));
}

#[tokio::test]
async fn o15_sessions_do_not_hear_of_each_other() {
    let fixture = fixture();
    let (ada, bob) = (Client::connect(&fixture).await, Client::connect(&fixture).await);
    let calls = (0..20).map(|_| async {
        tokio::join!(ada.text("emit", json!({ "who": "ada" })), bob.text("emit", json!({ "who": "bob" })))
    });
    futures_util::future::join_all(calls).await;
    until("both have everything", || ada.received.all().len() == 120 && bob.received.all().len() == 120).await;
    assert!(ada.received.all().iter().all(|received| !received.to_string().contains("bob")));
    assert!(bob.received.all().iter().all(|received| !received.to_string().contains("ada")));
}

#[tokio::test]
async fn taking_a_request_back_drops_the_function() {
    let fixture = fixture();
    let client = Client::connect(&fixture).await;
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params("wait", serde_json::Map::new())));
    let handle = client.peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await.expect("sent");
    until("it runs", || fixture.seen.running.load(Ordering::SeqCst) == 1).await;
    handle.cancel(Some("never mind".into())).await.expect("sent");
    until("it was dropped", || fixture.seen.running.load(Ordering::SeqCst) == 0).await;
    assert_eq!(client.text("add", json!({ "a": 1, "b": 1 })).await, "2");
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_session_drops_its_functions() {
    let fixture = fixture();
    let client = Client::connect(&fixture).await;
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params("wait", serde_json::Map::new())));
    let _handle = client.peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await.expect("sent");
    until("it runs", || fixture.seen.running.load(Ordering::SeqCst) == 1).await;
    client.peer.cancel().await.expect("it ends");
    // The grace period.
    tokio::time::sleep(std::time::Duration::from_secs(11)).await;
    assert_eq!(fixture.seen.running.load(Ordering::SeqCst), 0);
}
