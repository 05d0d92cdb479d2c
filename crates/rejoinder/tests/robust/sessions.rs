//! Sessions over HTTP, misused.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use rejoinder::{
    Server,
    auth::Principal,
    call::{Era, RequestInfo},
    http,
    server::Limits,
};
use serde_json::{Value, json};

use crate::{
    client::{Connection, Post, Response, within},
    fixture::{Events, Host},
    ways::{Pipe, Session, in_session, initialize, without_session},
};

const MIB: usize = 1024 * 1024;

fn add() -> Value {
    in_session("tools/call", json!({ "name": "add", "arguments": { "a": 1, "b": 2 } }))
}

/// The answer, however it came.
fn answer(response: &Response) -> Value {
    response.messages().pop().unwrap_or_else(|| panic!("no message: {response:?}"))
}

/// Under an id of its own, because a request may be open.
async fn still_answers(session: &Session) {
    let mut add = add();
    add["id"] = "still".into();
    let answer = answer(&session.ask(&add).await);
    assert_eq!(answer["result"]["content"][0]["text"], "3", "{answer}");
}

#[tokio::test]
async fn without_session_memory_each_request_may_go_to_another_process() {
    let replica = || Host::start_at(http::Config::new().without_session_memory(), |server| server);
    let (one, other) = (replica().await, replica().await);
    let begun = one.post(&without_session(initialize(0).to_string())).await;
    assert_eq!(answer(&begun)["result"]["protocolVersion"], "2025-11-25");
    assert!(!begun.head.contains("mcp-session-id"), "{}", begun.head);
    let declared = answer(&begun)["result"]["capabilities"].to_string();
    assert!(!declared.contains("subscribe") && !declared.contains("listChanged"), "{declared}");
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(other.post(&without_session(ready.to_string())).await.status, 202);
    for host in [&other, &one] {
        let post = |message: Value| without_session(message.to_string());
        assert_eq!(answer(&host.post(&post(add())).await)["result"]["content"][0]["text"], "3");
        assert!(answer(&host.post(&post(in_session("tools/list", json!({})))).await)["result"]["tools"].is_array());
        // Clients before 2025-06-18 do not send the header; an id that another server gave means nothing here.
        for old in [post(add()).without("MCP-Protocol-Version"), post(add()).set("Mcp-Session-Id", "of-another")] {
            assert_eq!(answer(&host.post(&old).await)["result"]["content"][0]["text"], "3");
        }
        // What a call emits comes before its reply, as in a session.
        let params = json!({ "name": "chat", "arguments": { "name": "n" }, "_meta": { "progressToken": 1 } });
        assert_eq!(host.post(&post(in_session("tools/call", params))).await.messages().len(), 41);
        // There is nobody to ask.
        let asked = answer(&host.post(&post(in_session("tools/call", json!({ "name": "asks" })))).await);
        assert!(asked.to_string().contains("this server keeps no sessions"), "{asked}");
        let subscribed = answer(&host.post(&post(in_session("resources/subscribe", json!({ "uri": "x://y" })))).await);
        assert_eq!(subscribed["error"]["message"], "this server keeps no sessions, so it cannot announce changes");
        for method in ["GET", "DELETE"] {
            let response = host.post(&post(add()).line(&format!("{method} /mcp HTTP/1.1"))).await;
            assert_eq!((response.status, response.head.contains("allow: post")), (405, true), "{method}");
        }
        // The other era is served as always.
        host.still_answers().await;
    }
}

