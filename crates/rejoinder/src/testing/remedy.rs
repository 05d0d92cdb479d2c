use crate::{
    ask::Question,
    form::{ConfirmForm, Elicit, Form, TextForm},
    graph::Unasked,
};
use serde_json::{Map, Value, json};

/// What a test adds to its client to answer that, as it is written there.
pub(super) fn remedy(unasked: &Unasked) -> String {
    let Unasked { key, question, is_typed } = unasked;
    let with = |answer: Value| format!(".answer_with({key:?}, json!({answer}))");
    match question {
        Question::Form { form, .. } if *form == ConfirmForm::form() => {
            format!(".answer({key:?}, rejoinder::form::ConfirmForm {{ yes: true }})")
        }
        Question::Form { form, .. } if *form == TextForm::form() => {
            format!(".answer({key:?}, rejoinder::form::TextForm {{ text: \"..\".into() }})")
        }
        // There is no type of which the test could make a value.
        Question::Form { form, .. } if !is_typed => with(json!({ "action": "accept", "content": filled(form) })),
        Question::Visit { .. } => with(json!({ "action": "accept" })),
        Question::Sample(_) => {
            with(json!({ "role": "assistant", "content": { "type": "text", "text": ".." }, "model": ".." }))
        }
        Question::Roots => with(json!({ "roots": [{ "uri": "file:///.." }] })),
        _ => format!(".answer({key:?}, ..)"),
    }
}

/// The form with something in each field.
fn filled(form: &Form) -> Map<String, Value> {
    let schema = form.to_value();
    let fields = schema["properties"].as_object().into_iter().flatten();
    fields.map(|(name, field)| (name.clone(), example(field))).collect()
}

/// Something for a field: what it lists first, or else a value of its type, which may have to meet rules yet.
fn example(field: &Value) -> Value {
    let listed = [&field["default"], &field["enum"][0], &field["oneOf"][0]["const"], &field["anyOf"][0]["const"]];
    if let Some(value) = listed.into_iter().find(|value| !value.is_null()) {
        return value.clone();
    }
    match field["type"].as_str() {
        Some("boolean") => true.into(),
        Some("integer" | "number") => field.get("minimum").cloned().unwrap_or_else(|| 1.into()),
        Some("array") => Value::Array(vec![example(&field["items"])]),
        _ => "..".into(),
    }
}
