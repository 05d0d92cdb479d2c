//! Clients that leave, or stop reading.

use std::time::Duration;

use rejoinder::{http, prelude::*};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpSocket,
};

use crate::{
    client::{Post, call, observed, within},
    fixture::{Events, Host},
    ways::Pipe,
};

#[tokio::test]
async fn a_client_that_disconnects_cancels_its_call() {
    let host = Host::start().await;
    let with_stream = observed(call("forever", json!({ "progress_first": true })), 7);
    for (message, has_stream) in [(call("forever", json!({})), false), (with_stream, true)] {
        for _ in 0..50 {
            let mut connection = host.connect().await;
            connection.send(Post::of(&message).bytes()).await;
            if has_stream {
                connection.head().await.expect("the stream has begun");
                assert_eq!(connection.event().await.expect("progress")["params"]["progress"], 1.0);
            }
            Events::happened(&host.events.waiting, 1).await;
            drop(connection);
            // The future itself, and what it spawned.
            Events::happened(&host.events.dropped, 1).await;
            Events::happened(&host.events.cancelled, 1).await;
        }
    }
    host.still_answers().await;
}

#[tokio::test]
async fn a_call_is_dropped_before_it_could_end_after_the_disconnect() {
    let host = Host::start().await;
    let mut gone = host.connect().await;
    gone.send(Post::of(&call("wait", json!({ "number": 1 }))).bytes()).await;
    Events::happened(&host.events.waiting, 1).await;
    drop(gone);
    Events::happened(&host.events.dropped, 1).await;
    // What would have let it go on lets the next one go on: it has left the queue as well.
    host.events.release.add_permits(1);
    assert_eq!(host.ask(&call("wait", json!({ "number": 2 }))).await.text(), "2");
    assert_eq!(host.events.release.available_permits(), 0);
}

#[tokio::test]
async fn a_client_that_leaves_one_more_byte_behind_cancels_its_call_too() {
    let host = Host::start_with(|server| server.http(http::Config::new().max_connections(2))).await;
    for _ in 0..4 {
        let mut connection = host.connect().await;
        let call = Post::of(&call("forever", json!({}))).bytes();
        connection.send([&call[..], b"P"].concat()).await;
        Events::happened(&host.events.waiting, 1).await;
        drop(connection);
        Events::happened(&host.events.dropped, 1).await;
    }
    host.still_answers().await;
}

#[tokio::test]
async fn a_client_that_stops_reading_makes_the_tool_wait() {
    let host = Host::start().await;
    let mut connection = host.connect().await;
    connection.send(Post::of(&observed(call("flood", json!({})), 7)).bytes()).await;
    connection.head().await.expect("the stream has begun");
    let stopped = host.stopped_sending().await;
    host.still_answers().await;
    // It goes on where it was.
    for expected in 0..stopped + 100 {
        let event = connection.event().await.expect("progress");
        assert_eq!(event["params"]["progress"], expected as f64);
    }
    drop(connection);
    Events::happened(&host.events.dropped, 1).await;
}

/// Its progress goes nowhere, so nothing makes the tool wait: it must not take a thread for itself.
#[tokio::test]
async fn a_flood_for_a_client_that_does_not_read_does_not_block_others() {
    let host = Host::start().await;
    let flood = Post::of(&observed(call("flood", json!({})), 7)).set("Accept", "application/json");
    let mut floods = Vec::new();
    for _ in 0..4 {
        let mut connection = host.connect().await;
        connection.send(flood.bytes()).await;
        floods.push(connection);
    }
    // This test has one thread.
    for _ in 0..10 {
        host.still_answers().await;
    }
    drop(floods);
    Events::happened(&host.events.dropped, 4).await;
}

#[tokio::test]
async fn on_a_pipe_a_call_stops_when_it_is_cancelled_or_its_client_disconnects() {
    let host = Host::start_with(|server| server.grace_period(Duration::from_millis(50))).await;
    for taken_back in [true, false] {
        for _ in 0..10 {
            let mut pipe = Pipe::open(&host);
            pipe.send(call("forever", json!({})).to_string()).await;
            Events::happened(&host.events.waiting, 1).await;
            if taken_back {
                let id = json!({ "requestId": 1 });
                let message = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": id });
                pipe.send(message.to_string()).await;
            } else {
                drop(pipe);
            }
            Events::happened(&host.events.dropped, 1).await;
            Events::happened(&host.events.cancelled, 1).await;
        }
    }
    host.still_answers().await;
}

#[tokio::test]
async fn a_client_may_disconnect_at_any_byte() {
    let host = Host::start().await;
    let bytes = Post::of(&call("add", json!({ "a": 1, "b": 2 }))).bytes();
    for cut in (0..bytes.len()).step_by(7) {
        let mut connection = host.connect().await;
        connection.send(&bytes[..cut]).await;
    }
    host.still_answers().await;
}

/// A text of so many letters.
#[tool]
fn large(letters: usize) -> String {
    "x".repeat(letters)
}

/// The reply is made at once, and takes longer to read than a connection may be silent.
#[tokio::test]
async fn a_large_reply_that_is_read_slowly_is_complete() {
    const LETTERS: usize = 24 * 1024 * 1024;
    let silence = Duration::from_secs(3);
    let host =
        Host::start_with(|server| server.http(http::Config::new().header_timeout(silence)).tools(tools![large])).await;
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_recv_buffer_size(64 * 1024).expect("a small buffer, so that the server has to wait");
    let mut stream = within(socket.connect(host.address)).await.expect("it listens");
    let post = Post::of(&call("large", json!({ "letters": LETTERS })));
    stream.write_all(&post.bytes()).await.expect("it reads");

    let (mut letters, mut piece, mut breath) = (0, vec![0; 64 * 1024], 0);
    while letters < LETTERS {
        let read = within(stream.read(&mut piece)).await.expect("the connection is open");
        assert!(read > 0, "the reply ended after {letters} letters");
        letters += piece[..read].iter().filter(|byte| **byte == b'x').count();
        breath += read;
        if breath >= 1024 * 1024 {
            breath = 0;
            tokio::time::sleep(silence / 20).await;
        }
    }
}

#[tokio::test]
async fn a_client_that_does_not_read_its_reply_is_disconnected() {
    let host = Host::start_with(|server| server.http(http::Config::new().header_timeout(Duration::from_secs(1)))).await;
    let mut connection = host.connect().await;
    connection.send(Post::of(&observed(call("flood", json!({})), 7)).bytes()).await;
    Events::happened(&host.events.dropped, 1).await;
    host.still_answers().await;
}
