//! Lines that are long, odd or wrong.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::child::{Piped, call, request, text, with_progress};

fn add(id: impl Into<Value>) -> Value {
    call(id, "add", json!({ "a": 1, "b": 2 }))
}

#[test]
fn a_line_of_100_mib_costs_no_memory() {
    let mut server = Piped::start();
    server.still_answers();
    let chunk = vec![b'x'; 1024 * 1024];
    for _ in 0..100 {
        server.write(&chunk);
    }
    // The rest of the line is not read as a message. Its id may be there, so the answer follows the end of the line.
    server.send(&add("inside"));
    let answer = server.message();
    assert_eq!(answer["error"]["code"], -32600);
    assert_eq!(answer["error"]["message"], "the message is longer than 4194304 bytes");
    server.still_answers();
    if let Some(peak) = server.process.peak_memory() {
        assert!(peak < 64 * 1024, "{peak} KiB");
    }
}

#[test]
fn blank_lines_and_carriage_returns_are_passed_over() {
    let mut server = Piped::start();
    server.write("\n\r\n  \t \n\n");
    server.write(format!("{}\r\n", add(1)));
    assert_eq!(text(&server.message()), "3");
    server.still_answers();
}

#[test]
fn lines_may_arrive_in_any_pieces() {
    let mut server = Piped::start();
    for byte in format!("{}\n", add(1)).bytes() {
        server.write([byte]);
    }
    assert_eq!(text(&server.message()), "3");
    let many: String = (0..1000).map(|id| format!("{}\n", add(id))).collect();
    server.write(many);
    let mut ids: Vec<_> = (0..1000).map(|_| server.message()["id"].as_i64()).collect();
    // Calls run concurrently, so replies come in any order.
    ids.sort_unstable();
    assert_eq!(ids, (0..1000).map(Some).collect::<Vec<_>>());
}

#[test]
fn what_is_not_a_message_gets_an_error_on_one_line() {
    let mut server = Piped::start();
    let deep = "[".repeat(100_000);
    let cases: [(&[u8], i64); 9] = [
        (b"hello", -32700),
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"y\":\"\xff\"}", -32700),
        (b"\xef\xbb\xbf{}", -32700),
        (deep.as_bytes(), -32700),
        (b"[]", -32600),
        (b"{}", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"x\"}", -32600),
    ];
    for (line, code) in cases {
        server.write([line, b"\n"].concat());
        let answer = server.message();
        assert_eq!(answer["error"]["code"], code, "{}", String::from_utf8_lossy(line));
        server.still_answers();
    }
}

#[test]
fn an_id_in_use_is_refused_and_the_first_call_goes_on() {
    let mut server = Piped::start();
    // The same id, however it is spelled; and others that are merely alike.
    for (first, second, same) in [
        ("1", "1", true),
        ("\"a\"", "\"\\u0061\"", true),
        ("1", "\"1\"", false),
        ("123456789012345678901234567890", "123456789012345678901234567891", false),
    ] {
        let count = |id: &str| {
            let message = with_progress(call("ID", "count_to", json!({ "number": 3 })), "t");
            format!("{}\n", message.to_string().replace("\"ID\"", id))
        };
        server.write(count(first) + &count(second));
        let (mut results, mut errors) = (0, 0);
        while results + errors < 2 {
            let line = server.line().expect("a message");
            results += usize::from(line.contains("counted to 3"));
            errors += usize::from(line.contains("a request with this id is still being answered"));
        }
        assert_eq!((results, errors), if same { (1, 1) } else { (2, 0) }, "{first} {second}");
        server.still_answers();
    }
}

#[test]
fn a_cancelled_call_gets_no_reply() {
    let mut server = Piped::start();
    for id in ["7", "\"seven\"", "123456789012345678901234567890"] {
        let count = with_progress(call("ID", "count_to", json!({ "number": 1_000_000 })), "t");
        server.write(format!("{}\n", count.to_string().replace("\"ID\"", id)));
        assert_eq!(server.message()["method"], "notifications/progress");
        let cancel = format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{id}}}}}\n"
        );
        server.write(cancel);
        server.send(&add("after"));
        // Progress may still have been on its way; the call's own reply never comes.
        loop {
            let message = server.message();
            if message["id"] == "after" {
                break;
            }
            assert_eq!(message["method"], "notifications/progress", "{message}");
        }
        // The id is free again.
        server.write(format!("{}\n", call("ID", "count_to", json!({ "number": 1 })).to_string().replace("\"ID\"", id)));
        assert_eq!(text(&server.message()), "counted to 1");
    }
    let (rest, status, _) = server.close();
    assert!(rest.is_empty() && status.success(), "{rest:?}");
}

#[test]
fn cancellations_of_nothing_are_passed_over() {
    let mut server = Piped::start();
    for params in ["{\"requestId\":99}", "{\"requestId\":null}", "{\"requestId\":[[]]}", "{}", "{\"requestId\":1.5}"] {
        let meta = "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}";
        let params = params.replacen('{', &format!("{{{meta}{}", if params == "{}" { "" } else { "," }), 1);
        server.write(format!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{params}}}\n"));
        server.still_answers();
    }
}

#[test]
fn every_notification_on_a_shared_pipe_carries_its_own_token() {
    const CALLS: u64 = 50;
    let mut server = Piped::start();
    for number in 0..CALLS {
        // Each counts to another number, which its messages show.
        server
            .send(&with_progress(call(number, "count_to", json!({ "number": number % 5 + 1 })), format!("t{number}")));
    }
    let (mut seen, mut done) = (HashMap::<u64, f64>::new(), 0);
    while done < CALLS {
        let message = server.message();
        if let Some(id) = message["id"].as_u64() {
            assert_eq!(text(&message), format!("counted to {}", id % 5 + 1));
            assert_eq!(seen.get(&id), Some(&((id % 5 + 1) as f64)), "all of its progress came before");
            done += 1;
        } else {
            let params = &message["params"];
            let token = params["progressToken"].as_str().and_then(|token| token.strip_prefix('t')).expect("a token");
            let number: u64 = token.parse().expect("one of ours");
            assert_eq!(params["total"], (number % 5 + 1) as f64);
            let progress = params["progress"].as_f64().expect("a number");
            assert_eq!(seen.insert(number, progress).unwrap_or_default() + 1.0, progress);
        }
    }
}

#[test]
fn nothing_but_messages_is_written_and_logs_go_elsewhere() {
    let mut server = Piped::start();
    server.write("nonsense\n");
    server.send(&request(1, "no/such", json!({})));
    server.send(&call(2, "count_to", json!({ "number": 1 })));
    let (rest, status, _) = server.close();
    assert!(status.success());
    assert_eq!(rest.len(), 3);
    for line in rest {
        let message: Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(message["jsonrpc"], "2.0");
    }
}
