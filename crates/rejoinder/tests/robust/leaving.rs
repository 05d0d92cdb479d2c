//! Clients that leave, cancel, or stop reading.

use std::time::Duration;

use rejoinder::{http, prelude::*};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpSocket,
};

use crate::{
    client::{Connection, Post, call, observed, within},
    fixture::{Events, Host},
    ways::Way,
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
async fn a_m6_a_client_that_leaves_one_more_byte_behind_cancels_its_call_too() {
    let host = Host::start_at(http::Config::new().max_connections(2), |server| server).await;
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

/// The producer stops after what fits into the buffers, and goes on where it was.
async fn stops_while_nobody_reads(tool: &str) {
    for way in 0..8 {
        let host = Host::start().await;
        let mut way = Way::all(&host).await.swap_remove(way);
        let message = observed(way.call(tool, json!({})), 7);
        let mut response = match &mut way {
            Way::Stateless(address) => {
                let mut connection = Connection::open(*address).await;
                connection.send(Post::of(&message).bytes()).await;
                Some(connection)
            }
            Way::Session(session) => Some(session.open(&message).await),
            Way::StatelessLink(link) | Way::SessionLink(link) => {
                link.send(message.to_string()).await;
                None
            }
        };
        if let Some(response) = &mut response {
            response.head().await.expect("the stream has begun");
        }
        let stopped = host.stopped_sending().await;
        host.still_answers().await;
        if matches!(way, Way::Session(_)) {
            let first = response.as_mut().expect("a response").data().await;
            assert_eq!(first.as_deref(), Some(""), "an id to come back with");
        }
        let mut expected = None;
        for _ in 0..stopped + 100 {
            let message = match &mut response {
                Some(response) => within(response.event()).await.expect("progress"),
                None => way.link().message().await,
            };
            let progress = message["params"]["progress"].as_f64().unwrap_or_else(|| panic!("{message}"));
            assert_eq!(progress, expected.unwrap_or(progress), "over {}", way.name());
            expected = Some(progress + 1.0);
        }
        // A call of a session over HTTP goes on without its client.
        if !matches!(way, Way::Session(_)) {
            drop((response, way));
            Events::happened(&host.events.dropped, 1).await;
        }
    }
}

#[tokio::test]
async fn a_client_that_stops_reading_makes_the_tool_wait() {
    stops_while_nobody_reads("flood").await;
}

#[tokio::test]
async fn a_client_that_stops_reading_makes_a_stream_of_items_wait() {
    stops_while_nobody_reads("items").await;
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
async fn l13_a_cancelled_call_is_dropped_and_gets_no_reply() {
    let host = Host::start().await;
    for (mut one, mut other) in Way::links(&host).await.into_iter().zip(Way::links(&host).await) {
        // The same id on two connections: neither cancels the other's.
        let forever = one.call("forever", json!({})).to_string();
        one.link().send(forever).await;
        Events::happened(&host.events.waiting, 1).await;
        let wait = other.call("wait", json!({ "number": 7 })).to_string();
        other.link().send(wait).await;
        Events::happened(&host.events.waiting, 1).await;
        let id = json!({ "requestId": 1 });
        let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": id });
        one.link().send(cancelled.to_string()).await;
        Events::happened(&host.events.dropped, 1).await;
        Events::happened(&host.events.cancelled, 1).await;
        // The id is free again, and the next message is the reply to its second request.
        one.still_answers().await;
        host.events.release.add_permits(1);
        assert_eq!(other.link().message().await["result"]["content"][0]["text"], "7", "over {}", other.name());
    }
}

#[tokio::test]
async fn a_connection_that_ends_cancels_its_calls() {
    let host = Host::start_with(|server| server.grace_period(Duration::from_millis(50))).await;
    for mut way in Way::links(&host).await {
        for id in 0..5 {
            let mut message = way.call("forever", json!({}));
            message["id"] = id.into();
            way.link().send(message.to_string()).await;
        }
        Events::happened(&host.events.waiting, 5).await;
        drop(way);
        // The futures themselves, and what they spawned.
        Events::happened(&host.events.dropped, 5).await;
        Events::happened(&host.events.cancelled, 5).await;
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
    let host = Host::start_at(http::Config::new().header_timeout(silence), |server| server.tools(tools![large])).await;
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
    let host = Host::start_at(http::Config::new().header_timeout(Duration::from_secs(1)), |server| server).await;
    let mut connection = host.connect().await;
    connection.send(Post::of(&observed(call("flood", json!({})), 7)).bytes()).await;
    Events::happened(&host.events.dropped, 1).await;
    host.still_answers().await;
}
