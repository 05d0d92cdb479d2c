//! What this crate writes, rmcp reads; what it reads, it writes again unchanged.
#![expect(clippy::unwrap_used, reason = "a test")]

use std::fmt::Debug;

use rejoinder_wire as wire;
use rmcp::model;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

/// `T` reads it and writes it again unchanged, with a member that nobody knows, too.
fn survives<T: Serialize + DeserializeOwned + Debug>(sent: &Value) {
    let mut more = sent.clone();
    more["x-unknown"] = json!({ "a": [1, null] });
    for sent in [sent, &more] {
        let read: T = serde_json::from_str(&sent.to_string()).unwrap_or_else(|error| panic!("{error}: {sent}"));
        assert_eq!(serde_json::to_string(&read).unwrap(), sent.to_string(), "{read:?}");
    }
}

/// The same, and `Theirs` reads and writes the same JSON.
fn agrees<Ours: Serialize + DeserializeOwned + Debug, Theirs: Serialize + DeserializeOwned>(sent: &Value) {
    survives::<Ours>(sent);
    let theirs: Theirs = serde_json::from_value(sent.clone()).unwrap_or_else(|error| panic!("{error}: {sent}"));
    assert_eq!(json!(theirs), *sent);
}

fn annotations() -> Value {
    json!({ "audience": ["user", "assistant"], "priority": 0.5, "lastModified": "2026-01-12T15:00:58Z" })
}

