//! C42 to C50, C53: subscriptions.

use std::time::Duration;

use http_body_util::BodyExt;
use rejoinder::{
    BuiltServer, Server,
    call::Era,
    server::Limits,
    testing::{Client, Filter, Notification},
};
use serde_json::{Value, json};
use tower_service::Service;

use crate::protocol::{
    fixture::{built, server},
    wire::{Pipe, message, meta, post},
};

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

fn everything() -> Value {
    json!({
        "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
        "resourceSubscriptions": ["item://1", "item://2"],
    })
}

fn change_everything(server: &BuiltServer) {
    let handle = server.handle();
    handle.remove_tool("add");
    handle.remove_prompt("greet");
    handle.remove_resource("text://readme");
    handle.resource_updated("item://1");
    handle.resource_updated("item://3");
}

/// Listens over HTTP until the server ends it, and gives all messages.
async fn listen(server: &BuiltServer, id: Value, filter: Value) -> Vec<Value> {
    let body = message(id, "subscriptions/listen", json!({ "notifications": filter }));
    let listening = post("subscriptions/listen", json!({})).body(body).send(server);
    let changing = async {
        tokio::task::yield_now().await;
        change_everything(server);
        server.handle().end_subscriptions();
    };
    tokio::join!(listening, changing).0.events()
}

