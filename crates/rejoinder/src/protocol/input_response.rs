//! `inputResponses`: the answers to the questions of the last round.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{RpcError, error::shortened, meta::read_object};
use crate::call::{InputResponses, Members, without_position};

/// The answers of a round, by key. Each is an answer to some kind of question; whether it fits its question is checked
/// when that is asked. Until then it stays JSON text, which takes less memory than its values.
pub(super) fn input_responses(raw: &RawValue, limit: usize) -> Result<InputResponses, RpcError> {
    if raw.get().len() > limit {
        return Err(RpcError::invalid_params(format!(
            "`params.inputResponses` is larger than {limit} bytes, the limit of this server"
        )));
    }
    let Members(answers) = serde_json::from_str(raw.get()).map_err(|error| {
        let error = error.to_string();
        let error = without_position(&error);
        RpcError::invalid_params(format!("`params.inputResponses` must be an object of answers: {error}"))
    })?;
    let mut responses = BTreeMap::new();
    for (key, answer) in answers {
        let answer: &RawValue = answer;
        if !is_answer(answer) {
            return Err(RpcError::invalid_params(format!(
                "`params.inputResponses` has an invalid answer under `{}`: expected the result of an elicitation, such as \
                 `{{\"action\":\"accept\",\"content\":{{..}}}}`, of sampling or of `roots/list`, got `{}`",
                shortened(&key),
                shortened(answer.get())
            )));
        }
        if responses.insert(Arc::from(&*key), answer.to_owned()).is_some() {
            let key = shortened(&key);
            return Err(RpcError::invalid_params(format!("`params.inputResponses` has `{key}` twice")));
        }
    }
    Ok(responses)
}

/// What the result of an elicitation, of sampling or of `roots/list` has. Serde refuses fields that occur twice.
#[derive(Deserialize)]
struct WireAnswer<'a> {
    #[serde(borrow)]
    action: Option<Cow<'a, str>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    model: Option<Cow<'a, str>>,
    #[serde(borrow)]
    role: Option<Cow<'a, str>>,
    #[serde(borrow)]
    roots: Option<Vec<WireRoot<'a>>>,
}

#[derive(Deserialize)]
struct WireRoot<'a> {
    #[serde(borrow)]
    uri: Cow<'a, str>,
}

#[derive(Deserialize)]
struct WireBlock<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
}

fn is_answer(raw: &RawValue) -> bool {
    read_object(raw).is_some_and(|answer: WireAnswer<'_>| {
        is_elicited(&answer) || is_sample(&answer) || answer.roots.as_ref().is_some_and(|roots| are_roots(roots))
    })
}

/// The result of an elicitation. No field of its form occurs twice.
fn is_elicited(answer: &WireAnswer<'_>) -> bool {
    let content = answer.content.is_none_or(|content| {
        content.get() == "null"
            || serde_json::from_str(content.get()).is_ok_and(|Members(fields): Members<'_, &RawValue>| {
                let names: std::collections::BTreeSet<_> = fields.iter().map(|(name, _)| name).collect();
                names.len() == fields.len() && fields.iter().all(|(_, value)| is_flat(value))
            })
    });
    content && matches!(answer.action.as_deref(), Some("accept" | "decline" | "cancel"))
}

/// A value that a form can have: a string, a number, a boolean, or a list of choices.
fn is_flat(value: &RawValue) -> bool {
    match value.get().as_bytes() {
        [b'{', ..] => false,
        [b'[', ..] => serde_json::from_str::<Vec<Cow<'_, str>>>(value.get()).is_ok(),
        _ => true,
    }
}

/// The result of sampling.
fn is_sample(answer: &WireAnswer<'_>) -> bool {
    let is_block = |block: &RawValue| {
        read_object(block).is_some_and(|block: WireBlock<'_>| {
            matches!(&*block.kind, "text" | "image" | "audio" | "tool_use" | "tool_result")
        })
    };
    let content = answer.content.is_some_and(|content| match serde_json::from_str::<Vec<&RawValue>>(content.get()) {
        Ok(blocks) => blocks.into_iter().all(is_block),
        Err(_) => is_block(content),
    });
    content && answer.model.is_some() && matches!(answer.role.as_deref(), Some("user" | "assistant"))
}

/// The result of `roots/list`.
fn are_roots(roots: &[WireRoot<'_>]) -> bool {
    roots.iter().all(|root| root.uri.starts_with("file://"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(json: &str) -> String {
        let raw = serde_json::from_str(json).expect("JSON");
        input_responses(raw, 1000).expect_err(json).message.into_owned()
    }

    #[test]
    fn unreadable_answers_are_refused() {
        for (json, expected) in [
            ("[]", "invalid type: sequence, expected an object"),
            ("5", "invalid type: integer `5`, expected an object"),
            (r#"{"\ud800":{}}"#, "unexpected end of hex escape"),
            (r#"{"\ud800":{"action":"decline"},"sure":{"action":"decline"}}"#, "unexpected end of hex escape"),
        ] {
            assert_eq!(refusal(json), format!("`params.inputResponses` must be an object of answers: {expected}"));
        }
    }

    #[test]
    fn a_l16_what_occurs_twice_is_refused() {
        let yes = r#"{"action":"accept","content":{"yes":true}}"#;
        let twice = refusal(&format!(r#"{{"sure":{{"action":"decline"}},"s\u0075re":{yes}}}"#));
        assert_eq!(twice, "`params.inputResponses` has `sure` twice");
        for answer in [
            r#"{"action":"decline","action":"accept","content":{}}"#,
            r#"{"action":"accept","content":{},"content":{"yes":true}}"#,
            r#"{"action":"accept","content":{"yes":false,"yes":true}}"#,
        ] {
            assert!(refusal(&format!(r#"{{"sure":{answer}}}"#)).contains("an invalid answer under `sure`"), "{answer}");
        }
    }

    #[test]
    fn what_is_too_large_is_not_read() {
        let large = format!("{{{}}}", vec![r#""":0"#; 1000].join(","));
        assert_eq!(refusal(&large), "`params.inputResponses` is larger than 1000 bytes, the limit of this server");
    }
}
