//! Rounds that a function makes by hand: its own state, its own questions, and `Reply::resume`.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

mod answers;
mod mistakes;

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use rejoinder::testing::in_both_eras;
use rejoinder::{
    call::{CallEnd, Era},
    prelude::*,
    testing::Client,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Elicit)]
struct Name {
    #[elicit(min_length = 1)]
    name: String,
}

/// The state of the order.
#[derive(Serialize, Deserialize)]
enum Stage {
    Named,
    Priced { name: String, price: u32 },
}

#[derive(Default)]
struct Counters {
    runs: AtomicU32,
    endings: std::sync::Mutex<Vec<CallEnd>>,
}

/// Two questions, one after the other, with a price between them that must not change.
#[tool]
async fn order(item: String, rounds: Rounds, counters: Dep<Counters>) -> Result<Reply<String>, CallError> {
    let price = counters.runs.fetch_add(1, Ordering::Relaxed) + 10;
    Ok(match (rounds.state::<Stage>(), rounds.answer::<Name>("who")) {
        (None | Some(Stage::Named), None) => Reply::ask("who", Ask::<Name>::user("Who pays?")).with_state(Stage::Named),
        (_, Some(Outcome::Declined | Outcome::Cancelled)) => return Err(CallError::new("nobody pays")),
        (None | Some(Stage::Named), Some(Outcome::Accepted(Name { name }))) => {
            let question = Ask::confirm(format!("{name}, {item} for {price}?"));
            Reply::ask("sure", question).with_state(Stage::Priced { name, price })
        }
        (Some(Stage::Priced { name, price }), _) => match rounds.answer::<rejoinder::form::ConfirmForm>("sure") {
            Some(Outcome::Accepted(sure)) => Reply::done(format!("{name} {item} {price} {}", sure.yes)),
            Some(_) => Reply::done("kept".to_owned()),
            None => Reply::ask("sure", Ask::confirm("Sure?")),
        },
    })
}

/// Counts a little in each round.
#[tool]
async fn crunch(to: u64, rounds: Rounds, scope: Scope, counters: Dep<Counters>) -> Reply<u64> {
    counters.runs.fetch_add(1, Ordering::Relaxed);
    scope.defer(move |ending| async move { counters.endings.lock().unwrap().push(ending) });
    let (from, sum) = rounds.state().unwrap_or((0, 0));
    let end = to.min(from + 10);
    let sum = sum + (from..end).sum::<u64>();
    if end == to { Reply::done(sum) } else { Reply::resume((end, sum)) }
}

/// Asks two questions at once.
#[prompt]
async fn letter(rounds: Rounds) -> Reply<String> {
    let name = |key| rounds.answer::<Name>(key).and_then(Outcome::accepted).map(|Name { name }| name);
    match (name("from"), name("to")) {
        (Some(from), Some(to)) => Reply::done(format!("{from} writes to {to}")),
        _ => Reply::ask("from", Ask::<Name>::user("From?")).and("to", Ask::<Name>::user("To?")),
    }
}

#[resource("tally://{name}")]
async fn tally(name: String, rounds: Rounds) -> Reply<String> {
    match rounds.state::<u32>() {
        Some(2) => Reply::done(name),
        count => Reply::resume(count.unwrap_or(0) + 1),
    }
}

/// A state without content.
#[tool]
async fn nothing_kept(rounds: Rounds) -> Reply<&'static str> {
    match rounds.state::<()>() {
        None => Reply::resume(()),
        Some(()) => Reply::done("once more"),
    }
}

/// Asks and takes a step with `Context`, then asks by hand.
#[tool]
async fn mixed(rounds: Rounds, ctx: Context, counters: Dep<Counters>) -> Result<Reply<String>, CallError> {
    let Name { name } = ctx.ask("who", Ask::user("Who pays?")).await?;
    let receipt: u32 = ctx.once("charge", || async { Ok(counters.runs.fetch_add(1, Ordering::Relaxed) + 100) }).await?;
    Ok(match rounds.answer::<rejoinder::form::ConfirmForm>("sure") {
        None => Reply::ask("sure", Ask::confirm("Sure?")),
        Some(_) => Reply::done(format!("{name} {receipt}")),
    })
}

