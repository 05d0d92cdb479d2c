//! C5, C6, C12, C13, C15, C16, C41: what every result has, and what stands between requests.

use rejoinder::{model::ClientCapabilities, testing::Client};
use serde_json::json;

use crate::{
    fixture::{built, one_of_each, server},
    wire::{Pipe, message, post},
};

#[tokio::test]
async fn c05_every_result_has_the_type_complete() {
    let server = built();
    for (method, params) in one_of_each() {
        let answer = post(method, params.clone()).send(&server).await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.json()["result"]["resultType"], "complete", "{method} {params}");
    }
}

#[tokio::test]
async fn c05_a_result_built_by_the_author_has_the_type_complete() {
    use rejoinder::{model, prelude::*};
    #[tool]
    async fn text() -> model::CallToolResult {
        let mut result = model::CallToolResult::success(vec![model::ContentBlock::text("text")]);
        result.result_type = None;
        result
    }
    #[tool]
    async fn meta() -> model::CallToolResult {
        let mut result = text().await;
        result.meta = Some(model::MetaObject::default());
        result
    }
    #[prompt]
    async fn empty() -> model::GetPromptResult {
        let mut result = model::GetPromptResult::new(vec![]);
        result.result_type = None;
        result
    }
    let server = Server::new("whole", "1").tools(tools![text, meta]).prompts(prompts![empty]);
    let client = Client::new(server);
    for (method, name) in [("tools/call", "text"), ("tools/call", "meta"), ("prompts/get", "empty")] {
        let result = client.request(method, json!({ "name": name })).await.unwrap();
        assert_eq!(result["resultType"], "complete", "{name}: {result}");
    }
}

#[tokio::test]
async fn c06_every_result_has_the_server_info() {
    let server = built();
    for (method, params) in one_of_each() {
        let answer = post(method, params.clone()).send(&server).await;
        let info = &answer.json()["result"]["_meta"]["io.modelcontextprotocol/serverInfo"];
        assert_eq!(*info, json!({ "name": "fixture", "version": "1.2.3" }), "{method} {params}");
    }
}

#[tokio::test]
async fn c06_a_result_with_its_own_meta_has_the_server_info() {
    use rejoinder::{Tool, model};
    let record = model::Tool::new("own", "Has a _meta of its own.", model::JsonObject::new());
    let own = Tool::dynamic(record, |_, _| async {
        let mut result = model::CallToolResult::success(vec![]);
        let meta = json!({ "example.com/own": 1 });
        result.meta = Some(serde_json::from_value(meta).unwrap());
        result
    });
    let result = Client::new(server().tools([own])).request("tools/call", json!({ "name": "own" })).await.unwrap();
    assert_eq!(result["_meta"]["example.com/own"], 1);
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "fixture");
}

#[tokio::test]
async fn c12_the_next_page_needs_only_the_cursor() {
    // Another connection, and another process of the same server, take the cursor up.
    let one = server().page_size(2).build().unwrap();
    let other = server().page_size(2).build().unwrap();
    let cursor = post("tools/list", json!({})).send(&one).await.json()["result"]["nextCursor"].clone();
    let params = json!({ "cursor": cursor });
    let here = post("tools/list", params.clone()).send(&one).await.json();
    let there = post("tools/list", params).send(&other).await.json();
    assert_eq!(here["result"]["tools"][0]["name"], "count");
    assert_eq!(here, there);
}

#[tokio::test]
async fn c13_requests_on_one_pipe_do_not_wait_for_each_other() {
    let mut pipe = Pipe::open(&built());
    pipe.send(message("slow", "tools/call", json!({ "name": "wait" }))).await;
    pipe.send(message("quick", "tools/call", json!({ "name": "add", "arguments": { "a": 1, "b": 2 } }))).await;
    assert_eq!(pipe.next().await["id"], "quick");
}

#[tokio::test]
async fn c15_an_extension_of_the_client_is_ignored() {
    let capabilities: ClientCapabilities =
        serde_json::from_value(json!({ "extensions": { "com.example/dance": { "steps": 3 } } })).unwrap();
    let reply = Client::new(server()).capabilities(capabilities).call_tool("add", json!({ "a": 1, "b": 2 })).await;
    assert_eq!(reply.unwrap().text(), "3");
}

