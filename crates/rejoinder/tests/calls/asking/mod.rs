//! Functions that ask, with clients of both eras.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

mod builds;
mod capabilities;
mod checks;
mod choices;
mod crowd;
mod keys;
mod live;
mod methods;
mod programs;
mod replays;
mod rounds;
mod scripts;
mod states;
mod steps;
mod tries;
mod unanswered;
mod visits;

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use rejoinder::testing::in_both_eras;
use rejoinder::{
    Ask, Outcome,
    ask::{Roots, Sample, Sampling},
    call::Era,
    prelude::*,
    testing::Client,
};
use serde_json::json;

#[derive(Elicit, Debug, PartialEq)]
struct Name {
    /// Your name
    #[elicit(min_length = 1)]
    name: String,
}

#[derive(Elicit)]
struct Sure {
    sure: bool,
}

#[derive(Default)]
struct Counters {
    runs: AtomicU32,
    charges: AtomicU32,
    wording: AtomicU32,
}

/// One question.
#[tool]
async fn greet(ctx: Context) -> Result<String, CallError> {
    let Name { name } = ctx.ask("who", Ask::user("Who are you?")).await?;
    Ok(format!("Hello, {name}!"))
}

/// A choice of an empty list.
#[tool]
async fn choose(branches: Vec<String>, ctx: Context) -> Result<String, CallError> {
    ctx.ask("branch", Ask::choice("Which branch?", branches)).await
}

#[tokio::test]
async fn a_choice_of_an_empty_list_is_the_authors_mistake() {
    let client = Client::new(Server::new("asks", "1").tools(tools![choose]))
        .answer("branch", rejoinder::form::TextForm { text: "main".into() });
    for client in [client.clone(), client.era(Era::Session)] {
        let reply = client.call_tool("choose", json!({ "branches": [] })).await.expect("a reply");
        assert_eq!(reply.text(), "a choice needs something to choose, and the list is empty");
    }
}

/// A question that depends on the answer to another, and a step between them.
#[tool]
async fn buy(item: String, ctx: Context, counters: Dep<Counters>) -> Result<String, CallError> {
    counters.runs.fetch_add(1, Ordering::Relaxed);
    let Name { name } = ctx.ask("who", Ask::user("Who pays?")).await?;
    let receipt: u32 =
        ctx.once("charge", || async { Ok(counters.charges.fetch_add(1, Ordering::Relaxed) + 100) }).await?;
    let Sure { sure } = ctx.ask("sure", Ask::user(format!("{name}, do you want {item}?"))).await?;
    Ok(format!("{name} {item} {sure} {receipt}"))
}

/// Takes a step, and asks something new before it from the third run on.
#[tool]
async fn pay_and_ask(ctx: Context, counters: Dep<Counters>) -> Result<String, CallError> {
    if counters.runs.fetch_add(1, Ordering::Relaxed) >= 2 {
        ctx.ask::<Sure>("really", Ask::user("Really?")).await?;
    }
    let receipt: u32 =
        ctx.once("charge", || async { Ok(counters.charges.fetch_add(1, Ordering::Relaxed) + 100) }).await?;
    let Name { name } = ctx.ask("who", Ask::user("Who pays?")).await?;
    let Sure { sure } = ctx.ask("sure", Ask::user("Sure?")).await?;
    Ok(format!("{name} {sure} {receipt}"))
}

/// Three kinds of questions at once.
#[tool]
async fn together(ctx: Context) -> Result<String, CallError> {
    let (name, sample, roots): (Result<Name, _>, Result<Sample, _>, Result<Roots, _>) = tokio::join!(
        ctx.ask("who", Ask::user("Who?")),
        ctx.ask("haiku", Ask::sample(Sampling::new("A haiku, please.").max_tokens(50))),
        ctx.ask("roots", Ask::roots()),
    );
    Ok(format!("{} {} {}", name?.name, sample?.text(), roots?.roots.len()))
}

