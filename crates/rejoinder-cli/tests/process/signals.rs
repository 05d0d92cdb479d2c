//! Shutdown under load: what is in flight finishes, nothing new begins, and the process ends well.

use std::{
    io::{BufRead, BufReader, Read},
    net::TcpStream,
};

use serde_json::json;

use crate::child::{Listening, Piped, call, request, with_progress};

fn read(mut stream: impl Read) -> String {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the answer ends");
    answer
}

/// Reads up to the first line that has this in it.
fn skip_to(reader: &mut impl BufRead, wanted: &str) -> String {
    let mut line = String::new();
    while !line.contains(wanted) {
        line.clear();
        assert_ne!(reader.read_line(&mut line).expect("text"), 0, "there is no {wanted}");
    }
    line
}

fn stops_well(signal: &str) {
    let mut server = Listening::start();
    let counts: Vec<_> = (0..20)
        .map(|number| with_progress(call(number, "count_to", json!({ "number": 10 })), number))
        .map(|count| BufReader::new(server.post(&count)))
        .collect();
    let listen = request("l", "subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } }));
    let mut listening = BufReader::new(server.post(&listen));
    skip_to(&mut listening, "subscriptions/acknowledged");
    let silent = TcpStream::connect(server.address).expect("the server accepts");
    // Every call has begun, and none is over.
    let counts: Vec<_> = counts
        .into_iter()
        .map(|mut count| {
            skip_to(&mut count, "notifications/progress");
            count
        })
        .collect();
    server.process.signal(signal);

    // The subscription gets its final result.
    let last = skip_to(&mut listening, "\"result\"");
    assert!(last.contains("\"resultType\":\"complete\"") && last.contains("subscriptionId\":\"l\""), "{last}");
    let refused = read(server.post(&call("new", "add", json!({ "a": 1, "b": 2 }))));
    assert!(refused.starts_with("HTTP/1.1 503") && refused.contains("the server is shutting down"), "{refused}");
    for (number, count) in counts.into_iter().enumerate() {
        let answer = read(count);
        assert!(answer.contains(&format!("\"id\":{number},\"result\"")), "{answer}");
        assert!(answer.contains("counted to 10"), "{answer}");
    }
    assert!(server.process.wait().success());
    drop(silent);
}

#[test]
fn sigterm_lets_calls_finish_and_refuses_new_ones() {
    stops_well("TERM");
}

#[test]
fn sigint_lets_calls_finish_and_refuses_new_ones() {
    stops_well("INT");
}

#[test]
fn a_call_that_outlives_the_grace_period_does_not_keep_the_process() {
    let mut server = Listening::start();
    let long = with_progress(call(1, "count_to", json!({ "number": 1_000_000 })), 1);
    let mut count = BufReader::new(server.post(&long));
    skip_to(&mut count, "notifications/progress");
    server.process.signal("TERM");
    assert!(server.process.wait().success());
    let mut rest = String::new();
    let _ = count.read_to_string(&mut rest);
    assert!(!rest.contains("\"result\""));
}

#[test]
fn a_m11_a_second_signal_ends_the_process_at_once() {
    let mut server = Listening::start();
    let long = with_progress(call(1, "count_to", json!({ "number": 1_000_000 })), 1);
    let mut count = BufReader::new(server.post(&long));
    skip_to(&mut count, "notifications/progress");
    server.process.signal("TERM");
    // The first one has arrived when new calls are refused.
    while !read(server.post(&call(2, "add", json!({ "a": 1, "b": 2 })))).starts_with("HTTP/1.1 503") {}
    server.process.signal("INT");
    assert_eq!(server.process.0.wait().expect("it ends").code(), Some(1));
}

#[test]
fn on_a_pipe_sigterm_lets_calls_finish() {
    for signal in ["TERM", "INT"] {
        let mut server = Piped::start();
        server.send(&request("l", "subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } })));
        assert_eq!(server.message()["method"], "notifications/subscriptions/acknowledged");
        server.send(&with_progress(call(1, "count_to", json!({ "number": 10 })), 1));
        assert_eq!(server.message()["method"], "notifications/progress");
        server.process.signal(signal);
        let mut results = Vec::new();
        while let Some(line) = server.line() {
            if line.contains("\"result\"") {
                results.push(line);
            }
        }
        assert_eq!(results.len(), 2, "{results:?}");
        assert!(results.iter().any(|result| result.contains("counted to 10")));
        assert!(results.iter().any(|result| result.contains("subscriptionId\":\"l\"")));
        assert!(server.process.wait().success());
    }
}

#[test]
fn a_client_that_does_not_read_does_not_keep_the_process() {
    let mut server = Piped::start_unread();
    // Its first answer is read: by then it listens to signals.
    server.send(&call(0, "add", json!({ "a": 1, "b": 2 })));
    let mut output = server.process.0.stdout.take().expect("a pipe");
    assert_ne!(output.read(&mut [0; 4096]).expect("an answer"), 0);
    let list = format!("{}\n", request(1, "tools/list", json!({})));
    // More answers than fit into a pipe, but no more requests than do.
    for _ in 0..200 {
        server.write(&list);
    }
    server.process.signal("TERM");
    assert!(server.process.wait().success());
}
