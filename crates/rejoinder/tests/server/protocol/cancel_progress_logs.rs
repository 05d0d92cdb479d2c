//! C51, C52, C54 to C56: giving up, getting on, and saying so.

use std::{
    collections::BTreeSet,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use http_body_util::BodyExt;
use rejoinder::{BuiltServer, call::Level, prelude::*, testing::Client};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::timeout,
};
use tower_service::Service;

use crate::protocol::{
    fixture::{Watch, built, server},
    wire::{Pipe, message, meta, post},
};

/// A server whose calls can be watched.
fn watched() -> (BuiltServer, Arc<Watch>) {
    let watch = Arc::new(Watch::default());
    (server().provide_arc(Arc::clone(&watch)).build().unwrap(), watch)
}

async fn stopped(watch: &Watch) {
    timeout(Duration::from_secs(60), watch.dropped.notified()).await.expect("the call was dropped");
    assert_eq!(watch.running.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn c51_a_client_that_disconnects_before_the_reply_cancels_the_call() {
    let (server, watch) = watched();
    let call = tokio::spawn(async move { post("tools/call", json!({ "name": "wait" })).send(&server).await });
    watch.started.notified().await;
    call.abort();
    stopped(&watch).await;
}

#[tokio::test]
async fn c51_a_client_that_closes_the_stream_cancels_the_call() {
    let (server, watch) = watched();
    let mut meta = meta();
    meta["progressToken"] = json!(1);
    let params = json!({ "name": "wait", "arguments": { "talk": true }, "_meta": meta });
    let Ok(response) = server.into_service().call(post("tools/call", params).request()).await;
    let mut body = response.into_body();
    assert!(body.frame().await.unwrap().unwrap().data_ref().unwrap().starts_with(b"event: message"));
    assert_eq!(watch.running.load(Ordering::SeqCst), 1);
    drop(body);
    stopped(&watch).await;
}

#[tokio::test]
async fn c51_a_client_that_closes_its_socket_cancels_the_call() {
    let (server, watch) = watched();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(server.serve_http(listener));
    for talk in [false, true] {
        let mut meta = meta();
        meta["progressToken"] = json!(1);
        let request = post("tools/call", json!({ "name": "wait", "arguments": { "talk": talk }, "_meta": meta }));
        let mut head = "POST /mcp HTTP/1.1\r\n".to_owned();
        for (name, value) in &request.headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += &format!("content-length: {}\r\n\r\n{}", request.body.len(), request.body);
        let mut socket = TcpStream::connect(address).await.unwrap();
        socket.write_all(head.as_bytes()).await.unwrap();
        watch.started.notified().await;
        if talk {
            assert_ne!(socket.read(&mut [0; 64]).await.unwrap(), 0);
        }
        drop(socket);
        stopped(&watch).await;
    }
}

#[tokio::test]
async fn c52_a_cancelled_request_stops_and_is_not_answered() {
    let (server, watch) = watched();
    let mut pipe = Pipe::open(&server);
    for id in [json!(1), json!("one")] {
        pipe.send(message(id.clone(), "tools/call", json!({ "name": "wait" }))).await;
        watch.started.notified().await;
        pipe.send(cancelled(json!({ "requestId": id, "reason": "changed my mind" }))).await;
        stopped(&watch).await;
    }
    pipe.send(message(2, "tools/list", json!({}))).await;
    assert_eq!(pipe.next().await["id"], 2, "nothing was said about the cancelled ones");
}

#[tokio::test]
async fn c52_other_cancellations_are_ignored() {
    let (server, watch) = watched();
    let mut pipe = Pipe::open(&server);
    pipe.send(message(1, "tools/call", json!({ "name": "wait" }))).await;
    watch.started.notified().await;
    pipe.send(message(2, "tools/list", json!({}))).await;
    assert_eq!(pipe.next().await["id"], 2);
    for params in [
        json!({ "requestId": 2 }),
        json!({ "requestId": "1" }),
        json!({ "requestId": 99 }),
        json!({ "requestId": null }),
        json!({ "requestId": [1] }),
        json!({}),
    ] {
        pipe.send(cancelled(params)).await;
    }
    pipe.send(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled" })).await;
    pipe.send(message(3, "tools/list", json!({}))).await;
    assert_eq!(pipe.next().await["id"], 3);
    assert_eq!(watch.running.load(Ordering::SeqCst), 1, "the call goes on");
}

/// Lets others have their turn so many times.
#[tool]
async fn turns(times: usize) -> usize {
    for _ in 0..times {
        tokio::task::yield_now().await;
    }
    times
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c52_a_cancellation_that_crosses_the_reply_is_ignored() {
    let server = Server::new("races", "1").tools(tools![turns]).build().unwrap();
    let mut pipe = Pipe::open(&server);
    for id in 0..500 {
        // The longer it takes, the likelier it is overtaken: some are, and some are not.
        pipe.send(message(id, "tools/call", json!({ "name": "turns", "arguments": { "times": id % 20 } }))).await;
        pipe.send(cancelled(json!({ "requestId": id }))).await;
    }
    pipe.send(message(500, "tools/call", json!({ "name": "turns", "arguments": { "times": 0 } }))).await;
    let mut seen = BTreeSet::new();
    for reply in pipe.close().await {
        let id = reply["id"].as_u64().unwrap();
        assert!(seen.insert(id), "{id} is answered twice");
        assert_eq!(reply["result"]["content"][0]["text"], (id % 20).to_string(), "{reply}");
    }
    assert!(seen.contains(&500), "what was not taken back is answered");
    // An id that was taken back is free again, and what it names now is answered.
    let mut pipe = Pipe::open(&server);
    for times in [1000, 3] {
        pipe.send(message(1, "tools/call", json!({ "name": "turns", "arguments": { "times": times } }))).await;
        if times == 1000 {
            pipe.send(cancelled(json!({ "requestId": 1 }))).await;
        }
    }
    let last = pipe.close().await.pop().expect("a reply");
    assert_eq!(last["result"]["content"][0]["text"], "3", "{last}");
}

#[tokio::test]
async fn c52_a_cancelled_subscription_ends() {
    let server = built();
    let mut pipe = Pipe::open(&server);
    pipe.send(message("s", "subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } }))).await;
    pipe.next().await;
    pipe.send(cancelled(json!({ "requestId": "s" }))).await;
    pipe.send(message(1, "tools/list", json!({}))).await;
    assert_eq!(pipe.next().await["id"], 1);
    server.handle().remove_tool("add");
    assert_eq!(pipe.close().await, [] as [Value; 0]);
}

fn cancelled(params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })
}

#[tokio::test]
async fn c54_o14_progress_rises_carries_its_token_and_ends_with_the_call() {
    for token in [json!(7), json!("seven"), json!(-1)] {
        let mut meta = meta();
        meta["progressToken"] = token.clone();
        let mut pipe = Pipe::open(&built());
        pipe.send(message(1, "tools/call", json!({ "name": "count", "_meta": meta }))).await;
        let mut last = f64::MIN;
        let mut reports = 0;
        loop {
            let message = pipe.next().await;
            if message["id"] == 1 {
                break;
            }
            assert_eq!(message["method"], "notifications/progress");
            let params = &message["params"];
            assert_eq!(params["progressToken"], token);
            assert_eq!((&params["total"], &params["message"]), (&json!(4.0), &json!("counting")));
            assert!(params["progress"].as_f64().unwrap() > last, "{params}");
            last = params["progress"].as_f64().unwrap();
            reports += 1;
        }
        assert_eq!((reports, last), (3, 3.5));
        tokio::task::yield_now().await;
        assert_eq!(pipe.close().await, [] as [Value; 0], "nothing after the reply");
    }
}

#[tokio::test]
async fn c54_progress_is_sent_only_with_a_token() {
    let answer = post("tools/call", json!({ "name": "count" })).send(&built()).await;
    assert_eq!(answer.header("content-type"), Some("application/json"));
}

#[tokio::test]
async fn c54_a_token_is_a_string_or_an_integer() {
    let client = Client::new(server());
    for token in [json!(1.5), json!(true), json!([1]), json!({})] {
        let params = json!({ "name": "count", "_meta": { "progressToken": token } });
        assert_eq!(client.request("tools/call", params).await.unwrap_err().code(), Some(-32602), "{token}");
    }
    // An integer may be larger than an `i64`.
    for token in [json!("a"), json!(-1), json!(u64::MAX)] {
        let params = json!({ "name": "count", "_meta": { "progressToken": token } });
        assert!(client.request("tools/call", params).await.is_ok(), "{token}");
    }
}

#[tokio::test]
async fn c55_log_messages_are_sent_only_on_request_and_at_the_requested_level() {
    let client = Client::new(server());
    let levels = |logs: Vec<rejoinder::testing::Log>| logs.into_iter().map(|log| log.level).collect::<Vec<_>>();
    assert_eq!(client.call_tool("talk", json!({})).await.unwrap().logs, []);
    let all = [Level::Debug, Level::Info, Level::Warning, Level::Error];
    for (least, count) in
        [(Level::Debug, 4), (Level::Info, 3), (Level::Notice, 2), (Level::Error, 1), (Level::Alert, 0)]
    {
        let reply = client.clone().log_level(least).call_tool("talk", json!({})).await.unwrap();
        assert_eq!(levels(reply.logs), all[4 - count..], "{least:?}");
    }
    assert!(client.discover().await.unwrap().capabilities.logging.is_some());
}

#[tokio::test]
async fn c55_o15_log_messages_are_sent_on_the_stream_of_their_request() {
    let server = built();
    let mut meta = meta();
    meta["io.modelcontextprotocol/logLevel"] = json!("info");
    let asked = post("tools/call", json!({ "name": "talk", "_meta": meta })).send(&server);
    let not_asked = post("tools/call", json!({ "name": "talk" })).send(&server);
    let (asked, not_asked) = tokio::join!(asked, not_asked);
    assert_eq!(asked.events().len(), 4);
    assert!(!not_asked.body.contains("notifications/message"));
}

#[tokio::test]
async fn c56_an_unknown_level_is_refused() {
    let client = Client::new(server());
    for level in [json!("loud"), json!("INFO"), json!(3), json!({})] {
        let params = json!({ "name": "talk", "_meta": { "io.modelcontextprotocol/logLevel": level } });
        assert_eq!(client.request("tools/call", params).await.unwrap_err().code(), Some(-32602), "{level}");
    }
}
