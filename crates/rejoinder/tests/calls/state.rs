//! A state is fresh for each call and shared by everything in it; the state of a session lives as long as the session.

use rejoinder::{
    call::Era,
    form::ConfirmForm,
    http,
    prelude::*,
    testing::{Client, Transport, in_both_eras},
};
use serde_json::json;
use tokio::sync::Barrier;
use tokio_util::sync::{CancellationToken, DropGuard};

#[derive(Default)]
struct Trail(Vec<String>);

fn note(trail: &State<Trail>, what: &str) -> String {
    trail.with(|trail| {
        trail.0.push(what.to_owned());
        trail.0.join(" ")
    })
}

#[resolver]
async fn first(trail: State<Trail>) -> String {
    tokio::task::yield_now().await;
    note(&trail, "first")
}

#[resolver]
fn second(#[resolve(first)] _first: &str, trail: State<Trail>) -> String {
    note(&trail, "second")
}

#[tool]
async fn tool(#[resolve(second)] _second: &str, trail: State<Trail>, again: State<Trail>) -> String {
    note(&trail, "body");
    note(&again, "again")
}

#[prompt]
async fn prompt(#[resolve(second)] _second: &str, trail: State<Trail>) -> String {
    note(&trail, "body")
}

#[resource("trail://all")]
async fn resource(#[resolve(second)] _second: &str, trail: State<Trail>) -> String {
    note(&trail, "body")
}

#[tokio::test]
async fn a_state_is_shared_in_a_call_and_fresh_in_the_next() {
    let server = Server::new("states", "1.0.0").tools(tools![tool]).prompts(prompts![prompt]);
    in_both_eras(Client::new(server.resources(resources![resource])), async |client| {
        for _ in 0..2 {
            assert_eq!(client.call_tool("tool", json!({})).await.unwrap().text(), "first second body again");
            assert_eq!(client.get_prompt("prompt", json!({})).await.unwrap().text(), "first second body");
            assert_eq!(client.read_resource("trail://all").await.unwrap().text(), "first second body");
        }
        // The model neither sees it nor sets it.
        assert_eq!(client.list_tools().await.unwrap()[0].input_schema["properties"], json!({}));
        assert!(client.call_tool("tool", json!({ "trail": ["mine"] })).await.unwrap().is_error());
    })
    .await;
}

mod ours {
    #[derive(Default)]
    pub(super) struct Count(pub(super) u32);
}

mod theirs {
    #[derive(Default)]
    pub(super) struct Count(pub(super) String);
}

#[tool]
async fn l15_two(ours: State<ours::Count>, theirs: State<theirs::Count>) -> String {
    ours.with(|count| count.0 += 1);
    theirs.with(|count| count.0.push('x'));
    format!("{} {}", ours.with(|count| count.0), theirs.with(|count| count.0.clone()))
}

#[tokio::test]
async fn l15_two_types_of_one_name_are_two_states() {
    in_both_eras(Client::new(Server::new("states", "1.0.0").tools(tools![l15_two])), async |client| {
        assert_eq!(client.call_tool("l15_two", json!({})).await.unwrap().text(), "1 x");
    })
    .await;
}

/// Meets the other call while both hold their state.
#[tool]
async fn meet(name: String, trail: State<Trail>, barrier: Dep<Barrier>) -> String {
    note(&trail, &name);
    barrier.wait().await;
    note(&trail, "met")
}

#[tokio::test]
async fn calls_that_run_at_once_have_their_own_states() {
    let server = Server::new("states", "1.0.0").provide(Barrier::new(2)).tools(tools![meet]);
    in_both_eras(Client::new(server), async |client| {
        let call = async |name: &str| client.call_tool("meet", json!({ "name": name })).await.unwrap().text();
        assert_eq!(tokio::join!(call("a"), call("b")), ("a met".to_owned(), "b met".to_owned()));
    })
    .await;
}

macro_rules! counting {
    ($($name:ident)*) => { $(
        #[resolver]
        async fn $name(count: State<u32>) {
            for _ in 0..100 {
                count.with(|count| *count += 1);
                tokio::task::yield_now().await;
            }
        }
    )* };
}

