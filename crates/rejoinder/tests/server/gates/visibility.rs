//! What is listed, and what a call of something hidden gets.

use std::sync::Arc;

use rejoinder::{
    model::Reference,
    prelude::*,
    testing::{Client, in_both_eras},
};
use serde_json::{Value, json};

use crate::{
    gates::fixture::{client, everyday_tool, gold_tool, is_pro, seen, server},
    protocol::wire::post,
};

const OPEN: [&str; 5] = ["everyday_tool", "everyday_tool_two", "everyday_prompt", "text://open", "open://{id}"];

#[tokio::test]
async fn each_caller_sees_what_is_there_for_it_in_order() {
    in_both_eras(client(), async |client| {
        assert_eq!(seen(&client).await, OPEN);
        let all = [
            "everyday_tool",
            "gold_tool",
            "everyday_tool_two",
            "everyday_prompt",
            "gold_prompt",
            "text://open",
            "text://gold",
            "open://{id}",
            "gold://{id}",
        ];
        assert_eq!(seen(&client.clone().header("x-plan", "pro")).await, all);
        assert_eq!(seen(&client).await, OPEN, "nothing is kept for another caller");
    })
    .await;
}

/// A method, its params for something hidden, and for something unknown.
pub fn calls() -> [(&'static str, Value, Value); 6] {
    let call = |method, hidden: Value| {
        let unknown = serde_json::from_str(&hidden.to_string().replace("gold", "wxyz")).unwrap();
        (method, hidden, unknown)
    };
    [
        call("tools/call", json!({ "name": "gold_tool", "arguments": { "place": "Rome" } })),
        call("tools/call", json!({ "name": "gold_tool", "arguments": 7 })),
        call("prompts/get", json!({ "name": "gold_prompt", "arguments": { "place": "Rome" } })),
        call("resources/read", json!({ "uri": "text://gold" })),
        call("resources/read", json!({ "uri": "gold://1" })),
        call(
            "completion/complete",
            json!({ "ref": { "type": "ref/prompt", "name": "gold_prompt" }, "argument": { "name": "place", "value": "" } }),
        ),
    ]
}

#[tokio::test]
async fn what_is_hidden_gets_the_answer_to_what_is_unknown() {
    in_both_eras(client(), async |client| {
        for (method, hidden, unknown) in calls() {
            let [hidden, unknown] = [hidden, unknown].map(|params| client.request(method, params));
            let (hidden, unknown) = (hidden.await.unwrap_err(), unknown.await.unwrap_err());
            let text = |error: &rejoinder::testing::ClientError| format!("{:?}", error.rpc().unwrap());
            assert_eq!(text(&hidden).replace("gold", "wxyz"), text(&unknown), "{method}");
        }
    })
    .await;
}

#[tokio::test]
async fn over_http_the_answers_are_the_same_bytes() {
    let server = server().build().unwrap();
    for (method, hidden, unknown) in calls() {
        let hidden = post(method, hidden).send(&server).await;
        let unknown = post(method, unknown).send(&server).await;
        assert_eq!(hidden.status, unknown.status, "{method}");
        assert_eq!(hidden.headers, unknown.headers, "{method}");
        assert_eq!(hidden.body.replace("gold", "wxyz"), unknown.body, "{method}");
    }
}

#[tokio::test]
async fn what_is_open_can_be_called() {
    in_both_eras(client().header("x-plan", "pro"), async |client| {
        let called = client.call_tool("gold_tool", json!({ "place": "Rome" })).await.unwrap();
        assert_eq!(called.text(), "pro in Rome");
        assert_eq!(client.get_prompt("gold_prompt", json!({ "place": "Rome" })).await.unwrap().text(), "Rome");
        assert_eq!(client.read_resource("text://gold").await.unwrap().text(), "pro");
        assert_eq!(client.read_resource("gold://1").await.unwrap().text(), "1");
        let completed = client.complete(Reference::prompt("gold_prompt"), "place", "").await.unwrap();
        assert_eq!(completed.values, ["Rome"]);
    })
    .await;
}

#[tokio::test]
async fn invalid_arguments_of_what_is_open_are_reported_as_ever() {
    let client = client().header("x-plan", "pro");
    let reply = client.call_tool("gold_tool", json!({ "plaice": 1 })).await.unwrap();
    assert!(reply.is_error() && reply.text().contains("plaice"), "{}", reply.text());
}

#[tokio::test]
async fn lists_with_gates_are_for_the_caller_only() {
    let public = rejoinder::server::CacheHints { ttl_ms: 1000, scope: rejoinder::server::CacheScope::Public };
    let gated = Client::new(server().cache_lists(public.clone()));
    let plain = Client::new(Server::new("plain", "1").tools(tools![everyday_tool]).cache_lists(public));
    for (client, scope) in
        [(gated.clone(), "private"), (gated.clone().header("x-plan", "pro"), "private"), (plain, "public")]
    {
        assert_eq!(client.request("tools/list", json!({})).await.unwrap()["cacheScope"], scope);
    }
    // So are the contents of a resource, although its author calls them public.
    let read = gated.header("x-plan", "pro").request("resources/read", json!({ "uri": "text://gold" })).await.unwrap();
    assert_eq!(read["cacheScope"], "private");
}

#[tokio::test]
async fn u3_4_lists_with_gates_are_not_cached_unless_the_author_says_so() {
    let hints = rejoinder::server::CacheHints { ttl_ms: 1000, scope: rejoinder::server::CacheScope::Private };
    let gated = || Server::new("plans", "1").tools(tools![everyday_tool, t2]).prompts([]);
    for (server, method, expected) in [
        (gated(), "tools/list", 0),
        (gated(), "prompts/list", 60_000),
        (gated().cache_lists(hints), "tools/list", 1000),
        (Server::new("plain", "1").tools(tools![everyday_tool]), "tools/list", 60_000),
    ] {
        let listed = Client::new(server).request(method, json!({})).await.unwrap();
        assert_eq!(listed["ttlMs"], expected, "{method}");
    }
}

#[tool]
async fn t1() {}
#[tool(enabled = is_pro)]
async fn t2() {}
#[tool(enabled = is_pro)]
async fn t3() {}
#[tool]
async fn t4() {}
#[tool]
async fn t5() {}

#[tokio::test]
async fn pages_have_the_visible_items_and_cursors_lead_on() {
    let client = Client::new(Server::new("pages", "1").tools(tools![t1, t2, t3, t4, t5]).page_size(2));
    for (plan, pages) in
        [("free", vec![vec!["t1", "t4"], vec!["t5"]]), ("pro", vec![vec!["t1", "t2"], vec!["t3", "t4"], vec!["t5"]])]
    {
        let client = client.clone().header("x-plan", plan);
        let (mut cursor, mut seen) = (None::<String>, Vec::new());
        loop {
            let params = cursor.map_or(json!({}), |cursor| json!({ "cursor": cursor }));
            let page = client.request("tools/list", params).await.unwrap();
            let names = page["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned());
            seen.push(names.collect::<Vec<_>>());
            cursor = page["nextCursor"].as_str().map(str::to_owned);
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, pages, "{plan}");
    }
}

/// What a caller with another plan sees of the same URI.
#[resource("doc://{+path}")]
async fn public_doc(path: String) -> String {
    format!("public {path}")
}

#[resource("doc://handbook", enabled = is_pro)]
async fn handbook() -> &'static str {
    "the handbook"
}

#[resource("doc://{id}", enabled = is_pro)]
async fn pro_doc(id: String) -> String {
    format!("pro {id}")
}

#[tokio::test]
async fn a_hidden_resource_leaves_its_uri_to_others() {
    // Templates are tried in the order of adding: the one behind the gate goes first.
    let client = Client::new(Server::new("docs", "1").resources(resources![handbook, pro_doc, public_doc]));
    in_both_eras(client, async |client| {
        for (plan, uri, contents) in [
            ("pro", "doc://handbook", "the handbook"),
            ("pro", "doc://a", "pro a"),
            ("free", "doc://handbook", "public handbook"),
            ("free", "doc://a", "public a"),
        ] {
            let read = client.clone().header("x-plan", plan).read_resource(uri).await.unwrap();
            assert_eq!(read.text(), contents, "{plan} {uri}");
        }
    })
    .await;
}

struct Office;

#[handlers(enabled = is_pro)]
impl Office {
    #[tool]
    async fn door(&self) -> &'static str {
        "open"
    }

    #[tool(enabled = crate::gates::fixture::is_on)]
    async fn safe(&self) -> &'static str {
        "open"
    }

    #[prompt]
    async fn greet(&self) -> &'static str {
        "hello"
    }

    #[resource("text://desk")]
    async fn desk(&self) -> &'static str {
        "tidy"
    }
}

