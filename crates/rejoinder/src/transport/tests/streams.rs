//! What comes on the stream of a request, and how a client leaves it and comes back.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::{sync::Notify, time::Instant};

use super::{
    fixture::{Fixture, dynamic, fixture, until},
    http::{Events, Http},
};
use crate::prelude::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_call_emits_comes_on_its_own_stream_in_order() {
    let mut client = Http::new(&fixture());
    client.initialize("2025-11-25").await;
    for _ in 0..50 {
        let messages = Events::of(client.call("emit", json!({ "who": "me" })).await).messages().await;
        let received: Vec<String> = messages
            .iter()
            .map(|message| match message["method"].as_str() {
                Some("notifications/progress") => format!("progress {}", message["params"]["progress"]),
                Some(_) => message["params"]["data"].to_string(),
                None => message["id"].to_string(),
            })
            .collect();
        let expected = ["progress 1.0", "\"me 1\"", "progress 2.0", "\"me 2\"", "progress 3.0", "\"me 3\"", "\"call\""];
        assert_eq!(received, expected);
    }
    until("nothing is left of them", || client.server.sessions().iter().sum::<usize>() == 0).await;
}

#[tokio::test]
async fn calls_of_other_sessions_are_not_heard() {
    let mut ada = Http::new(&fixture());
    let mut bob = ada.another();
    ada.initialize("2025-11-25").await;
    bob.initialize("2025-11-25").await;
    // The same request id and the same progress token, at the same time.
    let (of_ada, of_bob) =
        tokio::join!(ada.call("emit", json!({ "who": "ada" })), bob.call("emit", json!({ "who": "bob" })));
    let (of_ada, of_bob) = tokio::join!(Events::of(of_ada).messages(), Events::of(of_bob).messages());
    assert_eq!((of_ada.len(), of_bob.len()), (7, 7));
    assert!(!Value::from(of_ada).to_string().contains("bob") && !Value::from(of_bob).to_string().contains("ada"));
}

/// A call of a tool that does nothing for that many seconds and then fails.
fn fail_after(seconds: u64) -> Value {
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {} });
    json!({ "jsonrpc": "2.0", "id": "call", "method": "tools/call",
        "params": { "name": "fail_after", "arguments": { "seconds": seconds }, "_meta": meta } })
}

const STATELESS: [(&str, &str); 3] =
    [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "fail_after")];

#[tokio::test(start_paused = true)]
async fn a_stateless_call_that_is_silent_for_long_is_answered_with_events() {
    let client = Http::new(&fixture());
    let begun = Instant::now();
    let response = client.send("POST", &STATELESS, fail_after(40)).await;
    assert_eq!((response.status().as_u16(), begun.elapsed().as_secs()), (200, 10));
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut body = response.into_body();
    let mut pieces = Vec::new();
    while let Some(piece) = body.frame().await {
        let piece = piece.expect("a whole body").into_data().expect("data");
        pieces.push((begun.elapsed().as_secs(), String::from_utf8(piece.to_vec()).expect("text")));
    }
    let (at, last) = pieces.pop().expect("a reply");
    // Proxies that wait for something hear something.
    assert_eq!(pieces, [10, 25].map(|at| (at, ":\n\n".to_owned())));
    let error = json!({ "code": -32602, "message": "not today" });
    let reply: Value = last.trim().strip_prefix("event: message\ndata: ").expect("an event").parse().expect("JSON");
    assert_eq!((at, reply), (40, json!({ "jsonrpc": "2.0", "id": "call", "error": error })));
}

