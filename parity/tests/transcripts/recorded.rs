//! What was recorded, in our names.

use serde_json::{Map, Value, json};

use crate::{
    seen::{Seen, seen},
    sessions,
};

pub(crate) const TRANSCRIPTS: &str = include_str!("../../transcripts.jsonl");

pub(crate) const STATELESS: &str = "2026-07-28";
pub(crate) const SESSION: &str = "2025-11-25";

/// One recorded conversation.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) era: &'static str,
    pub(crate) steps: Vec<Step>,
}

/// One request of it, and what came back.
pub(crate) struct Step {
    pub(crate) params: Value,
    pub(crate) capabilities: Value,
    pub(crate) theirs: Seen,
}

/// What a client can declare that can be asked anything.
pub(crate) fn everything() -> Value {
    json!({ "elicitation": { "form": {} }, "sampling": { "tools": {} }, "roots": {} })
}

pub(crate) fn cases() -> Vec<Case> {
    TRANSCRIPTS.lines().map(|line| case(&serde_json::from_str(line).expect("a line of JSON"))).collect()
}

fn case(recorded: &Value) -> Case {
    let name = recorded["case"].as_str().expect("a name").to_owned();
    match recorded["era"].as_str() {
        Some(STATELESS) => {
            let steps = recorded["steps"].as_array().expect("steps").iter().map(step).collect();
            Case { name, era: STATELESS, steps }
        }
        Some(SESSION) => {
            let (asked, ran) = (list(&recorded["asked"]), names(&recorded["ran"]));
            let step = Step {
                params: sessions::of(&name).params(),
                capabilities: everything(),
                theirs: seen(SESSION, None, recorded, asked, ran),
            };
            Case { name, era: SESSION, steps: vec![step] }
        }
        era => panic!("there is no era {era:?}"),
    }
}

fn step(recorded: &Value) -> Step {
    let mut params = recorded["params"].clone();
    if let Some(answers) = params.get_mut("inputResponses") {
        *answers = Value::Object(in_our_names(answers));
    }
    let mut reply = recorded.clone();
    if let Some(questions) = reply["result"].get_mut("inputRequests") {
        *questions = Value::Object(in_our_names(questions));
    }
    let http = recorded["http"].as_u64();
    Step {
        params,
        capabilities: recorded["clientCapabilities"].clone(),
        theirs: seen(STATELESS, http, &reply, Vec::new(), names(&recorded["ran"])),
    }
}

/// `ref_tools:who` there is `who` here.
fn in_our_names(by_key: &Value) -> Map<String, Value> {
    let ours = |key: &str| key.rsplit([':', '.']).next().unwrap_or(key).to_owned();
    by_key.as_object().expect("an object").iter().map(|(key, value)| (ours(key), value.clone())).collect()
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().expect("a list").clone()
}

/// What ran; where a question went out in between is left out.
fn names(ran: &Value) -> Vec<Value> {
    list(ran).into_iter().filter(|name| name != "ASK").collect()
}
