//! Keys that several processes share, in `REJOINDER_STATE_KEYS`.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::child::{Piped, binary, call, text};

/// 32 bytes each.
const OLD: &str = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
const NEW: &str = "ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=";

fn delete(id: u64) -> Value {
    let mut delete = call(id, "delete_note", json!({ "name": "welcome" }));
    delete["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({ "elicitation": { "form": {} } });
    delete
}

/// The reply of the second process to the answer to a question of the first one.
fn answered_elsewhere(mut first: Piped, mut second: Piped) -> Value {
    first.send(&delete(1));
    let question = first.message()["result"].take();
    assert_eq!(question["resultType"], "input_required", "{question}");
    let mut retry = delete(2);
    retry["params"]["requestState"] = question["requestState"].clone();
    retry["params"]["inputResponses"]["confirm"] = json!({ "action": "accept", "content": { "yes": true } });
    second.send(&retry);
    second.message()
}

#[test]
fn a_call_that_begins_in_one_process_goes_on_in_another_with_the_same_keys() {
    let both = format!("{NEW},{OLD}");
    for (first, second) in [(OLD, OLD), (OLD, both.as_str())] {
        let answer = answered_elsewhere(Piped::start_with_keys(first), Piped::start_with_keys(second));
        assert_eq!(text(&answer), "deleted welcome");
    }
}

#[test]
fn without_them_it_does_not() {
    for (first, second) in [(Piped::start(), Piped::start()), (Piped::start_with_keys(OLD), Piped::start())] {
        let answer = answered_elsewhere(first, second);
        assert_eq!(answer["error"]["data"]["reason"], "invalid_request_state", "{answer}");
    }
}

#[test]
fn invalid_keys_are_reported_before_anything_is_served() {
    let mut command = binary();
    command.arg("--stdio").env("REJOINDER_STATE_KEYS", "not base64").stdin(Stdio::null());
    let output = command.output().expect("the binary starts");
    assert!(!output.status.success());
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("REJOINDER_STATE_KEYS: key 1 is not base64"), "{error}");
}
