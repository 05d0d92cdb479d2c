//! User code that panics: an error for its caller, and nothing for anybody else.

use std::{
    error::Error,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::SystemTime,
};

use rejoinder::{
    BoxError, BoxFuture,
    auth::Principal,
    call::RequestInfo,
    prelude::*,
    state::{ReplayStore, StatePolicy},
};
use serde_json::{Value, json};

use crate::{
    client::{Post, asked, call, observed, request},
    fixture::{Events, Host},
    ways::{Pipe, Session, Way, initialize, without_session},
};

const INTERNAL: i64 = -32603;

fn is_internal(message: &Value) -> bool {
    let error = &message["error"];
    // The id finds the panic in the log; what the panic said stays there.
    error["code"] == INTERNAL && error["data"]["id"].is_string() && message["id"] == 1
}

#[tokio::test]
async fn a_connection_survives_panics() {
    let host = Host::start().await;
    let mut connection = host.connect().await;
    for message in
        [call("panic_at_once", json!({})), call("panic_later", json!({})), call("panic_after_progress", json!({}))]
    {
        connection.send(Post::of(&message).bytes()).await;
        let response = connection.response().await.unwrap_or_else(|| panic!("no answer to {message}"));
        assert!(is_internal(&response.json()), "{message}: {}", response.json());
    }
    host.still_answers().await;
}

/// Before the tool's name, arguments are read in another place; those of prompts and resources in a third.
#[tokio::test]
async fn a_panic_while_arguments_are_read_is_an_error_of_that_call() {
    let host = Host::start().await;
    let meta = call("x", json!({}))["params"]["_meta"].to_string();
    let (name, arguments) = (r#""name":"panic_while_reading""#, r#""arguments":{"mine":1}"#);
    for (first, second) in [(name, arguments), (arguments, name)] {
        let body =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{{first},{second},"_meta":{meta}}}}}"#);
        let response = host.post(&Post::raw(body).set("Mcp-Name", "panic_while_reading")).await;
        let answer = response.json();
        assert!(is_internal(&answer), "{answer}");
        assert!(!answer.to_string().contains("stepped on"), "{answer}");
        host.still_answers().await;
    }
    let others = [
        request("prompts/get", json!({ "name": "prompt_with_a_mine", "arguments": { "mine": "x" } })),
        request("resources/read", json!({ "uri": "mine://x" })),
    ];
    for message in others {
        let response = host.ask(&message).await;
        assert!(is_internal(&response.json()), "{}", response.json());
        host.still_answers().await;
    }
}

#[tokio::test]
async fn a_panic_after_progress_ends_the_stream_with_the_error() {
    let host = Host::start().await;
    let messages = host.connect().await.messages(&observed(call("panic_after_progress", json!({})), "t")).await;
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert_eq!(messages[0]["params"]["progressToken"], "t");
    assert!(is_internal(&messages[1]), "{messages:?}");
    host.still_answers().await;
}

#[tokio::test]
async fn a_panic_in_a_dropped_future_does_not_affect_others() {
    let host = Host::start().await;
    for _ in 0..20 {
        let mut connection = host.connect().await;
        connection.send(Post::of(&call("panic_in_drop", json!({ "stay": true }))).bytes()).await;
        Events::happened(&host.events.waiting, 1).await;
        drop(connection);
        host.still_answers().await;
    }
}

#[tokio::test]
async fn a_panic_in_a_function_that_is_dropped_at_its_question_is_an_error_of_that_call() {
    let host = Host::start().await;
    let message = asked(call("panic_while_parked", json!({})));
    let (mut connection, mut pipe) = (host.connect().await, Pipe::open(&host));
    for _ in 0..3 {
        connection.send(Post::of(&message).bytes()).await;
        let response = connection.response().await.expect("an answer");
        assert!(is_internal(&response.json()), "{}", response.json());
        pipe.send(message.to_string()).await;
        let answer = pipe.reply().await;
        assert!(is_internal(&answer), "{answer}");
    }
    host.still_answers().await;
}

/// Tells callers apart, unless it steps on a mine.
fn wary(facts: &RequestInfo) -> Option<Principal> {
    let mined = facts.headers().is_some_and(|headers| headers.contains_key("x-mine")) || facts.meta("mine").is_some();
    assert!(!mined, "stepped on");
    None
}

#[tokio::test]
async fn a_panic_in_the_principal_function_is_an_error_of_that_request() {
    let host = Host::start_with(|server| server.principal(wary)).await;
    let mut pipe = Pipe::open(&host);
    for message in [
        call("add", json!({ "a": 1, "b": 2 })),
        request("prompts/get", json!({ "name": "prompt_with_a_mine", "arguments": { "mine": "y" } })),
        request("resources/read", json!({ "uri": "mine://y" })),
    ] {
        let response = host.post(&Post::of(&message).set("x-mine", "here")).await;
        assert!(is_internal(&response.json()), "{}", response.json());
        let mut mined = message;
        mined["params"]["_meta"]["mine"] = true.into();
        pipe.send(mined.to_string()).await;
        let answer = pipe.reply().await;
        assert!(is_internal(&answer), "{answer}");
        host.still_answers().await;
    }
}

