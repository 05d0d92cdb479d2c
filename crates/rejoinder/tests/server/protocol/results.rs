//! C5, C6, C12, C13, C15, C16, C41: what every result has, and what stands between requests.

use rejoinder::{model::ClientCapabilities, testing::Client};
use serde_json::json;

use crate::protocol::{
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
        result.meta = Some(model::JsonObject::default());
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
    use rejoinder::{call::Era, prelude::*, testing::Client};
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

/// What is neither text nor `Json`.
mod plain {
    use rejoinder::{call::Era, prelude::*, testing::Client};
    use serde_json::{Value, json};

    #[tool]
    fn count() -> i64 {
        3
    }

    #[tool]
    fn share(of: f64) -> f64 {
        1.0 / of
    }

    #[tool]
    fn is_open() -> Result<bool, CallError> {
        Ok(true)
    }

    #[tool]
    fn names() -> Vec<String> {
        vec!["Ada".to_owned(), "Bo".to_owned()]
    }

    #[tool]
    fn sizes() -> Vec<u8> {
        vec![1, 2]
    }

    #[tool]
    fn name() -> String {
        "Ada".to_owned()
    }

    #[tokio::test]
    async fn u3_9_numbers_booleans_and_lists_are_structured_beside_their_text() {
        let client =
            Client::new(Server::new("plain", "1.0.0").tools(tools![count, share, is_open, names, sizes, name]));
        for client in [client.clone(), client.era(Era::Session)] {
            let listed = client.list_tools().await.unwrap();
            for (tool, text, expected, schema) in [
                ("count", "3", json!({ "result": 3 }), json!({ "type": "integer" })),
                ("share", "0.25", json!({ "result": 0.25 }), json!({ "type": "number" })),
                ("is_open", "true", json!({ "result": true }), json!({ "type": "boolean" })),
                (
                    "names",
                    r#"["Ada","Bo"]"#,
                    json!({ "result": ["Ada", "Bo"] }),
                    json!({ "type": "array", "items": { "type": "string" } }),
                ),
                (
                    "sizes",
                    "[1,2]",
                    json!({ "result": [1, 2] }),
                    json!({ "type": "array", "items": { "type": "integer", "minimum": 0, "maximum": 255 } }),
                ),
            ] {
                let arguments = if tool == "share" { json!({ "of": 4.0 }) } else { json!({}) };
                let reply = client.call_tool(tool, arguments).await.unwrap();
                assert_eq!((reply.text().as_str(), reply.structured::<Value>().unwrap()), (text, expected), "{tool}");
                let listed = listed.iter().find(|listed| listed.name == tool).unwrap().output_schema.clone().unwrap();
                assert_eq!(
                    Value::Object((*listed).clone()),
                    json!({ "type": "object", "properties": { "result": schema }, "required": ["result"] }),
                    "{tool}"
                );
            }
            assert_eq!(client.call_tool("count", json!({})).await.unwrap().structured::<i64>().unwrap(), 3);
            let text = client.call_tool("name", json!({})).await.unwrap();
            assert_eq!(text.result.structured_content, None);
            let error = text.structured::<String>().unwrap_err().to_string();
            assert!(error.starts_with("tools/call: the result has no structured content: return `Json<T>`"), "{error}");
            // JSON has no such number, and the schema promises one.
            assert!(client.call_tool("share", json!({ "of": 0.0 })).await.map_or(true, |reply| reply.is_error()));
        }
    }
}