/// Returns the outcome.
#[tool]
async fn outcome(ctx: Context) -> Result<String, CallError> {
    let outcome: Outcome<Name> = ctx.try_ask("who", Ask::user("Who?")).await?;
    Ok(format!("{outcome:?}"))
}

/// Asks, with a fallback for clients that cannot be asked.
#[tool]
async fn optional(ctx: Context) -> Result<String, CallError> {
    let fallback = Name { name: "stranger".into() };
    Ok(ctx.ask("who", Ask::user("Who?").fallback(fallback)).await?.name)
}

/// Maps the answer, the fallback or the known value.
#[tool]
async fn mapped(known: Option<String>, ctx: Context) -> Result<String, CallError> {
    let question = known.map_or_else(|| Ask::user("Who?"), |name| Ask::known(Name { name }));
    let stranger = Name { name: "stranger".into() };
    ctx.ask("who", question.fallback(stranger).map(|who| who.name.to_uppercase())).await
}

/// Asks with another text each time.
#[tool]
async fn volatile(ctx: Context, counters: Dep<Counters>) -> Result<String, CallError> {
    let wording = counters.wording.fetch_add(1, Ordering::Relaxed);
    Ok(ctx.ask::<Name>("who", Ask::user(format!("Question {wording}?"))).await?.name)
}

/// The same, with the errors ignored.
#[tool]
async fn volatile_unseen(ctx: Context, counters: Dep<Counters>) -> String {
    let wording = counters.wording.fetch_add(1, Ordering::Relaxed);
    let name = ctx.ask::<Name>("who", Ask::user(format!("Question {wording}?"))).await.ok();
    name.map_or_else(|| "nobody".to_owned(), |Name { name }| name)
}

/// Two questions under one key.
#[tool]
async fn clash(ctx: Context) -> Result<(), CallError> {
    let _: (Result<Name, _>, Result<Sure, _>) =
        tokio::join!(ctx.ask("who", Ask::user("Who?")), ctx.ask("who", Ask::user("Sure?")));
    Ok(())
}

/// A prompt that asks.
#[prompt]
async fn letter(ctx: Context) -> Result<String, CallError> {
    Ok(format!("Write to {}", ctx.ask::<Name>("to", Ask::user("To whom?")).await?.name))
}

/// A resource that asks.
#[resource("secret://{name}", ttl_ms = 60000, public)]
async fn secret(name: String, ctx: Context) -> Result<String, CallError> {
    Ok(format!("{name} for {}", ctx.ask::<Name>("reader", Ask::user("Who reads?")).await?.name))
}

fn server() -> Server {
    Server::new("asking", "1.0.0")
        .provide(Counters::default())
        .tools(tools![greet, buy, pay_and_ask, together, outcome, optional, mapped, volatile, volatile_unseen, clash])
        .prompts(prompts![letter])
        .resources(resources![secret])
}

fn ada() -> Name {
    Name { name: "Ada".into() }
}

#[tokio::test]
async fn an_answer_reaches_the_function() {
    in_both_eras(Client::new(server()).answer("who", ada()), async |client| {
        let reply = client.call_tool("greet", json!({})).await.unwrap();
        assert_eq!((reply.text().as_str(), reply.is_error()), ("Hello, Ada!", false));
        assert_eq!(reply.asked, [["who"]]);
    })
    .await;
}

