use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a call has got so far: the content of its state. Names are short because the client carries it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Progress {
    #[serde(rename = "v")]
    version: u8,
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
    #[serde(rename = "k", default, skip_serializing_if = "Option::is_none")]
    pub(super) kept: Option<Value>,
}

/// An answer, and to which question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Given {
    #[serde(rename = "d")]
    pub(super) digest: String,
    #[serde(rename = "a")]
    pub(super) answer: Value,
}

/// A question that is out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Open {
    #[serde(rename = "d")]
    pub(super) digest: String,
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
