use std::sync::Arc;

use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use super::{clean_output, generator};

/// The schema of a structured result.
///
/// A result that is not an object travels as `{"result": ..}`: clients before 2026-07-28 take objects only.
///
/// ```
/// use rejoinder::reply::OutputSchema;
///
/// let text = OutputSchema::of::<String>();
/// assert_eq!(text.schema["properties"]["result"]["type"], "string");
/// ```
#[derive(Debug, Clone)]
pub struct OutputSchema {
    /// The schema, always of an object.
    pub schema: Arc<Map<String, Value>>,
}

impl OutputSchema {
    /// The schema of `T` as a result.
    pub fn of<T: JsonSchema>() -> Self {
        let mut generator = generator(|settings| settings.for_serialize());
        let mut schema: Value = generator.subschema_for::<T>().into();
        let mut definitions = generator.take_definitions(true);
        match is_object(&schema, &definitions, 0) {
            Some(true) => schema["type"] = "object".into(),
            Some(false) => {
                schema = json!({ "type": "object", "properties": { "result": schema }, "required": ["result"] });
            }
            // Wrapped or not depends on the value, so the schema promises no more than that.
            None => {
                schema = json!({ "type": "object" });
                definitions.clear();
            }
        }
        clean_output(&mut schema);
        let Value::Object(mut schema) = schema else { unreachable!("an object was made above") };
        if !definitions.is_empty() {
            definitions.values_mut().for_each(clean_output);
            schema.insert("$defs".into(), definitions.into());
        }
        Self { schema: Arc::new(schema) }
    }
}

/// Whether every value that fits is an object, or none is; `None` if some are, or if nobody can tell.
fn is_object(schema: &Value, definitions: &Map<String, Value>, depth: usize) -> Option<bool> {
    const DEEPEST: usize = 16;
    let inside = |schema: &Value| is_object(schema, definitions, depth + 1);
    if depth > DEEPEST {
        return None;
    }
    // A recursive type arrives as a reference to its definition; look through it.
    if let Some(path) = schema.get("$ref").and_then(Value::as_str) {
        return inside(definitions.get(path.strip_prefix("#/$defs/")?)?);
    }
    if let Some(kinds) = schema.get("type") {
        let is_object = |kind: &Value| kind == "object";
        return match kinds {
            Value::Array(kinds) => all_agree(kinds.iter().map(|kind| Some(is_object(kind)))),
            kind => Some(is_object(kind)),
        };
    }
    if let Some(value) = schema.get("const") {
        return Some(value.is_object());
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return all_agree(values.iter().map(|value| Some(value.is_object())));
    }
    for key in ["oneOf", "anyOf"] {
        if let Some(arms) = schema.get(key).and_then(Value::as_array) {
            return all_agree(arms.iter().map(inside));
        }
    }
    schema.get("allOf")?.as_array()?.iter().find_map(inside)
}

fn all_agree(mut answers: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let first = answers.next()??;
    answers.all(|answer| answer == Some(first)).then_some(first)
}

#[cfg(test)]
mod tests {
    use serde::Serialize;

    use super::*;

    #[derive(Serialize, JsonSchema)]
    struct Sum {
        total: i64,
        carry: Option<i64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    }

    #[derive(Serialize, JsonSchema)]
    #[serde(tag = "kind")]
    #[expect(dead_code, reason = "only its schema is looked at")]
    enum Shape {
        Circle { radius: f64 },
        Point,
    }

    #[derive(Serialize, JsonSchema)]
    struct Tree {
        children: Vec<Tree>,
    }

    fn schema<T: JsonSchema>() -> Value {
        Value::Object((*OutputSchema::of::<T>().schema).clone())
    }

    fn is_wrapped(schema: &Value) -> bool {
        schema["required"] == json!(["result"])
    }

    #[test]
    fn what_is_always_sent_is_required_and_null_is_allowed() {
        let schema = schema::<Sum>();
        assert_eq!(schema["required"], json!(["total", "carry"]));
        assert_eq!(schema["properties"]["carry"], json!({ "type": ["integer", "null"] }));
    }

    #[test]
    fn what_is_no_object_is_wrapped() {
        let wrapped =
            json!({ "type": "object", "properties": { "result": { "type": "string" } }, "required": ["result"] });
        assert_eq!(schema::<String>(), wrapped);
        for schema in [schema::<Option<u8>>(), schema::<Vec<Sum>>(), schema::<(u8, u8)>()] {
            assert!(is_wrapped(&schema), "{schema}");
        }
    }

    #[test]
    fn a_choice_of_objects_is_an_object() {
        let schema = schema::<Shape>();
        assert!(!is_wrapped(&schema));
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["oneOf"].as_array().map(Vec::len), Some(2));
    }

    #[test]
    fn what_may_or_may_not_be_an_object_promises_nothing() {
        assert_eq!(schema::<Option<Sum>>(), json!({ "type": "object" }));
        assert_eq!(schema::<Value>(), json!({ "type": "object" }));
    }

    #[test]
    fn a_recursive_type_brings_its_definition() {
        let schema = schema::<Tree>();
        assert!(!is_wrapped(&schema));
        assert_eq!(schema["properties"]["children"]["items"]["$ref"], "#/$defs/Tree");
        assert_eq!(schema["$defs"]["Tree"]["type"], "object");
    }
}