#[tokio::test]
async fn an_unknown_session_is_not_found() {
    let host = Host::start().await;
    let session = Session::begin(&host).await;
    let ended = Session::begin(&host).await;
    let delete = ended.raw("").line("DELETE /mcp HTTP/1.1");
    assert_eq!(host.post(&delete).await.status, 204);
    let bad = [
        ("made up", session.raw(add().to_string()).set("Mcp-Session-Id", "made-up")),
        ("empty", session.raw(add().to_string()).set("Mcp-Session-Id", "")),
        ("ended", ended.raw(add().to_string())),
        ("no text", session.raw(add().to_string()).set("Mcp-Session-Id", b"\xFF\xFE")),
        ("long", session.raw(add().to_string()).set("Mcp-Session-Id", "x".repeat(20_000))),
        ("in capitals", session.raw(add().to_string()).set("Mcp-Session-Id", session.id.to_uppercase())),
        ("two", session.raw(add().to_string()).also("Mcp-Session-Id", "made-up")),
        ("the same twice", session.raw(add().to_string()).also("Mcp-Session-Id", &session.id)),
    ];
    for (what, post) in bad {
        for line in ["POST /mcp HTTP/1.1", "GET /mcp HTTP/1.1", "DELETE /mcp HTTP/1.1"] {
            let response = host.post(&post.clone().line(line)).await;
            assert_eq!(response.refusal(), (404, -32600), "{what}: {line}");
            assert!(response.message().contains("`initialize`"), "{}", response.message());
        }
    }
    still_answers(&session).await;
}

#[tokio::test]
async fn the_error_before_initialize_says_how_to_begin() {
    let host = Host::start().await;
    for method in ["tools/list", "tools/call", "ping", "logging/setLevel", "no/such"] {
        let response = host.post(&without_session(in_session(method, json!({})).to_string())).await;
        assert_eq!((response.refusal(), &response.json()["id"]), ((400, -32600), &json!(1)), "{method}");
        assert!(response.message().contains("`initialize`"), "{}", response.message());
    }
    for line in ["GET /mcp HTTP/1.1", "DELETE /mcp HTTP/1.1"] {
        assert_eq!(host.post(&without_session("").line(line)).await.refusal(), (400, -32600), "{line}");
    }
    let mut pipe = Pipe::open(&host);
    pipe.send(in_session("tools/list", json!({})).to_string()).await;
    assert_eq!(pipe.reply().await["error"]["code"], -32600);
    host.still_answers().await;
}

#[tokio::test]
async fn a_session_begins_once() {
    let host = Host::start().await;
    let session = Session::begin(&host).await;
    for _ in 0..2 {
        let again = answer(&session.ask(&initialize(5)).await);
        assert_eq!((&again["id"], &again["error"]["code"]), (&json!(5), &json!(-32600)), "{again}");
    }
    still_answers(&session).await;
}

#[tokio::test]
async fn an_invalid_initialize_opens_no_session() {
    let host = Host::start_at(http::Config::new().max_sessions(1), |server| server).await;
    for params in
        [json!({}), json!([]), json!("x"), json!({ "protocolVersion": 7 }), json!({ "protocolVersion": "2025-11-25" })]
    {
        let mut message = initialize(5);
        message["params"] = params;
        let response = host.post(&without_session(message.to_string())).await;
        assert_eq!((response.refusal(), &response.json()["id"]), ((400, -32602), &json!(5)), "{message}");
    }
    // None of them took the only place.
    still_answers(&Session::begin(&host).await).await;
}

#[tokio::test]
async fn bodies_are_limited_in_a_session() {
    let host = Host::start().await;
    let session = Session::begin(&host).await;
    assert_eq!(host.post(&session.raw(vec![b' '; 5 * MIB])).await.refusal(), (413, -32600));
    let chunked = session.raw("").without("Content-Length").set("Transfer-Encoding", "chunked");
    let mut endless = host.connect().await;
    endless.send(chunked.head()).await;
    let chunk = [b"100000\r\n".to_vec(), vec![b' '; MIB], b"\r\n".to_vec()].concat();
    for _ in 0..5 {
        endless.send(&chunk).await;
    }
    assert_eq!(endless.response().await.expect("an answer").refusal(), (413, -32600));
    still_answers(&session).await;
}

#[tokio::test]
async fn a_body_that_does_not_arrive_in_time_is_refused_in_a_session() {
    let host = Host::start_at(http::Config::new().body_timeout(Duration::from_secs(1)), |server| server).await;
    let session = Session::begin(&host).await;
    let mut silent = host.connect().await;
    silent.send(session.raw("").without("Content-Length").set("Transfer-Encoding", "chunked").head()).await;
    assert_eq!(silent.response().await.expect("an answer").refusal(), (408, -32600));
    still_answers(&session).await;
}

