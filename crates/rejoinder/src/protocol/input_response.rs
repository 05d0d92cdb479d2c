use serde_json::{Map, Value};

use super::{RpcError, error::shortened};
use crate::rounds::Answers;

/// The answers of a round, by key. Whether one is of use is for its question to say; here it is an answer at all, to a
/// question of some kind.
pub(super) fn input_responses(raw: &str) -> Result<Answers, RpcError> {
    let answers: Answers = serde_json::from_str(raw).map_err(|error| {
        RpcError::invalid_params(format!(
            "`params.inputResponses` must be an object, not `{}`: {error}",
            shortened(raw)
        ))
    })?;
    if let Some((key, answer)) = answers.iter().find(|(_, answer)| !is_answer(answer)) {
        return Err(RpcError::invalid_params(format!(
            "`params.inputResponses` has no answer under `{}`: it is what the user did with a form, such as \
             `{{\"action\":\"accept\",\"content\":{{..}}}}`, a sample of a model or a list of roots, not `{}`",
            shortened(key),
            shortened(&answer.to_string())
        )));
    }
    Ok(answers)
}

fn is_answer(answer: &Value) -> bool {
    answer.as_object().is_some_and(|answer| is_elicited(answer) || is_sample(answer) || is_roots(answer))
}

/// What a user did with a form, and what they wrote into it: texts, numbers, yes or no, and choices.
fn is_elicited(answer: &Map<String, Value>) -> bool {
    let flat = |value: &Value| match value {
        Value::Object(_) => false,
        Value::Array(choices) => choices.iter().all(Value::is_string),
        _ => true,
    };
    let content = match answer.get("content") {
        None | Some(Value::Null) => true,
        Some(content) => content.as_object().is_some_and(|content| content.values().all(flat)),
    };
    content && matches!(answer.get("action").and_then(Value::as_str), Some("accept" | "decline" | "cancel"))
}

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

/// Folders of the client's own machine.
fn is_roots(answer: &Map<String, Value>) -> bool {
    let is_root = |root: &Value| root["uri"].as_str().is_some_and(|uri| uri.starts_with("file://"));
    answer.get("roots").and_then(Value::as_array).is_some_and(|roots| roots.iter().all(is_root))
}
