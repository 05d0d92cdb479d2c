//! `inputResponses`: the answers to the questions of the last round.

use std::sync::Arc;

use serde_json::{Map, Value, value::RawValue};

use super::{RpcError, error::shortened};
use crate::{
    ask::RawAnswer,
    call::{InputResponses, without_position},
};

/// The answers of a round, by key. Each is an answer to some kind of question; whether it fits its question is checked
/// when that is asked.
pub(super) fn input_responses(raw: &RawValue) -> Result<InputResponses, RpcError> {
    let answers: Map<String, Value> = serde_json::from_str(raw.get()).map_err(|error| {
        let error = error.to_string();
        let error = without_position(&error);
        RpcError::invalid_params(format!("`params.inputResponses` must be an object of answers: {error}"))
    })?;
    if let Some((key, answer)) = answers.iter().find(|(_, answer)| !is_answer(answer)) {
        return Err(RpcError::invalid_params(format!(
            "`params.inputResponses` has an invalid answer under `{}`: expected the result of an elicitation, such as \
             `{{\"action\":\"accept\",\"content\":{{..}}}}`, of sampling or of `roots/list`, got `{}`",
            shortened(key),
            shortened(&answer.to_string())
        )));
    }
    Ok(answers.into_iter().map(|(key, answer)| (Arc::from(key), Arc::new(RawAnswer::from(answer)))).collect())
}

fn is_answer(answer: &Value) -> bool {
    answer.as_object().is_some_and(|answer| is_elicited(answer) || is_sample(answer) || is_roots(answer))
}

/// A value that a form can have: a string, a number, a boolean, or a list of choices.
fn is_flat(value: &Value) -> bool {
    match value {
        Value::Object(_) => false,
        Value::Array(choices) => choices.iter().all(Value::is_string),
        _ => true,
    }
}

/// The result of an elicitation.
fn is_elicited(answer: &Map<String, Value>) -> bool {
    let content = match answer.get("content") {
        None | Some(Value::Null) => true,
        Some(content) => content.as_object().is_some_and(|content| content.values().all(is_flat)),
    };
    content && matches!(answer.get("action").and_then(Value::as_str), Some("accept" | "decline" | "cancel"))
}

/// The result of sampling.
fn is_sample(answer: &Map<String, Value>) -> bool {
    let text = |field: &str| answer.get(field).and_then(Value::as_str);
    let is_block =
        |block: &Value| matches!(block["type"].as_str(), Some("text" | "image" | "audio" | "tool_use" | "tool_result"));
    let content = answer.get("content").is_some_and(|content| match content {
        Value::Array(blocks) => blocks.iter().all(is_block),
        block => is_block(block),
    });
    content && text("model").is_some() && matches!(text("role"), Some("user" | "assistant"))
}

/// The result of `roots/list`.
fn is_roots(answer: &Map<String, Value>) -> bool {
    let is_root = |root: &Value| root["uri"].as_str().is_some_and(|uri| uri.starts_with("file://"));
    answer.get("roots").and_then(Value::as_array).is_some_and(|roots| roots.iter().all(is_root))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreadable_answers_are_refused() {
        for (json, expected) in [
            ("[]", "invalid type: sequence, expected a map"),
            ("5", "invalid type: integer `5`, expected a map"),
            (r#"{"\ud800":{}}"#, "unexpected end of hex escape"),
            (r#"{"sure":1e999}"#, "number out of range"),
            (r#"{"\ud800":{"action":"decline"},"sure":{"action":"decline"}}"#, "unexpected end of hex escape"),
        ] {
            let raw = serde_json::from_str(json).expect("JSON");
            let expected = format!("`params.inputResponses` must be an object of answers: {expected}");
            assert_eq!(input_responses(raw).unwrap_err().message, expected);
        }
    }
}
