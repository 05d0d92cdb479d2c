//! Rewrites what schemars generates into what clients accept.

use std::fmt::Write;

use schemars::{
    Schema,
    transform::{RecursiveTransform, Transform, transform_subschemas},
};
use serde_json::{Map, Value, json};

use super::{Number, variants::Variants};

/// Cleans the schema of what a client sends.
///
/// * An object says which properties are required, even if none is: OpenAI's strict mode needs the keyword.
/// * Alternatives are `anyOf`, and a constant is an `enum` of one value: OpenAI refuses `oneOf`, and Gemini `const`.
/// * The `uniqueItems` of a set is removed: OpenAI's strict mode refuses it, and a Rust set ignores what comes twice. One that the
///   author wrote stays.
/// * A tuple has `items` beside `prefixItems`: OpenAI and Gemini refuse an array without it.
/// * An optional property is not a union with `null`, because many clients refuse type unions.
/// * An enum without data is one `enum`, even if its variants have descriptions.
/// * A schema that allows anything is `{}` instead of `true`.
pub(crate) fn clean_input(schema: &mut Value, enums: &[Variants]) {
    transform(schema, &mut Clean { input: Some(enums) });
}

/// Cleans the schema of what a server sends, as [`clean_input`] does, but keeps `null`: clients check results against it.
pub(crate) fn clean_output(schema: &mut Value) {
    transform(schema, &mut Clean { input: None });
    drop_number_formats(schema);
}

fn transform(schema: &mut Value, transform: &mut impl Transform) {
    if let Ok(schema) = schema.try_into() {
        transform.transform(schema);
    }
}

struct Clean<'a> {
    /// The enums of a type of input, which say in which order its values are listed.
    input: Option<&'a [Variants]>,
}

impl Transform for Clean<'_> {
    fn transform(&mut self, schema: &mut Schema) {
        let is_input = self.input.is_some();
        if schema.as_bool() == Some(true) {
            *schema = Schema::default();
        }
        let Some(object) = schema.as_object_mut() else { return };
        let required = object.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        if let Some(Value::Object(properties)) = object.get_mut("properties").filter(|_| is_input) {
            let optional = properties.iter_mut().filter(|(name, _)| !required.iter().any(|required| required == *name));
            optional.for_each(|(_, property)| without_null(property));
        }
        transform_subschemas(self, schema);
        let Some(object) = schema.as_object_mut() else { return };
        // Every client expects `true` here.
        if object.get("additionalProperties").is_some_and(|any| *any == json!({})) {
            object.insert("additionalProperties".into(), true.into());
        }
        if is_input && object.contains_key("properties") && !object.contains_key("required") {
            object.insert("required".into(), json!([]));
        }
        describe_items(object);
        list_choices(object, self.input.unwrap_or_default());
        if is_input {
            // schemars writes that of a set before the items; an attribute of the author comes after them.
            let place = |keyword| object.keys().position(|key| key == keyword);
            if place("uniqueItems") < place("items") {
                object.shift_remove("uniqueItems");
            }
            for (key, other) in [("const", "enum"), ("oneOf", "anyOf")] {
                if !object.contains_key(other)
                    && let Some(value) = object.shift_remove(key)
                {
                    object.insert(other.into(), if key == "const" { json!([value]) } else { value });
                }
            }
        }
    }
}

/// Adds the `items` of a tuple. They allow nothing new, because the length of a tuple is fixed.
fn describe_items(object: &mut Map<String, Value>) {
    let Some(Value::Array(places)) = object.get("prefixItems").filter(|_| !object.contains_key("items")) else {
        return;
    };
    let mut kinds: Vec<Value> = Vec::new();
    for place in places {
        let mut place = place.clone();
        drop_number_formats(&mut place);
        if !kinds.contains(&place) {
            kinds.push(place);
        }
    }
    let items = if let [only] = kinds.as_slice() { only.clone() } else { json!({ "anyOf": kinds }) };
    object.insert("items".into(), items);
}

/// Removes the `format` of numbers (`int64`, `uint8`, `double`, ..): it is not a format of JSON Schema. The bounds stay.
pub(crate) fn drop_number_formats(schema: &mut Value) {
    let drop_format = |schema: &mut Schema| {
        if let Some(object) = schema.as_object_mut()
            && object.get("format").and_then(Value::as_str).and_then(Number::bounds_of).is_some()
        {
            object.shift_remove("format");
        }
    };
    transform(schema, &mut RecursiveTransform(drop_format));
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "null") || schema.get("const").is_some_and(Value::is_null)
}

