//! The Python SDK's client carries every call to its end, by itself.

use std::{env, ffi::OsString, process::Stdio};

use serde_json::{Value, json};
use tokio::process::Command;

use crate::{
    calls::{Call, Era, calls},
    program::{BUSY, Program, bounded, url},
};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/person.py");

/// The interpreter that has the SDK. Without it nothing would be tested, which is a failure.
fn interpreter() -> OsString {
    env::var_os("REJOINDER_PYTHON")
        .expect("REJOINDER_PYTHON does not name an interpreter: run `cargo xtask test`, which sets it up")
}

/// Makes every call at the target that belongs to it.
async fn make(era: Era, calls: &[Call], targets: &[Vec<String>]) {
    let mode = if era == Era::Stateless { "2026-07-28" } else { "legacy" };
    let tasks = calls.iter().zip(targets).map(|(made, target)| {
        json!({
            "mode": mode, "target": target, "tool": made.tool, "arguments": made.arguments,
            "answers": made.answers, "rounds": made.rounds, "together": made.together(era),
            "env": { BUSY.0: BUSY.1 },
        })
    });
    let mut script = Command::new(interpreter());
    script.arg(SCRIPT).arg(Value::from_iter(tasks).to_string()).stdin(Stdio::null()).kill_on_drop(true);
    let output = bounded(script.output()).await.expect("the interpreter starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{errors}", output.status);
    let seen: Value = serde_json::from_slice(&output.stdout).expect("one line of JSON");
    assert_eq!(seen["complaints"], json!([]), "{errors}");
    let seen = seen["calls"].as_array().expect("a list");
    assert_eq!(seen.len(), calls.len());
    for (made, seen) in calls.iter().zip(seen) {
        let asked = serde_json::from_value(seen["asked"].clone()).expect("what was asked");
        made.check(asked, seen["said"].as_str().expect("text"), seen["failed"] == true);
    }
}

async fn over_stdio(era: Era) {
    let calls = calls();
    let targets: Vec<_> = calls.iter().map(|made| vec![made.program.to_owned(), "--stdio".to_owned()]).collect();
    make(era, &calls, &targets).await;
}

async fn over_http(era: Era) {
    let (calls, mut programs) = (calls(), Vec::new());
    for made in &calls {
        programs.push(Program::start(made.program, None).await);
    }
    let targets: Vec<_> = programs.iter().map(|program| vec![url(program.address)]).collect();
    make(era, &calls, &targets).await;
}

#[tokio::test]
async fn stateless_over_stdio() {
    over_stdio(Era::Stateless).await;
}

#[tokio::test]
async fn session_over_stdio() {
    over_stdio(Era::Session).await;
}

#[tokio::test]
async fn stateless_over_http() {
    over_http(Era::Stateless).await;
}

#[tokio::test]
async fn session_over_http() {
    over_http(Era::Session).await;
}
