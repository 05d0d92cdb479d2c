//! The command on a pipe: what a client that spawns it relies on.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{
    io::{Read, Write},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

/// The tour on a pipe, logging as much as it can.
fn spawn() -> Child {
    Command::new(env!("CARGO_BIN_EXE_rejoinder"))
        .arg("--stdio")
        .env("RUST_LOG", "trace")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn request(id: u32, method: &str, mut params: Value) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/logLevel": "debug",
        "progressToken": id,
    });
    format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
}

/// Sends everything, closes the pipe, and gives the lines that came back.
fn converse(input: &str) -> Vec<String> {
    let mut child = spawn();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn c68_standard_output_holds_messages_and_nothing_else() {
    let input = [
        request(1, "server/discover", json!({})),
        request(2, "tools/call", json!({ "name": "count_to", "arguments": { "number": 2 } })),
        request(3, "tools/call", json!({ "name": "add", "arguments": { "a": 1, "b": 2 } })),
        request(4, "tools/call", json!({ "name": "add", "arguments": {} })),
        "nonsense\n".to_owned(),
        request(5, "resources/read", json!({ "uri": "note://none" })),
    ];
    let mut answered = Vec::new();
    for line in converse(&input.concat()) {
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("not a message: {line}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        answered.extend(message["id"].as_u64());
    }
    answered.sort_unstable();
    assert_eq!(answered, [1, 2, 3, 4, 5]);
}

#[test]
fn c68_a_call_in_flight_is_answered_before_the_process_leaves() {
    let lines = converse(&request(1, "tools/call", json!({ "name": "count_to", "arguments": { "number": 3 } })));
    assert_eq!(lines.len(), 4, "three reports and a reply: {lines:?}");
    assert!(lines[3].contains("counted to 3"));
}

#[test]
fn c68_the_process_exits_when_its_input_ends() {
    let mut child = spawn();
    // A subscription never ends by itself, and does not keep the process running.
    let listen = request(1, "subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } }));
    let mut input = child.stdin.take().unwrap();
    input.write_all(listen.as_bytes()).unwrap();
    let mut first = [0; 1];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    drop(input);
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success());
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "it is still there");
        std::thread::sleep(Duration::from_millis(10));
    }
}