#[tokio::test]
async fn answers_and_steps_are_kept_over_rounds_and_each_question_is_asked_once() {
    let counters = Arc::new(Counters::default());
    let server = server().provide_arc(Arc::clone(&counters));
    let client = Client::new(server).answer("who", ada()).answer("sure", Sure { sure: true });
    let reply = client.call_tool("buy", json!({ "item": "tea" })).await.unwrap();
    assert_eq!(reply.text(), "Ada tea true 100");
    assert_eq!(reply.asked, [["who"], ["sure"]]);
    assert_eq!(counters.runs.load(Ordering::Relaxed), 3, "the body runs again in each round");
    assert_eq!(counters.charges.load(Ordering::Relaxed), 1, "a recorded step does not");
    let reply = client.era(Era::Session).call_tool("buy", json!({ "item": "tea" })).await.unwrap();
    assert_eq!(reply.text(), "Ada tea true 101");
    assert_eq!(counters.runs.load(Ordering::Relaxed), 4, "on a session the body runs once");
}

#[tokio::test]
async fn a_step_that_a_round_skips_is_not_repeated_later() {
    let counters = Arc::new(Counters::default());
    let client = Client::new(server().provide_arc(Arc::clone(&counters))).answer("who", ada());
    let client = client.answer("sure", Sure { sure: true }).answer("really", Sure { sure: true });
    let reply = client.call_tool("pay_and_ask", json!({})).await.unwrap();
    assert_eq!(reply.text(), "Ada true 100");
    assert_eq!(reply.asked, [["who"], ["sure"], ["really"]]);
    assert_eq!(counters.charges.load(Ordering::Relaxed), 1, "a recorded step is never taken again");
}

#[tokio::test]
async fn concurrent_questions_go_out_in_one_round() {
    let sample = json!({ "role": "assistant", "content": { "type": "text", "text": "sea" }, "model": "m" });
    let client = Client::new(server())
        .answer("who", ada())
        .answer_with("haiku", sample)
        .answer_with("roots", json!({ "roots": [{ "uri": "file:///a" }] }));
    let reply = client.call_tool("together", json!({})).await.unwrap();
    assert_eq!(reply.text(), "Ada sea 1");
    assert_eq!(reply.asked, [["who", "haiku", "roots"]]);
}

#[tokio::test]
async fn a_decline_or_cancel_ends_the_call_or_reaches_the_function() {
    in_both_eras(Client::new(server()).decline("who"), async |client| {
        let reply = client.call_tool("greet", json!({})).await.unwrap();
        assert!(reply.is_error());
        assert_eq!(reply.text(), "the user declined `who`");
        assert_eq!(client.call_tool("outcome", json!({})).await.unwrap().text(), "Declined");
    })
    .await;
    let client = Client::new(server()).cancel("who");
    assert_eq!(client.call_tool("outcome", json!({})).await.unwrap().text(), "Cancelled");
    assert_eq!(client.call_tool("greet", json!({})).await.unwrap().text(), "the user cancelled `who`");
}

#[tokio::test]
async fn c26_c41_a_client_that_cannot_be_asked_gets_an_error_or_the_fallback() {
    let client = Client::new(server());
    let error = client.call_tool("greet", json!({})).await.unwrap_err();
    let error = error.rpc().expect("a JSON-RPC error");
    assert_eq!((error.code, error.status.as_u16()), (-32021, 400));
    assert_eq!(error.data, Some(json!({ "requiredCapabilities": { "elicitation": { "form": {} } } })));
    assert_eq!(client.call_tool("optional", json!({})).await.unwrap().text(), "stranger");
}

#[tokio::test]
async fn map_applies_to_answers_fallbacks_and_known_values() {
    in_both_eras(Client::new(server()), async |client| {
        let asked = client.clone().answer("who", ada()).call_tool("mapped", json!({})).await.unwrap();
        assert_eq!((asked.text().as_str(), asked.asked), ("ADA", vec![vec!["who".to_owned()]]));
        assert_eq!(client.call_tool("mapped", json!({ "known": "Eve" })).await.unwrap().text(), "EVE");
        assert_eq!(client.call_tool("mapped", json!({})).await.unwrap().text(), "STRANGER");
        let declined = client.decline("who").call_tool("mapped", json!({})).await.unwrap();
        assert_eq!(declined.text(), "the user declined `who`");
    })
    .await;
}

