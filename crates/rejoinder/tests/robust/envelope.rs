//! Messages whose fields are not what they should be.

use serde_json::{Value, json};

use crate::{
    client::{Post, call, request},
    fixture::Host,
};

/// One of each kind of JSON value.
fn kinds() -> [Value; 8] {
    [json!(null), json!(true), json!(7), json!(-1.5), json!("text"), json!([]), json!([1]), json!({})]
}

fn add() -> Value {
    call("add", json!({ "a": 1, "b": 2 }))
}

#[tokio::test]
async fn every_field_of_the_wrong_type_is_named() {
    let host = Host::start().await;
    let version = "/params/_meta/io.modelcontextprotocol~1protocolVersion";
    let capabilities = "/params/_meta/io.modelcontextprotocol~1clientCapabilities";
    // Where, which kinds are right there, the error for all others, and what it names.
    type Right = fn(&Value) -> bool;
    let cases: [(&str, Right, i64, &str); 9] = [
        ("/jsonrpc", |_| false, -32600, "`jsonrpc`"),
        ("/id", |value| value.is_string() || value.is_i64(), -32600, "`id`"),
        ("/method", Value::is_string, -32600, "`method`"),
        ("/params", |_| false, -32602, "`params"),
        ("/params/name", Value::is_string, -32602, "`params.name`"),
        ("/params/arguments", |value| value.is_object() || value.is_null(), -32602, "`params.arguments`"),
        ("/params/_meta", |_| false, -32602, "`params._meta"),
        (version, Value::is_string, -32602, "protocolVersion"),
        (capabilities, Value::is_object, -32602, "clientCapabilities"),
    ];
    for (pointer, right, code, named) in cases {
        for kind in kinds().into_iter().filter(|kind| !right(kind)) {
            let mut message = add();
            *message.pointer_mut(pointer).expect("the field is there") = kind.clone();
            let response = host.post(&Post::raw(message.to_string())).await;
            assert_eq!(response.refusal(), (400, code), "{pointer} = {kind}");
            assert!(response.message().contains(named), "{pointer} = {kind}: {}", response.message());
            if pointer != "/id" {
                assert_eq!(response.json()["id"], 1, "{pointer} = {kind}: the id was readable");
            }
        }
    }
    host.still_answers().await;
}

#[tokio::test]
async fn optional_entries_of_meta_are_checked() {
    let host = Host::start().await;
    type Right = fn(&Value) -> bool;
    let cases: [(&str, Right); 3] = [
        ("progressToken", |value| value.is_string() || value.is_i64()),
        ("io.modelcontextprotocol/logLevel", |_| false),
        ("io.modelcontextprotocol/clientInfo", Value::is_object),
    ];
    for (key, right) in cases {
        for kind in kinds().into_iter().chain([json!(["name", "1.0"])]) {
            let mut message = add();
            message["params"]["_meta"][key] = kind.clone();
            let response = host.ask(&message).await;
            if right(&kind) {
                assert_eq!(response.text(), "3", "{key} = {kind}");
            } else {
                assert_eq!(response.refusal(), (400, -32602), "{key} = {kind}");
                assert!(response.message().contains(key), "{key} = {kind}: {}", response.message());
            }
        }
    }
}

#[tokio::test]
async fn missing_fields_are_named() {
    let host = Host::start().await;
    let cases = [
        ("", "jsonrpc", -32600),
        ("", "method", -32600),
        ("", "params", -32602),
        ("/params", "name", -32602),
        ("/params", "_meta", -32602),
        ("/params/_meta", "io.modelcontextprotocol/protocolVersion", -32602),
        ("/params/_meta", "io.modelcontextprotocol/clientCapabilities", -32602),
    ];
    for (parent, field, code) in cases {
        let mut message = add();
        message.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object").remove(field);
        let response = host.post(&Post::raw(message.to_string())).await;
        assert_eq!(response.refusal(), (400, code), "{field}");
        assert!(response.message().contains(field), "{field}: {}", response.message());
    }
    host.still_answers().await;
}

#[tokio::test]
async fn an_id_is_returned_unchanged() {
    let host = Host::start().await;
    let huge = "9".repeat(400);
    let ids = [
        "0",
        "-0",
        "-1",
        "9007199254740993",
        "-9223372036854775808",
        "18446744073709551616",
        &huge,
        r#""""#,
        r#""1""#,
        r#""\u0041\n""#,
        r#""ü""#,
    ];
    for id in ids {
        let body = add().to_string().replace("\"id\":1", &format!("\"id\":{id}"));
        let response = host.post(&Post::raw(body)).await;
        let answer = String::from_utf8(response.body).expect("text");
        assert!(answer.starts_with(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":")), "{id}: {answer}");
    }
    for id in ["null", "true", "1.0", "1e3", "0.5", "[]", "[1]", "{}"] {
        let body = add().to_string().replace("\"id\":1", &format!("\"id\":{id}"));
        let response = host.post(&Post::raw(body)).await;
        assert_eq!((response.refusal(), &response.json()["id"]), ((400, -32600), &Value::Null), "{id}");
    }
    let notification = add().to_string().replace("\"id\":1,", "");
    let response = host.post(&Post::raw(notification)).await;
    assert_eq!((response.status, response.body.len()), (202, 0), "without an id it is a notification");
    host.still_answers().await;
}