/// Holds a resource until the end of the round.
#[tool]
async fn hold(rounds: Rounds, scope: Scope, counters: Dep<Counters>) -> Reply<&'static str> {
    scope.defer(move |ending| async move { counters.endings.lock().unwrap().push(ending) });
    match rounds.answer::<Name>("who") {
        None => Reply::ask("who", Ask::<Name>::user("Who?")),
        Some(_) => Reply::done("let go"),
    }
}

/// Never reads the answer.
#[tool]
async fn forever(_rounds: Rounds) -> Reply<String> {
    Reply::ask("who", Ask::<Name>::user("Who?"))
}

fn server() -> Server {
    Server::new("by-hand", "1.0.0")
        .provide(answers::Left::default())
        .provide(Counters::default())
        .tools(tools![order, crunch, nothing_kept, mixed, hold, forever])
        .tools(answers::tools())
        .tools(mistakes::tools())
        .prompts(prompts![letter])
        .resources(resources![tally])
}

fn name(name: &str) -> Name {
    Name { name: name.into() }
}

#[tokio::test]
async fn the_functions_state_is_passed_from_round_to_round() {
    let yes = rejoinder::form::ConfirmForm { yes: true };
    in_both_eras(Client::new(server()).answer("who", name("Ada")).answer("sure", yes), async |client| {
        let counters = Arc::new(Counters::default());
        let reply =
            client.replace_arc(Arc::clone(&counters)).call_tool("order", json!({ "item": "tea" })).await.unwrap();
        assert_eq!(reply.text(), "Ada tea 11 true", "the price of the second round");
        assert_eq!(reply.asked, [["who"], ["sure"]]);
        assert_eq!(counters.runs.load(Ordering::Relaxed), 3);
    })
    .await;
}

/// Waits for an event, and keeps nothing.
#[tool]
async fn printed(counters: Dep<Counters>, _rounds: Rounds) -> Reply<&'static str> {
    if counters.runs.fetch_add(1, Ordering::Relaxed) < 2 { Reply::resume(()) } else { Reply::done("fetch it") }
}

#[tokio::test]
async fn a_function_can_resume_without_a_state() {
    for era in [Era::Stateless, Era::Session] {
        let server = Server::new("printer", "1").provide(Counters::default()).tools(tools![printed]);
        assert_eq!(Client::new(server).era(era).call_tool("printed", json!({})).await.unwrap().text(), "fetch it");
    }
}

#[tokio::test]
async fn a_state_may_be_empty() {
    in_both_eras(Client::new(server()), async |client| {
        assert_eq!(client.call_tool("nothing_kept", json!({})).await.unwrap().text(), "once more");
    })
    .await;
}

#[tokio::test]
async fn answers_and_steps_of_the_context_are_kept_too() {
    let yes = rejoinder::form::ConfirmForm { yes: true };
    in_both_eras(Client::new(server()).answer("who", name("Ada")).answer("sure", yes), async |client| {
        let counters = Arc::new(Counters::default());
        let reply = client.replace_arc(Arc::clone(&counters)).call_tool("mixed", json!({})).await.unwrap();
        assert_eq!(reply.text(), "Ada 100");
        assert_eq!(reply.asked, [["who"], ["sure"]]);
        assert_eq!(counters.runs.load(Ordering::Relaxed), 1, "a step is taken once");
    })
    .await;
}

#[tokio::test]
async fn a_decline_reaches_the_function() {
    in_both_eras(Client::new(server()).decline("who"), async |client| {
        let reply = client.call_tool("order", json!({ "item": "tea" })).await.unwrap();
        assert_eq!((reply.text().as_str(), reply.is_error()), ("nobody pays", true));
    })
    .await;
}

#[tokio::test]
async fn a_call_that_asks_nothing_can_resume() {
    in_both_eras(Client::new(server()), async |client| {
        let counters = Arc::new(Counters::default());
        let client = client.replace_arc(Arc::clone(&counters));
        let reply = client.call_tool("crunch", json!({ "to": 25 })).await.unwrap();
        assert_eq!(reply.text(), "300");
        assert_eq!(counters.runs.load(Ordering::Relaxed), 3);
        assert_eq!(
            *counters.endings.lock().unwrap(),
            [CallEnd::PendingAfterSteps, CallEnd::PendingAfterSteps, CallEnd::Succeeded]
        );
    })
    .await;
}

