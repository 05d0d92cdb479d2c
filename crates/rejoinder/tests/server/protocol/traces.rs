//! C67: trace context.

use rejoinder::testing::Client;
use serde_json::{Value, json};

use crate::protocol::fixture::{one_of_each, server};

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

#[tokio::test]
async fn c67_trace_context_is_read_from_its_bare_key() {
    let client = Client::new(server());
    let params = json!({ "name": "whoami", "_meta": { "traceparent": PARENT, "tracestate": "a=1", "baggage": "k=v" } });
    let result = client.request("tools/call", params).await.unwrap();
    assert_eq!(result["structuredContent"]["traceparent"], PARENT);
    let prefixed = json!({ "name": "whoami", "_meta": { "io.modelcontextprotocol/traceparent": PARENT } });
    let result = client.request("tools/call", prefixed).await.unwrap();
    assert_eq!(result["structuredContent"]["traceparent"], Value::Null);
}

#[tokio::test]
async fn c67_a_broken_trace_does_not_break_the_request() {
    let client = Client::new(server());
    for trace in [json!("nonsense"), json!(3), json!({}), json!("")] {
        let params = json!({ "name": "add", "arguments": { "a": 1, "b": 2 }, "_meta": { "traceparent": trace } });
        assert_eq!(client.request("tools/call", params).await.unwrap()["content"][0]["text"], "3");
    }
}

#[tokio::test]
async fn c67_the_server_does_not_invent_a_trace() {
    let client = Client::new(server());
    for (method, params) in one_of_each() {
        let result = client.request(method, params).await.unwrap();
        for key in ["traceparent", "tracestate", "baggage"] {
            assert_eq!(result["_meta"].get(key), None, "{method}");
        }
    }
}
