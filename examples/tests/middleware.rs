//! The programs with middleware, seen from outside.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

/// Runs a program on pipes: the replies to these calls in the order of their ids, and what it logged.
fn converse(program: &str, calls: &[(&str, Value)]) -> (Vec<Value>, String) {
    let mut command = Command::new(program);
    command.env("RUST_LOG", "info").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut input = child.stdin.take().expect("a pipe");
    for (id, (name, arguments)) in calls.iter().enumerate() {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({ "name": name, "arguments": arguments, "_meta": meta });
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        writeln!(input, "{call}").expect("it reads");
    }
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8(output.stdout).expect("text");
    let mut replies: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    replies.sort_by_key(|reply| reply["id"].as_u64());
    (replies, String::from_utf8(output.stderr).expect("text"))
}

#[test]
fn the_eleventh_call_of_a_minute_is_refused() {
    let calls = vec![("add", json!({ "a": 1, "b": 2 })); 11];
    let (replies, _) = converse(env!("CARGO_BIN_EXE_rate_limit"), &calls);
    let texts: Vec<_> = replies.iter().filter_map(|reply| reply["result"]["content"][0]["text"].as_str()).collect();
    assert_eq!(texts.iter().filter(|text| **text == "3").count(), 10, "{texts:?}");
    assert!(texts.contains(&"too many calls: wait a minute, then try again"), "{texts:?}");
}

#[test]
fn each_call_is_logged_with_how_it_ended() {
    let calls = [
        ("divide", json!({ "dividend": 6, "divisor": 2 })),
        ("divide", json!({ "dividend": 6, "divisor": 0 })),
        ("divied", json!({})),
    ];
    let (replies, logs) = converse(env!("CARGO_BIN_EXE_call_log"), &calls);
    assert_eq!(replies[0]["result"]["content"][0]["text"], "3");
    let line = |word: &str| logs.lines().find(|line| line.contains(word)).unwrap_or_default();
    assert!(line("done").contains(r#"method="tools/call" name="divide" caller="anonymous" took="#), "{logs}");
    assert!(line("give a divisor").contains("failed"), "{logs}");
    assert!(line("did you mean `divide`?").contains("failed"), "{logs}");
    assert!(logs.trim_end().ends_with("no more calls"), "`on_stop` runs last: {logs}");
}