#[tokio::test]
async fn a_block_has_a_gate_for_all_its_items() {
    let office = Arc::new(Office);
    let server = Server::new("office", "1")
        .provide(crate::gates::fixture::Switch::default())
        .tools(office.tools())
        .prompts(office.prompts())
        .resources(office.resources());
    in_both_eras(Client::new(server), async |client| {
        assert_eq!(seen(&client).await, [""; 0]);
        // The safe has a gate of its own, besides that of the block.
        let client = client.header("x-plan", "pro");
        assert_eq!(seen(&client).await, ["door", "greet", "text://desk"]);
        assert_eq!(client.call_tool("door", json!({})).await.unwrap().text(), "open");
        assert_eq!(client.call_tool("safe", json!({})).await.unwrap_err().code(), Some(-32602));
    })
    .await;
}

#[tokio::test]
async fn groups_and_tools_of_run_time_have_gates() {
    let record = rejoinder::model::Tool::new("made", "Made at run time.", rejoinder::model::JsonObject::new());
    let made = rejoinder::Tool::dynamic(record, |_, _| async { "made" });
    let server = Server::new("groups", "1")
        .tools([made.enabled::<is_pro>()])
        .nest("group", tools![everyday_tool].enabled::<is_pro>());
    in_both_eras(Client::new(server), async |client| {
        assert_eq!(client.list_tools().await.unwrap().len(), 0);
        let client = client.header("x-plan", "pro");
        assert_eq!(client.list_tools().await.unwrap().len(), 2);
        assert_eq!(client.call_tool("made", json!({})).await.unwrap().text(), "made");
        assert_eq!(client.call_tool("group_everyday_tool", json!({})).await.unwrap().text(), "open");
    })
    .await;
}