#[tokio::test]
async fn d10_a_question_is_repeated_with_the_reason_if_the_answer_does_not_fit() {
    let bad = json!({ "action": "accept", "content": { "name": "" } });
    in_both_eras(Client::new(server()).answer_with("who", bad), async |client| {
        let reply = client.call_tool("greet", json!({})).await.unwrap();
        assert!(reply.is_error());
        assert_eq!(reply.asked.len(), 3);
        assert!(reply.text().starts_with("the client sent no usable answer to `who`: "), "{}", reply.text());
    })
    .await;
}

#[tokio::test]
async fn d10_an_answer_to_another_kind_of_question_ends_the_call() {
    let client = Client::new(server())
        .answer("who", ada())
        .answer_with("haiku", json!({ "action": "accept", "content": {} }))
        .answer_with("roots", json!({ "roots": [] }));
    in_both_eras(client, async |client| {
        let reply = client.call_tool("together", json!({})).await.unwrap();
        assert!(reply.is_error());
        assert_eq!(reply.text(), "the client sent no usable answer to `haiku`: the answer is not a sampling result");
        assert_eq!(reply.asked.concat(), ["who", "haiku", "roots"]);
    })
    .await;
    let sample = json!({ "role": "assistant", "content": { "type": "text", "text": "sea" }, "model": "m" });
    let abroad = json!({ "roots": [{ "uri": "https://example.com" }] });
    let client = Client::new(server()).answer("who", ada()).answer_with("haiku", sample).answer_with("roots", abroad);
    let reply = client.era(Era::Session).call_tool("together", json!({})).await.unwrap();
    assert_eq!(
        reply.text(),
        "the client sent no usable answer to `roots`: the answer is not a list of `file://` roots"
    );
    in_both_eras(Client::new(server()).answer_with("who", json!({ "roots": [] })), async |client| {
        let reply = client.call_tool("greet", json!({})).await.unwrap();
        assert_eq!(
            reply.text(),
            "the client sent no usable answer to `who`: the answer must accept, decline or cancel"
        );
        assert_eq!(reply.asked, [["who"]]);
    })
    .await;
}

#[tokio::test]
async fn d12_a_question_that_changes_every_round_is_the_authors_mistake() {
    let client = Client::new(server()).answer("who", ada());
    let reply = client.call_tool("volatile", json!({})).await.unwrap();
    assert!(reply.text().contains("the text of question `who` changes every round"), "{}", reply.text());
    let reply = client.call_tool("clash", json!({})).await.unwrap();
    assert_eq!(
        reply.text(),
        "two different questions use the key `who`: use another key for one of them, and a new key in each iteration of a loop"
    );
}

#[tokio::test]
async fn d12_a_question_that_changes_ends_the_call_even_if_errors_are_ignored() {
    let client = Client::new(server()).answer("who", ada());
    let reply = client.call_tool("volatile_unseen", json!({})).await.unwrap();
    assert!(reply.is_error());
    assert!(reply.text().starts_with("the text of question `who` changes every round"), "{}", reply.text());
    // On a session the function runs once, so the text cannot change between rounds.
    let reply = client.era(Era::Session).call_tool("volatile_unseen", json!({})).await.unwrap();
    assert_eq!(reply.text(), "Ada");
}

#[tokio::test]
async fn c22_prompts_and_resources_ask_and_c36_such_results_are_not_cached() {
    in_both_eras(Client::new(server()).answer("to", ada()).answer("reader", ada()), async |client| {
        assert_eq!(client.get_prompt("letter", json!({})).await.unwrap().text(), "Write to Ada");
        assert_eq!(client.read_resource("secret://plan").await.unwrap().text(), "plan for Ada");
    })
    .await;
    let client = Client::new(server()).answer("reader", ada());
    let reply = client.read_resource("secret://plan").await.unwrap();
    assert_eq!(reply.result.ttl_ms, Some(0));
}
