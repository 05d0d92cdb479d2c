//! One caller cannot use up what all callers share.

use rejoinder::{
    Server,
    auth::Principal,
    call::RequestInfo,
    server::Limits,
    state::{MemoryReplayStore, StatePolicy},
};
use serde_json::{Value, json};

use crate::{
    client::{Connection, Post, Response, asked, call, request, text, within},
    fixture::{Events, Host},
    ways::{Session, in_session, initialize, without_session},
};

/// The caller is whom a header names, as if a layer had checked it.
fn named(request: &RequestInfo) -> Option<Principal> {
    let name = request.headers()?.get("x-user")?.to_str().ok().filter(|name| !name.is_empty())?;
    Some(Principal::new(name).with_issuer("https://id.example"))
}

async fn host(options: impl FnOnce(Server) -> Server) -> Host {
    Host::start_with(|server| options(server.principal(named))).await
}

async fn session_of(host: &Host, caller: &str) -> Session {
    Session::begin_as(host, |post| post.set("x-user", caller)).await
}

fn arguments(tool: &str) -> Value {
    if tool == "add" { json!({ "a": 1, "b": 2 }) } else { json!({}) }
}

fn stateless(caller: &str, tool: &str) -> Post {
    Post::of(&asked(call(tool, arguments(tool)))).set("x-user", caller)
}

fn of_session(caller: &str, session: &Session, id: u32, tool: &str) -> Post {
    let mut message = in_session("tools/call", json!({ "name": tool, "arguments": arguments(tool) }));
    message["id"] = id.into();
    session.raw(message.to_string()).set("x-user", caller)
}

async fn open(host: &Host, post: &Post) -> Connection {
    let mut connection = host.connect().await;
    connection.send(post.bytes()).await;
    connection
}

/// The one message of a response, however it came.
fn last(response: &Response) -> Value {
    response.messages().pop().unwrap_or_else(|| panic!("no message: {response:?}"))
}

/// The next message of a stream of events, which begins with an empty one.
async fn message(stream: &mut Connection) -> Value {
    loop {
        let data = stream.data().await.expect("an event");
        if !data.trim().is_empty() {
            return data.parse().expect("events are JSON");
        }
    }
}

async fn becomes_served(host: &Host, add: &Post) {
    let served = async {
        while last(&host.post(add).await)["result"]["content"][0]["text"] != "3" {
            tokio::task::yield_now().await;
        }
    };
    within(served).await;
}

async fn is_refused(host: &Host, post: &Post, status: u16, what: &str) {
    let refused = host.post(post).await;
    assert_eq!(refused.refusal(), (status, -32603));
    assert_eq!(refused.message(), format!("too many {what} of this caller (limit 2), try again later"));
    assert_eq!(refused.json()["error"]["data"]["reason"], "caller_limit");
}

#[tokio::test]
async fn a_h4_stateless_calls_of_one_caller_leave_room_for_others() {
    let host = host(|server| server.limits(Limits::new().calls(8))).await;
    let forever = stateless("ada", "forever");
    let held = [open(&host, &forever).await, open(&host, &forever).await];
    Events::happened(&host.events.waiting, 2).await;
    is_refused(&host, &stateless("ada", "add"), 429, "concurrent calls").await;
    assert_eq!(host.post(&stateless("bob", "add")).await.text(), "3");
    host.still_answers().await;
    drop(held);
    becomes_served(&host, &stateless("ada", "add")).await;
}

#[tokio::test]
async fn a_h4_calls_of_all_sessions_of_a_caller_count_together() {
    let host = host(|server| server.limits(Limits::new().calls(8))).await;
    let (one, two) = (session_of(&host, "ada").await, session_of(&host, "ada").await);
    let bobs = session_of(&host, "bob").await;
    let held = [
        open(&host, &of_session("ada", &one, 1, "forever")).await,
        open(&host, &of_session("ada", &two, 2, "forever")).await,
    ];
    Events::happened(&host.events.waiting, 2).await;
    // Calls of a session outlive their connections.
    drop(held);
    let (on_one, on_two) = (of_session("ada", &one, 3, "add"), of_session("ada", &two, 4, "add"));
    for add in [&on_one, &on_two] {
        is_refused(&host, add, 200, "concurrent calls").await;
    }
    is_refused(&host, &stateless("ada", "add"), 429, "concurrent calls").await;
    assert_eq!(text(&last(&host.post(&of_session("bob", &bobs, 1, "add")).await)), "3");

    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    assert_eq!(host.post(&one.raw(cancel.to_string()).set("x-user", "ada")).await.status, 202);
    becomes_served(&host, &on_two).await;

    let _held = open(&host, &of_session("ada", &one, 5, "forever")).await;
    Events::happened(&host.events.waiting, 1).await;
    is_refused(&host, &on_one, 200, "concurrent calls").await;
    let delete = two.raw("").set("x-user", "ada").line("DELETE /mcp HTTP/1.1");
    assert_eq!(host.post(&delete).await.status, 204);
    becomes_served(&host, &on_one).await;
}