counting!(one two three);

#[tool]
async fn counted(
    #[resolve(one)] _one: &(),
    #[resolve(two)] _two: &(),
    #[resolve(three)] _three: &(),
    count: State<u32>,
) -> u32 {
    count.get()
}

#[tokio::test]
async fn concurrent_resolvers_change_one_state() {
    in_both_eras(Client::new(Server::new("states", "1.0.0").tools(tools![counted])), async |client| {
        assert_eq!(client.call_tool("counted", json!({})).await.unwrap().text(), "300");
    })
    .await;
}

#[tool]
async fn asks(ctx: Context, trail: State<Trail>) -> Result<String, CallError> {
    note(&trail, "before");
    ctx.ask("sure", Ask::confirm("Sure?")).await?;
    Ok(note(&trail, "after"))
}

#[tool]
async fn by_hand(rounds: Rounds, trail: State<Trail>) -> Reply<String> {
    match rounds.state::<u32>() {
        None => {
            note(&trail, "first");
            Reply::resume(1)
        }
        Some(_) => Reply::done(note(&trail, "second")),
    }
}

#[tokio::test]
async fn the_next_round_begins_with_a_fresh_state() {
    let client = Client::new(Server::new("states", "1.0.0").tools(tools![asks, by_hand]));
    in_both_eras(client.answer("sure", ConfirmForm { yes: true }), async |client| {
        // A stateless client makes it run again, with a fresh state; on a session the same run goes on.
        assert_eq!(client.call_tool("asks", json!({})).await.unwrap().text(), "before after");
        assert_eq!(client.call_tool("by_hand", json!({})).await.unwrap().text(), "second");
    })
    .await;
}

/// It has no default.
#[derive(Clone)]
struct Budget(u32);

#[resolver]
fn budget(limit: &u32) -> State<Budget> {
    State::new(Budget(*limit))
}

#[resolver]
fn spent(#[resolve(budget)] budget: &State<Budget>) {
    budget.with(|budget| budget.0 -= 1);
}

#[tool]
async fn spend(limit: u32, #[resolve(spent)] _spent: &(), #[resolve(budget)] budget: State<Budget>) -> u32 {
    assert_eq!(limit, budget.get().0 + 1);
    budget.set(Budget(budget.get().0 - 1));
    budget.get().0
}

#[tokio::test]
async fn a_state_without_a_default_comes_from_a_resolver() {
    in_both_eras(Client::new(Server::new("states", "1.0.0").tools(tools![spend])), async |client| {
        for _ in 0..2 {
            assert_eq!(client.call_tool("spend", json!({ "limit": 5 })).await.unwrap().text(), "3");
        }
    })
    .await;
}

#[derive(Default)]
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("on purpose");
    }
}

#[tool]
async fn explodes(_bomb: State<Bomb>) -> &'static str {
    "done"
}

#[tokio::test]
async fn a_state_that_panics_when_it_is_dropped_does_not_end_the_server() {
    let server = Server::new("states", "1.0.0").tools(tools![explodes, counted]);
    in_both_eras(Client::new(server), async |client| {
        let exploded = client.call_tool("explodes", json!({})).await;
        assert!(exploded.map_or_else(|error| error.code() == Some(-32603), |reply| reply.is_error()));
        assert_eq!(client.call_tool("counted", json!({})).await.unwrap().text(), "300");
    })
    .await;
}

#[tool]
async fn nested(trail: State<Trail>) -> usize {
    trail.with(|_| trail.with(|trail| trail.0.len()))
}

#[tokio::test]
async fn a_closure_that_uses_its_own_state_fails_the_call_instead_of_waiting_for_itself() {
    let server = Server::new("states", "1.0.0").tools(tools![nested, counted]);
    in_both_eras(Client::new(server), async |client| {
        let nested = client.call_tool("nested", json!({})).await;
        assert!(nested.map_or_else(|error| error.code() == Some(-32603), |reply| reply.is_error()));
        assert_eq!(client.call_tool("counted", json!({})).await.unwrap().text(), "300");
    })
    .await;
}

