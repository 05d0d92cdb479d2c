use std::sync::Arc;

use crate::ask::RawAnswer;
use serde_json::{Map, Value};

use super::{RpcError, error::shortened, scan::Scan};
use crate::rounds::Answers;

/// The answers of a round, by key. Whether one is of use is for its question to say; here it is an answer at all, to a
/// question of some kind.
pub(super) fn input_responses(raw: &str) -> Result<Answers, RpcError> {
    let answers = read(&mut Scan::new(raw)).map_err(|unread| {
        let raw = shortened(raw);
        RpcError::invalid_params(match unread {
            Unread::NoObject => {
                format!("`params.inputResponses` must be an object with an answer under each key, not `{raw}`")
            }
            Unread::Key => format!("`params.inputResponses` has a key that is no text: `{raw}`"),
            Unread::Answer(key) => {
                format!(
                    "`params.inputResponses` has something that cannot be read under `{}`: `{raw}`",
                    shortened(&key)
                )
            }
        })
    })?;
    if let Some((key, answer)) = answers.iter().find(|(_, answer)| !is_answer(answer)) {
        return Err(RpcError::invalid_params(format!(
            "`params.inputResponses` has no answer under `{}`: it is what the user did with a form, such as \
             `{{\"action\":\"accept\",\"content\":{{..}}}}`, a sample of a model or a list of roots, not `{}`",
            shortened(key),
            shortened(&Value::from(RawAnswer::clone(answer)).to_string())
        )));
    }
    Ok(answers)
}

/// Why answers were not read.
#[derive(Debug)]
enum Unread {
    /// They are not in an object.
    NoObject,
    /// One of the keys is no text, such as half a surrogate pair.
    Key,
    /// What is under this key is no value, such as a number that is too large for any.
    Answer(String),
}

/// Reads what is JSON already.
fn read(scan: &mut Scan<'_>) -> Result<Answers, Unread> {
    if !scan.open() {
        return Err(Unread::NoObject);
    }
    let mut first = true;
    let answers = std::iter::from_fn(|| {
        let key = match scan.key(&mut first) {
            Ok(key) => key?,
            Err(_) => return Some(Err(Unread::Key)),
        };
        let answer =
            filled(scan).map_or_else(|| scan.value::<Value>().map(RawAnswer::from), |form| Ok(RawAnswer::Filled(form)));
        let answer = answer.map_err(|_| Unread::Answer(key.to_string()));
        Some(answer.map(|answer| (Arc::from(key), Arc::new(answer))))
    });
    answers.collect()
}

/// A form that was accepted, as nearly every answer is; for any other, the place is as it was.
fn filled(scan: &mut Scan<'_>) -> Option<Map<String, Value>> {
    let start = scan.clone();
    let content = try_filled(scan);
    if content.is_none() {
        *scan = start;
    }
    content
}

fn try_filled(scan: &mut Scan<'_>) -> Option<Map<String, Value>> {
    let (mut accepted, mut content, mut first) = (false, None, true);
    if !scan.open() {
        return None;
    }
    while let Some(key) = scan.key(&mut first).ok()? {
        match &*key {
            "action" if !accepted => accepted = (scan.string().ok()? == "accept").then_some(true)?,
            "content" if content.is_none() => content = Some(scan.value().ok()?),
            _ => return None,
        }
    }
    content.filter(|_| accepted)
}

fn is_answer(answer: &RawAnswer) -> bool {
    match answer {
        RawAnswer::Filled(content) => content.values().all(is_flat),
        RawAnswer::Other(answer) => {
            answer.as_object().is_some_and(|answer| is_elicited(answer) || is_sample(answer) || is_roots(answer))
        }
    }
}

/// What can be written into a form: texts, numbers, yes or no, and choices.
fn is_flat(value: &Value) -> bool {
    match value {
        Value::Object(_) => false,
        Value::Array(choices) => choices.iter().all(Value::is_string),
        _ => true,
    }
}

/// What a user did with a form, and what they wrote into it.
fn is_elicited(answer: &Map<String, Value>) -> bool {
    let content = match answer.get("content") {
        None | Some(Value::Null) => true,
        Some(content) => content.as_object().is_some_and(|content| content.values().all(is_flat)),
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_answer_is_read_as_serde_json_would(
            members in proptest::collection::vec(
                (
                    prop_oneof!["action", "content", "_meta", "act\\\\u0069on"],
                    prop_oneof![
                        Just(r#""accept""#), Just(r#""decline""#), Just(r#"{"yes":true}"#), Just(r#"{ "a" : [1, {}] }"#),
                        Just("{}"), Just("null"), Just("3"),
                    ],
                ),
                0..4,
            ),
        ) {
            let members: Vec<_> = members.iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
            let answer = format!(" {{ {} }} ", members.join(" , "));
            let expected: Value = serde_json::from_str(&answer).expect("JSON");
            let raw = format!(r#"{{ "first":{answer} ,"second":{answer}}}"#);
            let answers = read(&mut Scan::new(&raw)).expect("an object");
            let read: Vec<_> = answers.iter().map(|(key, answer)| (&**key, Value::from(RawAnswer::clone(answer)))).collect();
            prop_assert_eq!(read, [("first", expected.clone()), ("second", expected)]);
        }
    }

    #[test]
    fn a_key_that_is_no_text_is_refused_and_not_taken_for_the_end() {
        for raw in [r#"{"\ud800":{"action":"decline"},"sure":{"action":"decline"}}"#, r#"{"a":{}"#, "5", "[]"] {
            assert!(input_responses(raw).is_err(), "{raw}");
        }
    }

    #[test]
    fn what_is_no_set_of_answers_is_told_in_our_words() {
        for (raw, told) in [
            ("[]", "`params.inputResponses` must be an object with an answer under each key, not `[]`"),
            ("5", "`params.inputResponses` must be an object with an answer under each key, not `5`"),
            (r#"{"\ud800":{}}"#, r#"`params.inputResponses` has a key that is no text: `{"\ud800":{}}`"#),
            (
                r#"{"sure":1e999}"#,
                r#"`params.inputResponses` has something that cannot be read under `sure`: `{"sure":1e999}`"#,
            ),
        ] {
            assert_eq!(input_responses(raw).unwrap_err().message, told);
        }
    }
}
