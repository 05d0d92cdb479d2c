use std::collections::BTreeMap;

use rejoinder_core::ask::Digest;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

/// What a call has got so far: the content of its state. Names are short because the client carries it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Progress {
    #[serde(rename = "v")]
    pub(super) version: u8,
    /// The answers that were given, by key.
    #[serde(rename = "a", default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) answers: BTreeMap<String, Given>,
    /// The questions that are out, by key.
    #[serde(rename = "q", default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) questions: BTreeMap<String, Open>,
    /// The steps that were taken, by key.
    #[serde(rename = "s", default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) steps: BTreeMap<String, Value>,
    /// What a function that makes its rounds by hand keeps.
    #[serde(rename = "k", default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub(super) kept: Option<Value>,
}

/// What is there is there, `null` included.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// An answer, and to which question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub(super) struct Given {
    pub(super) digest: Digest,
    pub(super) answer: Value,
}

/// A [`Given`] in the state. Most answers are forms that were accepted: of those, what they contain says it all.
#[derive(Serialize, Deserialize)]
struct Written {
    #[serde(rename = "d")]
    digest: Digest,
    #[serde(rename = "c", default, skip_serializing_if = "Option::is_none")]
    content: Option<Map<String, Value>>,
    #[serde(rename = "a", default, skip_serializing_if = "Option::is_none")]
    answer: Option<Value>,
}

impl From<Given> for Written {
    fn from(Given { digest, answer }: Given) -> Self {
        match answer {
            Value::Object(mut form) if is_plain(&form) => match form.remove("content") {
                Some(Value::Object(content)) => Self { digest, content: Some(content), answer: None },
                _ => unreachable!("a plain form has a content"),
            },
            answer => Self { digest, content: None, answer: Some(answer) },
        }
    }
}

/// Whether it is a form that was accepted, and nothing else.
fn is_plain(answer: &Map<String, Value>) -> bool {
    let has = |name: &str, test: fn(&Value) -> bool| answer.get(name).is_some_and(test);
    answer.len() == 2 && has("action", |action| action == "accept") && has("content", Value::is_object)
}

impl From<Written> for Given {
    fn from(Written { digest, content, answer }: Written) -> Self {
        let form = content.map(|content| json!({ "action": "accept", "content": content }));
        // Without either, it is an answer that nobody can use, and so one that is asked for again.
        Self { digest, answer: form.or(answer).unwrap_or_default() }
    }
}

/// A question that is out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Open {
    #[serde(rename = "d")]
    pub(super) digest: Digest,
    /// How many answers to it could not be used.
    #[serde(rename = "n", default, skip_serializing_if = "is_zero")]
    pub(super) bad: u8,
    /// How many answers came for other words than it has now.
    #[serde(rename = "c", default, skip_serializing_if = "is_zero")]
    pub(super) reworded: u8,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u8) -> bool {
    *number == 0
}

const VERSION: u8 = 1;

impl Default for Progress {
    fn default() -> Self {
        Self {
            version: VERSION,
            answers: BTreeMap::new(),
            questions: BTreeMap::new(),
            steps: BTreeMap::new(),
            kept: None,
        }
    }
}

impl Progress {
    /// Reads a state that was sealed here or by another build: one that is not understood is no progress, and the
    /// user is asked again.
    pub(crate) fn read(state: &[u8]) -> Self {
        serde_json::from_slice(state).ok().filter(|progress: &Self| progress.version == VERSION).unwrap_or_default()
    }

    pub(crate) fn write(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("strings and JSON serialise")
    }
}

#[cfg(test)]
mod tests {
    use rejoinder_core::ask::Question;

    use super::*;

    fn with(answer: Value) -> Progress {
        let given = Given { digest: Question::Roots.digest(), answer };
        Progress { answers: BTreeMap::from([("key".to_owned(), given)]), ..Progress::default() }
    }

    #[test]
    fn every_answer_comes_back_as_it_was() {
        for answer in [
            json!({ "action": "accept", "content": { "yes": true } }),
            json!({ "action": "accept", "content": {} }),
            json!({ "action": "accept", "content": null }),
            json!({ "action": "accept" }),
            json!({ "action": "accept", "content": {}, "_meta": {} }),
            json!({ "action": "decline", "content": {} }),
            json!({ "roots": [] }),
        ] {
            let progress = with(answer);
            assert_eq!(Progress::read(&progress.write()), progress);
        }
    }

    #[test]
    fn what_is_kept_comes_back_as_it_was() {
        for kept in [None, Some(Value::Null), Some(json!({ "stage": 2 }))] {
            let progress = Progress { kept, ..Progress::default() };
            assert_eq!(Progress::read(&progress.write()), progress);
        }
    }

    #[test]
    fn what_another_build_has_written_is_no_progress() {
        let steps = BTreeMap::from([("charge".to_owned(), json!(100))]);
        let known = Progress { steps, ..Progress::default() };
        assert_eq!(Progress::read(&known.write()), known);
        let newer = Progress { version: VERSION + 1, ..known };
        for state in [newer.write(), b"{}".to_vec(), br#"{"v":1,"s":[]}"#.to_vec(), b"not JSON".to_vec()] {
            assert_eq!(Progress::read(&state), Progress::default(), "{}", String::from_utf8_lossy(&state));
        }
    }

    #[test]
    fn of_an_accepted_form_only_the_content_is_kept() {
        let progress = with(json!({ "action": "accept", "content": { "yes": true } }));
        let written = String::from_utf8(progress.write()).unwrap();
        let digest = format!("{:?}", Question::Roots.digest());
        assert_eq!(written.replace(&digest, "words"), r#"{"v":1,"a":{"key":{"d":"words","c":{"yes":true}}}}"#);
    }
}