#[test]
#[should_panic(expected = "a closure of `State::with` uses the same state")]
fn the_panic_says_what_to_do() {
    let state = State::new(1);
    state.with(|_| state.set(2));
}

#[test]
fn a_state_can_be_used_after_a_closure_has_panicked() {
    let state = State::new(1);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| state.with(|_| panic!("on purpose"))));
    assert!(panicked.is_err());
    assert_eq!(state.get(), 1);
}

/// Whether somebody has logged in; it is told when that is over.
#[derive(Default)]
struct Login(Option<DropGuard>);

#[resolver]
fn is_logged_in(login: Option<SessionState<Login>>) -> bool {
    login.is_some_and(|login| login.with(|login| login.0.is_some()))
}

#[tool]
fn log_in(login: SessionState<Login>, over: Dep<CancellationToken>) -> &'static str {
    login.set(Login(Some(CancellationToken::clone(&over).drop_guard())));
    "welcome"
}

#[tool(enabled = is_logged_in)]
fn secret() -> &'static str {
    "42"
}

fn vault(over: &CancellationToken) -> Server {
    Server::new("vault", "1.0.0").provide(over.clone()).tools(tools![log_in, secret])
}

#[tokio::test]
async fn u3_5_the_state_of_a_session_is_shared_by_its_calls_and_gates_and_dropped_with_it() {
    for transport in [Transport::Http, Transport::Stdio, Transport::WebSocket, Transport::Sse] {
        let over = CancellationToken::new();
        let session = Client::new(vault(&over)).transport(transport).era(Era::Session);
        assert_eq!(session.list_tools().await.unwrap().len(), 1, "{transport:?}");
        assert_eq!(session.call_tool("log_in", json!({})).await.unwrap().text(), "welcome", "{transport:?}");
        assert_eq!(session.call_tool("secret", json!({})).await.unwrap().text(), "42", "{transport:?}");
        assert_eq!(session.list_tools().await.unwrap().len(), 2, "{transport:?}");
        let other = session.clone().era(Era::Session);
        assert_eq!(other.list_tools().await.unwrap().len(), 1, "another session, {transport:?}");
        drop(other);
        assert!(!over.is_cancelled(), "{transport:?}");
        // A pipe or a socket ends with its client, and over HTTP all sessions end with the server.
        drop(session);
        over.cancelled().await;
    }
}

#[tokio::test]
async fn u3_5_without_a_session_there_is_no_state_of_it() {
    let over = CancellationToken::new();
    let http = http::Config::new().without_session_memory();
    for client in [
        Client::new(vault(&over)),
        Client::new(vault(&over)).transport(Transport::Stdio),
        Client::new(vault(&over)).transport(Transport::WebSocket),
        Client::new(vault(&over).http(http)).era(Era::Session),
    ] {
        let refused = client.call_tool("log_in", json!({})).await.unwrap();
        assert!(refused.is_error(), "{client:?}");
        assert_eq!(
            refused.text(),
            "this client has no session, in which `login` lives: sessions need protocol version 2025-11-25 or earlier, and a \
             server that keeps them"
        );
        assert_eq!(client.list_tools().await.unwrap().len(), 1, "{client:?}");
        assert!(client.call_tool("secret", json!({})).await.is_err(), "{client:?}");
    }
}

#[tool]
async fn count(seen: SessionState<u32>, mine: State<u32>) -> String {
    mine.with(|mine| *mine += 1);
    format!("{} {}", seen.with(|seen| std::mem::replace(seen, *seen + 1)), mine.get())
}

#[tokio::test]
async fn the_state_of_a_session_and_of_a_call_are_two_values_of_one_type() {
    let session = Client::new(Server::new("states", "1.0.0").tools(tools![count])).era(Era::Session);
    for expected in ["0 1", "1 1", "2 1"] {
        assert_eq!(session.call_tool("count", json!({})).await.unwrap().text(), expected);
    }
}
