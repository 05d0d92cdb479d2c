//! Many clients at once.

use serde_json::json;

use crate::{
    client::{Post, call, observed, within},
    fixture::{Events, Host},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_waiting_calls_keep_nobody_else_waiting() {
    const CALLS: u32 = 1000;
    let host = Host::start().await;
    let mut waiting = Vec::new();
    for number in 0..CALLS {
        let mut connection = host.connect().await;
        connection.send(Post::of(&call("wait", json!({ "number": number }))).bytes()).await;
        waiting.push(connection);
    }
    Events::happened(&host.events.waiting, CALLS).await;
    for _ in 0..20 {
        host.still_answers().await;
    }
    host.events.release.add_permits(CALLS as usize);
    for (number, mut connection) in waiting.into_iter().enumerate() {
        let response = connection.response().await.expect("an answer");
        assert_eq!(response.text(), number.to_string());
    }
    host.still_answers().await;
}

#[tokio::test]
async fn connections_that_send_nothing_stop_nobody() {
    let host = Host::start().await;
    let mut silent = Vec::new();
    for number in 0..300 {
        let mut connection = host.connect().await;
        // Nothing at all, half a head, or a head without its body.
        match number % 3 {
            0 => {}
            1 => connection.send("POST /mcp HTTP/1.1\r\nHost: loc").await,
            _ => connection.send(Post::of(&call("add", json!({ "a": 1, "b": 2 }))).head()).await,
        }
        silent.push(connection);
    }
    for _ in 0..20 {
        host.still_answers().await;
    }
}

#[tokio::test]
async fn a_connection_without_a_request_is_closed_after_a_while() {
    let host = Host::start_with(|server| server.header_timeout(std::time::Duration::from_millis(200))).await;
    for head in ["", "POST /mcp HTTP/1.1\r\nHost: localhost\r\n"] {
        let mut connection = host.connect().await;
        connection.send(head).await;
        assert!(connection.response().await.is_none_or(|response| response.status == 408), "{head:?}");
    }
    // A call may take longer than its head.
    let mut connection = host.connect().await;
    connection.send(Post::of(&call("wait", json!({ "number": 7 }))).bytes()).await;
    Events::happened(&host.events.waiting, 1).await;
    within(tokio::time::sleep(std::time::Duration::from_millis(400))).await;
    host.events.release.add_permits(1);
    assert_eq!(connection.response().await.expect("an answer").text(), "7");
    // So may a stream of events, however little it says.
    let mut stream = host.connect().await;
    stream.send(Post::of(&observed(call("forever", json!({ "progress_first": true })), 7)).bytes()).await;
    Events::happened(&host.events.waiting, 1).await;
    within(tokio::time::sleep(std::time::Duration::from_millis(400))).await;
    assert_eq!(host.events.dropped.available_permits(), 0);
    host.still_answers().await;
}