#[tokio::test]
async fn questions_to_all_sessions_of_a_caller_count_together() {
    let host = host(|server| server.limits(Limits::new().questions_per_caller(2))).await;
    let begin = async |caller: &str| {
        let mut begin = initialize(0);
        begin["params"]["capabilities"] = json!({ "elicitation": {} });
        let response = host.post(&without_session(begin.to_string()).set("x-user", caller)).await;
        let id = response.head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).expect("an id");
        Session { address: host.address, id: id.to_owned() }
    };
    let (one, two, bobs) = (begin("ada").await, begin("ada").await, begin("bob").await);
    let mut asked = Vec::new();
    for (caller, session, id) in [("ada", &one, 1), ("ada", &two, 2), ("bob", &bobs, 1)] {
        let mut connection = open(&host, &of_session(caller, session, id, "asks")).await;
        connection.head().await.expect("a stream");
        let question = message(&mut connection).await;
        assert_eq!(question["method"], "elicitation/create", "{question}");
        asked.push((connection, question["id"].clone()));
    }
    let third = last(&host.post(&of_session("ada", &two, 3, "asks")).await);
    let refused =
        "the client could not be asked `sure`: too many open questions of this caller (limit 2), try again later";
    assert_eq!(text(&third), refused);
    // An answer makes room, and so does a cancelled call.
    let answer = json!({
        "jsonrpc": "2.0", "id": asked[0].1, "result": { "action": "accept", "content": { "yes": true } },
    });
    assert_eq!(host.post(&one.raw(answer.to_string()).set("x-user", "ada")).await.status, 202);
    assert_eq!(text(&message(&mut asked[0].0).await), "true");
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 2 } });
    assert_eq!(host.post(&two.raw(cancel.to_string()).set("x-user", "ada")).await.status, 202);
    for id in [4, 5] {
        let mut connection = open(&host, &of_session("ada", &one, id, "asks")).await;
        connection.head().await.expect("a stream, and not a refusal");
        assert_eq!(message(&mut connection).await["method"], "elicitation/create");
    }
}

#[tokio::test]
async fn a_h4_sessions_of_a_caller_end_before_those_of_others() {
    let limits = Limits::new().sessions_per_caller(2);
    let host = host(|server| server.limits(limits)).await;
    let bobs = session_of(&host, "bob").await;
    let (first, second) = (session_of(&host, "ada").await, session_of(&host, "ada").await);
    let add = |caller: &str, session: &Session| of_session(caller, session, 1, "add");
    assert_eq!(text(&last(&host.post(&add("ada", &first)).await)), "3");
    // The one that is idle longest ends, though there is room for thousands; bob's is idle longer.
    let third = session_of(&host, "ada").await;
    assert_eq!(host.post(&add("ada", &second)).await.status, 404);
    for (caller, session) in [("ada", &first), ("ada", &third), ("bob", &bobs)] {
        assert_eq!(text(&last(&host.post(&add(caller, session)).await)), "3");
    }
    // If all are read, there is none to end.
    let mut streams = Vec::new();
    for session in [&first, &third] {
        let get = session.raw("").set("x-user", "ada").line("GET /mcp HTTP/1.1");
        let mut stream = open(&host, &get).await;
        stream.head().await.expect("a stream");
        streams.push(stream);
    }
    let begin = |caller: &str| without_session(initialize(1).to_string()).set("x-user", caller);
    is_refused(&host, &begin("ada"), 429, "sessions").await;
    assert_eq!(host.post(&begin("bob")).await.status, 200);
    let delete = third.raw("").set("x-user", "ada").line("DELETE /mcp HTTP/1.1");
    assert_eq!(host.post(&delete).await.status, 204);
    assert_eq!(host.post(&begin("ada")).await.status, 200);
}

#[tokio::test]
async fn a_m8_subscriptions_of_a_caller_leave_room_for_others() {
    let host = host(|server| server.limits(Limits::new().subscriptions(8))).await;
    let listen = |caller: &str| {
        let notifications = json!({ "toolsListChanged": true });
        Post::of(&request("subscriptions/listen", json!({ "notifications": notifications }))).set("x-user", caller)
    };
    let mut held = Vec::new();
    for caller in ["ada", "ada", "bob"] {
        let mut stream = open(&host, &listen(caller)).await;
        stream.head().await.expect("a stream");
        held.push(stream);
    }
    is_refused(&host, &listen("ada"), 429, "subscriptions").await;
    // A connection that is dropped makes room.
    drop(held);
    let again = async {
        loop {
            let mut stream = open(&host, &listen("ada")).await;
            if stream.head().await.expect("a response").status == 200 {
                break;
            }
        }
    };
    within(again).await;
}

