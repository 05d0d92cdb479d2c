//! Constraints on arguments: what a schema says is enforced, wherever the keyword came from, before anything runs.

use std::sync::atomic::{AtomicU32, Ordering};

use rejoinder::{
    Tool,
    call::Era,
    form::TextField,
    model,
    prelude::*,
    testing::{Client, in_both_eras},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const MOST: u32 = 500_000;

/// Every word of `#[arg(..)]`.
#[tool]
async fn refund(
    #[arg(pattern = "^ORD-[0-9]{6}$", title = "Order", example = "ORD-000123")] order: String,
    #[arg(min = 1, max = MOST)] cents: u32,
    #[arg(exclusive_min = 0.0, exclusive_max = 1.0)] share: Option<f64>,
    #[arg(multiple_of = 5, default = 10)] step: u8,
    #[arg(min_length = 2, max_length = 5)] code: Option<String>,
    #[arg(format = "email")] mail: Option<String>,
    #[arg(min_items = 1, max_items = 3, unique_items)] tags: Option<Vec<String>>,
) -> String {
    format!("{order} {cents} {share:?} {step} {code:?} {mail:?} {tags:?}")
}

fn client(era: Era) -> Client {
    Client::new(Server::new("refunds", "1.0.0").tools(tools![refund])).era(era)
}

const ERAS: [Era; 2] = [Era::Stateless, Era::Session];

#[tokio::test]
async fn each_constraint_has_its_keyword_in_the_schema() {
    let tools = client(Era::Stateless).list_tools().await.unwrap();
    assert_eq!(
        tools[0].input_schema["properties"],
        json!({
            "order": { "type": "string", "title": "Order", "examples": ["ORD-000123"], "pattern": "^ORD-[0-9]{6}$" },
            "cents": { "type": "integer", "minimum": 1, "maximum": 500_000 },
            "share": { "type": "number", "exclusiveMinimum": 0.0, "exclusiveMaximum": 1.0 },
            "step": { "type": "integer", "minimum": 0, "maximum": 255, "default": 10, "multipleOf": 5 },
            "code": { "type": "string", "minLength": 2, "maxLength": 5 },
            "mail": { "type": "string", "format": "email" },
            "tags": { "type": "array", "items": { "type": "string" }, "minItems": 1, "maxItems": 3, "uniqueItems": true },
        })
    );
}

#[tokio::test]
async fn every_provider_accepts_constraints() {
    let list = client(Era::Stateless).request("tools/list", json!({})).await.unwrap();
    let mut broken = crate::providers::violations(&list["tools"][0]);
    // The page about constraints says so.
    broken.retain(|rule| !rule.starts_with("refund: `uniqueItems`"));
    assert_eq!(broken, [] as [&str; 0]);
}

#[tokio::test]
async fn l10_all_failing_arguments_are_reported_with_the_rule_and_what_came() {
    for era in ERAS {
        let client = client(era);
        let good = json!({
            "order": "ORD-000001", "cents": 1, "share": 0.5, "step": 15, "code": "äöü", "mail": "a@b.c", "tags": ["a"],
        });
        let reply = client.call_tool("refund", good).await.unwrap();
        assert_eq!(reply.text(), r#"ORD-000001 1 Some(0.5) 15 Some("äöü") Some("a@b.c") Some(["a"])"#);
        let bad = json!({
            "order": "ORD-1", "cents": 500_001, "share": 1.0, "step": 7, "code": "far too long", "mail": "nobody",
            "tags": ["a", "b", "a"], "colour": "red",
        });
        let reply = client.call_tool("refund", bad).await.unwrap();
        assert!(reply.is_error());
        insta::allow_duplicates! { insta::assert_snapshot!(reply.text(), @r#"
        Invalid arguments:
        - `colour`: unknown argument; the arguments are `order`, `cents`, `share`, `step`, `code`, `mail`, `tags`
        - `order`: must match `^ORD-[0-9]{6}$`, got "ORD-1"
        - `cents`: must be between 1 and 500000, got 500001
        - `share`: must be more than 0 and less than 1, got 1.0
        - `step`: must be a multiple of 5, got 7
        - `code`: must be between 2 and 5 characters long, got 12
        - `mail`: must be an email address, got "nobody"
        - `tags`: must not have the same item twice, got "a"
        "#) };
    }
}

#[tokio::test]
async fn l2_a_default_beside_a_constraint_is_shown_and_applied() {
    for era in ERAS {
        let client = client(era);
        let schema = client.list_tools().await.unwrap()[0].input_schema["properties"]["step"].clone();
        assert_eq!((&schema["default"], &schema["multipleOf"]), (&json!(10), &json!(5)));
        for (step, expected) in [
            (None, "ORD-000001 1 None 10 None None None"),
            (Some(20), "ORD-000001 1 None 20 None None None"),
            (Some(21), "Invalid argument `step`: must be a multiple of 5, got 21."),
        ] {
            let mut arguments = json!({ "order": "ORD-000001", "cents": 1 });
            if let Some(step) = step {
                arguments["step"] = step.into();
            }
            assert_eq!(client.call_tool("refund", arguments).await.unwrap().text(), expected);
        }
    }
}

/// `null`, a default, and an argument that is left out.
#[tokio::test]
async fn l26_an_optional_argument_is_checked_when_it_is_sent() {
    for era in ERAS {
        for (rest, expected) in [
            (json!({}), "ORD-000001 1 None 10 None None None"),
            (json!({ "share": null, "step": null, "code": null, "tags": null }), "ORD-000001 1 None 10 None None None"),
            (json!({ "tags": [] }), "Invalid argument `tags`: must have between 1 and 3 items, got 0."),
            (json!({ "share": 0 }), "Invalid argument `share`: must be more than 0 and less than 1, got 0."),
            (json!({ "order": null }), "Invalid argument `order`: expected a string, got null."),
        ] {
            let mut arguments = json!({ "order": "ORD-000001", "cents": 1 });
            arguments.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
            assert_eq!(client(era).call_tool("refund", arguments).await.unwrap().text(), expected, "{rest}");
        }
    }
}

/// Not constrained.
#[tool]
async fn plain(count: u32, share: f64, sure: bool, text: String, counts: Option<Vec<i64>>) -> String {
    format!("{count} {share} {sure} {text} {counts:?}")
}

#[tokio::test]
async fn l10_a_number_that_came_as_a_string_is_read_and_then_checked() {
    for era in ERAS {
        let client = Client::new(Server::new("strings", "1.0.0").tools(tools![refund, plain])).era(era);
        for (tool, arguments, expected) in [
            ("refund", json!({ "order": "ORD-000001", "cents": "50" }), "ORD-000001 50 None 10 None None None"),
            ("refund", json!({ "order": "ORD-000001", "cents": 5e1 }), "ORD-000001 50 None 10 None None None"),
            (
                "refund",
                json!({ "order": "ORD-000001", "cents": "0" }),
                "Invalid argument `cents`: must be between 1 and 500000, got 0.",
            ),
            (
                "refund",
                json!({ "order": "ORD-000001", "cents": "many" }),
                "Invalid argument `cents`: expected an integer, got the string \"many\".",
            ),
            (
                "plain",
                json!({ "count": "7", "share": "0.5", "sure": "true", "text": "7", "counts": ["1", 2, 3.0] }),
                "7 0.5 true 7 Some([1, 2, 3])",
            ),
            // A string stays a string, and what is not spelled as JSON spells it is not read.
            (
                "plain",
                json!({ "count": "seven", "share": "0,5", "sure": "yes", "text": 7 }),
                "Invalid arguments:\n\
                 - `count`: expected an integer, got the string \"seven\"\n\
                 - `share`: expected a number, got the string \"0,5\"\n\
                 - `sure`: expected a boolean, got the string \"yes\"\n\
                 - `text`: expected a string, got the integer `7`",
            ),
            (
                "plain",
                json!({ "count": "-1", "share": 1, "sure": true, "text": "" }),
                "Invalid argument `count`: must be between 0 and 4294967295, got -1.",
            ),
        ] {
            assert_eq!(client.call_tool(tool, arguments.clone()).await.unwrap().text(), expected, "{arguments}");
        }
    }
}

/// Rules of schemars, and of the attributes of other crates that it reads.
#[derive(Deserialize, JsonSchema)]
struct Line {
    #[schemars(length(min = 1), regex(pattern = "^[a-z]+$"))]
    product: String,
    #[schemars(range(min = 1, max = 10))]
    quantity: u8,
    #[schemars(email)]
    contact: Option<String>,
    #[garde(length(max = 2))]
    garde: Option<String>,
    #[validate(range(min = 0.0))]
    validate: Option<f64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Delivery {
    Post {
        #[schemars(length(min = 5))]
        address: String,
        note: Option<String>,
    },
    Pickup {
        #[schemars(range(max = 23))]
        hour: u8,
    },
}

/// Refers to itself.
#[derive(Deserialize, JsonSchema)]
struct Tree {
    #[schemars(length(max = 3))]
    name: String,
    #[serde(default)]
    children: Vec<Tree>,
}

#[tool]
async fn order(lines: Vec<Line>, delivery: Option<Delivery>, tree: Option<Tree>) -> String {
    fn depth(tree: &Tree) -> usize {
        tree.name.len() + tree.children.iter().map(depth).sum::<usize>()
    }
    let line = |l: &Line| format!("{} {} {:?} {:?} {:?}", l.quantity, l.product, l.contact, l.garde, l.validate);
    let lines: Vec<_> = lines.iter().map(line).collect();
    let delivery = delivery.map(|delivery| match delivery {
        Delivery::Post { address, note } => format!("{address} {note:?}"),
        Delivery::Pickup { hour } => format!("{hour}:00"),
    });
    format!("{lines:?} {delivery:?} {:?}", tree.as_ref().map(depth))
}

#[tokio::test]
async fn l10_rules_inside_a_type_are_enforced_at_any_depth() {
    for era in ERAS {
        let client = Client::new(Server::new("orders", "1.0.0").tools(tools![order])).era(era);
        let line = json!({ "product": "tea", "quantity": 2 });
        for (arguments, expected) in [
            (
                json!({ "lines": [line], "delivery": { "kind": "post", "address": "12345", "note": null } }),
                "[\"2 tea None None None\"] Some(\"12345 None\") None",
            ),
            (
                json!({ "lines": [line, { "product": "TEA", "quantity": "11", "contact": "x" }, { "product": 1 }] }),
                "Invalid arguments:\n\
                 - `lines[1].product`: must match `^[a-z]+$`, got \"TEA\"\n\
                 - `lines[1].quantity`: must be between 1 and 10, got 11\n\
                 - `lines[1].contact`: must be an email address, got \"x\"\n\
                 - `lines[2].quantity`: it is required and was not sent\n\
                 - `lines[2].product`: expected a string, got the integer `1`",
            ),
            (
                json!({ "lines": [{ "product": "tea", "quantity": 1, "garde": "abc", "validate": -1 }] }),
                "Invalid arguments:\n\
                 - `lines[0].garde`: must be at most 2 characters long, got 3\n\
                 - `lines[0].validate`: must be at least 0, got -1",
            ),
            // Serde takes an array for a struct, which would leave its fields unchecked.
            (
                json!({ "lines": [["TEA", 200, null]] }),
                "Invalid argument `lines[0]`: expected an object, got an array.",
            ),
            (
                json!({ "lines": [], "delivery": { "kind": "post", "address": "1", "note": null } }),
                "Invalid argument `delivery.address`: must be at least 5 characters long, got 1.",
            ),
            (
                json!({ "lines": [], "delivery": { "kind": "pickup", "hour": 24 } }),
                "Invalid argument `delivery.hour`: must be between 0 and 23, got 24.",
            ),
            (
                json!({ "lines": [], "delivery": { "kind": "drone" } }),
                "Invalid argument `delivery.kind`: expected `post` or `pickup`, got the string \"drone\".",
            ),
            (
                json!({ "lines": [], "tree": { "name": "a", "children": [{ "name": "b", "children": [{ "name": "long" }] }] } }),
                "Invalid argument `tree.children[0].children[0].name`: must be at most 3 characters long, got 4.",
            ),
        ] {
            assert_eq!(client.call_tool("order", arguments.clone()).await.unwrap().text(), expected, "{arguments}");
        }
    }
}

/// A letter to somebody.
#[prompt]
async fn letter(
    #[arg(min_length = 2, title = "Recipient")] to: String,
    #[arg(min = 1, max = 3)] pages: Option<u8>,
    #[arg(max_items = 2)] topics: Option<Vec<String>>,
) -> String {
    format!("{to} {pages:?} {topics:?}")
}

#[tokio::test]
async fn l8_prompts_are_checked() {
    for era in ERAS {
        let client = Client::new(Server::new("letters", "1.0.0").prompts(prompts![letter])).era(era);
        let text = async |arguments: Value| match client.get_prompt("letter", arguments).await {
            Ok(reply) => reply.text(),
            Err(error) => format!("{} {}", error.rpc().unwrap().code, error.rpc().unwrap().message),
        };
        for (arguments, expected) in [
            (json!({ "to": "Ann", "pages": "3", "topics": "[\"tea\"]" }), "Ann Some(3) Some([\"tea\"])"),
            (json!({ "to": "42" }), "42 None None"),
            (
                json!({ "to": "A", "pages": "4", "topics": "[\"a\",\"b\",\"c\"]" }),
                "-32602 Invalid arguments:\n\
                 - `to`: must be at least 2 characters long, got 1\n\
                 - `pages`: must be between 1 and 3, got 4\n\
                 - `topics`: must have at most 2 items, got 3",
            ),
            (
                json!({ "to": "Ann", "pages": "many" }),
                "-32602 Invalid argument `pages`: expected an integer, got the string \"many\".",
            ),
        ] {
            assert_eq!(text(arguments.clone()).await, expected, "{arguments}");
        }
        let listed = client.request("prompts/list", json!({})).await.unwrap();
        assert_eq!(listed["prompts"][0]["arguments"][0]["title"], "Recipient");
    }
}

#[resource("shop://items/{id}")]
async fn item(#[arg(min = 1, max = 99)] id: u32) -> String {
    format!("item {id}")
}

#[resource("shop://{shelf}/{id}")]
async fn shelf(#[arg(pattern = "^[a-z]$")] shelf: String, id: u32) -> String {
    format!("{id} on {shelf}")
}

#[tokio::test]
async fn l8_resources_are_checked() {
    for era in ERAS {
        let client = Client::new(Server::new("shop", "1.0.0").resources(resources![item, shelf])).era(era);
        for (uri, expected) in [
            ("shop://items/7", "item 7"),
            ("shop://a/7", "7 on a"),
            // It fits no template, and this says what would have to change.
            ("shop://items/100", "-32602 Invalid argument `id`: must be between 1 and 99, got 100."),
            ("shop://ab/1", "-32602 Invalid argument `shelf`: must match `^[a-z]$`, got \"ab\"."),
        ] {
            let found = match client.read_resource(uri).await {
                Ok(reply) => reply.text(),
                Err(error) => format!("{} {}", error.rpc().unwrap().code, error.rpc().unwrap().message),
            };
            assert_eq!(found, expected, "{uri}");
        }
        // A value of another type means that there is no such resource.
        let error = client.read_resource("shop://items/first").await.unwrap_err();
        let code = if era == Era::Stateless { -32602 } else { -32002 };
        assert_eq!(error.rpc().unwrap().code, code);
        assert!(error.to_string().contains("there is no resource"), "{error}");
    }
}

#[resource("code://{code}")]
async fn code(#[arg(pattern = "^[0-9]+$")] code: String) -> String {
    format!("code {code}")
}

#[resource("code://{word}")]
async fn word(word: String) -> String {
    format!("word {word}")
}

#[tokio::test]
async fn l8_a_constraint_decides_between_templates() {
    let client = Client::new(Server::new("codes", "1.0.0").resources(resources![code, word]));
    assert_eq!(client.read_resource("code://12").await.unwrap().text(), "code 12");
    assert_eq!(client.read_resource("code://ab").await.unwrap().text(), "word ab");
    // The other way round, the second can never match.
    let error = Server::new("codes", "1.0.0").resources(resources![word, code]).check().unwrap_err().to_string();
    assert!(error.contains("resource `code://{code}`: it can never match"), "{error}");
}

static RUNS: AtomicU32 = AtomicU32::new(0);

#[derive(Deserialize, JsonSchema)]
#[serde(from = "u8")]
struct Noted(#[expect(dead_code, reason = "it is only read")] u8);

impl From<u8> for Noted {
    fn from(number: u8) -> Self {
        RUNS.fetch_add(1, Ordering::Relaxed);
        Self(number)
    }
}

impl rejoinder::form::NumberField for Noted {
    type Bound = u8;
}

#[resolver]
fn watch(number: &Noted) -> u8 {
    RUNS.fetch_add(1, Ordering::Relaxed);
    let _ = number;
    0
}

#[tool]
async fn noted(#[arg(max = 3)] number: Noted, #[resolve(watch)] watched: &u8) {
    RUNS.fetch_add(1, Ordering::Relaxed);
    let _ = (number, watched);
}

#[tokio::test]
async fn nothing_of_the_author_runs_before_the_check() {
    for era in ERAS {
        let client = Client::new(Server::new("noted", "1.0.0").tools(tools![noted])).era(era);
        let before = RUNS.load(Ordering::Relaxed);
        let reply = client.call_tool("noted", json!({ "number": 4 })).await.unwrap();
        assert_eq!(reply.text(), "Invalid argument `number`: must be between 0 and 3, got 4.");
        assert_eq!(RUNS.load(Ordering::Relaxed), before);
        client.call_tool("noted", json!({ "number": 3 })).await.unwrap();
        assert_eq!(RUNS.load(Ordering::Relaxed), before + 3);
    }
}

fn dynamic(schema: Value) -> Tool {
    let record = model::Tool::new("made", "Made at run time.", schema.as_object().unwrap().clone());
    Tool::dynamic(record, |arguments, _| async move { Value::Object(arguments).to_string() })
}

#[tokio::test]
async fn a_tool_that_is_made_at_run_time_is_checked() {
    let schema = json!({
        "type": "object",
        "properties": {
            "count": { "type": "integer", "maximum": 10 },
            "lines": { "type": "array", "items": { "$ref": "#/$defs/line" } },
            "size": { "enum": ["s", "l"] },
        },
        "required": ["count"],
        "additionalProperties": false,
        "$defs": { "line": { "type": "object", "properties": { "n": { "type": "number", "exclusiveMinimum": 0 } }, "required": ["n"] } },
    });
    for era in ERAS {
        let client = Client::new(Server::new("made", "1.0.0").tools([dynamic(schema.clone())])).era(era);
        for (arguments, expected) in [
            (json!({ "count": "3", "lines": [{ "n": 0.5 }], "size": null }), r#"{"count":3,"lines":[{"n":0.5}]}"#),
            (
                json!({ "count": 11, "lines": [{ "n": 0 }, {}, 5], "size": "m", "colour": "red" }),
                "Invalid arguments:\n\
                 - `count`: must be at most 10, got 11\n\
                 - `lines[0].n`: must be more than 0, got 0\n\
                 - `lines[1].n`: it is required and was not sent\n\
                 - `lines[2]`: expected an object, got the integer `5`\n\
                 - `size`: expected `s` or `l`, got the string \"m\"\n\
                 - `colour`: unknown argument; the arguments are `count`, `lines`, `size`",
            ),
            (json!({}), "Invalid argument `count`: it is required and was not sent."),
        ] {
            assert_eq!(client.call_tool("made", arguments.clone()).await.unwrap().text(), expected, "{arguments}");
        }
        let client = Client::new(Server::new("made", "1.0.0").tools([dynamic(schema.clone()).unchecked()])).era(era);
        assert_eq!(client.call_tool("made", json!({ "x": 1 })).await.unwrap().text(), r#"{"x":1}"#);
    }
}

#[tokio::test]
async fn a_schema_of_ones_own_is_enforced() {
    for server in [Server::new("plain", "1.0.0"), Server::new("plain", "1.0.0").ignore_unknown_arguments()] {
        let mut tool = tools![plain].remove(0);
        let schema = std::sync::Arc::make_mut(&mut tool.record_mut().input_schema);
        schema["properties"]["count"]["maximum"] = 3.into();
        let client = Client::new(server.tools([tool]));
        let call = async |count: Value| {
            let arguments = json!({ "count": count, "share": 1, "sure": true, "text": "" });
            client.call_tool("plain", arguments).await.unwrap().text()
        };
        assert_eq!(call(json!("3")).await, "3 1 true  None");
        assert_eq!(call(json!(4)).await, "Invalid argument `count`: must be between 0 and 3, got 4.");
    }
}

/// Says more than is enforced.
#[derive(Deserialize, JsonSchema)]
#[schemars(extend("dependentRequired" = { "a": ["b"] }))]
struct Dependent {
    #[schemars(extend("pattern" = "(?=x)"))]
    #[expect(dead_code, reason = "only its schema is used")]
    a: Option<String>,
}

#[tool]
async fn dependent(dependent: Dependent) {
    let _ = dependent;
}

#[tokio::test]
async fn a_keyword_that_nothing_enforces_does_not_build() {
    let error = Server::new("dependent", "1.0.0").tools(tools![dependent]).check().unwrap_err();
    let problems: Vec<_> = error.0.iter().map(ToString::to_string).collect();
    assert!(
        problems[0]
            .starts_with("tool `dependent`: the schema of `dependent.a` has a `pattern` that is not supported: ")
    );
    assert_eq!(
        problems[1],
        "tool `dependent`: the schema of `dependent` has `dependentRequired`, which nothing enforces; remove it, or check the \
         value in the function"
    );
    for (schema, problem) in [
        (json!({ "properties": { "a": { "if": {} } } }), "the schema of `a` has `if`, which nothing enforces"),
        (json!({ "minProperties": -1 }), "the schema has `minProperties` with a value that JSON Schema does not allow"),
        (
            json!({ "properties": { "a": { "type": "text" } } }),
            "the schema of `a` has `type` with a value that JSON Schema",
        ),
        (
            json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/a" } } }),
            "has a `$ref` that leads to itself",
        ),
        (json!({ "properties": { "a": { "items": [] } } }), "the schema of `a[]` is not an object"),
    ] {
        let error = Server::new("made", "1.0.0").tools([dynamic(schema)]).check().unwrap_err().to_string();
        assert!(error.contains(problem) && error.contains("call `.unchecked()`"), "{error}");
    }
    let annotations = json!({ "title": "", "description": "", "examples": [], "default": {}, "deprecated": true, "x-own": 1,
        "$comment": "", "format": "unknown", "$schema": "https://json-schema.org/draft/2020-12/schema" });
    Server::new("made", "1.0.0").tools([dynamic(annotations)]).check().unwrap();
}

const TOO_MUCH: u8 = 11;

#[tool]
async fn defaults(#[arg(max = 10, default = TOO_MUCH)] count: u8, #[arg(pattern = "^a", example = "b")] word: String) {
    let _ = (count, word);
}

#[tokio::test]
async fn a_default_and_an_example_must_fit_their_own_argument() {
    let error = Server::new("defaults", "1.0.0").tools(tools![defaults]).check().unwrap_err();
    assert_eq!(
        error.0.iter().map(|problem| &*problem.message).collect::<Vec<_>>(),
        [
            "the default `11` does not fit its own argument: `count` must be between 0 and 10, got 11",
            "the example `\"b\"` does not fit its own argument: `word` must match `^a`, got \"b\"",
        ]
    );
}

/// The text of an answer is bounded by `Limits::answers_size` instead.
#[tokio::test]
async fn a_m9_a_pattern_is_matched_against_bounded_text() {
    let schema = json!({
        "properties": { "x": { "type": "string", "pattern": "^[a-z]*$" } },
        "patternProperties": { "^y+$": { "type": "integer" } },
    });
    let client = Client::new(Server::new("made", "1.0.0").tools([dynamic(schema)]));
    in_both_eras(client, async |client| {
        let most = 64 * 1024;
        assert!(!client.call_tool("made", json!({ "x": "a".repeat(most) })).await.unwrap().is_error());
        let long = client.call_tool("made", json!({ "x": "a".repeat(most + 1) })).await.unwrap();
        assert!(long.text().contains("must be at most 65536 bytes long"), "{:.500}", long.text());
        let name = client.call_tool("made", json!({ "y".repeat(most + 1): "no integer" })).await.unwrap();
        assert!(name.text().contains("a name must be at most 65536 bytes long"), "{:.500}", name.text());
    })
    .await;
}

#[tokio::test]
async fn alternatives_that_multiply_do_not_block_the_server() {
    let arm = json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/x" } } });
    let schema = json!({
        "properties": { "x": { "$ref": "#/$defs/x" } },
        "$defs": { "x": { "anyOf": [{ "type": "integer" }, arm, arm, arm] } },
    });
    let client = Client::new(Server::new("made", "1.0.0").tools([dynamic(schema)]));
    let nested = (0..100).fold(json!("end"), |inside, _| json!({ "a": inside }));
    let reply = client.call_tool("made", json!({ "x": nested })).await.unwrap();
    assert!(reply.text().contains("expected an integer or an object, got the string"), "{}", reply.text());
    let schema = json!({
        "properties": { "x": { "$ref": "#/$defs/x" } },
        "$defs": { "x": { "allOf": [arm, arm] } },
    });
    let client = Client::new(Server::new("made", "1.0.0").tools([dynamic(schema)]));
    let nested = (0..100).fold(json!({}), |inside, _| json!({ "a": inside }));
    let reply = client.call_tool("made", json!({ "x": nested })).await.unwrap();
    assert!(reply.text().contains("too complex"), "{}", reply.text());
}

/// A type of the author's own takes the constraints of the type that it is in JSON.
#[derive(Deserialize, Serialize, JsonSchema)]
struct Sku(String);

impl TextField for Sku {}

#[tool]
async fn stock(#[arg(pattern = "^[A-Z]{3}$")] sku: Sku, #[arg(min_length = 1)] spare: Option<Sku>) -> String {
    format!("{} {:?}", sku.0, spare.map(|sku| sku.0))
}

#[tokio::test]
async fn a_type_of_ones_own_can_have_constraints() {
    let client = Client::new(Server::new("stock", "1.0.0").tools(tools![stock]));
    assert_eq!(
        client.call_tool("stock", json!({ "sku": "ABC", "spare": "x" })).await.unwrap().text(),
        "ABC Some(\"x\")"
    );
    let reply = client.call_tool("stock", json!({ "sku": "abc", "spare": "" })).await.unwrap();
    assert_eq!(
        reply.text(),
        "Invalid arguments:\n- `sku`: must match `^[A-Z]{3}$`, got \"abc\"\n- `spare`: must be at least 1 character long, got 0"
    );
}

#[derive(Deserialize, JsonSchema)]
struct Labels {
    #[schemars(extend("uniqueItems" = true))]
    labels: Vec<Value>,
    seen: std::collections::BTreeSet<u8>,
}

#[tool]
fn label(with: Labels) -> String {
    format!("{} {}", with.labels.len(), with.seen.len())
}

#[tokio::test]
async fn r3_l5_a3_l4_unique_items_of_the_author_are_enforced_and_a_set_takes_an_item_twice() {
    let client = Client::new(Server::new("labels", "1.0.0").tools(tools![label]));
    in_both_eras(client, async |client| {
        let properties = client.list_tools().await.unwrap()[0].input_schema["properties"].to_string();
        assert_eq!(properties.matches("uniqueItems").count(), 1, "{properties}");
        let label = async |labels: Value| {
            client.call_tool("label", json!({ "with": { "labels": labels, "seen": [1, 1] } })).await.unwrap()
        };
        assert_eq!(label(json!([1, 2.5, "1", [1, 2], [2, 1], { "a": 1 }, 1e300])).await.text(), "7 1");
        for twice in
            [json!(["a", "a"]), json!([1, 1.0]), json!([0, -0.0]), json!([[1, { "a": 2.0 }], [1.0, { "a": 2 }]])]
        {
            let reply = label(twice).await;
            assert!(reply.is_error() && reply.text().contains("must not have the same item twice"), "{}", reply.text());
        }
    })
    .await;
}
