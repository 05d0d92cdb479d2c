use serde_json::{Map, Value};

/// Whether a property that may be `null` says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nulls {
    /// A property that may be left out is not also a union with `null`: right for what a client sends.
    Drop,
    /// What is written as `null` says so: right for what a server sends.
    Keep,
}

/// Makes a generated schema one that clients accept.
///
/// Rust's number types (`int64`, `uint8`, `double`, ..) are no JSON Schema formats; their bounds stay.
pub fn clean(schema: &mut Value, nulls: Nulls) {
    let Value::Object(object) = schema else { return };
    if object.get("format").and_then(Value::as_str).is_some_and(is_rust_number) {
        object.remove("format");
    }
    for key in ["properties", "$defs", "patternProperties"] {
        if let Some(Value::Object(members)) = object.get_mut(key) {
            for member in members.values_mut() {
                if key == "properties" && nulls == Nulls::Drop {
                    without_null(member);
                }
                clean(member, nulls);
            }
        }
    }
    for key in ["items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"] {
        if let Some(member) = object.get_mut(key) {
            clean(member, nulls);
        }
    }
    for key in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        if let Some(Value::Array(members)) = object.get_mut(key) {
            members.iter_mut().for_each(|member| clean(member, nulls));
        }
    }
}

fn is_rust_number(format: &str) -> bool {
    matches!(format, "float" | "double") || format.trim_start_matches('u').starts_with("int")
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "null") || schema.get("const").is_some_and(Value::is_null)
}

/// `T` or `null` becomes `T`.
pub(super) fn without_null(schema: &mut Value) {
    let Value::Object(object) = schema else { return };
    if let Some(Value::Array(kinds)) = object.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [only] = kinds.as_slice() {
            let only = only.clone();
            object.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    for key in ["anyOf", "oneOf"] {
        let Some(Value::Array(arms)) = object.get_mut(key) else { continue };
        arms.retain(|arm| !is_null(arm));
        if let [Value::Object(only)] = arms.as_slice() {
            // What the property says of itself (its description, say) wins over what the type says.
            let mut merged: Map<String, Value> = only.clone();
            object.remove(key);
            merged.append(object);
            *object = merged;
        }
    }
    if object.get("default").is_some_and(Value::is_null) {
        object.remove("default");
    }
}