#[tokio::test]
async fn headers_are_checked_in_a_session() {
    let host = Host::start().await;
    let session = Session::begin(&host).await;
    let post = || session.raw(add().to_string());
    for good in [post().without("MCP-Protocol-Version"), post().set("Origin", "http://localhost:3000")] {
        assert_eq!(answer(&host.post(&good).await)["result"]["content"][0]["text"], "3");
    }
    let bad = [
        ("a foreign host", post().set("Host", "evil.example"), (403, -32600)),
        ("a foreign origin", post().set("Origin", "https://evil.example"), (403, -32600)),
        ("not JSON", post().set("Content-Type", "text/plain"), (415, -32600)),
        ("not acceptable", post().set("Accept", "text/html"), (406, -32600)),
        ("only JSON accepted", post().set("Accept", "application/json"), (406, -32600)),
        // It says that it is of the other era, whose requests say more.
        ("another era", post().set("MCP-Protocol-Version", "2026-07-28"), (400, -32602)),
        ("no version", post().set("MCP-Protocol-Version", "1999-01-01"), (400, -32602)),
        ("a version that is not text", post().set("MCP-Protocol-Version", b"\xFF"), (400, -32022)),
        ("two versions", post().also("MCP-Protocol-Version", "1999-01-01"), (400, -32600)),
        ("the same version twice", post().also("MCP-Protocol-Version", "2025-11-25"), (400, -32600)),
    ];
    for (what, post, refusal) in bad {
        assert_eq!(host.post(&post).await.refusal(), refusal, "{what}");
    }
    for line in ["GET /mcp HTTP/1.1", "DELETE /mcp HTTP/1.1"] {
        for foreign in
            [session.raw("").set("Host", "evil.example"), session.raw("").set("Origin", "https://evil.example")]
        {
            assert_eq!(host.post(&foreign.line(line)).await.refusal(), (403, -32600), "{line}");
        }
    }
    still_answers(&session).await;
}

/// Who calls is what a header says here; a real server asks what checked a token.
fn by_header(server: Server) -> Server {
    server.principal(|facts: &RequestInfo| Some(Principal::new(facts.headers()?.get("x-user")?.to_str().ok()?)))
}

#[tokio::test]
async fn a_session_belongs_to_its_principal() {
    let host = Host::start_with(by_header).await;
    let ada = |post: Post| post.set("X-User", "ada");
    let session = Session::begin_as(&host, ada).await;
    let nobodys = Session::begin(&host).await;
    for line in ["POST /mcp HTTP/1.1", "GET /mcp HTTP/1.1", "DELETE /mcp HTTP/1.1"] {
        let post = |session: &Session| session.raw(add().to_string()).line(line);
        for stolen in [post(&session), post(&session).set("X-User", "bob"), post(&nobodys).set("X-User", "bob")] {
            let made_up = host.post(&stolen.clone().set("Mcp-Session-Id", "made-up")).await;
            let refused = host.post(&stolen).await;
            assert_eq!(refused.refusal(), (404, -32600), "{line}");
            assert_eq!(refused.json(), made_up.json(), "the answer does not say whether the session exists");
        }
    }
    assert_eq!(answer(&host.post(&ada(session.raw(add().to_string()))).await)["result"]["content"][0]["text"], "3");
    still_answers(&nobodys).await;
}

