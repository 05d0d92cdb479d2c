//! C1 to C4, C7 to C10: what a request must say, and what becomes of one that does not.

use rejoinder::testing::Client;
use serde_json::{Value, json};

use crate::protocol::{
    fixture::{built, one_of_each, server},
    wire::{Pipe, VERSION, message, meta, post},
};

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

#[tokio::test]
async fn c01_a_request_without_version_or_capabilities_is_refused() {
    let server = built();
    for (method, params) in one_of_each() {
        for key in [VERSION_KEY, CAPABILITIES_KEY] {
            let mut params = params.clone();
            params["_meta"] = meta();
            params["_meta"].as_object_mut().unwrap().remove(key);
            let answer = post(method, params).send(&server).await;
            assert_eq!((answer.status, answer.code()), (400, Some(-32602)), "{method} without {key}");
            assert!(answer.body.contains(key), "{} names {key}", answer.body);
        }
        let bare = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let answer = post(method, params).body(bare).send(&server).await;
        assert_eq!((answer.status, answer.code()), (400, Some(-32602)), "{method} without _meta");
    }
}

#[tokio::test]
async fn c01_a_malformed_version_or_capability_is_refused() {
    let server = built();
    let malformed = [
        (VERSION_KEY, json!(20260728)),
        (VERSION_KEY, json!(null)),
        (VERSION_KEY, json!(["2026-07-28"])),
        (CAPABILITIES_KEY, json!(null)),
        (CAPABILITIES_KEY, json!([])),
        (CAPABILITIES_KEY, json!([null, null, null, null, null, null])),
        (CAPABILITIES_KEY, json!("all")),
        (CAPABILITIES_KEY, json!({ "sampling": "yes" })),
    ];
    for (key, value) in malformed {
        let mut meta = meta();
        meta[key] = value.clone();
        let answer = post("tools/list", json!({ "_meta": meta })).send(&server).await;
        assert_eq!((answer.status, answer.code()), (400, Some(-32602)), "{key}: {value}");
    }
}

#[tokio::test]
async fn c02_a_request_without_client_info_is_served() {
    let client = Client::new(server());
    let anonymous = json!({ "name": "whoami", "_meta": { "io.modelcontextprotocol/clientInfo": null } });
    let result = client.request("tools/call", anonymous).await.unwrap();
    assert_eq!(result["structuredContent"]["client"], Value::Null);
}

#[tokio::test]
async fn c03_a_request_inherits_nothing_from_an_earlier_one_on_the_same_pipe() {
    let mut pipe = Pipe::open(&built());
    let mut everything = meta();
    everything[CAPABILITIES_KEY] = json!({ "sampling": {} });
    everything["io.modelcontextprotocol/clientInfo"] = json!({ "name": "first", "version": "1" });
    pipe.send(message(1, "tools/call", json!({ "name": "whoami", "_meta": everything }))).await;
    let first = pipe.next().await;
    assert_eq!(first["result"]["structuredContent"]["client"], "first");
    assert_eq!(first["result"]["structuredContent"]["sampling"], true);

    pipe.send(message(2, "tools/call", json!({ "name": "whoami" }))).await;
    let second = pipe.next().await;
    assert_eq!(second["result"]["structuredContent"]["client"], Value::Null);
    assert_eq!(second["result"]["structuredContent"]["sampling"], false);

    // Without a version it is a message of the session era, and no session has begun.
    pipe.send(message(3, "tools/list", json!({ "_meta": {} }))).await;
    assert_eq!(pipe.next().await["error"]["code"], -32600);
    let mut modern = Pipe::open(&server().stateless_only().build().unwrap());
    modern.send(message(1, "tools/list", json!({}))).await;
    assert_eq!(modern.next().await["id"], 1);
    modern.send(message(2, "tools/list", json!({ "_meta": {} }))).await;
    assert_eq!(modern.next().await["error"]["code"], -32602);
}

#[tokio::test]
async fn c04_an_unsupported_version_is_refused_with_the_supported_ones() {
    let mut meta = meta();
    meta[VERSION_KEY] = json!("2099-01-01");
    let request = post("tools/list", json!({ "_meta": meta })).header("mcp-protocol-version", "2099-01-01");
    let answer = request.send(&server().stateless_only().build().unwrap()).await;
    assert_eq!((answer.status, answer.code()), (400, Some(-32022)));
    assert_eq!(answer.json()["error"]["data"], json!({ "supported": [VERSION], "requested": "2099-01-01" }));
}

#[tokio::test]
async fn c04_an_unsupported_version_is_refused_on_a_pipe() {
    let mut pipe = Pipe::open(&built());
    let mut meta = meta();
    meta[VERSION_KEY] = json!("1999-01-01");
    pipe.send(message("a", "tools/list", json!({ "_meta": meta }))).await;
    let answer = pipe.next().await;
    assert_eq!(answer["error"]["code"], -32022);
    assert_eq!(answer["error"]["data"]["requested"], "1999-01-01");
    assert!(answer["error"]["data"]["supported"].as_array().unwrap().contains(&json!(VERSION)));
}

