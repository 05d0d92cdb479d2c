//! The answers to questions that are asked by hand.

use std::{
    pin::pin,
    sync::{Mutex, mpsc},
    task::Poll,
    thread,
    time::Duration,
};

use futures_util::poll;
use tokio::sync::Notify;

use super::*;

/// Reads its answers when it has all of them.
#[tool]
async fn later(rounds: Rounds) -> Reply<String> {
    match rounds.state::<u8>() {
        None => Reply::ask("a", Ask::<Name>::user("First?")).with_state(1),
        Some(1) => Reply::ask("b", Ask::<Name>::user("Second?")).with_state(2),
        Some(_) => {
            let name = |key| rounds.answer::<Name>(key).and_then(Outcome::accepted).map(|Name { name }| name);
            Reply::done(format!("{:?} {:?}", name("a"), name("b")))
        }
    }
}

/// The same question once for each of two files.
#[tool]
async fn purge(rounds: Rounds) -> Reply<String> {
    let done = rounds.state::<u32>();
    let said = rounds.answer::<rejoinder::form::ConfirmForm>("sure").and_then(Outcome::accepted);
    match (done, said) {
        (None, _) => Reply::ask("sure", Ask::confirm("Sure?")).with_state(0),
        (Some(0), Some(_)) => Reply::ask("sure", Ask::confirm("Sure?")).with_state(1),
        (Some(files), said) => Reply::done(format!("{files} gone, then {said:?}")),
    }
}

/// The same, with a question that it does not wait for.
#[tool]
async fn purge_and_note(rounds: Rounds, ctx: Context) -> Reply<String> {
    tokio::select! {
        biased;
        _ = ctx.ask("note", Ask::<Name>::user("Who is to know?")) => {}
        () = std::future::ready(()) => {}
    }
    purge(rounds).await
}

/// Asks for one thing, and reads another.
#[tool]
async fn mistyped(rounds: Rounds) -> Reply<String> {
    match rounds.answer::<Name>("sure").and_then(Outcome::accepted) {
        None => Reply::ask("sure", Ask::confirm("Sure?")),
        Some(Name { name }) => Reply::done(name),
    }
}

/// Uses its rounds while an answer is being read.
#[tool]
async fn looks_back(rounds: Rounds, ctx: Context) -> Result<Reply<String>, CallError> {
    let question = Ask::<Name>::user("Who?").map(move |who| (who.name, rounds.answer::<Name>("who").is_some()));
    let (name, _) = ctx.ask("who", question).await?;
    Ok(Reply::done(name))
}

/// Reads each answer as two types, of which one never fits, and asks the next question.
#[tool]
async fn either(rounds: Rounds) -> Reply<String> {
    let read =
        (rounds.answer::<Name>("next").is_some(), rounds.answer::<rejoinder::form::ConfirmForm>("next").is_some());
    match rounds.state::<u32>() {
        Some(4) => Reply::done(format!("{read:?}")),
        asked => Reply::ask("next", Ask::confirm("Another?")).with_state(asked.map_or(0, |asked| asked + 1)),
    }
}

/// Asks another question before it repeats the one whose answer did not fit.
#[tool]
async fn in_between(rounds: Rounds) -> Reply<String> {
    let who = rounds.answer::<Name>("a").and_then(Outcome::accepted);
    match (rounds.state::<u8>(), who) {
        (Some(1), None) => Reply::ask("b", Ask::<Name>::user("Meanwhile?")).with_state(2),
        (_, None) => Reply::ask("a", Ask::<Name>::user("Who?")).with_state(rounds.state::<u8>().unwrap_or(1)),
        (_, Some(Name { name })) => Reply::done(name),
    }
}

/// Asks by hand, and checks the answer in a later round.
#[tool]
async fn checks_later(rounds: Rounds, ctx: Context) -> Result<Reply<String>, CallError> {
    Ok(match rounds.state::<u8>() {
        None => Reply::ask("who", Ask::<Name>::user("Who?")).with_state(1),
        Some(1) => Reply::resume(2_u8),
        Some(_) => {
            let is_ada = |who: &Name| if who.name == "Ada" { Ok(()) } else { Err("It must be Ada.") };
            Reply::done(ctx.ask("who", Ask::<Name>::user("Who?").check(is_ada)).await?.name)
        }
    })
}

/// The result of a question that a task asked.
#[derive(Default)]
pub(super) struct Left(Notify, Mutex<Option<Result<bool, String>>>);

/// Starts another round while a task of the first waits for an answer.
#[tool]
async fn leaves_a_question(rounds: Rounds, ctx: Context, left: Dep<Left>) -> Reply<String> {
    if rounds.state::<u8>().is_none() {
        let task = left.clone();
        tokio::spawn(async move {
            let mut asking = pin!(ctx.ask("sure", Ask::confirm("Delete the copy?")));
            let at_once = poll!(asking.as_mut());
            task.0.notify_one();
            let said = if let Poll::Ready(said) = at_once { said } else { asking.await };
            *task.1.lock().unwrap() = Some(said.map_err(|error| error.to_string()));
            task.0.notify_one();
        });
        left.0.notified().await;
        return Reply::resume(1_u8);
    }
    left.0.notified().await;
    Reply::done(format!("{:?}", left.1.lock().unwrap()))
}

pub(super) fn tools() -> Vec<rejoinder::Tool> {
    tools![later, purge, purge_and_note, mistyped, looks_back, either, in_between, checks_later, leaves_a_question]
}

