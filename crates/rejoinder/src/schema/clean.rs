use serde_json::{Map, Value, json};

use super::choices::list_choices;

/// Makes the schema of what a client sends one that clients accept.
///
/// * A property that may be left out is not also a union with `null`: many clients refuse type unions.
/// * An enum of plain names is one `enum`, also where its variants have descriptions.
/// * Rust's number types (`int64`, `uint8`, `double`, ..) are no JSON Schema formats; their bounds stay.
/// * What may be anything is `{}` and not `true`.
pub(crate) fn clean_input(schema: &mut Value) {
    clean(schema, true);
}

/// Makes the schema of what a server sends one that clients accept.
///
/// As [`clean_input`], but `null` stays where it may be sent: clients check results against their schema.
pub(crate) fn clean_output(schema: &mut Value) {
    clean(schema, false);
}

fn clean(schema: &mut Value, optional_without_null: bool) {
    if *schema == Value::Bool(true) {
        *schema = json!({});
    }
    let Value::Object(object) = schema else { return };
    if object.get("format").and_then(Value::as_str).is_some_and(is_rust_number) {
        object.shift_remove("format");
    }
    let required = object.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        for (name, property) in properties {
            if optional_without_null && !required.iter().any(|required| required == name) {
                without_null(property);
            }
            clean(property, optional_without_null);
        }
    }
    for key in ["$defs", "patternProperties"] {
        if let Some(Value::Object(members)) = object.get_mut(key) {
            members.values_mut().for_each(|member| clean(member, optional_without_null));
        }
    }
    for key in ["items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"] {
        // `additionalProperties: true` is how everybody writes it.
        if let Some(member) = object.get_mut(key).filter(|member| !member.is_boolean() || key == "items") {
            clean(member, optional_without_null);
        }
    }
    for key in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        if let Some(Value::Array(members)) = object.get_mut(key) {
            members.iter_mut().for_each(|member| clean(member, optional_without_null));
        }
    }
    list_choices(object);
}

fn is_rust_number(format: &str) -> bool {
    let integer = format.strip_prefix('u').unwrap_or(format).strip_prefix("int");
    matches!(format, "float" | "double") || integer.is_some_and(|bits| bits.bytes().all(|bit| bit.is_ascii_digit()))
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
            object.shift_remove(key);
            merged.append(object);
            *object = merged;
        }
    }
    if object.get("default").is_some_and(Value::is_null) {
        object.shift_remove("default");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(mut schema: Value) -> Value {
        clean_input(&mut schema);
        schema
    }

    #[test]
    fn only_what_may_be_left_out_loses_its_null() {
        let union = json!({ "type": ["string", "null"] });
        assert_eq!(
            input(json!({ "properties": { "a": union, "b": union }, "required": ["b"], "items": union })),
            json!({ "properties": { "a": { "type": "string" }, "b": union }, "required": ["b"], "items": union }),
        );
    }

    #[test]
    fn a_reference_or_null_becomes_the_reference_and_keeps_its_own_description() {
        let union = json!({ "anyOf": [{ "$ref": "#/$defs/Tree" }, { "type": "null" }], "description": "mine" });
        assert_eq!(
            input(json!({ "properties": { "a": union } })),
            json!({ "properties": { "a": { "$ref": "#/$defs/Tree", "description": "mine" } } }),
        );
    }

    #[test]
    fn what_is_sent_keeps_its_null() {
        let sent = json!({ "properties": { "a": { "type": ["string", "null"] } } });
        let mut schema = sent.clone();
        clean_output(&mut schema);
        assert_eq!(schema, sent);
    }

    #[test]
    fn rust_formats_go_and_others_stay() {
        assert_eq!(
            input(json!({ "items": { "type": "integer", "format": "uint8", "maximum": 255 } })),
            json!({ "items": { "type": "integer", "maximum": 255 } }),
        );
        for format in ["date-time", "int-or-string", "interval"] {
            assert_eq!(input(json!({ "format": format })), json!({ "format": format }));
        }
    }

    #[test]
    fn anything_is_an_empty_schema() {
        assert_eq!(
            input(json!({ "properties": { "a": true }, "items": true, "additionalProperties": true })),
            json!({ "properties": { "a": {} }, "items": {}, "additionalProperties": true }),
        );
    }
}