#[tokio::test]
async fn a_m5_used_states_of_a_caller_leave_room_for_others() {
    let store = || StatePolicy::new().single_use(MemoryReplayStore::at_most(8));
    let host = host(|server| server.state(store())).await;
    let answered = async |caller: &str| {
        let first = host.post(&stateless(caller, "asks")).await.json();
        let mut retry = asked(call("asks", json!({})));
        retry["params"]["requestState"] = first["result"]["requestState"].clone();
        retry["params"]["inputResponses"] = json!({ "sure": { "action": "accept", "content": { "yes": true } } });
        Post::of(&retry).set("x-user", caller)
    };
    for _ in 0..2 {
        assert_eq!(host.post(&answered("ada").await).await.text(), "true");
    }
    is_refused(&host, &answered("ada").await, 429, "used states").await;
    assert_eq!(host.post(&answered("bob").await).await.text(), "true");
    // Those without a caller have half of it, all together.
    for _ in 0..4 {
        assert_eq!(host.post(&answered("").await).await.text(), "true");
    }
    let refused = host.post(&answered("").await).await;
    assert_eq!(refused.refusal(), (429, -32603));
    assert_eq!(refused.message(), "too many used states of anonymous callers (limit 4), try again later");
    assert_eq!(host.post(&answered("bob").await).await.text(), "true");
}

#[tokio::test]
async fn callers_share_nothing_with_the_same_name_of_another_issuer() {
    let by_issuer = |request: &RequestInfo| {
        let issuer = request.headers()?.get("x-user")?.to_str().ok()?;
        Some(Principal::new("ada").with_issuer(issuer))
    };
    let host = Host::start_with(|server| server.principal(by_issuer).limits(Limits::new().calls(4))).await;
    let _held = open(&host, &stateless("https://one.example", "forever")).await;
    Events::happened(&host.events.waiting, 1).await;
    assert_eq!(host.post(&stateless("https://one.example", "add")).await.refusal(), (429, -32603));
    assert_eq!(host.post(&stateless("https://two.example", "add")).await.text(), "3");
}

#[tokio::test]
async fn a3_h1_what_running_calls_hold_is_limited_for_each_caller_and_in_all() {
    let limits = Limits::new().memory(100_000).memory_per_caller(5_000);
    for in_a_session in [false, true] {
        let host = host(|server| server.limits(limits)).await;
        let sessions = if in_a_session {
            let begin = async |caller| (caller, session_of(&host, caller).await);
            vec![begin("ada").await, begin("bob").await]
        } else {
            Vec::new()
        };
        // The first 4 KiB of each do not count. A connection holds what it has read, beside the call.
        let large = |caller: &str, id: u32, tool: &str| {
            let params = json!({ "name": tool, "arguments": arguments(tool), "_meta": { "own": "x".repeat(8_000) } });
            match sessions.iter().find(|(owner, _)| *owner == caller) {
                Some((_, session)) => {
                    let mut message = in_session("tools/call", params);
                    message["id"] = id.into();
                    session.raw(message.to_string()).set("x-user", caller)
                }
                None => {
                    let mut message = asked(call(tool, arguments(tool)));
                    message["params"]["_meta"]["own"] = params["_meta"]["own"].clone();
                    Post::of(&message).set("x-user", caller)
                }
            }
        };
        let mut held = vec![open(&host, &large("ada", 1, "forever")).await];
        Events::happened(&host.events.waiting, 1).await;
        let refused = host.post(&large("ada", 2, "add")).await;
        assert_eq!(refused.refusal(), (if in_a_session { 200 } else { 429 }, -32603));
        assert_eq!(refused.message(), "too many held bytes of this caller (limit 5000), try again later");
        assert_eq!(refused.json()["error"]["data"]["reason"], "caller_limit");
        assert_eq!(last(&host.post(&large("bob", 3, "add")).await)["result"]["content"][0]["text"], "3");
        // Those without a caller have half of it, all together.
        for number in 1..100 {
            held.push(open(&host, &large("", number, "forever")).await);
        }
        let refused = host.post(&large("", 100, "add")).await;
        assert_eq!(refused.refusal(), (429, -32603));
        assert_eq!(refused.message(), "too many held bytes of anonymous callers (limit 50000), try again later");
        assert_eq!(last(&host.post(&large("bob", 4, "add")).await)["result"]["content"][0]["text"], "3");
        host.still_answers().await;
        drop(held);
        becomes_served(&host, &large("", 101, "add")).await;
    }
}

#[tokio::test]
async fn a3_m8_a_head_that_is_too_large_is_refused() {
    let host = host(|server| server).await;
    let add = |length: usize| stateless("ada", "add").set("x-long", "x".repeat(length));
    assert_eq!(host.post(&add(20_000)).await.text(), "3");
    assert_eq!(host.post(&add(40_000)).await.status, 431);
    // In an application, which reads the head itself.
    let mounted =
        rejoinder::testing::Client::new(Server::new("mounted", "1.0.0")).header("x-long", &"x".repeat(40_000));
    let refused = mounted.request("server/discover", json!({})).await.unwrap_err();
    let refused = refused.rpc().expect("a refusal");
    assert_eq!(
        (refused.status.as_u16(), refused.code, &*refused.message),
        (431, -32600, "the head is larger than 32768 bytes")
    );
}
