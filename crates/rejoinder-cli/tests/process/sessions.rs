//! Clients of the session era, and what happens to them when the process stops.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
};

use serde_json::{Value, json};

use crate::child::{LIMIT, Listening, Piped, text};

fn initialize() -> Value {
    request(
        0,
        "initialize",
        json!({ "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "old", "version": "1" } }),
    )
}

fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

fn count_to(id: u64, number: u32) -> Value {
    let params = json!({ "name": "count_to", "arguments": { "number": number }, "_meta": { "progressToken": id } });
    request(id, "tools/call", params)
}

fn initialized() -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })
}

/// A session on a pipe.
fn piped() -> Piped {
    let mut server = Piped::start();
    server.send(&initialize());
    assert_eq!(server.message()["result"]["protocolVersion"], "2025-11-25");
    server.send(&initialized());
    server
}

fn still_answers(server: &mut Piped) {
    server.send(&request("ping", "tools/call", json!({ "name": "add", "arguments": { "a": 1, "b": 2 } })));
    let answer = server.message();
    assert_eq!((&answer["id"], text(&answer)), (&json!("ping"), "3".to_owned()), "{answer}");
}

#[test]
fn a_line_of_100_mib_costs_no_memory() {
    let mut server = piped();
    let chunk = vec![b'x'; 1024 * 1024];
    for _ in 0..100 {
        server.write(&chunk);
    }
    server.write("\n");
    assert_eq!(server.message()["error"]["code"], -32600);
    still_answers(&mut server);
    if let Some(peak) = server.process.peak_memory() {
        assert!(peak < 64 * 1024, "{peak} KiB");
    }
}

/// The client gets an error for each; the log stays quiet.
#[test]
fn the_mistakes_of_clients_are_not_logged() {
    let mut server = piped();
    let mistakes = [
        request(1, "tools/call", json!({ "name": "no_such" })),
        request(2, "tools/call", json!({})),
        request(3, "no/such", json!({})),
        initialize(),
    ];
    for mistake in mistakes {
        server.send(&mistake);
        assert!(server.message()["error"].is_object(), "{mistake}");
    }
    let (_, status, log) = server.close();
    assert!(status.success());
    assert!(!log.contains("WARN") && !log.contains("ERROR"), "{log}");
}

#[test]
fn on_a_pipe_sigterm_lets_calls_finish() {
    for signal in ["TERM", "INT"] {
        let mut server = piped();
        server.send(&count_to(1, 10));
        assert_eq!(server.message()["method"], "notifications/progress");
        server.process.signal(signal);
        let mut last = String::new();
        while let Some(line) = server.line() {
            last = line;
        }
        assert!(last.contains("counted to 10"), "{last}");
        assert!(server.process.wait().success());
    }
}

/// Sends a message, in a session if there is one; where the answer comes.
fn post(server: &Listening, session: Option<&str>, message: &Value) -> BufReader<TcpStream> {
    let body = message.to_string();
    let session = session.map(|id| format!("Mcp-Session-Id: {id}\r\n")).unwrap_or_default();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, \
         text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\n{session}Connection: close\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    let mut socket = TcpStream::connect(server.address).expect("the server accepts");
    socket.set_read_timeout(Some(LIMIT)).expect("a socket");
    socket.write_all((head + &body).as_bytes()).expect("the server reads");
    BufReader::new(socket)
}

fn begin(server: &Listening) -> String {
    let mut answer = String::new();
    post(server, None, &initialize()).read_to_string(&mut answer).expect("an answer");
    let id = answer.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).expect("an id").to_owned();
    let mut accepted = String::new();
    post(server, Some(&id), &initialized()).read_to_string(&mut accepted).expect("an answer");
    assert!(accepted.starts_with("HTTP/1.1 202"), "{accepted}");
    id
}

#[test]
fn sigterm_under_load_lets_the_calls_of_sessions_finish() {
    for signal in ["TERM", "INT"] {
        let mut server = Listening::start();
        let mut counts = Vec::new();
        for _ in 0..5 {
            let session = begin(&server);
            for number in 1..=4 {
                counts.push((number, post(&server, Some(&session), &count_to(number, 10))));
            }
        }
        // Every call has begun, and none is over.
        for (_, count) in &mut counts {
            let mut line = String::new();
            while !line.contains("notifications/progress") {
                line.clear();
                assert_ne!(count.read_line(&mut line).expect("text"), 0, "no progress came");
            }
        }
        server.process.signal(signal);
        for (number, mut count) in counts {
            let mut rest = String::new();
            count.read_to_string(&mut rest).expect("the answer ends");
            assert!(rest.contains("counted to 10") && rest.contains(&format!("\"id\":{number},")), "{rest}");
        }
        assert!(server.process.wait().success());
    }
}
