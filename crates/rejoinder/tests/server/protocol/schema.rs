//! C69: schemas, and what a list of tools looks like.

use rejoinder::{prelude::*, testing::Client};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// How loud.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Volume {
    Quiet,
    Loud,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Line {
    /// What
    product: String,
    quantity: u8,
    note: Option<String>,
}

/// Has children of its own kind.
#[derive(Deserialize, Serialize, JsonSchema)]
struct Tree {
    name: String,
    children: Vec<Tree>,
}

/// One argument of every kind.
#[tool(title = "Everything", read_only, destructive = false, idempotent, open_world = false)]
#[expect(clippy::too_many_arguments, reason = "one of every kind")]
async fn everything(
    /// Some text
    text: String,
    number: f64,
    whole: i64,
    small: u8,
    yes: bool,
    /// How loud
    volume: Volume,
    lines: Vec<Line>,
    tree: Tree,
    maybe: Option<u32>,
    #[arg(default = 10)] limit: u32,
    #[arg(default = "en")] language: String,
    #[arg(name = "type")] kind: Option<Volume>,
    #[arg(header = "Region")] region: Option<String>,
    anything: Value,
    _ctx: Context,
) -> Json<Tree> {
    let _ = (text, number, whole, small, yes, volume, lines, maybe, limit, language, kind, region, anything);
    Json(tree)
}

/// Nothing at all.
#[tool]
async fn nothing() {}

/// A list, which travels in an object.
#[tool]
async fn listed() -> Json<Vec<Line>> {
    Json(Vec::new())
}

fn client() -> Client {
    Client::new(Server::new("schemas", "1.0.0").tools(tools![everything, nothing, listed]))
}

#[tokio::test]
async fn the_list_of_tools_shows_every_kind_of_argument() {
    let list = client().request("tools/list", json!({})).await.unwrap();
    insta::assert_json_snapshot!(list["tools"]);
}

/// Every schema inside a schema, with the path to it.
fn visit(schema: &Value, look: &mut impl FnMut(&serde_json::Map<String, Value>)) {
    match schema {
        Value::Object(object) => {
            look(object);
            object.values().for_each(|member| visit(member, look));
        }
        Value::Array(members) => members.iter().for_each(|member| visit(member, look)),
        _ => {}
    }
}

#[tokio::test]
async fn c69_o10_references_stay_inside_their_schema() {
    let list = client().request("tools/list", json!({})).await.unwrap();
    let mut references = 0;
    for tool in list["tools"].as_array().unwrap() {
        for root in [&tool["inputSchema"], &tool["outputSchema"]] {
            visit(root, &mut |object| {
                if let Some(Value::String(target)) = object.get("$ref") {
                    references += 1;
                    let pointer = target.strip_prefix('#').expect("a reference inside the schema");
                    assert!(root.pointer(pointer).is_some(), "{target} leads nowhere");
                }
            });
        }
    }
    assert!(references > 0, "a recursive type needs one");
}

#[tokio::test]
async fn c69_schemas_use_the_default_dialect() {
    let list = client().request("tools/list", json!({})).await.unwrap();
    let older = ["definitions", "id", "dependencies", "additionalItems"];
    for tool in list["tools"].as_array().unwrap() {
        assert_eq!(tool["inputSchema"]["type"], "object");
        for root in [&tool["inputSchema"], &tool["outputSchema"]] {
            let dialect = root.get("$schema").and_then(Value::as_str);
            assert!(dialect.is_none_or(|dialect| dialect == "https://json-schema.org/draft/2020-12/schema"));
            visit(root, &mut |object| assert!(older.iter().all(|key| !object.contains_key(*key)), "{object:?}"));
        }
    }
}

#[tokio::test]
async fn c69_external_schemas_are_never_fetched() {
    use rejoinder::{Tool, model};
    let schema = json!({ "type": "object", "properties": { "a": { "$ref": "https://schemas.example/a.json" } } });
    let record = model::Tool::new("remote", "", schema.as_object().unwrap().clone());
    let remote = Tool::dynamic(record, |arguments, _| async move { Value::Object(arguments).to_string() });
    // What cannot be enforced is refused, unless the function says that it checks it.
    let error = Server::new("remote", "1").tools([remote.clone()]).check().unwrap_err().to_string();
    assert!(error.contains("a `$ref` to `https://schemas.example/a.json`"), "{error}");
    let client = Client::new(Server::new("remote", "1").tools([remote.unchecked()]));
    // The schema is handed on as it is, and the call does not wait for anybody.
    assert_eq!(client.call_tool("remote", json!({ "a": 1 })).await.unwrap().text(), r#"{"a":1}"#);
}

#[tokio::test]
async fn a_structured_result_matches_its_schema() {
    #[tool]
    async fn line() -> Json<Line> {
        Json(Line { product: "pens".into(), quantity: 1, note: None })
    }
    let client = Client::new(Server::new("lines", "1").tools(tools![line]));
    let sent = client.call_tool("line", json!({})).await.unwrap().result.structured_content.unwrap();
    let schema = client.list_tools().await.unwrap()[0].output_schema.clone().unwrap();
    // `None` is written as `null`, so the schema must allow it.
    assert_eq!(sent["note"], Value::Null);
    assert_eq!(schema["properties"]["note"]["type"], json!(["string", "null"]));
}

/// With data in some variants.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Shape {
    Circle { radius: f64 },
    Square { side: f64 },
}

/// What no other tool here takes.
#[tool]
#[expect(clippy::too_many_arguments, reason = "one of every kind")]
async fn rare(
    pair: (u8, String),
    point: [f64; 3],
    shape: Shape,
    shapes: Option<Vec<Shape>>,
    set: std::collections::BTreeSet<String>,
    map: std::collections::BTreeMap<String, u8>,
    letter: char,
    nothing: Option<()>,
) {
    let _ = (pair, point, shape, shapes, set, map, letter, nothing);
}

#[tokio::test]
async fn every_provider_accepts_the_schemas_of_rust_types() {
    let client = Client::new(Server::new("schemas", "1.0.0").tools(tools![everything, nothing, listed, rare]));
    let list = client.request("tools/list", json!({})).await.unwrap();
    let mut broken: Vec<String> =
        list["tools"].as_array().unwrap().iter().flat_map(crate::providers::violations).collect();
    // OpenAI's strict mode has nothing for a map.
    broken.retain(|rule| !rule.starts_with("rare: a map (OpenAI, strict"));
    assert_eq!(broken, [] as [&str; 0]);
}

/// Some of its variants are documented.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Color {
    Red,
    /// Of grass.
    Green,
    Blue,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Brush {
    colors: Vec<Color>,
}

/// Takes the enum itself, and inside other types.
#[tool]
async fn paint(color: Color, maybe: Option<Color>, brush: Brush) {
    let _ = (color, maybe, brush);
}

#[tokio::test]
async fn documented_variants_are_listed_in_the_order_of_their_declaration() {
    let tools = Client::new(Server::new("paint", "1").tools(tools![paint])).list_tools().await.unwrap();
    let properties = &tools[0].input_schema["properties"];
    for color in [&properties["color"], &properties["maybe"], &properties["brush"]["properties"]["colors"]["items"]] {
        assert_eq!(color["enum"], json!(["red", "green", "blue"]), "{color}");
        assert!(color["description"].as_str().unwrap().ends_with("- `green`: Of grass."), "{color}");
    }
}