/// `T` or `null` becomes `T`.
pub(crate) fn without_null(schema: &mut Value) {
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
            // Keywords of the property, such as its description, win over those of the type.
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

/// Turns a `oneOf` of strings into one `enum`.
///
/// Schemars writes `oneOf` for an enum whose variants have doc comments. Clients show an `enum` as a choice, while many do
/// not support `oneOf` and `const`. The doc comments go into the description, where the model reads them.
fn list_choices(object: &mut Map<String, Value>, enums: &[Variants]) {
    let Some(arms) = object.get("oneOf").and_then(Value::as_array) else { return };
    let Some(choices) = arms.iter().map(choices).collect::<Option<Vec<_>>>() else { return };
    let mut choices = choices.concat();
    let place = |variants: &Variants, text: &str| variants.iter().position(|variant| *variant == text);
    if let Some(variants) =
        enums.iter().find(|variants| choices.iter().all(|(text, _)| place(variants, text).is_some()))
    {
        choices.sort_by_key(|(text, _)| place(variants, text));
    }
    let mut description = object.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut values = Vec::new();
    for (text, about) in choices {
        if let Some(about) = about {
            let gap = if description.is_empty() || description.ends_with('\n') { "" } else { "\n\n" };
            let _ = writeln!(description, "{gap}- `{text}`: {about}");
        }
        values.push(Value::from(text));
    }
    object.shift_remove("oneOf");
    object.insert("type".into(), "string".into());
    object.insert("enum".into(), values.into());
    if !description.is_empty() {
        object.insert("description".into(), description.trim_end().into());
    }
}

/// The strings that an arm allows, each with its description; `None` if the arm is anything else.
fn choices(arm: &Value) -> Option<Vec<(String, Option<String>)>> {
    let arm = arm.as_object()?;
    let known = |key: &String| ["type", "const", "enum", "description", "deprecated"].contains(&key.as_str());
    if !arm.keys().all(known) {
        return None;
    }
    let texts = match (arm.get("const"), arm.get("enum")) {
        (Some(text), None) => std::slice::from_ref(text),
        (None, Some(Value::Array(texts))) => texts.as_slice(),
        _ => return None,
    };
    let about = arm.get("description").and_then(Value::as_str).map(|about| about.replace('\n', " "));
    texts.iter().map(|text| Some((text.as_str()?.to_owned(), about.clone()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(mut schema: Value) -> Value {
        clean_input(&mut schema, &[]);
        drop_number_formats(&mut schema);
        schema
    }

    #[test]
    fn only_an_optional_property_loses_its_null() {
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
            json!({ "properties": { "a": { "$ref": "#/$defs/Tree", "description": "mine" } }, "required": [] }),
        );
    }

    #[test]
    fn a_result_keeps_its_null() {
        let sent = json!({ "properties": { "a": { "type": ["string", "null"] } } });
        let mut schema = sent.clone();
        clean_output(&mut schema);
        assert_eq!(schema, sent);
    }

    #[test]
    fn only_formats_of_rust_numbers_are_removed() {
        assert_eq!(
            input(json!({ "items": { "type": "integer", "format": "uint8", "maximum": 255 } })),
            json!({ "items": { "type": "integer", "maximum": 255 } }),
        );
        for format in ["date-time", "int-or-string", "interval"] {
            assert_eq!(input(json!({ "format": format })), json!({ "format": format }));
        }
        let values = json!({ "default": { "format": "uint8" }, "properties": { "default": { "type": "integer" } }, "required": [] });
        assert_eq!(input(values.clone()), values);
    }

    #[test]
    fn anything_is_an_empty_schema() {
        assert_eq!(
            input(json!({ "properties": { "a": true }, "items": true, "additionalProperties": true })),
            json!({ "properties": { "a": {} }, "items": {}, "additionalProperties": true, "required": [] }),
        );
    }

    #[test]
    fn alternatives_are_any_of_and_a_constant_is_an_enum() {
        let tagged =
            |kind: &str| json!({ "properties": { "kind": { "type": "string", "const": kind } }, "required": ["kind"] });
        let cleaned = |kind: &str| json!({ "properties": { "kind": { "type": "string", "enum": [kind] } }, "required": ["kind"] });
        assert_eq!(
            input(json!({ "oneOf": [tagged("a"), tagged("b")] })),
            json!({ "anyOf": [cleaned("a"), cleaned("b")] }),
        );
    }

    #[test]
    fn a_tuple_has_items() {
        let (text, number) = (json!({ "type": "string" }), json!({ "type": "number" }));
        for (places, items) in [
            (json!([text, number]), json!({ "anyOf": [text, number] })),
            (json!([number, text, number]), json!({ "anyOf": [number, text] })),
            (json!([text, text]), text.clone()),
        ] {
            assert_eq!(input(json!({ "prefixItems": places }))["items"], items);
        }
        let given = json!({ "prefixItems": [text], "items": false });
        assert_eq!(input(given.clone()), given);
    }

    fn listed(mut schema: Value) -> Value {
        list_choices(schema.as_object_mut().expect("an object"), &[]);
        schema
    }

    #[test]
    fn descriptions_of_variants_go_into_the_description_of_the_enum() {
        let arms = json!([
            { "type": "string", "enum": ["blue"] },
            { "type": "string", "const": "red", "description": "Of blood." },
            { "type": "string", "const": "green", "description": "Of\ngrass." },
        ]);
        assert_eq!(
            listed(json!({ "description": "A color.", "oneOf": arms })),
            json!({
                "type": "string",
                "enum": ["blue", "red", "green"],
                "description": "A color.\n\n- `red`: Of blood.\n- `green`: Of grass.",
            }),
        );
    }

    #[test]
    fn variants_are_listed_in_the_order_of_their_declaration() {
        let arms = json!([
            { "type": "string", "enum": ["blue"] },
            { "type": "string", "const": "red", "description": "Of blood." },
            { "type": "string", "const": "green", "description": "Of grass." },
        ]);
        let mut schema = json!({ "oneOf": arms });
        clean_input(&mut schema, &[&["small", "large"], &["red", "blue", "green"]]);
        assert_eq!(schema["enum"], json!(["red", "blue", "green"]));
        assert_eq!(schema["description"], "- `red`: Of blood.\n- `green`: Of grass.");
    }

    #[test]
    fn an_enum_with_data_stays_as_it_is() {
        let schema = json!({ "oneOf": [{ "type": "string", "const": "a" }, { "type": "object", "properties": {} }] });
        assert_eq!(listed(schema.clone()), schema);
    }
}
