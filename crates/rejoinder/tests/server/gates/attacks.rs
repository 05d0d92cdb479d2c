//! An attacker looks for what is behind a gate.

use std::sync::Arc;

use rejoinder::{
    prelude::*,
    testing::{Client, Filter, in_both_eras},
};
use serde_json::{Value, json};

use crate::{
    gates::{
        fixture::{Runs, client, is_pro, server},
        visibility::calls,
    },
    logged::Logged,
    protocol::wire::{Post, message, post},
};

#[tokio::test]
async fn did_you_mean_proposes_only_what_the_caller_sees() {
    in_both_eras(client(), async |client| {
        for (plan, name, meant) in [
            ("free", "gold_tol", None),
            ("pro", "gold_tol", Some("gold_tool")),
            ("free", "everyday_tol", Some("everyday_tool")),
            // The name of what is hidden gets the proposal that it would get if it did not exist.
            ("free", "gold_tool", None),
        ] {
            let error = client.clone().header("x-plan", plan).call_tool(name, json!({})).await.unwrap_err();
            let meant = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
            assert_eq!(error.rpc().unwrap().message, format!("there is no tool `{name}`{meant}"), "{plan}");
        }
    })
    .await;
}

/// Headers that repeat arguments are checked only where there is something.
#[tokio::test]
async fn headers_that_do_not_match_say_nothing() {
    let server = server().build().unwrap();
    let call = |name| json!({ "name": name, "arguments": { "place": "Rome" } });
    for headers in [&[][..], &[("mcp-param-place", "Paris")], &[("mcp-param-place", "Rome")]] {
        let send = async |name| {
            let post =
                headers.iter().fold(post("tools/call", call(name)), |post, (name, value)| post.header(name, value));
            post.send(&server).await
        };
        let (hidden, unknown) = (send("gold_tool").await, send("wxyz_tool").await);
        assert_eq!((hidden.status, hidden.body.replace("gold", "wxyz")), (unknown.status, unknown.body));
    }
}

/// A state is opened only for what is there.
#[tokio::test]
async fn a_forged_state_says_nothing() {
    let server = server().build().unwrap();
    let call = |name| json!({ "name": name, "arguments": {}, "requestState": "forged", "inputResponses": {} });
    let hidden = post("tools/call", call("gold_tool")).send(&server).await;
    let unknown = post("tools/call", call("wxyz_tool")).send(&server).await;
    assert_eq!((hidden.status, hidden.body.replace("gold", "wxyz")), (unknown.status, unknown.body));
    let open = post("tools/call", call("everyday_tool")).send(&server).await;
    assert!(open.body.contains("requestState"), "{}", open.body);
}

#[tool]
async fn a() {}
#[tool(enabled = is_pro)]
async fn b() {}
#[tool]
async fn c() {}

#[tokio::test]
async fn a_cursor_that_names_something_hidden_is_unknown() {
    let client = Client::new(Server::new("pages", "1").tools(tools![a, b, c]).page_size(1));
    let page = async |client: &Client, cursor: &str| client.request("tools/list", json!({ "cursor": cursor })).await;
    in_both_eras(client, async |client| {
        let pro = client.clone().header("x-plan", "pro");
        // It names `b`.
        let stolen = page(&pro, "YQ").await.unwrap()["nextCursor"].as_str().unwrap().to_owned();
        assert!(page(&pro, &stolen).await.is_ok());
        let hidden = page(&client, &stolen).await.unwrap_err();
        let unknown = page(&client, "bm90aGluZw").await.unwrap_err();
        assert_eq!(format!("{:?}", hidden.rpc()), format!("{:?}", unknown.rpc()));
        let after_a = page(&client, "YQ").await.unwrap();
        assert_eq!(after_a["tools"][0]["name"], "c");
        for forged in ["", "YQ==", "%", "\u{0}"] {
            assert!(page(&client, forged).await.is_err(), "{forged}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_subscription_to_something_hidden_hears_nothing() {
    let client = client();
    let filter = || Filter::default().resource("text://gold").resource("gold://1").resource("text://open");
    let mut free = client.listen(filter()).await.unwrap();
    let mut pro = client.clone().header("x-plan", "pro").listen(filter()).await.unwrap();
    assert_eq!(free.honoured(), pro.honoured(), "it is acknowledged alike");
    let handle = client.server().handle();
    for uri in ["gold://1", "text://open", "text://gold"] {
        handle.resource_updated(uri);
    }
    let updated = |uri: &str| Some(rejoinder::testing::Notification::ResourceUpdated(uri.to_owned()));
    for uri in ["gold://1", "text://gold", "text://open"] {
        assert_eq!(pro.next().await, updated(uri));
    }
    assert_eq!(free.next().await, updated("text://open"));
    assert_eq!(free.try_next(), None);
}

/// A session over HTTP: its requests, as a client of 2025-11-25 sends them.
async fn in_session(requests: Vec<Value>) -> Vec<(u16, String, Value)> {
    let mut service = server().build().unwrap().into_service();
    let bare = |body: Value| {
        let body = body.to_string();
        let post = Post { body, ..post("initialize", json!({})) };
        ["mcp-method", "mcp-name", "mcp-protocol-version"].into_iter().fold(post, Post::without)
    };
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } });
    let begun = bare(json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }))
        .send_to(&mut service)
        .await;
    let session = begun.header("mcp-session-id").expect("a session").to_owned();
    let mut answers = Vec::new();
    for request in requests {
        let answer = bare(request).header("mcp-session-id", &session).send_to(&mut service).await;
        let kind = answer.header("content-type").unwrap_or_default().to_owned();
        answers.push((answer.status, kind, answer.last()));
    }
    answers
}