#[test]
fn the_graph_shows_gates() {
    let graph = Server::new("plans", "1").tools(tools![gold_tool]).graph();
    insta::assert_snapshot!(graph.to_string());
    assert!(graph.mermaid().contains("enabled: bool"), "{}", graph.mermaid());
}

#[resolver]
fn asks() -> Ask<bool> {
    Ask::confirm("Are you an admin?")
}

#[resolver]
fn takes_an_argument(path: &str) -> bool {
    path.is_empty()
}

#[resolver]
fn needs_a_service(_switch: Dep<crate::gates::fixture::Switch>) -> bool {
    true
}

/// What the compiler refuses in an attribute is an error of the server that is built.
#[test]
fn a_gate_of_run_time_is_checked_when_the_server_is_built() {
    let problem =
        |tools: Vec<rejoinder::Tool>| Server::new("gates", "1").tools(tools).check().unwrap_err().0[0].to_string();
    let asking = problem(tools![everyday_tool].enabled::<asks>());
    assert!(asking.contains("the gate `asks` cannot be used: resolver `asks`"), "{asking}");
    let taking = problem(tools![everyday_tool].enabled::<takes_an_argument>());
    assert!(taking.contains("takes the argument `path`"), "{taking}");
    let needing = problem(tools![everyday_tool].enabled::<needs_a_service>());
    assert!(needing.contains("of resolver `needs_a_service` needs a"), "{needing}");
}

#[resolver]
fn is_staff(#[header("x-staff", default)] staff: bool) -> bool {
    staff
}

#[tool(enabled = [is_pro, is_staff])]
async fn both() {}

#[tokio::test]
async fn a_list_of_gates_is_open_if_all_of_them_are() {
    let client = Client::new(Server::new("gates", "1.0.0").tools(tools![both]));
    in_both_eras(client, async |client| {
        for (plan, staff, count) in [("free", "true", 0), ("pro", "false", 0), ("pro", "true", 1)] {
            let client = client.clone().header("x-plan", plan).header("x-staff", staff);
            assert_eq!(client.list_tools().await.unwrap().len(), count, "{plan} {staff}");
        }
    })
    .await;
}