#[tokio::test]
async fn the_number_of_rounds_is_not_limited_and_they_do_not_wait_while_there_is_progress() {
    in_both_eras(Client::new(server()), async |client| {
        assert_eq!(client.call_tool("crunch", json!({ "to": 2000 })).await.unwrap().text(), "1999000");
    })
    .await;
}

#[tokio::test]
async fn c23_a_round_without_questions_has_a_state_and_no_requests() {
    let client = Client::new(server());
    let call = |state: Value| {
        let mut params = json!({ "name": "crunch", "arguments": { "to": 15 } });
        if !state.is_null() {
            params["requestState"] = state;
        }
        client.request("tools/call", params)
    };
    let first = call(Value::Null).await.unwrap();
    assert_eq!(first["resultType"], "input_required");
    assert!(first.get("inputRequests").is_none());
    let last = call(first["requestState"].clone()).await.unwrap();
    assert_eq!((&last["resultType"], &last["content"][0]["text"]), (&json!("complete"), &json!("105")));
}

#[tokio::test]
async fn c23_c25_a_round_with_questions_has_each_under_its_key() {
    let client = Client::new(server()).answer("from", name("Ada"));
    let first = client.request("prompts/get", json!({ "name": "letter" })).await.unwrap();
    assert!(first["requestState"].is_string());
    let requests = first["inputRequests"].as_object().unwrap();
    let asked: Vec<_> = requests.iter().map(|(key, request)| (key.as_str(), &request["params"]["message"])).collect();
    assert_eq!(asked, [("from", &json!("From?")), ("to", &json!("To?"))]);
    assert!(requests.values().all(|request| request["method"] == "elicitation/create"), "{requests:?}");
    // Two questions under one key are never sent.
    let twice = client.request("tools/call", json!({ "name": "twice" })).await.unwrap();
    assert_eq!((&twice["resultType"], &twice["isError"]), (&json!("complete"), &json!(true)));
}

#[tokio::test]
async fn prompts_and_resources_make_rounds() {
    in_both_eras(Client::new(server()).answer("from", name("Ada")).answer("to", name("Bob")), async |client| {
        let reply = client.get_prompt("letter", json!({})).await.unwrap();
        assert_eq!(reply.text(), "Ada writes to Bob");
        assert_eq!(reply.asked.concat(), ["from", "to"]);
        assert_eq!(client.read_resource("tally://votes").await.unwrap().text(), "votes");
    })
    .await;
}

#[tokio::test]
async fn deferred_functions_run_before_the_question_is_sent() {
    in_both_eras(Client::new(server()).answer("who", name("Ada")), async |client| {
        let counters = Arc::new(Counters::default());
        let client = client.replace_arc(Arc::clone(&counters));
        // The question is left unanswered in either era.
        let _ = client.request("tools/call", json!({ "name": "hold", "arguments": {} })).await;
        assert_eq!(std::mem::take(&mut *counters.endings.lock().unwrap()), [CallEnd::Pending]);
        assert_eq!(client.call_tool("hold", json!({})).await.unwrap().text(), "let go");
        assert_eq!(*counters.endings.lock().unwrap(), [CallEnd::Pending, CallEnd::Succeeded]);
    })
    .await;
}

#[tokio::test]
async fn a_function_that_asks_without_end_is_stopped() {
    in_both_eras(Client::new(server()).answer("who", name("Ada")), async |client| {
        let reply = client.call_tool("forever", json!({})).await.unwrap();
        let expected = "the call has no result after 64 rounds without a new step or a changed state";
        assert!(reply.is_error() && reply.text().starts_with(expected), "{}", reply.text());
        assert_eq!((reply.asked.len(), reply.runs), (64, 65));
    })
    .await;
}

#[tokio::test]
async fn a_client_without_the_capability_gets_an_error_that_names_it() {
    let error = Client::new(server()).call_tool("order", json!({ "item": "tea" })).await.unwrap_err();
    assert_eq!(error.code(), Some(-32021));
}