#[tokio::test]
async fn c42_the_acknowledgement_comes_first_and_names_the_request() {
    for id in [json!(7), json!("7"), json!(-1), json!("ü\n")] {
        let messages = listen(&built(), id.clone(), everything()).await;
        assert_eq!(messages[0]["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(messages[0]["params"]["_meta"][SUBSCRIPTION], id);
    }
}

#[tokio::test]
async fn c42_on_a_pipe_each_subscription_is_acknowledged_first() {
    let server = built();
    let mut pipe = Pipe::open(&server);
    for id in ["a", "b"] {
        pipe.send(message(id, "subscriptions/listen", json!({ "notifications": everything() }))).await;
        let first = pipe.next().await;
        assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(first["params"]["_meta"][SUBSCRIPTION], id);
    }
    server.handle().remove_tool("add");
    let mut received =
        [pipe.next().await, pipe.next().await].map(|message| message["params"]["_meta"][SUBSCRIPTION].clone());
    received.sort_by_key(Value::to_string);
    assert_eq!(received, ["a", "b"]);
}

#[tokio::test]
async fn c43_the_acknowledgement_lists_exactly_what_is_honoured() {
    let whole = listen(&built(), json!(1), everything()).await;
    assert_eq!(whole[0]["params"]["notifications"], everything());

    let tools_only = Server::new("tools", "1").tools([]).build().unwrap();
    let part = listen(&tools_only, json!(1), everything()).await;
    assert_eq!(part[0]["params"]["notifications"], json!({ "toolsListChanged": true }));

    let declined = listen(&built(), json!(1), json!({ "toolsListChanged": false, "somethingNew": true })).await;
    assert_eq!(declined[0]["params"]["notifications"], json!({}));
}

#[tokio::test]
async fn c43_an_invalid_filter_is_refused() {
    let client = Client::new(server());
    for params in [json!({}), json!({ "notifications": 1 }), json!({ "notifications": { "toolsListChanged": "yes" } })]
    {
        let error = client.request("subscriptions/listen", params.clone()).await.unwrap_err();
        assert_eq!(error.code(), Some(-32602), "{params}");
    }
}

#[tokio::test]
async fn c44_only_requested_notifications_are_sent() {
    let methods = |messages: Vec<Value>| -> Vec<String> {
        let received = &messages[1..messages.len() - 1];
        received.iter().map(|message| message["method"].as_str().unwrap().to_owned()).collect()
    };
    let cases = [
        (json!({}), vec![]),
        (json!({ "toolsListChanged": true }), vec!["notifications/tools/list_changed"]),
        (json!({ "promptsListChanged": true }), vec!["notifications/prompts/list_changed"]),
        (json!({ "resourcesListChanged": true }), vec!["notifications/resources/list_changed"]),
        (json!({ "resourceSubscriptions": ["item://1"] }), vec!["notifications/resources/updated"]),
        (json!({ "resourceSubscriptions": ["item://9"] }), vec![]),
    ];
    for (filter, expected) in cases {
        assert_eq!(methods(listen(&built(), json!(1), filter.clone()).await), expected, "{filter}");
    }
}

#[tokio::test]
async fn c45_every_notification_has_the_subscription_id() {
    let messages = listen(&built(), json!("mine"), everything()).await;
    assert_eq!(messages.len(), 6, "an acknowledgement, four changes and a result");
    for message in &messages[..5] {
        assert_eq!(message["params"]["_meta"][SUBSCRIPTION], "mine", "{message}");
    }
}

/// The `_meta` of a request that wants to hear everything.
fn observed(token: &str) -> Value {
    let mut meta = meta();
    meta["progressToken"] = json!(token);
    meta["io.modelcontextprotocol/logLevel"] = json!("debug");
    meta
}

#[tokio::test]
async fn c46_progress_and_logs_are_not_sent_on_a_subscription() {
    let server = built();
    let listening = post("subscriptions/listen", json!({ "notifications": everything(), "_meta": observed("sub") }));
    let calling = async {
        tokio::task::yield_now().await;
        let mut received = Vec::new();
        for tool in ["count", "talk"] {
            let call = post("tools/call", json!({ "name": tool, "_meta": observed(tool) }));
            received.extend(call.send(&server).await.events());
        }
        change_everything(&server);
        server.handle().end_subscriptions();
        received
    };
    let (heard, received) = tokio::join!(listening.send(&server), calling);
    let methods = |messages: &[Value]| -> Vec<_> {
        messages.iter().filter_map(|message| message["method"].as_str().map(str::to_owned)).collect()
    };
    let received = methods(&received);
    for method in ["notifications/progress", "notifications/message"] {
        assert!(received.iter().any(|other| other == method), "the calls reported {method}");
    }
    let heard = methods(&heard.events());
    assert_eq!(heard.len(), 5, "an acknowledgement and four changes: {heard:?}");
    for method in heard {
        assert!(!received.contains(&method), "{method}");
    }
}

#[tokio::test]
async fn c46_on_a_pipe_progress_and_logs_belong_to_their_call() {
    let mut pipe = Pipe::open(&built());
    let params = json!({ "notifications": everything(), "_meta": observed("sub") });
    pipe.send(message("sub", "subscriptions/listen", params)).await;
    assert_eq!(pipe.next().await["method"], "notifications/subscriptions/acknowledged");
    for tool in ["count", "talk"] {
        pipe.send(message(tool, "tools/call", json!({ "name": tool, "_meta": observed(tool) }))).await;
        let mut received = 0;
        loop {
            let message = pipe.next().await;
            if message["id"] == tool {
                break;
            }
            received += 1;
            assert_eq!(message["params"]["_meta"].get(SUBSCRIPTION), None, "{message}");
            assert_ne!(message["params"]["progressToken"], "sub", "{message}");
        }
        assert_ne!(received, 0, "`{tool}` sent something");
    }
}

#[tokio::test]
async fn c47_several_subscriptions_are_independent_and_leave_nothing_behind() {
    let client = Client::new(server());
    let handle = client.server().handle();
    let mut tools = client.listen(Filter::default().tools()).await.unwrap();
    let mut prompts = client.listen(Filter::default().prompts()).await.unwrap();
    handle.remove_tool("add");
    assert_eq!(tools.try_next(), Some(Notification::ToolsChanged));
    assert_eq!(prompts.try_next(), None);
    drop(tools);
    handle.remove_tool("count");
    // A new subscription hears of what happens from now on only.
    let mut again = client.listen(Filter::default().tools()).await.unwrap();
    assert_eq!(again.try_next(), None);
    handle.remove_prompt("greet");
    assert_eq!(prompts.try_next(), Some(Notification::PromptsChanged));
}

#[tokio::test]
async fn c48_a_subscription_that_the_server_ends_ends_with_a_result() {
    let messages = listen(&built(), json!(9), everything()).await;
    let last = messages.last().unwrap();
    assert_eq!(last["id"], 9);
    assert_eq!(last["result"]["resultType"], "complete");
    assert_eq!(last["result"]["_meta"][SUBSCRIPTION], 9);
}

#[tokio::test]
async fn c49_open_subscriptions_are_notified_of_changed_lists() {
    let client = Client::new(server());
    let all = Filter::default().tools().prompts().resources().resource("item://1");
    let mut subscription = client.listen(all.clone()).await.unwrap();
    assert_eq!(*subscription.honoured(), all);
    change_everything(client.server());
    let received = [(); 4].map(|()| subscription.try_next().unwrap());
    assert!(received.contains(&Notification::ToolsChanged));
    assert!(received.contains(&Notification::PromptsChanged));
    assert!(received.contains(&Notification::ResourcesChanged));
    assert!(received.contains(&Notification::ResourceUpdated("item://1".into())));
    assert_eq!(subscription.try_next(), None);
}

#[tokio::test(start_paused = true)]
async fn c50_a_stream_disables_buffering_and_sends_keep_alives() {
    let request = post("subscriptions/listen", json!({ "notifications": {} })).request();
    let Ok(response) = built().into_service().call(request).await;
    assert_eq!(response.headers()["x-accel-buffering"], "no");
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut body = response.into_body();
    body.frame().await.unwrap().unwrap();
    let start = tokio::time::Instant::now();
    let comment = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(comment, ":\n\n");
    assert!(start.elapsed() <= Duration::from_secs(30));
}

#[tokio::test]
async fn c50_the_stream_of_a_call_disables_buffering_and_sends_keep_alives() {
    let mut meta = meta();
    meta["progressToken"] = json!(1);
    let answer = post("tools/call", json!({ "name": "count", "_meta": meta })).send(&built()).await;
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    assert_eq!(answer.header("x-accel-buffering"), Some("no"));
    let answer = post("tools/call", json!({ "name": "count" })).send(&built()).await;
    assert_eq!((answer.header("content-type"), answer.header("x-accel-buffering")), (Some("application/json"), None));
}

#[tokio::test]
async fn c53_each_subscription_on_a_pipe_ends_with_its_own_result() {
    let server = built();
    let mut pipe = Pipe::open(&server);
    for id in [json!(1), json!("two"), json!(3)] {
        pipe.send(message(id.clone(), "subscriptions/listen", json!({ "notifications": everything() }))).await;
        assert_eq!(pipe.next().await["params"]["_meta"][SUBSCRIPTION], id);
    }
    // Only the client takes one back, and gets no message about it.
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "two" } });
    pipe.send(cancel).await;
    pipe.send(message(4, "tools/list", json!({}))).await;
    assert_eq!(pipe.next().await["id"], 4);
    server.handle().remove_tool("add");
    let mut received: Vec<_> =
        [pipe.next().await, pipe.next().await].map(|received| received["params"]["_meta"][SUBSCRIPTION].clone()).into();
    received.sort_by_key(Value::to_string);
    assert_eq!(received, [json!(1), json!(3)], "the others go on");
    server.handle().end_subscriptions();
    let mut rest = [pipe.next().await, pipe.next().await];
    rest.sort_by_key(|last| last["id"].to_string());
    let ends: Vec<_> = rest.iter().map(|last| (&last["id"], &last["result"]["resultType"])).collect();
    assert_eq!(ends, [(&json!(1), &json!("complete")), (&json!(3), &json!("complete"))], "{rest:?}");
    assert_eq!(pipe.close().await, [] as [Value; 0]);
}