#[tokio::test]
async fn c16_an_unknown_tool_and_malformed_params_are_protocol_errors() {
    let server = built();
    let malformed = [
        json!({ "name": "no_such_tool", "arguments": {} }),
        json!({ "name": "Add", "arguments": { "a": 1, "b": 2 } }),
        json!({ "arguments": { "a": 1, "b": 2 } }),
        json!({ "name": 5 }),
        json!({ "name": "add", "arguments": [1, 2] }),
        json!({ "name": "add", "arguments": "a=1" }),
        json!({ "name": "add", "arguments": 3 }),
    ];
    for params in malformed {
        let answer = post("tools/call", params.clone()).send(&server).await;
        assert_eq!(answer.code(), Some(-32602), "{params}");
    }
}

#[tokio::test]
async fn c16_bad_argument_values_are_results_for_the_model() {
    let client = Client::new(server());
    for arguments in [json!({}), json!({ "a": "one", "b": 2 }), json!({ "a": 1, "b": 2, "c": 3 }), json!(null)] {
        let reply = client.call_tool("add", arguments.clone()).await.unwrap();
        assert!(reply.is_error(), "{arguments}");
        assert!(reply.text().starts_with("Invalid argument"), "{}", reply.text());
    }
}

#[tokio::test]
async fn c41_a_missing_capability_is_a_400_with_the_capabilities_as_an_object() {
    let data = json!({ "requiredCapabilities": { "sampling": {} } });
    let params = json!({ "name": "refuse", "arguments": { "code": -32021, "data": data } });
    let answer = post("tools/call", params).send(&built()).await;
    assert_eq!((answer.status, answer.code()), (400, Some(-32021)));
    assert_eq!(answer.json()["error"]["data"], data);
}

mod structured {
    use rejoinder::{Era, prelude::*, testing::Client};
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};
    use serde_json::{Value, json};

    #[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    struct Line {
        price: f64,
        discount: Option<f64>,
    }

    /// A list, which is sent in an object.
    #[tool]
    async fn lines() -> Json<Vec<Line>> {
        Json(vec![Line { price: 1.5, discount: None }])
    }

    /// An object with one member that is called `result`.
    #[tool]
    async fn results() -> Json<std::collections::BTreeMap<&'static str, u8>> {
        Json([("result", 1)].into())
    }

    /// A number that JSON may not have.
    #[tool]
    async fn divide(by: f64) -> Json<Line> {
        Json(Line { price: 1.0 / by, discount: None })
    }

    fn clients() -> [Client; 2] {
        let client = Client::new(Server::new("prices", "1.0.0").tools(tools![lines, results, divide]));
        [client.clone(), client.era(Era::Session)]
    }

    #[tokio::test]
    async fn a_test_reads_what_json_sends() {
        for client in clients() {
            let reply = client.call_tool("lines", json!({})).await.unwrap();
            assert_eq!(reply.structured::<Vec<Line>>().unwrap(), [Line { price: 1.5, discount: None }]);
            assert_eq!(reply.structured::<Value>().unwrap(), json!({ "result": [{ "price": 1.5, "discount": null }] }));
            let error = reply.structured::<Vec<u8>>().unwrap_err().to_string();
            assert!(error.contains("expected u8"), "{error}");
            let reply = client.call_tool("results", json!({})).await.unwrap();
            assert_eq!(reply.structured::<std::collections::BTreeMap<String, u8>>().unwrap()["result"], 1);
        }
    }

    #[tokio::test]
    async fn a_number_that_json_does_not_have_is_an_error() {
        for client in clients() {
            let half = client.call_tool("divide", json!({ "by": 2 })).await.unwrap();
            assert_eq!(half.structured::<Line>().unwrap(), Line { price: 0.5, discount: None });
            let infinite = client.call_tool("divide", json!({ "by": 0 })).await.unwrap();
            assert!(infinite.is_error());
            assert_eq!(infinite.result.structured_content, None);
        }
    }
}
