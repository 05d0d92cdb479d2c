//! C60 to C64: headers that repeat the body.

use rejoinder::{Server, Tool, model, prelude::*, testing::Client};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::protocol::{
    fixture::{built, server},
    wire::{Post, meta, post},
};

const MISMATCH: (u16, Option<i64>) = (400, Some(-32020));

async fn verdict(request: Post) -> (u16, Option<i64>) {
    let answer = request.send(&built()).await;
    (answer.status, answer.code())
}

fn add() -> Post {
    post("tools/call", json!({ "name": "add", "arguments": { "a": 1, "b": 2 } }))
}

#[tokio::test]
async fn c60_the_version_header_is_required_and_must_match() {
    assert_eq!(verdict(add()).await, (200, None));
    assert_eq!(verdict(add().without("mcp-protocol-version")).await, MISMATCH);
    assert_eq!(verdict(add().header("mcp-protocol-version", "2025-11-25")).await, MISMATCH);
    assert_eq!(verdict(add().header("mcp-protocol-version", "")).await, MISMATCH);
}

#[tokio::test]
async fn the_error_for_a_missing_header_shows_the_expected_value() {
    for (header, says) in [
        ("mcp-protocol-version", "missing header `MCP-Protocol-Version`: expected `2026-07-28`"),
        ("mcp-method", "missing header `Mcp-Method`: expected `tools/call`"),
        ("mcp-name", "missing header `Mcp-Name`: expected `add`"),
    ] {
        let answer = add().without(header).send(&built()).await.json();
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(says), "{message}");
    }
}

#[tokio::test]
async fn the_error_for_a_header_mismatch_shows_both_values() {
    let long = "x".repeat(1000);
    let shortened = format!("`Mcp-Name` does not match the body: expected `add`, got `{}…`", &long[..100]);
    for (header, value, says) in [
        (
            "mcp-protocol-version",
            "2025-11-25",
            "`MCP-Protocol-Version` does not match the body: expected `2026-07-28`, got `2025-11-25`",
        ),
        ("mcp-method", "tools/list", "`Mcp-Method` does not match the body: expected `tools/call`, got `tools/list`"),
        ("mcp-name", "sub", "`Mcp-Name` does not match the body: expected `add`, got `sub`"),
        ("mcp-name", "=?base64?c3Vi?=", "`Mcp-Name` does not match the body: expected `add`, got `sub`"),
        ("mcp-name", &long, &shortened),
    ] {
        let answer = add().header(header, value).send(&built()).await.json();
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(says), "{message}");
    }
}

#[tokio::test]
async fn the_error_for_a_header_mismatch_hides_the_argument() {
    let answer =
        find(json!({ "region": "eu-secret" }), &[("mcp-param-region", "us-secret")]).send(&built()).await.json();
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("differs from its argument: `region`") && !message.contains("secret"), "{message}");
}

#[tokio::test]
async fn c61_the_method_header_is_required_and_must_match() {
    for method in ["server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list"] {
        let request = || post(method, json!({}));
        assert_eq!(verdict(request()).await, (200, None));
        assert_eq!(verdict(request().without("mcp-method")).await, MISMATCH, "{method}");
        assert_eq!(verdict(request().header("mcp-method", "tools/call")).await, MISMATCH, "{method}");
    }
    let listen = post("subscriptions/listen", json!({ "notifications": {} })).without("mcp-method");
    assert_eq!(verdict(listen).await, MISMATCH);
}

#[tokio::test]
async fn c61_the_name_header_is_required_and_must_match() {
    let named = [
        add(),
        post("prompts/get", json!({ "name": "greet", "arguments": { "name": "Ada" } })),
        post("resources/read", json!({ "uri": "text://readme" })),
    ];
    for request in named {
        assert_eq!(verdict(request.clone()).await, (200, None));
        assert_eq!(verdict(request.clone().without("mcp-name")).await, MISMATCH, "{}", request.body);
        assert_eq!(verdict(request.clone().header("mcp-name", "other")).await, MISMATCH, "{}", request.body);
    }
}

