use std::fmt::Write;

use serde_json::{Map, Value};

/// Turns `oneOf` of plain texts into one `enum`.
///
/// That is what schemars writes for an enum whose variants have doc comments. Clients show an `enum` as a choice, while
/// many know neither `oneOf` nor `const`; what the variants say goes into the description, where the model reads it.
pub(super) fn list_choices(object: &mut Map<String, Value>) {
    let Some(arms) = object.get("oneOf").and_then(Value::as_array) else { return };
    let Some(choices) = arms.iter().map(choices).collect::<Option<Vec<_>>>() else { return };
    let mut description = object.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut values = Vec::new();
    for (texts, said) in choices {
        if let Some(said) = said {
            let gap = if description.is_empty() || description.ends_with('\n') { "" } else { "\n\n" };
            for text in &texts {
                let _ = writeln!(description, "{gap}- `{text}`: {said}");
            }
        }
        values.extend(texts.into_iter().map(Value::from));
    }
    object.shift_remove("oneOf");
    object.insert("type".into(), "string".into());
    object.insert("enum".into(), values.into());
    if !description.is_empty() {
        object.insert("description".into(), description.trim_end().into());
    }
}

/// The texts that an arm allows, and what it says of them; `None` if it is anything else.
fn choices(arm: &Value) -> Option<(Vec<String>, Option<String>)> {
    let arm = arm.as_object()?;
    let known = |key: &String| ["type", "const", "enum", "description", "deprecated"].contains(&key.as_str());
    if !arm.keys().all(known) {
        return None;
    }
    let texts = match (arm.get("const"), arm.get("enum")) {
        (Some(Value::String(text)), None) => vec![text.clone()],
        (None, Some(Value::Array(values))) => {
            values.iter().map(|value| value.as_str().map(str::to_owned)).collect::<Option<_>>()?
        }
        _ => return None,
    };
    Some((texts, arm.get("description").and_then(Value::as_str).map(|said| said.replace('\n', " "))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn listed(mut schema: Value) -> Value {
        list_choices(schema.as_object_mut().expect("an object"));
        schema
    }

    #[test]
    fn described_variants_are_an_enum_and_a_description() {
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
    fn variants_with_data_stay() {
        let schema = json!({ "oneOf": [{ "type": "string", "const": "a" }, { "type": "object", "properties": {} }] });
        assert_eq!(listed(schema.clone()), schema);
    }
}