#[tokio::test]
async fn in_a_session_over_http_the_answers_are_alike() {
    let call = |name: &str| json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": name, "arguments": {} } });
    let read = |uri: &str| json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": { "uri": uri } });
    let answers =
        in_session(vec![call("gold_tool"), call("wxyz_tool"), read("text://gold"), read("text://wxyz")]).await;
    for pair in answers.chunks(2) {
        let [(status, kind, hidden), (other_status, other_kind, unknown)] = pair else { panic!("pairs") };
        assert_eq!((status, kind), (other_status, other_kind));
        assert_eq!(hidden.to_string().replace("gold", "wxyz"), unknown.to_string());
    }
}

/// Nothing that the server says without being asked for a list names what is hidden.
#[tokio::test]
async fn what_is_said_to_everybody_names_nothing_hidden() {
    let server = server().build().unwrap();
    let discovered = post("server/discover", json!({})).send(&server).await;
    assert!(!discovered.body.contains("gold_"), "{}", discovered.body);
    let wrong =
        post("tools/list", json!({})).body(message(1, "tools/lis", json!({}))).header("mcp-method", "tools/lis");
    assert!(!wrong.send(&server).await.body.contains("gold_"));
}

/// The plan is a header: an argument or `_meta` of that name is not.
#[tokio::test]
async fn what_the_model_says_opens_nothing() {
    let client = Client::new(server().tools(tools![probe]).ignore_unknown_arguments());
    in_both_eras(client, async |client| {
        let arguments = json!({ "place": "Rome", "plan": "pro", "x-plan": "pro", "is_pro": true, "enabled": true });
        assert_eq!(client.call_tool("gold_tool", arguments).await.unwrap_err().code(), Some(-32602));
        let listed = client.request("tools/list", json!({ "x-plan": "pro", "plan": "pro" })).await.unwrap();
        assert!(!listed.to_string().contains("gold_tool"));
    })
    .await;
}

#[tool]
async fn probe() {}

/// Not how long it takes, but what is done: the same gates run for what is hidden and for what is unknown.
#[tokio::test]
async fn the_same_gates_run_for_what_is_hidden_and_for_what_is_unknown() {
    let runs = Arc::new(Runs::default());
    let client = Client::new(server().provide_arc(Arc::clone(&runs)).tools(tools![probe]));
    in_both_eras(client, async |client| {
        for (method, hidden, unknown) in calls() {
            let mut counts = Vec::new();
            for params in [hidden, unknown] {
                let before = runs.count();
                client.request(method, params).await.unwrap_err();
                counts.push(runs.count() - before);
            }
            assert_eq!(counts, [1, 1], "{method}");
        }
    })
    .await;
}

#[resolver]
fn broken() -> Result<bool, CallError> {
    Err(CallError::new("the database of plans is down"))
}

#[tool(enabled = broken)]
async fn behind_broken() {}

#[tool(scopes = ["write"])]
async fn scoped() {}

#[tokio::test]
async fn a3_l1_r3_l8_a_client_cannot_fill_the_log() {
    let client = Client::new(server().tools(tools![behind_broken, scoped]));
    in_both_eras(client, async |client| {
        for (method, params) in [
            ("tools/list", json!({ "cursor": "unknown" })),
            ("prompts/list", json!({ "cursor": "unknown" })),
            ("tools/call", json!({ "name": "unknown" })),
            ("tools/call", json!({ "name": "behind_broken" })),
            ("tools/call", json!({ "name": "scoped" })),
            ("prompts/get", json!({ "name": "gold_prompt" })),
            (
                "completion/complete",
                json!({
                    "ref": { "type": "ref/prompt", "name": "no" }, "argument": { "name": "x", "value": "" },
                }),
            ),
        ] {
            let (logged, _guard) = Logged::here();
            for _ in 0..100 {
                client.request(method, params.clone()).await.unwrap_err();
            }
            let lines = logged.text().lines().count();
            assert!(lines <= 10, "{method} {params}: {lines} lines");
        }
    })
    .await;
}

/// Lists are kept as bytes. Many callers at once, and pages of pages, never meet those of another caller.
#[tokio::test]
async fn the_kept_list_of_another_caller_is_not_served() {
    let client = Client::new(Server::new("pages", "1").tools(tools![a, b, c]).page_size(2));
    in_both_eras(client, async |client| {
        let listed = (0..48).map(|number| {
            let (plan, expected) = [("pro", "abc"), ("free", "ac"), ("PRO", "ac"), ("", "ac")][number % 4];
            let client = client.clone().header("x-plan", plan);
            async move {
                let tools = client.list_tools().await.unwrap();
                assert_eq!(tools.iter().map(|tool| &*tool.name).collect::<String>(), expected, "{plan}");
            }
        });
        futures_util::future::join_all(listed).await;
    })
    .await;
}