#[tokio::test]
async fn c62_base64_is_decoded_and_only_values_are_case_sensitive() {
    assert_eq!(verdict(add().header("mcp-name", "=?base64?YWRk?=")).await, (200, None));
    assert_eq!(verdict(add().header("mcp-name", "=?base64?QWRk?=")).await, MISMATCH, "it says Add");
    assert_eq!(verdict(add().header("mcp-name", "=?base64?%%%?=")).await, MISMATCH);
    assert_eq!(verdict(add().header("mcp-name", "Add")).await, MISMATCH);
    assert_eq!(verdict(add().header("mcp-method", "TOOLS/CALL")).await, MISMATCH);
    let shouted = add().without("mcp-name").header("MCP-NAME", "add");
    assert_eq!(verdict(shouted).await, (200, None));
}

#[tokio::test]
async fn c62_names_beyond_ascii_are_sent_in_base64() {
    let record = model::Tool::new("plain", "", model::JsonObject::new());
    let server = Server::new("resources", "1").tools([Tool::dynamic(record, |_, _| async {})]).resources([]);
    // The client encodes what no header can hold; the server reads it back, and the resource is merely unknown.
    let error = Client::new(server).read_resource("note://grüße").await.unwrap_err();
    assert_eq!(error.code(), Some(-32602));
}

fn find(arguments: Value, headers: &[(&str, &str)]) -> Post {
    let request = post("tools/call", json!({ "name": "find", "arguments": arguments }));
    headers.iter().fold(request, |request, (name, value)| request.header(name, value))
}

#[tokio::test]
async fn c63_an_argument_with_a_header_must_be_repeated_in_it() {
    let good: [(Value, &[(&str, &str)]); 8] = [
        (json!({}), &[]),
        (json!({ "region": null }), &[]),
        (json!({ "region": "eu" }), &[("mcp-param-region", "eu")]),
        (json!({ "region": "Grüße" }), &[("mcp-param-region", "=?base64?R3LDvMOfZQ==?=")]),
        (json!({ "region": "=?base64?eu" }), &[("mcp-param-region", "=?base64?eu")]),
        (json!({ "shelf": 42 }), &[("mcp-param-shelf", "42")]),
        (json!({ "shelf": 42 }), &[("mcp-param-shelf", "42.0")]),
        (json!({ "new": true }), &[("mcp-param-new", "true")]),
    ];
    for (arguments, headers) in good {
        assert_eq!(verdict(find(arguments.clone(), headers)).await, (200, None), "{arguments} {headers:?}");
    }
    let bad: [(Value, &[(&str, &str)]); 10] = [
        (json!({ "region": "eu" }), &[]),
        (json!({ "region": "eu" }), &[("mcp-param-region", "us")]),
        (json!({ "region": "eu" }), &[("mcp-param-region", "EU")]),
        (json!({ "region": "eu" }), &[("mcp-param-region", "=?base64?ZXU?=")]),
        (json!({ "region": "é" }), &[("mcp-param-region", "é")]),
        (json!({}), &[("mcp-param-region", "eu")]),
        (json!({ "region": null }), &[("mcp-param-region", "null")]),
        (json!({ "shelf": 42 }), &[("mcp-param-shelf", "43")]),
        (json!({ "shelf": 9007199254740993_i64 }), &[("mcp-param-shelf", "9007199254740992.0")]),
        (json!({ "new": true }), &[("mcp-param-new", "True")]),
    ];
    for (arguments, headers) in bad {
        assert_eq!(verdict(find(arguments.clone(), headers)).await, MISMATCH, "{arguments} {headers:?}");
    }
}

/// A type that passes over what it does not know, without reading it.
#[derive(Deserialize, JsonSchema)]
struct Lax {}

#[tool]
async fn lax(#[arg(header = "Region")] region: String, more: Option<Lax>) -> String {
    format!("{region} {}", more.is_some())
}

#[tokio::test]
async fn c63_ignored_arguments_do_not_hide_an_argument_from_its_header() {
    let server = Server::new("lax", "1").tools(tools![lax]).build().unwrap();
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for odd in [r#""\ud800""#, r#"{"\ud800":1}"#, &deep, "1e999"] {
        for arguments in [r#"{"region":"eu","more":{"x":ODD}}"#, r#"{"more":{"x":ODD},"region":"eu"}"#] {
            let request = || {
                let request = post("tools/call", json!({ "name": "lax", "arguments": "ARGUMENTS" }));
                let body = request.body.replace("\"ARGUMENTS\"", &arguments.replace("ODD", odd));
                request.body(body)
            };
            let verdict = async |request: Post| {
                let answer = request.send(&server).await;
                (answer.status, answer.code())
            };
            assert_eq!(verdict(request()).await, MISMATCH, "{arguments} {odd:.20}");
            assert_eq!(verdict(request().header("mcp-param-region", "us")).await, MISMATCH, "{arguments} {odd:.20}");
            assert_eq!(verdict(request().header("mcp-param-region", "eu")).await, (200, None), "{arguments} {odd:.20}");
        }
    }
}

