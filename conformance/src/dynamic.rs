use rejoinder::{Tool, model};
use serde_json::{Value, json};

/// A tool whose schema no Rust type writes: every keyword that a client might strip.
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
    let Value::Object(schema) = schema else { unreachable!("an object stands above") };
    let record = model::Tool::new("json_schema_2020_12_tool", "Takes everything JSON Schema can say.", schema);
    Tool::dynamic(record, |arguments, _| async move { Value::Object(arguments).to_string() })
}
