use std::sync::Arc;

use crate::ask::{Digest, RawAnswer};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::by_key::ByKey;

/// What a call has got so far: the content of its state. Names are short because the client carries it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Progress {
    #[serde(rename = "v")]
    pub(super) version: u8,
    /// The answers that were given, by key.
    #[serde(rename = "a", default, skip_serializing_if = "ByKey::is_empty")]
    pub(super) answers: ByKey<Given>,
    /// The questions that are out, by key.
    #[serde(rename = "q", default, skip_serializing_if = "ByKey::is_empty")]
    pub(super) questions: ByKey<Open>,
    /// The steps that were taken, by key.
    #[serde(rename = "s", default, skip_serializing_if = "ByKey::is_empty")]
    pub(super) steps: ByKey<Value>,
    /// What a function that makes its rounds by hand keeps.
    #[serde(rename = "k", default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub(super) kept: Option<Value>,
}

/// What is there is there, `null` included.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// An answer, and to which question.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(from = "Written<Map<String, Value>, Value>")]
pub(super) struct Given {
    pub(super) digest: Digest,
    pub(super) answer: Arc<RawAnswer>,
}

/// A [`Given`] in the state.
#[derive(Serialize, Deserialize)]
struct Written<C, A> {
    #[serde(rename = "d")]
    digest: Digest,
    #[serde(rename = "c", default = "Option::default", skip_serializing_if = "Option::is_none")]
    content: Option<C>,
    #[serde(rename = "a", default = "Option::default", skip_serializing_if = "Option::is_none")]
    answer: Option<A>,
}

impl Serialize for Given {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (content, answer) = match &*self.answer {
            RawAnswer::Filled(content) => (Some(content), None),
            RawAnswer::Other(answer) => (None, Some(answer)),
        };
        Written { digest: self.digest, content, answer }.serialize(serializer)
    }
}

impl From<Written<Map<String, Value>, Value>> for Given {
    fn from(Written { digest, content, answer }: Written<Map<String, Value>, Value>) -> Self {
        // Without either, it is an answer that nobody can use, and so one that is asked for again.
        let answer = content.map_or_else(|| answer.unwrap_or_default().into(), RawAnswer::Filled);
        Self { digest, answer: Arc::new(answer) }
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

/// What every build must find in the state of every other.
#[derive(Default, Deserialize)]
struct Steps {
    #[serde(rename = "s", default)]
    steps: ByKey<Value>,
}

const VERSION: u8 = 1;

impl Default for Progress {
    fn default() -> Self {
        let (answers, questions, steps) = Default::default();
        Self { version: VERSION, answers, questions, steps, kept: None }
    }
}

impl Progress {
    /// Reads a state that was sealed here or by another build. Of one that is not understood only the steps count, which
    /// must not be taken twice; the user is asked again.
    pub(crate) fn read(state: &[u8]) -> Self {
        // Looked at once as text, and not in every string of it.
        let state = std::str::from_utf8(state).unwrap_or_default();
        let known = serde_json::from_str(state).ok().filter(|progress: &Self| progress.version == VERSION);
        known.unwrap_or_else(|| {
            let Steps { steps } = serde_json::from_str(state).unwrap_or_default();
            Self { steps, ..Self::default() }
        })
    }

    /// Whether there is more in it than there was, apart from answers: only who has looked at one knows whether it can be
    /// used. Where there was nothing, the call could as well have begun in this round.
    pub(super) fn is_further_than(&self, before: &Self) -> bool {
        let began = before.answers.is_empty() && before.steps.is_empty() && before.kept.is_none();
        began || self.steps.iter().any(|(step, _)| !before.steps.contains(step)) || self.kept != before.kept
    }

    pub(crate) fn write(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("strings and JSON serialise")
    }
}

#[cfg(test)]
mod tests {
    use crate::ask::Question;
    use serde_json::json;

    use super::*;

    fn with(answer: Value) -> Progress {
        let given = Given { digest: Question::Roots.digest(), answer: Arc::new(answer.into()) };
        Progress { answers: ByKey::from_iter([("key".into(), given)]), ..Progress::default() }
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
    fn what_another_build_has_written_is_no_progress_but_its_steps_were_taken() {
        let steps = ByKey::from_iter([("charge".into(), json!(100))]);
        let taken = Progress { steps: steps.clone(), ..Progress::default() };
        let known = Progress { steps, ..with(json!({ "action": "decline" })) };
        assert_eq!(Progress::read(&known.write()), known);
        let newer = Progress { version: VERSION + 1, ..known };
        assert_eq!(Progress::read(&newer.write()), taken);
        assert_eq!(Progress::read(br#"{"v":2,"a":["another","shape"],"s":{"charge":100}}"#), taken);
        for state in [&b"{}"[..], br#"{"v":1,"s":[]}"#, b"not JSON"] {
            assert_eq!(Progress::read(state), Progress::default(), "{}", String::from_utf8_lossy(state));
        }
    }

    #[test]
    fn a_number_that_a_step_gave_comes_back_to_the_last_bit() {
        for number in [0.945_270_695_553_922_3, 0.1 + 0.2, f64::MIN_POSITIVE, f64::MAX, -1e-300] {
            let steps = ByKey::from_iter([("price".into(), json!(number))]);
            let read = Progress::read(&Progress { steps, ..Progress::default() }.write());
            assert_eq!(read.steps.get("price").and_then(Value::as_f64), Some(number));
        }
    }

    #[test]
    fn of_an_accepted_form_only_the_content_is_kept() {
        let progress = with(json!({ "action": "accept", "content": { "yes": true } }));
        let written = String::from_utf8(progress.write()).expect("JSON is text");
        let digest = format!("{:?}", Question::Roots.digest());
        assert_eq!(written.replace(&digest, "words"), r#"{"v":1,"a":{"key":{"d":"words","c":{"yes":true}}}}"#);
    }
}