#[tokio::test]
async fn a_panic_in_the_principal_function_is_an_error_of_that_request_in_a_session() {
    let host = Host::start_with(|server| server.principal(wary)).await;
    let response = host.post(&without_session(initialize(1).to_string()).set("x-mine", "here")).await;
    assert!(is_internal(&response.json()), "{}", response.json());
    let session = Session::begin(&host).await;
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string();
    let response = host.post(&session.raw(list).set("x-mine", "here")).await;
    assert!(is_internal(&response.json()), "{}", response.json());
    let stream = session.raw("").line("GET /mcp HTTP/1.1").set("Accept", "text/event-stream").set("x-mine", "here");
    assert_eq!(host.post(&stream).await.refusal(), (500, INTERNAL));
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    assert!(session.ask(&list).await.messages()[0]["result"]["tools"].is_array());
}

struct Mined;

impl ReplayStore for Mined {
    fn spend(&self, id: [u8; 16], _: SystemTime, _: Option<&Principal>) -> BoxFuture<'_, Result<bool, BoxError>> {
        // Of all states about half panic at once, and the others later.
        assert!(id[0].is_multiple_of(2), "stepped on");
        Box::pin(async { panic!("stepped on") })
    }
}

#[tokio::test]
async fn a_panic_in_the_replay_store_is_an_error_of_that_call() {
    let host = Host::start_with(|server| server.state(StatePolicy::new().single_use(Mined))).await;
    let mut pipe = Pipe::open(&host);
    for _ in 0..10 {
        let mut message = asked(call("asks", json!({})));
        message["params"]["requestState"] = host.ask(&message).await.json()["result"]["requestState"].clone();
        let response = host.ask(&message).await;
        assert!(is_internal(&response.json()), "{}", response.json());
        pipe.send(message.to_string()).await;
        let answer = pipe.reply().await;
        assert!(is_internal(&answer), "{answer}");
        host.still_answers().await;
    }
}

/// An error that panics where its name says.
#[derive(Debug)]
struct MinedError(&'static str);

impl fmt::Display for MinedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        assert_ne!(self.0, "display", "stepped on");
        f.write_str("mined")
    }
}

impl Error for MinedError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        assert_ne!(self.0, "source", "stepped on");
        // An error may even be its own cause.
        Some(self)
    }
}

impl rejoinder::reply::IntoCallError for MinedError {
    fn into_call_error(self) -> CallError {
        CallError::internal(self)
    }
}

impl Drop for MinedError {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert_ne!(self.0, "drop", "stepped on");
        }
    }
}

/// The payload of a panic, which panics once more when it is dropped.
struct MinedPayload;

impl Drop for MinedPayload {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            std::panic::panic_any(MinedPayload);
        }
    }
}

/// The deferred functions that have run.
#[derive(Default)]
struct Deferred(AtomicU32);

impl Deferred {
    fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Fails in the way that the argument names, between two deferred functions.
#[tool]
async fn fail(how: String, scope: Scope, deferred: Dep<Deferred>) -> Result<String, MinedError> {
    let [first, last] = [deferred.clone(), deferred];
    scope.defer(move |_| async move { first.count() });
    let is_deferred = how.strip_prefix("deferred ").map(str::to_owned);
    scope.defer(move |_| async move {
        match is_deferred.as_deref() {
            Some("display") => Err(MinedError("display")),
            Some("source") => Err(MinedError("source")),
            Some("drop") => Err(MinedError("drop")),
            Some(_) => std::panic::panic_any(MinedPayload),
            None => Ok(()),
        }
    });
    scope.defer(move |_| async move { last.count() });
    match &*how {
        "display" => Err(MinedError("display")),
        "source" => Err(MinedError("source")),
        "drop" => Err(MinedError("drop")),
        "payload" => std::panic::panic_any(MinedPayload),
        "cause" => Err(MinedError("nowhere")),
        _ => Ok("done".to_owned()),
    }
}

#[tokio::test]
async fn a_h3_a_panic_in_an_error_or_payload_is_an_error_of_that_call() {
    let deferred = Arc::new(Deferred::default());
    let host = Host::start_with(|server| server.provide_arc(Arc::clone(&deferred)).tools(tools![fail])).await;
    for mut way in Way::all(&host).await {
        // A deferred function that panics after a success fails the call in the same way.
        let deferred_too = ["deferred display", "deferred source", "deferred drop", "deferred payload"];
        for how in ["display", "source", "drop", "payload"].into_iter().chain(deferred_too) {
            let answer = way.ask(&way.call("fail", json!({ "how": how }))).await;
            let is_result = way.is_session() && answer["result"]["isError"] == true;
            assert!(is_internal(&answer) || is_result, "{how} over {}: {answer}", way.name());
            assert!(!answer.to_string().contains("stepped on"), "{answer}");
            assert_eq!(deferred.0.swap(0, Ordering::Relaxed), 2, "{how} over {}", way.name());
        }
        let answer = way.ask(&way.call("fail", json!({ "how": "cause" }))).await;
        assert_eq!(answer["result"]["isError"], true, "{}: {answer}", way.name());
        deferred.0.store(0, Ordering::Relaxed);
        way.still_answers().await;
    }
}
