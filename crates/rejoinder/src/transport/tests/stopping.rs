//! A server that stops: what is still served, and what it waits for.

use std::{
    collections::HashSet,
    future::pending,
    sync::{Arc, Condvar, Mutex},
    time::Duration,
};

use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    sync::Notify,
};

use super::{
    peers::{Peer, Way, within},
    waiting::{Seen, wait},
};
use crate::{BuiltServer, call::CallEnd, prelude::*};

#[tool]
async fn confirmed(ctx: Context) -> Result<String, CallError> {
    Ok(if ctx.ask("sure", Ask::confirm("Sure?")).await? { "yes" } else { "no" }.to_owned())
}

/// Longer than a test waits.
const LONG: Duration = Duration::from_secs(600);

fn server(seen: &Arc<Seen>) -> Server {
    Server::new("stopping", "1.0.0").provide_arc(Arc::clone(seen)).tools(tools![confirmed, wait]).grace_period(LONG)
}

/// Waits until new requests are refused.
async fn refused(peer: &mut Peer, way: Way) {
    peer.engine.stopping().cancel();
    let mut id = 100;
    loop {
        id += 1;
        let reply = peer.ask_aside(way, id, "tools/list").await;
        assert_eq!(reply["id"], id, "{way:?}");
        if let Some(error) = reply.get("error") {
            let message = "the server is shutting down, try again later";
            assert_eq!(error, &json!({ "code": -32603, "message": message }), "{way:?}");
            return;
        }
    }
}

/// What has happened, in order.
#[derive(Default)]
struct Order(Mutex<Vec<&'static str>>);

#[tool]
async fn hang(scope: Scope, order: Dep<Order>) {
    let deferred = order.clone();
    scope.defer(async move |_| deferred.0.lock().unwrap().push("deferred"));
    order.0.lock().unwrap().push("begun");
    pending::<()>().await;
}

#[tokio::test]
async fn a_server_that_is_stopped_tears_its_calls_down_before_the_end() {
    for way in Way::ALL {
        let order = Arc::new(Order::default());
        let noted = Arc::clone(&order);
        let server = Server::new("stopping", "1.0.0")
            .provide_arc(Arc::clone(&order))
            .on_stop(async move |_| noted.0.lock().unwrap().push("stopped"))
            // Longer than a busy machine needs to cancel a call.
            .grace_period(Duration::from_secs(2))
            .tools(tools![hang]);
        let mut peer = Peer::open(way, server).await;
        let server = BuiltServer(Arc::clone(&peer.engine));
        server.start().await.unwrap();
        peer.request(1, "tools/call", json!({ "name": "hang" })).await;
        while order.0.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        within(server.stop()).await;
        assert_eq!(*order.0.lock().unwrap(), ["begun", "deferred", "stopped"], "{way:?}");
    }
}

#[tokio::test]
async fn a_server_that_is_stopped_does_not_start() {
    let starts = Arc::new(Mutex::new(0));
    let counter = Arc::clone(&starts);
    let server = Server::new("stopping", "1.0.0").on_start(async move |_| *counter.lock().unwrap() += 1);
    let server = server.tools(tools![hang]).provide(Order::default()).build().unwrap();
    server.stop().await;
    server.start().await.unwrap();
    assert_eq!(*starts.lock().unwrap(), 0);
}

#[tokio::test]
async fn a_server_that_is_stopped_is_not_served_any_more() {
    for way in Way::ALL {
        let peer = Peer::open(way, server(&Arc::default())).await;
        within(BuiltServer(Arc::clone(&peer.engine)).stop()).await;
        within(peer.served()).await;
    }
}

#[tokio::test]
async fn r3_l3_an_answer_that_comes_while_the_server_stops_counts() {
    for way in Way::ALL {
        let mut peer = Peer::open(way, server(&Arc::default())).await;
        peer.request(1, "tools/call", json!({ "name": "confirmed" })).await;
        let question = peer.next().await;
        assert_eq!(question["method"], "elicitation/create", "{way:?}: {question}");
        refused(&mut peer, way).await;
        let answer = json!({ "action": "accept", "content": { "yes": true } });
        let status = peer.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer })).await;
        assert_eq!(status, 202, "{way:?}");
        let reply = peer.next().await;
        assert_eq!((&reply["id"], &reply["result"]["content"][0]["text"]), (&json!(1), &json!("yes")), "{way:?}");
        peer.served().await;
    }
}