#[tokio::test]
async fn c63_an_argument_that_is_sent_twice_matches_no_header() {
    let record = json!({ "name": "any", "inputSchema": { "type": "object", "properties": {
        "where": { "type": "object", "properties": { "region": { "type": "string", "x-mcp-header": "Region" } } } } } });
    let record = serde_json::from_value(record).unwrap();
    let server = Server::new("any", "1").tools([Tool::dynamic(record, |_, _| async {})]).build().unwrap();
    for (arguments, expected) in [
        (r#"{"where":{"region":"eu"}}"#, (200, None)),
        (r#"{"where":{"region":"us","region":"eu"}}"#, MISMATCH),
        (r#"{"where":{"region":"eu","region":"us"}}"#, MISMATCH),
        (r#"{"where":{"region":"us"},"where":{"region":"eu"}}"#, MISMATCH),
        (r#"{"where":"eu"}"#, MISMATCH),
    ] {
        let request = post("tools/call", json!({ "name": "any", "arguments": "ARGUMENTS" }));
        let body = request.body.replace("\"ARGUMENTS\"", arguments);
        let answer = request.body(body).header("mcp-param-region", "eu").send(&server).await;
        assert_eq!((answer.status, answer.code()), expected, "{arguments}");
    }
}

#[tokio::test]
async fn c63_stdio_needs_no_headers() {
    let mut pipe = crate::protocol::wire::Pipe::open(&built());
    let params = json!({ "name": "find", "arguments": { "region": "eu" }, "_meta": meta() });
    pipe.send(crate::protocol::wire::message(1, "tools/call", params)).await;
    assert_eq!(pipe.next().await["result"]["content"][0]["text"], r#"Some("eu") None None"#);
}

/// What is wrong with a tool of that schema.
fn mistakes(properties: Value) -> Vec<String> {
    let schema = json!({ "type": "object", "properties": properties });
    let record = model::Tool::new("t", "", schema.as_object().unwrap().clone());
    let checked = Server::new("s", "1").tools([Tool::dynamic(record, |_, _| async {})]).check();
    checked.err().map(|errors| errors.0.into_iter().map(|error| error.message).collect()).unwrap_or_default()
}

#[tokio::test]
async fn c64_a_header_is_a_token_unique_of_a_simple_type_and_reachable() {
    let string = |header: Value| json!({ "type": "string", "x-mcp-header": header });
    assert_eq!(mistakes(json!({ "a": string(json!("Region")), "b": string(json!("Shelf")) })), [] as [&str; 0]);
    let nested = json!({ "a": { "type": "object", "properties": { "b": string(json!("Deep")) } } });
    assert_eq!(mistakes(nested), [] as [&str; 0]);
    for header in [json!(""), json!("two words"), json!("a:b"), json!("ü"), json!(3), json!(null)] {
        assert_eq!(mistakes(json!({ "a": string(header.clone()) })).len(), 1, "{header}");
    }
    let twice = json!({ "a": string(json!("Region")), "b": string(json!("REGION")) });
    assert_eq!(mistakes(twice), ["the header `mcp-param-region` is used for two arguments; rename one"]);
    for kind in ["number", "array", "object", "null"] {
        assert_eq!(mistakes(json!({ "a": { "type": kind, "x-mcp-header": "A" } })).len(), 1, "{kind}");
    }
    for kind in ["string", "integer", "boolean"] {
        assert_eq!(mistakes(json!({ "a": { "type": kind, "x-mcp-header": "A" } })).len(), 0, "{kind}");
    }
    for misplaced in [
        json!({ "a": { "type": "array", "items": string(json!("A")) } }),
        json!({ "a": { "anyOf": [string(json!("A"))] } }),
        json!({ "a": { "type": "object", "additionalProperties": string(json!("A")) } }),
    ] {
        assert_eq!(mistakes(misplaced.clone()).len(), 1, "{misplaced}");
    }
}

#[tokio::test]
async fn c64_the_schema_names_the_header() {
    let tools = Client::new(server()).list_tools().await.unwrap();
    let find = tools.iter().find(|tool| tool.name == "find").unwrap();
    assert_eq!(find.input_schema["properties"]["region"]["x-mcp-header"], "Region");
}
