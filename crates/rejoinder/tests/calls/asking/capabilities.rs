//! The capabilities that a client must declare before its model is asked.

use rejoinder::testing::ClientError;
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
    let needed = match client.call_tool("sample", field.clone()).await {
        Ok(reply) => {
            assert_eq!((reply.text().as_str(), reply.is_error()), ("sea", false));
            None
        }
        Err(error) => Some(required(&error)),
    };
    // A session has no such error: the model reads the reason.
    let on_session = client.era(Era::Session).call_tool("sample", field.clone()).await.unwrap();
    assert_eq!(on_session.is_error(), needed.is_some());
    assert!(on_session.text().starts_with(if needed.is_some() {
        "the client did not declare `sampling."
    } else {
        "sea"
    }));
    needed
}

/// The `requiredCapabilities` of an error.
fn required(error: &ClientError) -> Value {
    let error = error.rpc().expect("a JSON-RPC error").clone();
    assert_eq!((error.code, error.status.as_u16()), (-32021, 400));
    error.data.unwrap()["requiredCapabilities"].clone()
}

#[resolver]
fn name() -> Ask<String> {
    Ask::text("Who are you?")
}

#[resolver]
fn haiku() -> Ask<Sample> {
    Ask::sample(Sampling::new("A haiku, please."))
}

#[resolver]
fn folders() -> Ask<Roots> {
    Ask::roots()
}

/// Asks three things at once.
#[tool]
async fn ask_three(
    #[resolve(name)] name: String,
    #[resolve(haiku)] haiku: &Sample,
    #[resolve(folders)] folders: &Roots,
) -> String {
    format!("{name} {} {}", haiku.text(), folders.roots.len())
}

#[tokio::test]
async fn the_error_names_everything_that_the_client_lacks_and_nothing_that_it_has() {
    let (form, sampling, roots) = (json!({ "form": {} }), json!({}), json!({}));
    for (declared, lacking) in [
        (json!({ "roots": {} }), json!({ "elicitation": form, "sampling": sampling })),
        (json!({ "sampling": {} }), json!({ "elicitation": form, "roots": roots })),
        (json!({ "elicitation": {} }), json!({ "sampling": sampling, "roots": roots })),
        (json!({ "elicitation": { "url": {} } }), json!({ "elicitation": form, "sampling": sampling, "roots": roots })),
    ] {
        let client = Client::new(server().tools(tools![ask_three]))
            .capabilities(serde_json::from_value(declared.clone()).unwrap());
        assert_eq!(required(&client.call_tool("ask_three", json!({})).await.unwrap_err()), lacking, "{declared}");
        let on_session = client.era(Era::Session).answer_with("name", json!({ "action": "decline" }));
        let reply = on_session.call_tool("ask_three", json!({})).await.unwrap();
        assert!(reply.is_error(), "{declared}");
        // The text names all of them.
        for (path, name) in [("/elicitation", "`elicitation.form`"), ("/sampling", "`sampling`"), ("/roots", "`roots`")]
        {
            let (text, is_lacking) = (reply.text(), lacking.pointer(path).is_some());
            assert_eq!(text.contains(name), is_lacking, "{declared}: {text}");
        }
    }
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
