//! `inputResponses`: the answers to the questions of the last round.

use std::{borrow::Cow, collections::BTreeSet, sync::Arc};

use serde::{Deserialize, de::IgnoredAny};
use serde_json::value::RawValue;

use super::{RpcError, error::shortened, meta::read_object};
use crate::{
    argument::{Members, without_position},
    call::InputResponses,
    server::Refusal,
};

/// The answers of a round, by key. Each is an answer to some kind of question; whether it fits its question is checked
/// when that is asked. Until then it stays JSON text, which takes less memory than its values.
pub(super) fn input_responses(raw: &RawValue, limit: usize) -> Result<InputResponses, RpcError> {
    let (responses, others) = sorted_responses(raw, limit)?;
    match others.into_iter().next() {
        Some((key, answer)) => {
            let (refusal, answer) = (Refusal::InvalidAnswer(key), shortened(answer.get()));
            Err(RpcError::invalid_params(format!("{refusal}, got `{answer}`")))
        }
        None => Ok(responses),
    }
}

/// The answers in an update of a task, and what answers no kind of question: under the key of a question that is not open
/// it is ignored, as any answer is.
pub(super) fn sorted_responses(raw: &RawValue, limit: usize) -> Result<(InputResponses, InputResponses), RpcError> {
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
    let (mut responses, mut others) = (InputResponses::new(), InputResponses::new());
    for (key, answer) in answers {
        let (key, answer): (Arc<str>, &RawValue) = (Arc::from(&*key), answer);
        if responses.contains_key(&key) || others.contains_key(&key) {
            let key = shortened(&key);
            return Err(RpcError::invalid_params(format!("`params.inputResponses` has `{key}` twice")));
        }
        let sorted = if is_answer(answer) { &mut responses } else { &mut others };
        sorted.insert(key, answer.to_owned());
    }
    Ok((responses, others))
}

/// What the results of an elicitation, of sampling and of `roots/list` have. Serde refuses fields that occur twice.
#[derive(Deserialize)]
struct WireAnswer<'a> {
    #[serde(borrow)]
    action: Option<Cow<'a, str>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    model: Option<IgnoredAny>,
    role: Option<IgnoredAny>,
    #[serde(borrow)]
    roots: Option<Vec<WireRoot<'a>>>,
}

#[derive(Deserialize)]
struct WireRoot<'a> {
    #[serde(borrow)]
    uri: Cow<'a, str>,
}

fn is_answer(raw: &RawValue) -> bool {
    let is_sample =
        |answer: &WireAnswer<'_>| answer.model.is_some() && answer.role.is_some() && answer.content.is_some();
    read_object(raw).is_some_and(|answer: WireAnswer<'_>| match answer.action.as_deref() {
        Some("accept" | "decline" | "cancel") => answer.content.is_none_or(is_form),
        Some(_) => false,
        None => match &answer.roots {
            Some(roots) => roots.iter().all(|root| root.uri.starts_with("file://")),
            None => is_sample(&answer),
        },
    })
}

/// Whether it is an object without objects, in which no field occurs twice.
fn is_form(content: &RawValue) -> bool {
    serde_json::from_str(content.get()).is_ok_and(|Members(fields): Members<'_, &RawValue>| {
        let names: BTreeSet<_> = fields.iter().map(|(name, _)| name).collect();
        names.len() == fields.len() && fields.iter().all(|(_, value)| !value.get().starts_with('{'))
    })
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
