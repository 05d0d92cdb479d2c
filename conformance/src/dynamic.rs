use rejoinder::{Tool, model};
use serde_json::{Value, json};

/// A tool with a schema that is not generated from a Rust type, with keywords that an SDK might strip.
pub fn json_schema_2020_12_tool() -> Tool {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } }
            }
        },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" }
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false
    });
    let Value::Object(schema) = schema else { unreachable!("the schema is an object") };
    let record = model::Tool::new("json_schema_2020_12_tool", "Has every kind of JSON Schema keyword.", schema);
    // The schema is for clients: the suite looks whether all of its keywords are listed.
    Tool::dynamic(record, |arguments, _| async move { Value::Object(arguments).to_string() }).unchecked()
}
