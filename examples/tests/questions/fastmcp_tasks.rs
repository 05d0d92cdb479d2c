//! FastMCP's client follows tasks to their ends, by itself.

use std::{env, process::Stdio};

use serde_json::{Value, json};
use tokio::process::Command;

use crate::program::{MRTR, Program, bounded, url};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/task_person.py");

#[tokio::test]
async fn over_http() {
    let interpreter = env::var_os("REJOINDER_FASTMCP")
        .expect("REJOINDER_FASTMCP does not name an interpreter: run `cargo xtask test`, which sets it up");
    let program = Program::start(MRTR, None).await;
    let mut script = Command::new(interpreter);
    script.arg(SCRIPT).arg(url(program.address)).stdin(Stdio::null()).kill_on_drop(true);
    let output = bounded(script.output()).await.expect("the interpreter starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let seen: Value = serde_json::from_slice(&output.stdout).expect("one line of JSON");
    let said = json!({
        "paint_room": "Ada's room is green now",
        "multi_input": "name=\"Ada\" confirmed=true",
        "failing_job": "error: this job always fails",
        "protocol_error_job": "error: this job breaks the protocol",
        "slow_compute": "cancelled",
    });
    assert_eq!(seen["said"], said);
    let mut asked: Vec<_> = seen["asked"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    asked.sort_unstable();
    // The first of them in a round, before there is a task.
    let expected = ["Ada, what is your favorite color?", "Do you agree?", "What is your name?", "What is your name?"];
    assert_eq!(asked, expected);
}
