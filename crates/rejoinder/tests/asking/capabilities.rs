//! The capabilities that a client must declare before its model is asked.

use serde_json::Value;

use super::*;

/// Asks the client's model, with an additional field in the request.
#[tool]
async fn sample(field: Option<String>, value: Option<Value>, ctx: Context) -> Result<String, CallError> {
    let sampling = Sampling::new("A haiku, please.");
    let sampling = match field {
        Some(field) => sampling.with(field, value.unwrap_or_default()),
        None => sampling,
    };
    Ok(ctx.ask("haiku", Ask::sample(sampling)).await?.text())
}

/// The missing capabilities for a sample with that field; nothing if the model is asked.
async fn needed(sampling: &Value, field: &Value) -> Option<Value> {
    let capabilities = json!({ "sampling": sampling });
    let client = Client::new(server().tools(tools![sample]))
        .capabilities(serde_json::from_value(capabilities).unwrap())
        .answer_with(
            "haiku",
            json!({ "role": "assistant", "content": { "type": "text", "text": "sea" }, "model": "m" }),
        );
    let mut needed = Vec::new();
    for era in [Era::Stateless, Era::Session] {
        needed.push(match client.clone().era(era).call_tool("sample", field.clone()).await {
            Ok(reply) => {
                assert_eq!((reply.text().as_str(), reply.is_error()), ("sea", false));
                None
            }
            Err(error) => {
                let error = error.rpc().expect("a JSON-RPC error").clone();
                assert_eq!(error.code, -32021);
                Some(error.data.unwrap()["requiredCapabilities"].clone())
            }
        });
    }
    assert_eq!(needed[0], needed[1], "in both eras");
    needed.pop().unwrap()
}

#[tokio::test]
async fn c39_tools_and_tool_choice_need_sampling_tools() {
    let with_tools = json!({ "sampling": { "tools": {} } });
    let tool = json!({ "name": "count", "inputSchema": { "type": "object" } });
    for field in [
        json!({ "field": "tools", "value": [tool] }),
        json!({ "field": "tools", "value": [] }),
        json!({ "field": "toolChoice", "value": { "mode": "none" } }),
    ] {
        assert_eq!(needed(&json!({}), &field).await, Some(with_tools.clone()), "{field}");
        assert_eq!(needed(&json!({ "context": {} }), &field).await, Some(with_tools.clone()), "{field}");
        assert_eq!(needed(&json!({ "tools": {} }), &field).await, None, "{field}");
    }
    assert_eq!(needed(&json!({}), &json!({})).await, None, "without them sampling is enough");
}

#[tokio::test]
async fn c39_a_context_other_than_none_needs_sampling_context() {
    let with_context = json!({ "sampling": { "context": {} } });
    for context in ["thisServer", "allServers"] {
        let field = json!({ "field": "includeContext", "value": context });
        assert_eq!(needed(&json!({}), &field).await, Some(with_context.clone()), "{context}");
        assert_eq!(needed(&json!({ "tools": {} }), &field).await, Some(with_context.clone()), "{context}");
        assert_eq!(needed(&json!({ "context": {} }), &field).await, None, "{context}");
    }
    let none = json!({ "field": "includeContext", "value": "none" });
    assert_eq!(needed(&json!({}), &none).await, None);
}
