//! The tools of a program, for the rules of model providers.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use crate::providers;

/// The rules that the tools of a program break, which serves on stdio. It has at least one tool.
pub(crate) fn violations(program: &str) -> Vec<String> {
    let mut child = Command::new(program)
        .arg("--stdio")
        // A program may have files.
        .current_dir(env!("CARGO_TARGET_TMPDIR"))
        .env_remove("REJOINDER_STATE_KEYS")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta } });
    let mut stdin = child.stdin.take().expect("a pipe");
    writeln!(stdin, "{list}").expect("the program reads");
    let mut reply = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut reply).expect("the program replies");
    // The end of its input ends the program.
    drop(stdin);
    child.wait().expect("the program ends");
    let reply: Value = serde_json::from_str(&reply).expect("JSON");
    let tools = reply["result"]["tools"].as_array().unwrap_or_else(|| panic!("no tools: {reply}"));
    assert!(!tools.is_empty(), "no tools: {reply}");
    tools.iter().flat_map(providers::violations).collect()
}