#[tokio::test]
async fn c07_an_error_echoes_the_id_if_it_is_readable() {
    let server = built();
    let readable = [
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":[]}"#,
        r#"{"jsonrpc":"2.0","method":"tools/list","params":[],"id":7}"#,
        r#"{"jsonrpc":"2.0","method":"tools/list","params":{"_meta":3},"id":7}"#,
        r#"{"jsonrpc":"2.0","method":5,"id":7}"#,
        r#"{"jsonrpc":"2.0","method":"a","method":"b","id":7}"#,
        r#"{"jsonrpc":"1.0","method":"tools/list","id":7}"#,
        r#"{"method":"tools/list","id":7}"#,
        r#"{"jsonrpc":"2.0","id":7}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/li"#,
    ];
    for body in readable {
        let answer = post("tools/list", json!({})).body(body).send(&server).await;
        assert_eq!(answer.status, 400, "{body}");
        assert_eq!(answer.json()["id"], 7, "{body}");
        let text = body.replace('7', "\"seven\"");
        let answer = post("tools/list", json!({})).body(text).send(&server).await;
        assert_eq!(answer.json()["id"], "seven", "{body}");
    }
    let unreadable = ["", "{", "nonsense", "[]", "3", r#"{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}"#];
    for body in unreadable {
        let answer = post("tools/list", json!({})).body(body).send(&server).await;
        assert_eq!(answer.status, 400, "{body}");
        assert_eq!(answer.json()["id"], Value::Null, "{body}");
    }
}

#[tokio::test]
async fn c07_a_refused_subscription_echoes_its_id() {
    let request = post("subscriptions/listen", json!({ "notifications": {} })).header("accept", "application/json");
    let answer = request.send(&built()).await;
    assert_eq!(answer.status, 406);
    assert_eq!(answer.json()["id"], 1);
}

#[tokio::test]
async fn the_id_of_the_request_reaches_the_function() {
    let server = built();
    let mut pipe = Pipe::open(&server);
    for id in [json!(7), json!("seven"), json!(-1), json!("")] {
        let call = message(id.clone(), "tools/call", json!({ "name": "whoami" }));
        let here = post("tools/call", json!({ "name": "whoami" })).body(&call).send(&server).await.json();
        pipe.send(&call).await;
        for reply in [here, pipe.next().await] {
            let seen = &reply["result"]["structuredContent"]["id"];
            assert_eq!((&reply["id"], seen), (&id, &json!(id.to_string())), "{reply}");
        }
    }
}

#[tokio::test]
async fn c08_reserved_and_retired_error_codes_are_never_sent() {
    let client = Client::new(server());
    for code in [-32002, -32042, -32023, -32050, -32099] {
        let error = client.call_tool("refuse", json!({ "code": code })).await.unwrap_err();
        assert_ne!(error.code(), Some(code));
        assert_eq!(error.rpc().unwrap().message, "refused");
    }
    for code in [-32602, -32603, -32020, -32021, -32022, -1, 1001, -31999, -40000] {
        let error = client.call_tool("refuse", json!({ "code": code })).await.unwrap_err();
        assert_eq!(error.code(), Some(code));
    }
}

#[tokio::test]
async fn c09_the_server_never_sends_a_request() {
    let mut pipe = Pipe::open(&built());
    let mut requests = one_of_each();
    requests.extend([
        ("tools/call", json!({ "name": "count", "_meta": with_everything() })),
        ("tools/call", json!({ "name": "talk", "_meta": with_everything() })),
        ("subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } })),
        ("no/such/method", json!({})),
    ]);
    let count = requests.len();
    for (id, (method, params)) in requests.into_iter().enumerate() {
        pipe.send(message(id, method, params)).await;
    }
    let messages = pipe.close().await;
    assert!(messages.len() > count, "there were notifications too");
    for message in messages {
        assert!(message.get("method").is_none() || message.get("id").is_none(), "{message}");
    }
}

fn with_everything() -> Value {
    let mut meta = meta();
    meta[CAPABILITIES_KEY] = json!({ "elicitation": {}, "sampling": {}, "roots": {} });
    meta["progressToken"] = json!(1);
    meta["io.modelcontextprotocol/logLevel"] = json!("debug");
    meta
}

#[tokio::test]
async fn c10_an_unknown_method_is_not_found() {
    let server = built();
    for method in ["no/such/method", "ping", "logging/setLevel", "resources/subscribe", "tasks/get", ""] {
        let answer = post(method, json!({})).send(&server).await;
        assert_eq!((answer.status, answer.code()), (404, Some(-32601)), "{method}");
        assert_eq!(answer.json()["id"], 1);
    }
}