#[tokio::test]
async fn a_duplicate_field_is_refused_at_every_level() {
    let host = Host::start().await;
    let version = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#;
    let cases = [
        (r#""jsonrpc":"2.0""#, -32600),
        (r#""id":1"#, -32600),
        (r#""method":"tools/call""#, -32600),
        (r#""name":"add""#, -32600),
        (r#""arguments":{"a":1,"b":2}"#, -32600),
        (version, -32600),
    ];
    for (field, code) in cases {
        let once = add().to_string();
        assert!(once.contains(field), "{field} is not in {once}");
        // Also where the second one is spelled differently.
        let (name, value) = field.split_once(':').expect("a field");
        let spelled = format!("\"\\u{:04x}{}:{value}", name.as_bytes()[1], &name[2..]);
        for second in [field, &spelled] {
            let twice = once.replacen(field, &format!("{field},{second}"), 1);
            let response = host.post(&Post::raw(twice)).await;
            assert_eq!(response.refusal(), (400, code), "{field},{second}");
            assert!(response.message().starts_with("duplicate field"), "{}", response.message());
        }
    }
    for arguments in [r#"{"a":1,"a":2,"b":2}"#, r#"{"a":1,"b":2,"\u0061":1}"#, r#"{"a":1,"b":"x","b":2}"#] {
        let body = add().to_string().replace(r#"{"a":1,"b":2}"#, arguments);
        let response = host.post(&Post::raw(body)).await;
        assert_eq!(response.json()["result"]["isError"], true, "{arguments}: {}", response.json());
        assert!(response.text().contains("twice"), "{}", response.text());
    }
    host.still_answers().await;
}

#[tokio::test]
async fn unknown_fields_are_ignored() {
    let host = Host::start().await;
    for extra in kinds() {
        let mut message = add();
        message["extra"] = extra.clone();
        message["params"]["extra"] = extra.clone();
        message["params"]["_meta"]["com.example/extra"] = extra.clone();
        assert_eq!(host.ask(&message).await.text(), "3", "{extra}");
    }
}

#[tokio::test]
async fn the_order_of_fields_does_not_matter() {
    let host = Host::start().await;
    let meta = add()["params"]["_meta"].to_string();
    let params = format!(r#"{{"_meta":{meta},"arguments":{{"b":2,"a":1}},"name":"add"}}"#);
    let body = format!(r#"{{"params":{params},"method":"tools/call","id":1,"jsonrpc":"2.0"}}"#);
    assert_eq!(host.post(&Post::raw(body)).await.text(), "3");
}

/// The id of a response belongs to a request of the server's: nothing of the client's may be mistaken for it.
#[tokio::test]
async fn a_response_is_refused_without_an_id() {
    let host = Host::start().await;
    for response in [
        json!({ "jsonrpc": "2.0", "id": 1, "result": {} }),
        json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": 1, "message": "no" } }),
        json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32700, "message": "what?" } }),
    ] {
        let answer = host.post(&Post::raw(response.to_string())).await;
        assert_eq!((answer.refusal(), &answer.json()["id"]), ((400, -32600), &Value::Null), "{response}");
    }
    let mut both = add();
    both["result"] = json!({});
    assert_eq!(host.ask(&both).await.refusal(), (400, -32600));
    host.still_answers().await;
}

#[tokio::test]
async fn unknown_names_are_quoted_and_shortened() {
    let host = Host::start().await;
    let long = "x".repeat(1_000_000);
    let mut no_such_version = add();
    no_such_version["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2099-01-01".into();
    let cases = [
        (Post::of(&request("no/such", json!({}))), (404, -32601)),
        (Post::of(&request("tasks/get", json!({}))), (404, -32601)),
        (Post::of(&call("no_such", json!({}))), (400, -32602)),
        (Post::of(&request("prompts/get", json!({ "name": "no_such" }))), (400, -32602)),
        (Post::of(&request("resources/read", json!({ "uri": "no://such" }))), (400, -32602)),
        (Post::of(&no_such_version).set("MCP-Protocol-Version", "2099-01-01"), (400, -32022)),
        (Post::of(&request("tools/list", json!({ "cursor": long }))), (400, -32602)),
        (Post::of(&request("tools/list", json!({ "cursor": "" }))), (400, -32602)),
        (Post::of(&request("tools/list", json!({ "cursor": 7 }))), (400, -32602)),
        (Post::of(&request("resources/templates/list", json!({ "cursor": "Zm9v" }))), (400, -32602)),
    ];
    for (post, refusal) in cases {
        let response = host.post(&post).await;
        assert_eq!(response.refusal(), refusal, "{}", response.json());
        assert!(response.message().len() < 500);
    }
    host.still_answers().await;
}