#[tokio::test]
async fn r3_l3_a_cancellation_that_comes_while_the_server_stops_counts() {
    for way in Way::ALL {
        let seen = Arc::new(Seen::default());
        let mut peer = Peer::open(way, server(&seen)).await;
        peer.request(1, "tools/call", json!({ "name": "wait" })).await;
        within(seen.begun.notified()).await;
        refused(&mut peer, way).await;
        let params = json!({ "requestId": 1 });
        peer.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })).await;
        peer.served().await;
        assert_eq!(seen.ending(), Some(CallEnd::Cancelled), "{way:?}");
    }
}

#[tokio::test]
async fn r3_l14_the_messages_of_a_session_go_out_when_subscriptions_have_ended() {
    for way in Way::CONNECTED {
        let mut peer = Peer::open(way, server(&Arc::default())).await;
        peer.request(1, "tools/call", json!({ "name": "confirmed" })).await;
        let question = peer.next().await;
        peer.engine.hub().close();
        // What belongs to no request notices it.
        tokio::task::yield_now().await;
        let params = json!({ "requestId": 1 });
        peer.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })).await;
        let withdrawn = peer.next().await;
        assert_eq!(withdrawn["method"], "notifications/cancelled", "{way:?}: {withdrawn}");
        assert_eq!(withdrawn["params"]["requestId"], question["id"], "{way:?}");
        peer.engine.stopping().cancel();
        peer.served().await;
    }
}

/// What slow code of the author waits for, by name. Each test has names of its own.
static RELEASED: (Mutex<Option<HashSet<String>>>, Condvar) = (Mutex::new(None), Condvar::new());

fn release(name: &str) {
    RELEASED.0.lock().expect("no panic").get_or_insert_default().insert(name.to_owned());
    RELEASED.1.notify_all();
}

/// Blocks its thread until somebody releases it.
fn block_until_released(name: &str) {
    let released = RELEASED.0.lock().expect("no panic");
    let is_blocked = |released: &mut Option<HashSet<String>>| !released.get_or_insert_default().contains(name);
    let (_released, waited) =
        RELEASED.1.wait_timeout_while(released, Duration::from_secs(30), is_blocked).expect("no panic");
    assert!(!waited.timed_out(), "nobody releases {name}");
}

/// An argument that takes long to read.
#[derive(schemars::JsonSchema)]
#[schemars(transparent)]
struct Slow(#[expect(dead_code, reason = "only its reading is of interest")] String);

impl<'de> Deserialize<'de> for Slow {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        block_until_released(&name);
        Ok(Self(name))
    }
}

#[tool]
async fn slow_to_read(slow: Slow) -> &'static str {
    let _ = slow;
    "slow"
}

#[tool]
async fn until_notified(notify: Dep<Notify>) {
    notify.notified().await;
}

fn cancel(id: &str) -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } })
}