fn icons() -> Value {
    json!([{ "src": "https://a.example/i.png", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark" }])
}

#[test]
fn content_blocks() {
    let meta = json!({ "a.example/k": 1 });
    let contents = json!({ "uri": "a://b", "mimeType": "text/plain", "text": "t", "_meta": meta });
    let blocks = [
        json!({ "type": "text", "text": "t", "_meta": meta, "annotations": annotations() }),
        json!({ "type": "image", "data": "AA==", "mimeType": "image/png", "_meta": meta, "annotations": annotations() }),
        json!({ "type": "audio", "data": "AA==", "mimeType": "audio/wav", "_meta": meta, "annotations": annotations() }),
        json!({ "type": "resource", "resource": contents, "_meta": meta, "annotations": annotations() }),
        json!({ "type": "resource", "resource": { "uri": "a://b", "blob": "AA==" } }),
        json!({ "type": "resource_link", "uri": "a://b", "name": "n", "title": "t", "description": "d", "mimeType": "a/b",
            "size": 5_000_000_000_u64, "icons": icons(), "_meta": meta, "annotations": annotations() }),
    ];
    for block in &blocks {
        agrees::<wire::ContentBlock, model::ContentBlock>(block);
        agrees::<wire::PromptMessage, model::PromptMessage>(&json!({ "role": "assistant", "content": block }));
    }
    survives::<wire::ContentBlock>(&json!({ "type": "hologram", "depth": 3 }));
    let read: wire::ContentBlock = serde_json::from_value(json!({ "type": "hologram" })).unwrap();
    assert!(matches!(read, wire::ContentBlock::Other(_)));

    for (wrong, expected) in [
        (json!({ "type": "text" }), "missing field `text`"),
        (json!({ "type": "image", "data": 5, "mimeType": "a/b" }), "invalid type: integer `5`, expected a string"),
        (json!({ "text": "t" }), "missing field `type`"),
    ] {
        let error = serde_json::from_value::<wire::ContentBlock>(wrong).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }

    let result = json!({ "resultType": "complete", "content": blocks, "structuredContent": null, "isError": false, "_meta": meta });
    agrees::<wire::CallToolResult, model::CallToolResult>(&result);
    survives::<wire::CallToolResult>(&json!({ "content": [] }));
}

#[test]
fn values_that_nobody_knows() {
    for block in [
        json!({ "type": "text", "text": "t", "annotations": { "audience": ["user", "later"] } }),
        json!({ "type": "hologram", "depth": 3 }),
    ] {
        survives::<wire::PromptMessage>(&json!({ "role": "later", "content": block }));
    }
    survives::<wire::Icon>(&json!({ "src": "https://a.example/i.png", "theme": "later" }));
    survives::<wire::ReadResourceResult>(&json!({ "resultType": "later", "cacheScope": "later", "contents": [] }));
    survives::<wire::ElicitResult>(&json!({ "action": "later" }));
}

#[test]
fn descriptions() {
    let schema = json!({ "type": "object", "properties": { "b": {}, "a": {} } });
    let hints = json!({ "title": "t", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": true });
    let tool = json!({ "name": "n", "title": "t", "description": "d", "inputSchema": schema, "outputSchema": schema,
        "annotations": hints, "icons": icons(), "_meta": {} });
    agrees::<wire::Tool, model::Tool>(&tool);
    let argument = json!({ "name": "n", "title": "t", "description": "d", "required": true });
    let prompt = json!({ "name": "n", "title": "t", "description": "d", "arguments": [argument], "icons": icons(), "_meta": {} });
    agrees::<wire::Prompt, model::Prompt>(&prompt);
    let template = json!({ "uriTemplate": "a://{b}", "name": "n", "title": "t", "description": "d", "mimeType": "a/b",
        "icons": icons(), "_meta": {}, "annotations": annotations() });
    agrees::<wire::ResourceTemplate, model::ResourceTemplate>(&template);
    let program = json!({ "name": "n", "title": "t", "version": "1", "description": "d", "icons": icons(), "websiteUrl": "https://a.example" });
    agrees::<wire::Implementation, model::Implementation>(&program);
}

#[test]
fn results() {
    let messages = json!([{ "role": "user", "content": { "type": "text", "text": "t" } }]);
    let prompt = json!({ "resultType": "complete", "description": "d", "messages": messages, "_meta": {} });
    agrees::<wire::GetPromptResult, model::GetPromptResult>(&prompt);
    let contents = json!([{ "uri": "a://b", "text": "t" }, { "uri": "a://b", "mimeType": "a/b", "blob": "AA==" }]);
    let resource =
        json!({ "resultType": "complete", "ttlMs": 5, "cacheScope": "public", "contents": contents, "_meta": {} });
    agrees::<wire::ReadResourceResult, model::ReadResourceResult>(&resource);
    for neither in [json!({ "uri": "a://b" }), json!({ "text": "t" })] {
        serde_json::from_value::<wire::ResourceContents>(neither).unwrap_err();
    }
    let discovered = json!({ "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} },
        "instructions": "i", "ttlMs": 5, "cacheScope": "private", "_meta": {} });
    agrees::<wire::DiscoverResult, model::DiscoverResult>(&discovered);
    agrees::<wire::CompletionInfo, model::CompletionInfo>(&json!({ "values": ["a"], "total": 1, "hasMore": false }));
    for (name, known) in [("complete", true), ("input_required", true), ("task", true), ("later", false)] {
        let read: wire::ResultType = serde_json::from_value(json!(name)).unwrap();
        assert_eq!((json!(read), !matches!(read, wire::ResultType::Other(_))), (json!(name), known));
    }
}

#[test]
fn capabilities() {
    let client = json!({ "experimental": { "a": {} }, "extensions": { "a/b": {} }, "roots": { "listChanged": true },
        "sampling": { "tools": {}, "context": {} }, "elicitation": { "form": {}, "url": {} } });
    agrees::<wire::ClientCapabilities, model::ClientCapabilities>(&client);
    let changes = json!({ "listChanged": true });
    let server = json!({ "experimental": { "a": {} }, "extensions": { "a/b": {} }, "logging": {}, "completions": {},
        "prompts": changes, "resources": { "subscribe": true, "listChanged": true }, "tools": changes });
    agrees::<wire::ServerCapabilities, model::ServerCapabilities>(&server);
}

#[test]
#[expect(deprecated, reason = "the protocol deprecates sampling and roots")]
fn questions_and_answers() {
    let form = json!({ "mode": "form", "message": "m", "requestedSchema": { "type": "object", "properties": {} } });
    agrees::<wire::ElicitRequest, model::ElicitRequestParams>(&form);
    let page = json!({ "mode": "url", "message": "m", "url": "https://a.example", "elicitationId": "e" });
    agrees::<wire::ElicitRequest, model::ElicitRequestParams>(&page);
    survives::<wire::ElicitRequest>(&json!({ "mode": "later", "message": "m" }));
    for (wrong, expected) in [
        (json!({ "mode": "url", "message": "m", "requestedSchema": {} }), "missing field `url`"),
        (json!({ "mode": 1, "message": "m", "url": "u" }), "`mode` must be a string, got `1`"),
    ] {
        let error = serde_json::from_value::<wire::ElicitRequest>(wrong).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    for answer in [
        json!({ "action": "accept", "content": { "a": 1 }, "_meta": {} }),
        json!({ "action": "decline" }),
        json!({ "action": "cancel" }),
    ] {
        agrees::<wire::ElicitResult, model::ElicitResult>(&answer);
    }
    let used = json!([
        { "type": "tool_use", "id": "1", "name": "n", "input": { "a": 1 } },
        { "type": "tool_use", "id": "2", "name": "n", "input": {} },
    ]);
    let answered = json!([{ "type": "tool_result", "toolUseId": "1", "content": [{ "type": "text", "text": "t" }] }]);
    let messages = json!([{ "role": "assistant", "content": used }, { "role": "user", "content": answered }]);
    let asked =
        json!({ "messages": messages, "maxTokens": 5, "toolChoice": { "mode": "auto" }, "includeContext": "none" });
    survives::<wire::Sampling>(&asked);
    let theirs: model::CreateMessageRequestParams = serde_json::from_value(asked).unwrap();
    assert_eq!(theirs.messages.len(), 2);
    let sampled = json!({ "model": "m", "role": "assistant", "content": used, "stopReason": "toolUse" });
    agrees::<wire::Sample, model::CreateMessageResult>(&sampled);
    agrees::<wire::Roots, model::ListRootsResult>(
        &json!({ "roots": [{ "uri": "file:///a", "name": "a" }], "_meta": {} }),
    );
    for reference in [
        json!({ "type": "ref/prompt", "name": "n", "title": "t" }),
        json!({ "type": "ref/resource", "uri": "a://{b}" }),
    ] {
        survives::<wire::Reference>(&reference);
    }
}
