use std::sync::Arc;

use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use crate::{
    argument::SchemaCheck,
    schema::{Types, clean_output, generator},
};

/// The schema of a structured result.
///
/// A result that is not an object is sent as `{"result": ..}`, because clients before 2026-07-28 accept only objects.
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
        match SchemaCheck::new(&json!({ "allOf": [schema], "$defs": definitions }), &[]).accepts() {
            Types::OBJECT => schema["type"] = "object".into(),
            types if !types.meet(Types::OBJECT) => {
                schema = json!({ "type": "object", "properties": { "result": schema }, "required": ["result"] });
            }
            // Whether the result is wrapped depends on the value, so the schema promises only an object.
            _ => {
                schema = json!({ "type": "object" });
                definitions.clear();
            }
        }
        clean_output(&mut schema);
        let Value::Object(mut schema) = schema else { unreachable!("every branch makes an object") };
        if !definitions.is_empty() {
            definitions.values_mut().for_each(clean_output);
            schema.insert("$defs".into(), definitions.into());
        }
        Self { schema: Arc::new(schema) }
    }
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
    #[expect(dead_code, reason = "only its schema is used")]
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
    fn an_option_that_is_always_sent_is_required_and_may_be_null() {
        let schema = schema::<Sum>();
        assert_eq!(schema["required"], json!(["total", "carry"]));
        assert_eq!(schema["properties"]["carry"], json!({ "type": ["integer", "null"] }));
    }

    #[test]
    fn a_result_that_is_not_an_object_is_wrapped() {
        let wrapped =
            json!({ "type": "object", "properties": { "result": { "type": "string" } }, "required": ["result"] });
        assert_eq!(schema::<String>(), wrapped);
        for schema in [schema::<Option<u8>>(), schema::<Vec<Sum>>(), schema::<(u8, u8)>()] {
            assert!(is_wrapped(&schema), "{schema}");
        }
    }

    #[test]
    fn an_enum_of_objects_is_an_object() {
        let schema = schema::<Shape>();
        assert!(!is_wrapped(&schema));
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["oneOf"].as_array().map(Vec::len), Some(2));
    }

    #[test]
    fn a_result_that_may_be_an_object_promises_only_an_object() {
        assert_eq!(schema::<Option<Sum>>(), json!({ "type": "object" }));
        assert_eq!(schema::<Value>(), json!({ "type": "object" }));
    }

    #[test]
    fn a_recursive_type_includes_its_definition() {
        let schema = schema::<Tree>();
        assert!(!is_wrapped(&schema));
        assert_eq!(schema["properties"]["children"]["items"]["$ref"], "#/$defs/Tree");
        assert_eq!(schema["$defs"]["Tree"]["type"], "object");
    }
}
