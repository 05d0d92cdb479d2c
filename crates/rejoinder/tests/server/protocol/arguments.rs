//! Arguments that do not fit: everything that is wrong, at once, in words the model can act on.

use rejoinder::{Tool, call::Era, model, prelude::*, testing::Client};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::protocol::wire::{Pipe, message, post};

#[derive(Deserialize, JsonSchema)]
struct Line {
    product: String,
    quantity: u8,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Speed {
    Slow,
    Fast,
}

#[tool]
async fn order(
    customer: String,
    lines: Vec<Line>,
    speed: Option<Speed>,
    #[arg(default = 1)] copies: u32,
    gift: bool,
    _ctx: Context,
) -> String {
    let speed = match speed {
        Some(Speed::Slow) => "slow",
        Some(Speed::Fast) => "fast",
        None => "any",
    };
    let lines: Vec<_> = lines.iter().map(|line| format!("{} {}", line.quantity, line.product)).collect();
    format!("{customer}: {} {speed} {copies} {gift}", lines.join(", "))
}

#[tool]
async fn ping() -> &'static str {
    "pong"
}

fn server() -> Server {
    Server::new("orders", "1.0.0").tools(tools![order, ping])
}

#[tokio::test]
async fn arguments_may_come_in_any_order() {
    let client = Client::new(server());
    let reply = client
        .call_tool("order", json!({ "gift": true, "lines": [{ "quantity": 2, "product": "pens" }], "customer": "Ada" }))
        .await
        .unwrap();
    assert_eq!(reply.text(), "Ada: 2 pens any 1 true");
}

#[tokio::test]
async fn an_optional_argument_may_be_null() {
    let arguments = json!({ "customer": "Ada", "lines": [], "speed": null, "gift": false });
    assert_eq!(Client::new(server()).call_tool("order", arguments).await.unwrap().text(), "Ada:  any 1 false");
}