#[tokio::test]
async fn an_answer_that_is_read_once_does_not_count_as_a_failed_try() {
    in_both_eras(Client::new(server()).answer("next", rejoinder::form::ConfirmForm { yes: true }), async |client| {
        let reply = client.call_tool("either", json!({})).await.unwrap();
        assert_eq!((reply.text(), reply.asked.len()), ("(false, true)".into(), 5));
    })
    .await;
}

#[tokio::test]
async fn a_recorded_answer_that_is_not_accepted_gives_way_to_the_next() {
    let names = ["Bob", "Ada"].map(|who| rejoinder::testing::ClientAnswer::accept(name(who)));
    in_both_eras(Client::new(server()).answers("who", names), async |client| {
        let reply = client.call_tool("checks_later", json!({})).await.unwrap();
        assert_eq!((reply.text(), reply.asked.len()), ("Ada".into(), 2));
    })
    .await;
}

#[tokio::test]
async fn an_answer_that_did_not_fit_is_dropped_in_the_next_round() {
    in_both_eras(Client::new(server()).answer("a", name("")).answer("b", name("Bob")), async |client| {
        let reply = client.call_tool("in_between", json!({})).await.unwrap();
        assert!(reply.text().starts_with("the client sent no usable answer to `a`: "), "{}", reply.text());
        assert_eq!(reply.asked, [["a"], ["b"], ["a"], ["a"], ["a"]]);
    })
    .await;
}

#[tokio::test]
async fn over_a_session_a_question_of_a_task_ends_with_its_round() {
    let client = Client::new(server()).era(Era::Session).answer("sure", rejoinder::form::ConfirmForm { yes: true });
    let reply = client.call_tool("leaves_a_question", json!({})).await.unwrap();
    let expected = "this round of the call has ended: nothing can be asked or recorded in it";
    assert_eq!(reply.text(), format!("{:?}", Some(Err::<bool, _>(expected))));
}

#[tokio::test]
async fn an_unread_answer_is_kept_for_later_rounds() {
    in_both_eras(Client::new(server()).answer("a", name("Ada")).answer("b", name("Bob")), async |client| {
        let reply = client.call_tool("later", json!({})).await.unwrap();
        assert_eq!(reply.text(), r#"Some("Ada") Some("Bob")"#);
        assert_eq!(reply.asked, [["a"], ["b"]]);
    })
    .await;
}

#[tokio::test]
async fn a_question_is_asked_at_most_three_times_if_answers_do_not_fit() {
    in_both_eras(Client::new(server()).answer("who", name("")), async |client| {
        let reply = client.call_tool("order", json!({ "item": "tea" })).await.unwrap();
        assert!(reply.text().starts_with("the client sent no usable answer to `who`: "), "{}", reply.text());
        assert_eq!(reply.asked.len(), 3);
    })
    .await;
}

#[tokio::test]
async fn reading_a_type_that_was_not_asked_for_does_not_ask_without_end() {
    in_both_eras(Client::new(server()).answer("sure", rejoinder::form::ConfirmForm { yes: true }), async |client| {
        let reply = client.call_tool("mistyped", json!({})).await.unwrap();
        assert!(reply.text().starts_with("the client sent no usable answer to `sure`: "), "{}", reply.text());
        assert_eq!(reply.asked, [["sure"], ["sure"], ["sure"]]);
    })
    .await;
}

#[tokio::test]
async fn answers_to_questions_that_were_not_asked_are_ignored() {
    let client = Client::new(server()).answer("who", name("Ada"));
    let answers = json!({ "who": { "action": "accept", "content": { "name": "Eve" } } });
    let params = json!({ "name": "order", "arguments": { "item": "tea" }, "inputResponses": answers });
    let result = client.request("tools/call", params).await.unwrap();
    assert_eq!(result["inputRequests"]["who"]["params"]["message"], "Who pays?");
}

/// Calls a tool that asks for the same consent twice, and gives it once.
async fn consented_once(tool: &str) {
    let client = Client::new(server()).answer("sure", rejoinder::form::ConfirmForm { yes: true });
    let mut params = json!({ "name": tool });
    let asked = client.request("tools/call", params.clone()).await.unwrap();
    params["requestState"] = asked["requestState"].clone();
    params["inputResponses"] = json!({ "sure": { "action": "accept", "content": { "yes": true } } });
    let again = client.request("tools/call", params.clone()).await.unwrap();
    assert!(again["inputRequests"]["sure"].is_object(), "{again}");
    params["requestState"] = again["requestState"].clone();
    params["inputResponses"] = json!({});
    let silent = client.request("tools/call", params).await.unwrap();
    assert_eq!(silent["content"][0]["text"], "1 gone, then None");
}

#[tokio::test]
async fn a_repeated_question_needs_another_answer() {
    consented_once("purge").await;
}

#[tokio::test]
async fn a_repeated_question_needs_another_answer_beside_an_open_question() {
    consented_once("purge_and_note").await;
}

#[test]
fn rounds_can_be_used_while_an_answer_is_being_read() {
    // In another thread, so that a deadlock is a failure.
    let (reply, replied) = mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(in_both_eras(Client::new(server()).answer("who", name("Ada")), async |client| {
            reply.send(client.call_tool("looks_back", json!({})).await.unwrap().text()).unwrap();
        }));
    });
    for era in ["stateless", "session"] {
        assert_eq!(replied.recv_timeout(Duration::from_secs(20)).as_deref(), Ok("Ada"), "{era}");
    }
}
