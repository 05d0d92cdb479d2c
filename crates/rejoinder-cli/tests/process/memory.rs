//! Memory follows what the server keeps, not what a client sends.

use std::{io::Read, thread};

use serde_json::Value;

use crate::child::Listening;

/// The most memory that the process may take, in KiB.
const MOST: u64 = 200 * 1024;

const META: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#;
const STATELESS: &str = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: add\r\n";

/// A call of `add` with these members in its `_meta`, and these beside it.
fn add(meta: &str, beside: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"add","arguments":{{"a":1,"b":2}},"_meta":{{{meta}}}{beside}}}}}"#
    )
}

fn initialize(capabilities: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"2025-11-25","clientInfo":{{"name":"a","version":"1"}},"capabilities":{capabilities}}}}}"#
    )
}

fn reply(server: &Listening, headers: &str, body: &str) -> String {
    let mut reply = String::new();
    server.post_body(headers, body).read_to_string(&mut reply).expect("a reply");
    reply
}

/// A-H1. Each `{"":0}` has 7 bytes, and would take several hundred as a value: 260 MB for one request. So what the server
/// keeps of a few of them shows.
#[test]
fn a_h1_large_requests_do_not_fill_the_memory() {
    let server = Listening::start();
    let begun = reply(&server, "", &initialize("{}"));
    let session =
        begun.lines().find(|line| line.to_ascii_lowercase().starts_with("mcp-session-id")).expect("a session");
    let in_session = format!("{session}\r\n");
    let large = format!("[{}0]", r#"{"":0},"#.repeat(590_000));
    let capabilities = r#""io.modelcontextprotocol/clientCapabilities""#;
    let kinds = [
        ("_meta", STATELESS, add(&format!(r#"{META},{capabilities}:{{}},"own":{large}"#), ""), -32602),
        (
            "capabilities",
            STATELESS,
            add(&format!(r#"{META},{capabilities}:{{"experimental":{{"x":{large}}}}}"#), ""),
            -32602,
        ),
        (
            "inputResponses",
            STATELESS,
            add(&format!("{META},{capabilities}:{{}}"), &format!(r#","inputResponses":{{"x":{large}}}"#)),
            -32602,
        ),
        ("initialize", "", initialize(&format!(r#"{{"experimental":{{"x":{large}}}}}"#)), -32602),
        ("_meta in a session", &in_session, add(&format!(r#""own":{large}"#), ""), -32602),
    ];
    for (kind, headers, body, code) in &kinds {
        assert!(body.len() > 4_000_000);
        thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| {
                    for _ in 0..5 {
                        let reply = reply(&server, headers, body);
                        let (_, message) = reply.split_once("\r\n\r\n").expect("a body");
                        let message: Value = serde_json::from_str(message).expect("JSON");
                        assert_eq!(message["error"]["code"], *code, "{kind}: {message}");
                    }
                });
            }
        });
        if let Some(peak) = server.process.peak_memory() {
            assert!(peak < MOST, "after {kind} it took {peak} KiB");
        }
    }
}
