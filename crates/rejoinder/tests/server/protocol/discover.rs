//! C11, C17 to C21: what the server says of itself.

use rejoinder::{Server, testing::Client};
use serde_json::{Value, json};

use crate::protocol::{
    fixture::{built, server},
    wire::{Pipe, message, post},
};

#[tokio::test]
async fn c17_discover_returns_everything() {
    let client = Client::new(server());
    let result = client.request("server/discover", json!({})).await.unwrap();
    insta::assert_json_snapshot!(result, @r#"
    {
      "resultType": "complete",
      "supportedVersions": [
        "2026-07-28",
        "2025-11-25",
        "2025-06-18",
        "2025-03-26",
        "2024-11-05"
      ],
      "capabilities": {
        "logging": {},
        "completions": {},
        "prompts": {
          "listChanged": true
        },
        "resources": {
          "subscribe": true,
          "listChanged": true
        },
        "tools": {
          "listChanged": true
        }
      },
      "ttlMs": 60000,
      "cacheScope": "private",
      "instructions": "Use it for tests.",
      "_meta": {
        "io.modelcontextprotocol/serverInfo": {
          "name": "fixture",
          "version": "1.2.3"
        }
      }
    }
    "#);
}

#[tokio::test]
async fn c18_declared_capabilities_are_served() {
    let methods = [
        ("tools", "tools/list"),
        ("prompts", "prompts/list"),
        ("resources", "resources/list"),
        ("resources", "resources/templates/list"),
    ];
    let servers = [
        Server::new("nothing", "1"),
        Server::new("tools", "1").tools([]),
        Server::new("prompts", "1").prompts([]),
        Server::new("resources", "1").resources([]),
        server(),
    ];
    for server in servers {
        let client = Client::new(server);
        let declared = client.request("server/discover", json!({})).await.unwrap()["capabilities"].clone();
        for (capability, method) in methods {
            let served = client.request(method, json!({})).await;
            match declared.get(capability) {
                Some(_) => assert!(served.is_ok(), "{method}"),
                None => assert_eq!(served.unwrap_err().code(), Some(-32601), "{method}"),
            }
        }
        assert!(declared.get("logging").is_some(), "log messages are sent to every client that asks for them");
    }
}

#[tokio::test]
async fn c18_a_server_with_only_tools_has_no_other_methods() {
    let client = Client::new(Server::new("tools", "1").tools([]));
    let reference = json!({ "type": "ref/resource", "uri": "item://{id}" });
    for (method, params) in [
        ("prompts/list", json!({})),
        ("prompts/get", json!({ "name": "greet" })),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({ "uri": "text://readme" })),
        ("completion/complete", json!({ "ref": reference, "argument": { "name": "id", "value": "1" } })),
    ] {
        let error = client.request(method, params).await.unwrap_err();
        let error = error.rpc().expect("a JSON-RPC error");
        assert_eq!((error.status.as_u16(), error.code), (404, -32601), "{method}");
    }
}

#[tokio::test]
async fn c18_completions_are_declared_with_prompts_or_resources() {
    let complete =
        json!({ "ref": { "type": "ref/prompt", "name": "greet" }, "argument": { "name": "name", "value": "a" } });
    let with = Client::new(server());
    assert!(with.discover().await.unwrap().capabilities.completions.is_some());
    assert!(with.request("completion/complete", complete.clone()).await.is_ok());
    for later in [Server::new("later", "1").prompts([]), Server::new("later", "1").resources([])] {
        assert!(Client::new(later).discover().await.unwrap().capabilities.completions.is_some());
    }
    let without = Client::new(Server::new("plain", "1").tools([]));
    assert!(without.discover().await.unwrap().capabilities.completions.is_none());
    assert_eq!(without.request("completion/complete", complete).await.unwrap_err().code(), Some(-32601));
}

#[tokio::test]
async fn c19_lists_are_the_same_for_every_client_and_in_registration_order() {
    let server = built();
    let here = post("tools/list", json!({})).send(&server).await.json();
    let names: Vec<&Value> = here["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["add", "wait", "count", "talk", "whoami", "refuse", "panics", "find"]);
    let mut pipe = Pipe::open(&server);
    pipe.send(message(1, "tools/list", json!({}))).await;
    assert_eq!(pipe.next().await, here);
}

#[tokio::test]
async fn c20_a_stateless_only_server_answers_initialize_with_its_versions() {
    let server = server().stateless_only().build().unwrap();
    let hello = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "old", "version": "1" } },
    });
    let request = post("initialize", json!({})).body(&hello);
    let answer = request.without("mcp-protocol-version").without("mcp-method").send(&server).await;
    assert_eq!((answer.status, answer.code()), (400, Some(-32022)));
    let data = json!({ "supported": ["2026-07-28"], "requested": "2025-06-18" });
    assert_eq!(answer.json()["error"]["data"], data);

    let mut pipe = Pipe::open(&server);
    pipe.send(&hello).await;
    assert_eq!(pipe.next().await["error"]["data"], data);
}

#[tokio::test]
async fn c21_a_request_with_modern_meta_needs_no_session() {
    for server in [server(), server().stateless_only()] {
        let request = post("tools/list", json!({})).header("mcp-session-id", "not-a-session");
        assert_eq!(request.send(&server.build().unwrap()).await.status, 200);
    }
}

#[tokio::test]
async fn c11_client_info_does_not_change_the_result() {
    let client = Client::new(server());
    let mut seen = Vec::new();
    for (name, version) in [("plain", "1.0.0"), ("admin", "999.0.0"), ("claude-ai", "0.0.0")] {
        let client = client.clone().name(name).version(version);
        let add = json!({ "name": "add", "arguments": { "a": 1, "b": 2 } });
        let unknown = client.request("tools/call", json!({ "name": "nothing" })).await.unwrap_err().to_string();
        let requests = [("server/discover", json!({})), ("tools/list", json!({})), ("tools/call", add)];
        let mut replies = vec![Value::String(unknown)];
        for (method, params) in requests {
            replies.push(client.request(method, params).await.unwrap());
        }
        seen.push(replies);
    }
    assert!(seen.windows(2).all(|pair| pair[0] == pair[1]), "{seen:?}");
}
