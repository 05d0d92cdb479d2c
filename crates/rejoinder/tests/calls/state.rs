//! A state is fresh for each call and shared by everything in it.

use rejoinder::{
    form::ConfirmForm,
    prelude::*,
    testing::{Client, in_both_eras},
};
use serde_json::json;
use tokio::sync::Barrier;

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