fn call(id: &str, tool: &str, arguments: Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

fn slow_tools(notify: &Arc<Notify>) -> Server {
    Server::new("slow", "1.0.0").provide_arc(Arc::clone(notify)).tools(tools![slow_to_read, until_notified])
}

/// A server whose function that identifies the caller blocks for requests whose id is a name with `principal`.
fn slow_server(notify: &Arc<Notify>) -> Server {
    slow_tools(notify).principal(|request| {
        let id = String::from_utf8_lossy(&request.request_id).trim_matches('"').to_owned();
        if id.starts_with("principal") {
            block_until_released(&id);
        }
        None
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn r3_l7_code_that_blocks_before_a_call_keeps_nobody_else_waiting() {
    for way in Way::CONNECTED {
        for (blocked, tool) in [("argument", "slow_to_read"), ("principal", "until_notified")] {
            // Over HTTP+SSE the POST identifies its caller, before its message is read.
            if blocked == "principal" && matches!(way, Way::Sse) {
                continue;
            }
            let notify = Arc::new(Notify::new());
            let mut peer = Peer::open(way, slow_server(&notify)).await;
            let id = format!("{blocked} {way:?}");
            let slow = call(&id, tool, if blocked == "argument" { json!({ "slow": id }) } else { json!({}) });
            peer.send(&call("other", "until_notified", json!({}))).await;
            peer.send(&slow).await;
            // The id is taken from the moment on that the request has been read.
            peer.send(&slow).await;
            let duplicate = peer.next().await;
            assert_eq!((&duplicate["id"], &duplicate["error"]["code"]), (&json!(id), &json!(-32600)), "{duplicate}");
            notify.notify_one();
            assert_eq!(peer.next().await["id"], "other", "{way:?}: it does not wait for `{id}`");
            // A cancellation finds a request that has not started.
            peer.send(&cancel(&id)).await;
            assert_eq!(peer.ask_aside(way, 7, "ping").await["id"], 7);
            release(&id);
            peer.send(&call("last", "slow_to_read", json!({ "slow": id }))).await;
            assert_eq!(peer.next().await["id"], "last", "{way:?}: `{id}` was cancelled");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn r3_l7_what_is_about_a_session_stays_in_order() {
    let (mut client, served) = tokio::io::duplex(64 * 1024);
    let (input, output) = tokio::io::split(served);
    let notify = Arc::new(Notify::new());
    // The function identifies who hears about changes, too: that request has no id.
    let server = slow_tools(&notify).principal(|request| {
        if request.request_id.is_empty() {
            block_until_released("initialize");
        }
        None
    });
    let serving = tokio::spawn(server.build().expect("a good server").serve_io(input, output));
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {} });
    let mut stateless = call("stateless", "until_notified", json!({}));
    stateless["params"]["_meta"] = meta;
    let params = json!({ "protocolVersion": "2025-03-26", "capabilities": {},
        "clientInfo": { "name": "old", "version": "1" } });
    let initialize = json!({ "jsonrpc": "2.0", "id": "initialize", "method": "initialize", "params": params });
    let request = |id: usize| {
        let method = if id.is_multiple_of(2) { "ping" } else { "tools/list" };
        json!({ "jsonrpc": "2.0", "id": id, "method": method })
    };
    let batch = Value::from((0..40).map(request).collect::<Vec<_>>());
    let sent = [stateless, initialize, request(1000), batch].map(|message| format!("{message}\n")).concat();
    client.write_all(sent.as_bytes()).await.expect("it reads");
    let (reader, mut writer) = tokio::io::split(client);
    let mut lines = BufReader::new(reader).lines();
    let mut next = async || {
        let line = within(lines.next_line()).await.expect("a pipe").expect("a line");
        serde_json::from_str::<Value>(&line).expect("JSON")
    };
    notify.notify_one();
    assert_eq!(next().await["id"], "stateless", "it does not wait for the session");
    release("initialize");
    let replies = [next().await, next().await];
    assert!(replies.iter().all(|reply| reply.get("result").is_some()), "{replies:?}");
    let mut replies = HashSet::new();
    while replies.len() < 40 {
        replies.insert(next().await["id"].as_u64().expect("an id of the batch"));
    }
    writer.shutdown().await.expect("it is open");
    within(serving).await.expect("no panic").expect("it ends well");
}

#[tool]
async fn leave(background: BackgroundTasks, release: Dep<Notify>) -> Result<(), CallError> {
    background.add(async move { release.notified().await })?;
    Ok(())
}

#[tool]
async fn leave_for_ever(background: BackgroundTasks) -> Result<(), CallError> {
    background.add(pending::<()>())?;
    Ok(())
}

/// Calls a tool over a pipe of its own, and closes it after the reply.
async fn call_and_leave(server: &BuiltServer, tool: &str) -> tokio::task::JoinHandle<crate::Result<()>> {
    let (mut client, served) = tokio::io::duplex(64 * 1024);
    let (input, output) = tokio::io::split(served);
    let serving = tokio::spawn(server.clone().serve_io(input, output));
    let mut call = call("1", tool, json!({}));
    call["params"]["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {} });
    client.write_all(format!("{call}\n").as_bytes()).await.expect("it reads");
    let mut reply = String::new();
    within(BufReader::new(&mut client).read_line(&mut reply)).await.expect("a reply");
    assert!(reply.contains(r#""isError":false"#), "{reply}");
    client.shutdown().await.expect("it is open");
    serving
}

#[tokio::test]
async fn r3_l11_a_pipe_waits_for_what_its_own_calls_have_left() {
    let release = Arc::new(Notify::new());
    let server = Server::new("pipes", "1.0.0").provide_arc(Arc::clone(&release)).grace_period(LONG);
    let server = server.tools(tools![leave, leave_for_ever]).build().expect("a good server");
    let other = call_and_leave(&server, "leave_for_ever").await;
    let serving = call_and_leave(&server, "leave").await;
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert!(!serving.is_finished(), "its own background task runs");
    release.notify_one();
    within(serving).await.expect("no panic").expect("it ends well");
    assert!(!other.is_finished(), "so does that of the other");
    other.abort();
}