#[tokio::test]
async fn all_bad_arguments_are_reported_at_once() {
    let arguments = json!({
        "customer": 7,
        "lines": [{ "product": "pens", "quantity": 2 }, { "product": "ink", "quantity": 300 }],
        "speed": "warp",
        "copies": -1,
        "_ctx": {},
        "colour": "red",
    });
    let reply = Client::new(server()).call_tool("order", arguments).await.unwrap();
    assert!(reply.is_error());
    insta::assert_snapshot!(reply.text(), @r#"
    Invalid arguments:
    - `_ctx`: unknown argument; the arguments are `customer`, `lines`, `speed`, `copies`, `gift`
    - `colour`: unknown argument; the arguments are `customer`, `lines`, `speed`, `copies`, `gift`
    - `customer`: expected a string, got the integer `7`
    - `lines[1].quantity`: must be between 0 and 255, got 300
    - `speed`: expected `slow` or `fast`, got the string "warp"
    - `copies`: must be between 0 and 4294967295, got -1
    - `gift`: it is required and was not sent
    "#);
}

#[tokio::test]
async fn one_mistake_is_one_sentence() {
    let reply = Client::new(server()).call_tool("ping", json!({ "loud": true })).await.unwrap();
    insta::assert_snapshot!(reply.text(), @"Invalid argument `loud`: unknown argument; no arguments are accepted.");
}

#[tokio::test]
async fn strict_argument_errors_are_protocol_errors_with_the_same_text() {
    let client = Client::new(server().strict_arguments());
    let error = client.call_tool("order", json!({ "customer": 7, "lines": [], "gift": "no" })).await.unwrap_err();
    let error = error.rpc().unwrap();
    assert_eq!((error.code, error.status.as_u16()), (-32602, 400));
    insta::assert_json_snapshot!(error.data, @r#"
    {
      "field": "customer",
      "message": "expected a string, got the integer `7`",
      "errors": [
        {
          "field": "customer",
          "message": "expected a string, got the integer `7`"
        },
        {
          "field": "gift",
          "message": "expected a boolean, got the string \"no\""
        }
      ]
    }
    "#);
}

#[prompt]
async fn pitch(product: String) -> String {
    format!("Buy {product}!")
}

#[tokio::test]
async fn unknown_arguments_can_be_ignored_in_both_eras() {
    for era in [Era::Stateless, Era::Session] {
        let server = server().prompts(prompts![pitch]).ignore_unknown_arguments();
        let client = Client::new(server).era(era);
        let extra = json!({ "customer": "Ann", "lines": [], "gift": true, "colour": "red", "_ctx": {} });
        assert_eq!(client.call_tool("order", extra).await.unwrap().text(), "Ann:  any 1 true");
        let pitch = client.get_prompt("pitch", json!({ "product": "tea", "colour": "red" })).await.unwrap();
        assert_eq!(pitch.text(), "Buy tea!");

        let bad = client
            .call_tool("order", json!({ "customer": 7, "lines": [], "gift": true, "colour": "red" }))
            .await
            .unwrap();
        assert_eq!(bad.text(), "Invalid argument `customer`: expected a string, got the integer `7`.");
    }
}

#[tokio::test]
async fn an_ignored_argument_may_be_sent_twice() {
    let server = server().prompts(prompts![pitch]).ignore_unknown_arguments().build().unwrap();
    for is_session in [false, true] {
        let mut pipe = Pipe::open(&server);
        if is_session {
            let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": { "name": "old", "version": "1" } });
            pipe.send(json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })).await;
            assert_eq!(pipe.next().await["id"], 0);
        }
        let mut ask = async |method: &str, name: &str, arguments: &str| {
            let mut request = message(1, method, json!({ "name": name, "arguments": "HERE" }));
            if is_session {
                request["params"]["_meta"] = json!({});
            }
            pipe.send(request.to_string().replace("\"HERE\"", arguments)).await;
            pipe.next().await
        };
        let reply = ask("prompts/get", "pitch", r#"{"product":"tea","colour":"red","colour":"blue"}"#).await;
        assert_eq!(reply["result"]["messages"][0]["content"]["text"], "Buy tea!", "{reply}");
        let order = r#"{"customer":"Ann","lines":[],"gift":true,"colour":"red","colour":"blue"}"#;
        let reply = ask("tools/call", "order", order).await;
        assert_eq!(reply["result"]["content"][0]["text"], "Ann:  any 1 true", "{reply}");
        let reply = ask("prompts/get", "pitch", r#"{"product":"tea","product":"milk"}"#).await;
        assert_eq!(reply["error"]["message"], "Invalid argument `product`: it was sent twice.", "{reply}");
    }
}

#[tokio::test]
async fn a_schema_says_whether_unknown_arguments_are_refused() {
    for (server, refused) in [(server(), Some(false)), (server().ignore_unknown_arguments(), None)] {
        let tools = Client::new(server).list_tools().await.unwrap();
        for tool in &tools {
            assert_eq!(
                tool.input_schema.get("additionalProperties").and_then(Value::as_bool),
                refused,
                "{}",
                tool.name
            );
        }
        assert!(!tools.is_empty());
    }
}

/// A call whose arguments are exactly this text.
async fn call_with(tool: &str, arguments: &str) -> Value {
    let request = post("tools/call", json!({ "name": tool, "arguments": "HERE" }));
    let body = request.body.replace("\"HERE\"", arguments);
    request.body(body).send(&server().build().unwrap()).await.json()["result"].clone()
}

#[tokio::test]
async fn an_argument_that_is_sent_twice_is_refused() {
    let result = call_with("order", r#"{"customer":"Bob","customer":"Ada","lines":[],"gift":true}"#).await;
    assert_eq!(result["isError"], true);
    assert_eq!(result["content"][0]["text"], "Invalid argument `customer`: it was sent twice.");
}

#[tokio::test]
async fn an_argument_name_that_is_not_valid_text_is_refused() {
    assert_eq!(call_with("ping", "{}").await["content"][0]["text"], "pong");
    assert_eq!(call_with("ping", r#"{"\ud800":1}"#).await["isError"], true);
}

/// A type whose author was careless.
#[derive(JsonSchema)]
struct Careless;

impl<'de> Deserialize<'de> for Careless {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = u8::deserialize(deserializer)?;
        panic!("a secret in a panic: {number}")
    }
}

#[tool]
async fn careless(careless: Careless) {
    let _ = careless;
}

#[tokio::test]
async fn an_argument_whose_type_panics_fails_only_its_call() {
    let client = Client::new(server().tools(tools![careless]));
    for client in [client.clone(), client.clone().era(Era::Session)] {
        let said = match client.call_tool("careless", json!({ "careless": 1 })).await {
            Err(error) => error.to_string(),
            // On a session the model reads it.
            Ok(reply) => reply.text(),
        };
        assert!(said.contains("Internal error. See the server log, id ") && !said.contains("secret"), "{said}");
    }
    assert_eq!(client.call_tool("ping", json!({})).await.unwrap().text(), "pong");
}

/// A tool made at run time is called with an object too, whatever its schema forgot.
#[tokio::test]
async fn a_dynamic_tool_gets_an_object_without_duplicates() {
    let record = model::Tool::new("echo", "Say it again.", model::JsonObject::new());
    let echo = Tool::dynamic(record, |arguments, _| async move { Value::Object(arguments).to_string() });
    let server = Server::new("echo", "1").tools([echo]);
    let client = Client::new(server);
    assert_eq!(*client.list_tools().await.unwrap()[0].input_schema, *json!({ "type": "object" }).as_object().unwrap());
    let sent = json!({ "z": 1, "a": { "y": 2, "b": 3 } });
    assert_eq!(
        client.call_tool("echo", sent.clone()).await.unwrap().text(),
        sent.to_string(),
        "in the order it was sent"
    );
    let body = message(1, "tools/call", json!({ "name": "echo", "arguments": "ARGUMENTS" })).to_string();
    let body = body.replace("\"ARGUMENTS\"", r#"{"a":1,"b":2,"\u0061":3}"#);
    let answer = post("tools/call", json!({ "name": "echo" })).body(body).send(client.server()).await;
    assert_eq!(answer.json()["result"]["content"][0]["text"], "Invalid argument `a`: it was sent twice.");
}

/// Has defaults.
#[tool]
async fn defaults(#[arg(default = 3)] count: u8, #[arg(default = Some(4))] most: Option<u8>) -> String {
    format!("{count} {most:?}")
}

#[tokio::test]
async fn null_is_the_default_of_an_argument_that_has_one() {
    let client = Client::new(Server::new("defaults", "1.0.0").tools(tools![defaults]));
    for client in [client.clone(), client.era(Era::Session)] {
        for (arguments, expected) in [
            (json!({}), "3 Some(4)"),
            (json!({ "count": null }), "3 Some(4)"),
            // `null` is a value of an `Option`.
            (json!({ "most": null }), "3 None"),
            (json!({ "count": "many" }), "Invalid argument `count`: expected an integer, got the string \"many\"."),
        ] {
            assert_eq!(client.call_tool("defaults", arguments).await.unwrap().text(), expected);
        }
    }
}