#[tokio::test]
async fn notifications_reach_only_their_session() {
    let host = Host::start().await;
    let mut sessions = Vec::new();
    for _ in 0..20 {
        sessions.push(Session::begin(&host).await);
    }
    // A stream that belongs to no call hears of no call.
    let mut listening = Connection::open(host.address).await;
    listening.send(sessions[0].raw("").line("GET /mcp HTTP/1.1").set("Accept", "text/event-stream").bytes()).await;
    assert_eq!(listening.head().await.expect("a stream").status, 200);
    let callers = sessions.iter().cloned().enumerate().map(|(number, session)| {
        tokio::spawn(async move {
            let name = format!("caller {number}");
            for round in 0..3 {
                // The same ids and tokens in every session: nothing but the session tells them apart.
                let params =
                    json!({ "name": "chat", "arguments": { "name": name }, "_meta": { "progressToken": round } });
                let messages = session.ask(&in_session("tools/call", params)).await.messages();
                let (last, notifications) = messages.split_last().expect("an answer");
                assert_eq!(last["result"]["content"][0]["text"], name, "{last}");
                assert_eq!(notifications.len(), 40);
                for notification in notifications {
                    let params = &notification["params"];
                    let said = if params["data"].is_null() { &params["message"] } else { &params["data"] };
                    assert_eq!(said, &json!(name), "{notification}");
                }
            }
        })
    });
    for caller in callers.collect::<Vec<_>>() {
        caller.await.expect("it received only its own messages");
    }
    host.handle.remove_tool("optional");
    let first = listening.event().await.expect("the change");
    assert_eq!(first["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn updates_reach_only_the_sessions_that_subscribed() {
    let host = Host::start().await;
    let (one, other) = (Session::begin(&host).await, Session::begin(&host).await);
    let mut streams = Vec::new();
    for (session, uri) in [(&one, "a://one"), (&other, "a://other")] {
        let subscribe = in_session("resources/subscribe", json!({ "uri": uri }));
        assert_eq!(answer(&session.ask(&subscribe).await)["result"], json!({}));
        let mut stream = Connection::open(host.address).await;
        stream.send(session.raw("").line("GET /mcp HTTP/1.1").set("Accept", "text/event-stream").bytes()).await;
        assert_eq!(stream.head().await.expect("a stream").status, 200);
        streams.push(stream);
    }
    host.handle.resource_updated("a://other");
    host.handle.resource_updated("a://one");
    for (stream, uri) in streams.iter_mut().zip(["a://one", "a://other"]) {
        assert_eq!(stream.event().await.expect("an update")["params"]["uri"], uri);
    }
}

#[tokio::test]
async fn l14_a_cancelled_call_stops_and_its_token_fires() {
    let host = Host::start().await;
    let session = Session::begin(&host).await;
    let mut pipe = Pipe::in_session(&host).await;
    let forever = in_session("tools/call", json!({ "name": "forever" }));
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    for _ in 0..20 {
        let _waiting = session.open(&forever).await;
        Events::happened(&host.events.waiting, 1).await;
        assert_eq!(host.post(&session.raw(cancelled.to_string())).await.status, 202);
        Events::happened(&host.events.dropped, 1).await;
        Events::happened(&host.events.cancelled, 1).await;
        still_answers(&session).await;

        pipe.send(forever.to_string()).await;
        Events::happened(&host.events.waiting, 1).await;
        pipe.send(cancelled.to_string()).await;
        Events::happened(&host.events.dropped, 1).await;
        Events::happened(&host.events.cancelled, 1).await;
        pipe.send(add().to_string()).await;
        assert_eq!(pipe.reply().await["result"]["content"][0]["text"], "3");
    }
}

#[tokio::test]
async fn l13_a_client_cannot_cancel_the_call_of_another() {
    let host = Host::start().await;
    let [session, other] = [Session::begin(&host).await, Session::begin(&host).await];
    let mut pipe = Pipe::in_session(&host).await;
    let forever = in_session("tools/call", json!({ "name": "forever" }));
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    // The same id everywhere.
    let _waiting = session.open(&forever).await;
    let _other_waiting = other.open(&forever).await;
    pipe.send(forever.to_string()).await;
    Events::happened(&host.events.waiting, 3).await;
    assert_eq!(host.post(&other.raw(cancelled.to_string())).await.status, 202);
    Events::happened(&host.events.cancelled, 1).await;
    still_answers(&session).await;
    still_answers(&other).await;
    pipe.send(cancelled.to_string()).await;
    Events::happened(&host.events.cancelled, 1).await;
    assert_eq!(host.events.cancelled.available_permits(), 0, "the call of the first session goes on");
    assert_eq!(host.post(&session.raw(cancelled.to_string())).await.status, 202);
    Events::happened(&host.events.cancelled, 1).await;
}

/// On a session a lost connection does not cancel a call: the client may come back for the reply. The end of the session cancels it.
#[tokio::test]
async fn a_session_that_ends_cancels_its_calls() {
    let host = Host::start_with(|server| server.grace_period(Duration::from_millis(50))).await;
    let params = json!({ "name": "forever", "arguments": { "progress_first": true }, "_meta": { "progressToken": 7 } });
    let forever = json!({ "jsonrpc": "2.0", "id": "forever", "method": "tools/call", "params": params });
    for _ in 0..20 {
        let session = Session::begin(&host).await;
        let mut left = session.open(&forever).await;
        left.head().await.expect("the stream has begun");
        Events::happened(&host.events.waiting, 1).await;
        drop(left);
        still_answers(&session).await;
        assert_eq!(host.post(&session.raw("").line("DELETE /mcp HTTP/1.1")).await.status, 204);
        Events::happened(&host.events.dropped, 1).await;
        Events::happened(&host.events.cancelled, 1).await;
    }
    // On a pipe its calls have some time to finish first.
    let mut pipe = Pipe::in_session(&host).await;
    pipe.send(forever.to_string()).await;
    Events::happened(&host.events.waiting, 1).await;
    drop(pipe);
    Events::happened(&host.events.dropped, 1).await;
    Events::happened(&host.events.cancelled, 1).await;
    host.still_answers().await;
}

#[tokio::test]
async fn a_h4_a_session_too_many_ends_the_one_that_is_idle_longest() {
    let host = Host::start_at(http::Config::new().max_sessions(3), |server| server).await;
    let (first, second) = (Session::begin(&host).await, Session::begin(&host).await);
    let mut listening = second.open_stream().await;
    listening.head().await.expect("the stream has begun");
    // One that is never used goes before any other, however new it is.
    for _ in 0..10 {
        assert_eq!(host.post(&without_session(initialize(0).to_string())).await.status, 200);
    }
    still_answers(&first).await;
    still_answers(&second).await;
    let (third, fourth) = (Session::begin(&host).await, Session::begin(&host).await);
    assert_eq!(first.ask(&add()).await.refusal(), (404, -32600));
    for session in [&second, &third, &fourth] {
        still_answers(session).await;
    }
    // Nobody is sent away who reads.
    let streams = [third.open_stream().await, fourth.open_stream().await];
    for mut stream in streams {
        stream.head().await.expect("the stream has begun");
        std::mem::forget(stream);
    }
    let response = host.post(&without_session(initialize(5).to_string())).await;
    assert_eq!((response.refusal(), &response.json()["id"]), ((503, -32600), &json!(5)));
    assert_eq!(response.message(), "too many sessions, try again later");
}

#[tokio::test]
async fn a_h4_one_session_cannot_take_the_calls_of_all() {
    let host =
        Host::start_at(http::Config::new().max_calls_per_session(3), |server| server.limits(Limits::new().calls(10)))
            .await;
    let (greedy, other) = (Session::begin(&host).await, Session::begin(&host).await);
    let call = |id: u32| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "forever" } });
    let mut open = Vec::new();
    for id in 11..=13 {
        open.push(greedy.open(&call(id)).await);
        Events::happened(&host.events.waiting, 1).await;
    }
    let error = |response: &Response| answer(response)["error"].clone();
    let same = error(&greedy.ask(&call(12)).await);
    assert_eq!(same, json!({ "code": -32600, "message": "a request with this id is still being answered" }));
    let fourth = error(&greedy.ask(&call(14)).await);
    assert_eq!(fourth, json!({ "code": -32603, "message": "too many concurrent calls (limit 3), try again later" }));
    still_answers(&other).await;
    // A client that leaves keeps its calls, and one that cancels does not.
    drop(open);
    assert_eq!(error(&greedy.ask(&call(15)).await), fourth);
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 12 } });
    assert_eq!(greedy.ask(&cancel).await.status, 202);
    still_answers(&greedy).await;
}

#[tokio::test]
async fn an_idle_session_ends() {
    let short = http::Config::new().session_timeout(Duration::from_millis(500));
    let host = Host::start_at(short, |server| server).await;
    let session = Session::begin(&host).await;
    let ended = async {
        while session.ask(&add()).await.status != 404 {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    };
    within(ended).await;
}

#[tokio::test]
async fn the_principal_function_sees_the_era() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    let host = Host::start_with(|server| {
        server.principal(move |facts: &RequestInfo| {
            noted.lock().expect("nobody panics").push(facts.era);
            None
        })
    })
    .await;
    let session = Session::begin(&host).await;
    still_answers(&session).await;
    let seen = seen.lock().expect("nobody panics");
    assert!(!seen.is_empty() && seen.iter().all(|era| *era == Era::Session), "{seen:?}");
}