#[tokio::test]
async fn c53_the_server_does_not_cancel() {
    let server = built();
    let mut pipe = Pipe::open(&server);
    pipe.send(message(1, "subscriptions/listen", json!({ "notifications": everything() }))).await;
    pipe.next().await;
    server.handle().end_subscriptions();
    let last = pipe.next().await;
    assert_eq!((&last["id"], &last["result"]["resultType"]), (&json!(1), &json!("complete")));
    assert_eq!(pipe.close().await, [] as [Value; 0]);
}

#[tokio::test]
async fn the_resources_of_a_subscription_are_limited_in_number_and_length() {
    let client = Client::new(server());
    let many: Vec<String> = (0..10_001).map(|number| format!("item://{number}")).collect();
    for uris in [json!(many), json!([format!("item://{}", "x".repeat(9000))])] {
        let params = json!({ "notifications": { "resourceSubscriptions": uris } });
        let error = client.request("subscriptions/listen", params).await.unwrap_err();
        assert_eq!(error.code(), Some(-32602));
        assert!(error.to_string().contains("resourceSubscriptions"), "{error}");
    }
}

#[tokio::test]
async fn the_number_of_subscriptions_is_limited() {
    let client = Client::new(server().limits(Limits::new().subscriptions(2)));
    // A session's own does not count: there are as many sessions as there may be.
    client.clone().era(Era::Session).list_tools().await.unwrap();
    let one = client.listen(Filter::default().tools()).await.unwrap();
    let _two = client.listen(Filter::default().tools()).await.unwrap();
    let error = client.listen(Filter::default().tools()).await.unwrap_err();
    let error = error.rpc().unwrap();
    assert_eq!((error.status.as_u16(), error.code), (503, -32603));
    assert_eq!(error.message, "too many subscriptions (limit 2), try again later");
    drop(one);
    client.listen(Filter::default().tools()).await.unwrap();
}
