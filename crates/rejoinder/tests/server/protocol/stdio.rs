//! C68: a message for each line. (That a process writes nothing else, and exits, is tested with the command.)

use serde_json::{Value, json};

use crate::protocol::{
    fixture::{built, one_of_each, server},
    wire::{Pipe, message},
};

#[tokio::test]
async fn c68_every_line_is_one_message_and_every_request_has_one_reply() {
    let mut pipe = Pipe::open(&built());
    let requests = one_of_each();
    for (id, (method, params)) in requests.iter().enumerate() {
        pipe.send(message(id, method, params.clone())).await;
    }
    let mut ids: Vec<u64> = pipe.close().await.iter().map(|reply| reply["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..requests.len() as u64).collect::<Vec<_>>());
}

#[tokio::test]
async fn c68_line_breaks_inside_a_message_are_escaped() {
    let mut pipe = Pipe::open(&built());
    pipe.send(message(
        "line\nbreak",
        "prompts/get",
        json!({ "name": "greet", "arguments": { "name": "A\nB\u{2028}" } }),
    ))
    .await;
    let reply = pipe.next().await;
    assert_eq!(reply["id"], "line\nbreak");
    assert_eq!(reply["result"]["messages"][0]["content"]["text"], "Say hello to A\nB\u{2028}.");
}

#[tokio::test]
async fn c68_an_invalid_message_is_answered_and_the_server_continues() {
    let mut pipe = Pipe::open(&server().limits(rejoinder::server::Limits::new().message_size(300)).build().unwrap());
    for (line, code) in [("nonsense", -32700), ("[]", -32600), ("{}", -32600), (&*"x".repeat(301), -32600)] {
        pipe.send(line).await;
        let reply = pipe.next().await;
        assert_eq!((&reply["error"]["code"], &reply["id"]), (&json!(code), &Value::Null), "{line}");
    }
    for nothing in ["", "   ", "\r"] {
        pipe.send(nothing).await;
    }
    pipe.send(format!("{}\r", message(1, "tools/list", json!({})))).await;
    assert_eq!(pipe.next().await["id"], 1);
}

#[tokio::test]
async fn c7_the_error_to_a_message_that_is_too_long_has_its_id() {
    let mut pipe = Pipe::open(&server().limits(rejoinder::server::Limits::new().message_size(300)).build().unwrap());
    let long = "ä".repeat(200);
    for (line, id) in [
        (format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"{long}"}}}}"#), json!(7)),
        (format!(r#"{{"id":"a","jsonrpc":"2.0","method":"{long}"#), json!("a")),
        // As the TypeScript SDK writes it.
        (
            format!(r#"{{"method":"tools/call","params":{{"name":"{}"}},"jsonrpc":"2.0","id":9}}"#, long.repeat(1000)),
            json!(9),
        ),
        (format!(r#"{{"method":"x","params":{{"x":"{}","y":{{"id":8}}}},"id":"z"}}"#, long.repeat(9)), json!("z")),
        (
            format!(
                r#"{{"params":{{"x":"{0}","id":8,"y":[{{"id":8}},"{{\"id\":8}}"]}},"method":"x"}}"#,
                long.repeat(9)
            ),
            Value::Null,
        ),
        (format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"ping"}}"#, long.repeat(3)), Value::Null),
    ] {
        pipe.send(&line).await;
        let reply = pipe.next().await;
        assert_eq!(reply["error"], json!({ "code": -32600, "message": "the message is longer than 300 bytes" }));
        assert_eq!(reply["id"], id, "{line}");
    }
}

#[tokio::test]
async fn c68_the_server_ends_when_its_client_disconnects() {
    let (client, server_end) = tokio::io::duplex(1024);
    let (input, output) = tokio::io::split(server_end);
    let serving = tokio::spawn(built().serve_io(input, output));
    drop(client);
    tokio::time::timeout(std::time::Duration::from_secs(60), serving).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn two_open_requests_cannot_have_the_same_id() {
    let mut pipe = Pipe::open(&built());
    pipe.send(message(1, "tools/call", json!({ "name": "wait" }))).await;
    pipe.send(message(1, "tools/call", json!({ "name": "wait" }))).await;
    let reply = pipe.next().await;
    assert_eq!((&reply["id"], &reply["error"]["code"]), (&json!(1), &json!(-32600)));
}