#[tokio::test(start_paused = true)]
async fn the_longest_silence_of_a_stateless_call_can_be_set() {
    let tool = dynamic("fail_after", |_, _| std::future::pending::<String>());
    let config = crate::http::Config::new().stream_after(Duration::from_secs(2));
    let server = Server::new("quick", "1.0.0").tools([tool]).http(config).build().expect("a good server");
    let client = Http::new(&Fixture { server, seen: Arc::default() });
    let begun = Instant::now();
    let response = client.send("POST", &STATELESS, fail_after(40)).await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert_eq!(begun.elapsed().as_secs(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_ends_soon_is_answered_with_json_and_so_is_a_client_that_takes_nothing_else() {
    let client = Http::new(&fixture());
    let only_json = [&STATELESS[..], &[("accept", "application/json")]].concat();
    for (seconds, headers) in [(9, &STATELESS[..]), (40, &only_json)] {
        let response = client.send("POST", headers, fail_after(seconds)).await;
        assert_eq!(response.headers()["content-type"], "application/json", "{seconds} s");
        assert_eq!(response.status(), 200, "an error of the function does not choose it");
    }
}

#[tokio::test]
async fn only_new_clients_get_an_event_without_data() {
    for (version, primed) in [("2025-11-25", true), ("2025-06-18", false)] {
        let mut client = Http::new(&fixture());
        client.initialize(version).await;
        let first = Events::of(client.call("emit", json!({})).await).next().await.expect("an event");
        assert_eq!((first.data.is_none(), first.retry), (primed, primed), "{version}");
    }
}

#[tokio::test]
async fn a_call_sends_its_client_away_and_the_reply_waits() {
    let mut client = Http::new(&fixture());
    client.initialize("2025-11-25").await;
    let mut events = Events::of(client.call("leave", json!({})).await);
    let (mut last, mut retried) = (None, false);
    while let Some(event) = events.next().await {
        assert_eq!(event.data, None, "the reply waits");
        last = event.id.or(last);
        retried |= event.retry;
    }
    let last = last.expect("an id to come back with");
    assert!(retried);
    tokio::time::sleep(Duration::from_millis(100)).await;
    let resumed = client.send("GET", &[("last-event-id", &last)], Value::Null).await;
    let messages = Events::of(resumed).messages().await;
    // What it logged meanwhile waits, too.
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert_eq!(messages[0]["params"]["data"], "away");
    assert_eq!(messages[1]["result"]["content"][0]["text"], "left: true");
}

#[tokio::test]
async fn clients_that_cannot_come_back_are_not_sent_away() {
    let mut client = Http::new(&fixture());
    client.initialize("2025-06-18").await;
    let messages = Events::of(client.call("leave", json!({})).await).messages().await;
    assert_eq!(messages.last().expect("a reply")["result"]["content"][0]["text"], "left: false");
}

#[tokio::test]
async fn a_client_whose_connection_broke_gets_its_reply() {
    let mut client = Http::new(&fixture());
    client.initialize("2025-11-25").await;
    let mut events = Events::of(client.call("emit", json!({ "who": "me" })).await);
    let first = events.next().await.expect("an event").id.expect("an id");
    drop(events);
    tokio::time::sleep(Duration::from_millis(100)).await;
    let resumed = client.send("GET", &[("last-event-id", &first)], Value::Null).await;
    let messages = Events::of(resumed).messages().await;
    assert_eq!(messages.last().expect("a reply")["id"], "call", "{messages:?}");
}

/// Items, after the test has said so.
#[tool]
async fn items_later(count: usize, go: Dep<Notify>) -> ToolStream<String> {
    go.notified().await;
    ToolStream::new(futures_util::stream::iter((1..=count).map(|number| format!("{number} "))))
}

#[tokio::test]
async fn c3_5_the_last_items_that_were_sent_while_the_client_was_away_wait_for_it() {
    for (count, expected) in [(3, 1..=3), (1000, 746..=1000)] {
        let go = Arc::new(Notify::new());
        let server = Server::new("later", "1.0.0").provide_arc(Arc::clone(&go)).tools(tools![items_later]);
        let mut client = Http::new(&Fixture { server: server.build().expect("a good server"), seen: Arc::default() });
        client.initialize("2025-11-25").await;
        let mut events = Events::of(client.call("items_later", json!({ "count": count })).await);
        let first = events.next().await.expect("an event").id.expect("an id");
        drop(events);
        go.notify_one();
        until("the call is over", || client.server.sessions()[0] == 0).await;
        let resumed = client.send("GET", &[("last-event-id", &first)], Value::Null).await;
        let mut messages = Events::of(resumed).messages().await;
        let reply = messages.pop().expect("a reply");
        assert_eq!(reply["id"], "call");
        let seen = messages.iter().map(|item| item["params"]["progress"].as_f64());
        assert!(seen.eq(expected.map(|number| Some(f64::from(number)))), "{messages:?}");
    }
}

#[tokio::test]
async fn a_reply_that_was_lost_on_its_way_is_sent_again() {
    let mut client = Http::new(&fixture());
    client.initialize("2025-11-25").await;
    let mut events = Events::of(client.call("emit", json!({ "who": "me" })).await);
    let first = events.next().await.expect("an event").id.expect("an id");
    // The server has written the reply and the connection has ended when the client comes back.
    assert_eq!(events.last().await["id"], "call");
    for _ in 0..2 {
        let resumed = client.send("GET", &[("last-event-id", &first)], Value::Null).await;
        let messages = Events::of(resumed).messages().await;
        assert_eq!(messages.len(), 1, "{messages:?}");
        assert_eq!(messages[0]["id"], "call", "{messages:?}");
    }
}

#[tokio::test]
async fn cancelling_over_http_drops_the_function_and_ends_the_stream() {
    let fixture = fixture();
    let mut client = Http::new(&fixture);
    client.initialize("2025-11-25").await;
    let events = Events::of(client.call("wait", json!({})).await);
    until("it runs", || fixture.seen.running.load(Ordering::SeqCst) == 1).await;
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "call" } });
    assert_eq!(client.post(cancel).await.status(), 202);
    until("it was dropped", || fixture.seen.running.load(Ordering::SeqCst) == 0).await;
    assert!(events.messages().await.iter().all(|message| message.get("id").is_none()));
    until("nothing is left of it", || client.server.sessions().iter().sum::<usize>() == 0).await;
}

/// Items without end; the test sees how many were made.
#[tool]
async fn endless(made: Dep<AtomicUsize>) -> ToolStream<usize> {
    ToolStream::new(futures_util::stream::repeat_with(move || made.fetch_add(1, Ordering::Relaxed)))
}

#[tokio::test]
async fn a_client_that_reads_slowly_slows_a_stream_down() {
    let made = Arc::new(AtomicUsize::new(0));
    let server = Server::new("endless", "1.0.0").provide_arc(Arc::clone(&made)).tools(tools![endless]);
    let mut client = Http::new(&Fixture { server: server.build().expect("a good server"), seen: Arc::default() });
    client.initialize("2025-11-25").await;
    let mut events = Events::of(client.call("endless", json!({})).await);
    for read in [0, 100, 200] {
        while events
            .next()
            .await
            .expect("it has no end")
            .data
            .is_none_or(|item| item["params"]["progress"] != (read + 1) as f64)
        {}
        // As much as the stream and the outbox take, and no more.
        let mut before = usize::MAX;
        while std::mem::replace(&mut before, made.load(Ordering::Relaxed)) != before {
            for _ in 0..1000 {
                tokio::task::yield_now().await;
            }
        }
        assert!(before < read + 150, "{before} items were made for {read} that were read");
    }
}
