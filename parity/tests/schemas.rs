//! What the framework enforces of a schema is what the `jsonschema` crate enforces: random schemas, and random values.

use proptest::prelude::*;
use rejoinder::{Tool, model, prelude::*, testing::Client};
use serde_json::{Value, json};

/// Schemas of all keywords, with a few values each, so that values often come near to them.
fn schema() -> impl Strategy<Value = Value> {
    let number = || prop_oneof![(-3..6).prop_map(Value::from), (-3..6).prop_map(|n| json!(f64::from(n) / 2.0))];
    let pattern = || prop::sample::select(vec!["^a", "b$", "^[a-c]+$", "[0-9]{2}"]);
    let name = || prop::sample::select(vec!["null", "boolean", "integer", "number", "string", "array", "object"]);
    let one =
        |keyword: &'static str, value: BoxedStrategy<Value>| value.prop_map(move |value| json!({ keyword: value }));
    let count = || (0..4_u32).prop_map(Value::from).boxed();
    let leaf = prop_oneof![
        Just(json!(true)),
        Just(json!(false)),
        one("type", name().prop_map(Value::from).boxed()),
        one("type", prop::collection::btree_set(name(), 1..3).prop_map(|names| json!(names)).boxed()),
        one("minimum", number().boxed()),
        one("maximum", number().boxed()),
        one("exclusiveMinimum", number().boxed()),
        one("exclusiveMaximum", number().boxed()),
        one("multipleOf", prop::sample::select(vec![json!(2), json!(3), json!(0.5)]).boxed()),
        one("minLength", count()),
        one("maxLength", count()),
        one("pattern", pattern().prop_map(Value::from).boxed()),
        one("minItems", count()),
        one("maxItems", count()),
        one("uniqueItems", any::<bool>().prop_map(Value::from).boxed()),
        one("minProperties", count()),
        one("maxProperties", count()),
        one("required", prop::collection::btree_set("[abc]", 0..3).prop_map(|names| json!(names)).boxed()),
        one("enum", prop::collection::vec(value(), 1..4).prop_map(Value::from).boxed()),
        one("const", value().boxed()),
        one("$ref", Just(json!("#/$defs/d")).boxed()),
    ];
    leaf.prop_recursive(4, 24, 3, move |inside| {
        let several = || prop::collection::vec(inside.clone(), 1..4).prop_map(Value::from).boxed();
        let inside = inside.clone();
        let members = prop::collection::btree_map("[abc]", inside.clone(), 0..3).prop_map(|members| json!(members));
        let patterns = prop::collection::btree_map(pattern(), inside.clone(), 1..3).prop_map(|members| json!(members));
        prop_oneof![
            one("items", inside.clone().boxed()),
            one("prefixItems", several()),
            one("properties", members.boxed()),
            one("patternProperties", patterns.boxed()),
            one("additionalProperties", inside.clone().boxed()),
            one("propertyNames", inside.clone().boxed()),
            one("anyOf", several()),
            one("oneOf", several()),
            one("allOf", several()),
            one("not", inside.clone().boxed()),
            // Several keywords beside each other.
            prop::collection::vec(inside, 2..4).prop_map(|schemas| {
                let objects = schemas.into_iter().filter_map(|schema| schema.as_object().cloned());
                Value::Object(objects.flatten().collect())
            }),
        ]
    })
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-4..8).prop_map(Value::from),
        (-4..8).prop_map(|n| json!(f64::from(n) / 2.0)),
        "[abc0-2]{0,4}|true|ä|-1".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inside| {
        prop_oneof![
            prop::collection::vec(inside.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[abc]|ab", inside, 0..4).prop_map(|members| json!(members)),
        ]
    })
}

/// A tool with that schema, which returns its arguments as it gets them.
fn echo(schema: &Value) -> Option<Client> {
    let schema = schema.as_object().cloned().unwrap_or_default();
    let record = model::Tool::new("echo", "Say it again.", schema);
    let echo = Tool::dynamic(record, |arguments, _| async move { Value::Object(arguments).to_string() });
    let server = Server::new("echo", "1.0.0").tools([echo]);
    server.build().ok().map(Client::new)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_verdict_is_that_of_the_other_implementation(
        x in schema(),
        d in schema(),
        values in prop::collection::vec(value(), 8),
    ) {
        let schema = json!({ "type": "object", "properties": { "x": x }, "required": ["x"], "$defs": { "d": d } });
        // A `$ref` that leads to itself does not build.
        let client = echo(&schema);
        prop_assume!(client.is_some());
        let (client, other) = (client.expect("it was built"), jsonschema::validator_for(&schema).expect("a schema"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        for value in values {
            let sent = json!({ "x": value });
            let reply = runtime.block_on(client.call_tool("echo", sent.clone())).expect("a reply");
            if reply.is_error() {
                prop_assert!(!other.is_valid(&sent), "refused: {}\n{}\n{}", schema, sent, reply.text());
            } else {
                // Numbers that came as strings have been read.
                let got: Value = serde_json::from_str(&reply.text()).expect("JSON");
                prop_assert!(other.is_valid(&got), "accepted: {}\n{}", schema, got);
            }
        }
    }
}
