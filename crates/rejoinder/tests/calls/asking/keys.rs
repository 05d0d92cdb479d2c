//! A key belongs to one question.

use std::sync::Mutex;

use super::*;

const CONFLICT: &str = "two different questions use the key `who`: use another key for one of them, and a new key in each iteration of a loop";

/// Another question under the same key, after the first was answered.
#[tool]
async fn clash_in_turn(ctx: Context) -> Result<String, CallError> {
    let Name { name } = ctx.ask("who", Ask::user("Who?")).await?;
    let Sure { sure } = ctx.ask("who", Ask::user("Sure?")).await?;
    Ok(format!("{name} {sure}"))
}

/// Another question under the same key, beside the first.
#[tool]
async fn clash_beside(ctx: Context) -> Result<String, CallError> {
    let (Name { name }, Sure { sure }) =
        tokio::try_join!(ctx.ask("who", Ask::user("Who?")), ctx.ask("who", Ask::user("Sure?")))?;
    Ok(format!("{name} {sure}"))
}

/// The same, with the errors ignored.
#[tool]
async fn clash_beside_unseen(ctx: Context) {
    let _: (Result<Name, _>, Result<Sure, _>) =
        tokio::join!(ctx.ask("who", Ask::user("Who?")), ctx.ask("who", Ask::user("Sure?")));
}

/// One after the other, with the errors ignored.
#[tool]
async fn clash_in_turn_unseen(ctx: Context) {
    ctx.ask::<Name>("who", Ask::user("Who?")).await.ok();
    ctx.ask::<Sure>("who", Ask::user("Sure?")).await.ok();
}

/// In a spawned task, with the errors ignored.
#[tool]
async fn clash_in_a_task_unseen(ctx: Context) -> Result<(), CallError> {
    let inner = ctx.clone();
    let task = tokio::spawn(async move { inner.ask::<Sure>("who", Ask::user("Sure?")).await.ok() });
    ctx.ask::<Name>("who", Ask::user("Who?")).await.ok();
    task.await?;
    Ok(())
}

/// A step beside the two questions, which is completed.
#[tool]
async fn clash_beside_a_step(ctx: Context, counters: Dep<Counters>) {
    let step = || async {
        tokio::task::yield_now().await;
        Ok(counters.charges.fetch_add(1, Ordering::Relaxed))
    };
    let _: (Result<Name, _>, Result<Sure, _>, Result<u32, _>) =
        tokio::join!(ctx.ask("who", Ask::user("Who?")), ctx.ask("who", Ask::user("Sure?")), ctx.once("charge", step),);
}

/// Records how its call ended.
#[tool]
async fn clash_with_an_end(ctx: Context, scope: Scope, seen: Dep<Endings>) {
    scope.defer(|ending| async move { seen.0.lock().unwrap().push(ending) });
    ctx.ask::<Name>("who", Ask::user("Who?")).await.ok();
    ctx.ask::<Sure>("who", Ask::user("Sure?")).await.ok();
}

#[derive(Default)]
struct Endings(Mutex<Vec<CallEnd>>);

/// The same question again.
#[tool]
async fn again(ctx: Context) -> Result<String, CallError> {
    let ask = || ctx.ask::<Name>("who", Ask::user("Who?"));
    let (one, two) = tokio::try_join!(ask(), ask())?;
    Ok(format!("{} {} {}", one.name, two.name, ask().await?.name))
}

#[tokio::test]
async fn two_questions_under_one_key_are_the_authors_mistake() {
    let server = Server::new("keys", "1.0.0").tools(tools![clash_beside, clash_in_turn]);
    in_both_eras(Client::new(server).answer("who", ada()), async |client| {
        for tool in ["clash_beside", "clash_in_turn"] {
            let reply = client.call_tool(tool, json!({})).await.unwrap();
            assert!(reply.is_error(), "{tool}");
            assert_eq!(reply.text(), CONFLICT, "{tool}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_key_conflict_cannot_be_ignored() {
    let server = Server::new("keys", "1.0.0");
    let server = server.tools(tools![clash_beside_unseen, clash_in_turn_unseen, clash_in_a_task_unseen]);
    in_both_eras(Client::new(server).answer("who", ada()), async |client| {
        for tool in ["clash_beside_unseen", "clash_in_turn_unseen", "clash_in_a_task_unseen"] {
            let reply = client.call_tool(tool, json!({})).await.unwrap();
            assert_eq!((reply.text().as_str(), reply.is_error()), (CONFLICT, true), "{tool}");
        }
    })
    .await;
}

/// Two questions under one key, each with a value for clients that cannot be asked.
#[tool]
async fn clash_of_fallbacks(ctx: Context) -> Result<String, CallError> {
    let name = ctx.ask("who", Ask::text("Who?").fallback("nobody".to_owned())).await?;
    let sure = ctx.ask("who", Ask::confirm("Sure?").fallback(true)).await?;
    Ok(format!("{name} {sure}"))
}

/// The same question twice.
#[tool]
async fn fallback_again(ctx: Context) -> Result<String, CallError> {
    let ask = || ctx.ask("who", Ask::text("Who?").fallback("nobody".to_owned()));
    Ok(format!("{} {}", ask().await?, ask().await?))
}

#[tokio::test]
async fn a_key_conflict_is_reported_even_if_the_client_cannot_be_asked() {
    let server = Server::new("keys", "1.0.0").tools(tools![clash_of_fallbacks, fallback_again]);
    in_both_eras(Client::new(server).capabilities(Default::default()), async |client| {
        let reply = client.call_tool("clash_of_fallbacks", json!({})).await.unwrap();
        assert_eq!((reply.text().as_str(), reply.is_error()), (CONFLICT, true));
        assert_eq!(client.call_tool("fallback_again", json!({})).await.unwrap().text(), "nobody nobody");
    })
    .await;
}

/// Two questions beside a function that is ready at once.
#[tool]
async fn clash_beside_an_end(ctx: Context, scope: Scope, seen: Dep<Endings>) -> &'static str {
    scope.defer(|ending| async move { seen.0.lock().unwrap().push(ending) });
    tokio::select! {
        biased;
        _ = ctx.ask::<Name>("who", Ask::user("Who?")) => "asked",
        _ = ctx.ask::<Sure>("who", Ask::user("Sure?")) => "asked",
        () = std::future::ready(()) => "there",
    }
}

/// The same before a round by hand.
#[tool]
async fn clash_beside_a_round(ctx: Context, _rounds: Rounds) -> Reply<&'static str> {
    tokio::select! {
        biased;
        _ = ctx.ask::<Name>("who", Ask::user("Who?")) => Reply::done("asked"),
        _ = ctx.ask::<Sure>("who", Ask::user("Sure?")) => Reply::done("asked"),
        () = std::future::ready(()) => Reply::ask("next", Ask::confirm("And then?")),
    }
}

#[tokio::test]
async fn a_function_that_ends_at_once_does_not_hide_a_key_conflict() {
    let seen = Arc::new(Endings::default());
    let server = Server::new("keys", "1.0.0").provide_arc(Arc::clone(&seen));
    let client = Client::new(server.tools(tools![clash_beside_an_end, clash_beside_a_round]));
    in_both_eras(client.answer("who", ada()), async |client| {
        for tool in ["clash_beside_an_end", "clash_beside_a_round"] {
            let reply = client.call_tool(tool, json!({})).await.unwrap();
            assert_eq!((reply.text().as_str(), reply.is_error()), (CONFLICT, true), "{tool}");
        }
        assert_eq!(format!("{:?}", std::mem::take(&mut *seen.0.lock().unwrap())), "[Failed]");
    })
    .await;
}

#[tokio::test]
async fn a_running_step_is_completed_before_a_key_conflict_is_reported() {
    for era in [Era::Stateless, Era::Session] {
        let counters = Arc::new(Counters::default());
        let server = Server::new("keys", "1.0.0").provide_arc(Arc::clone(&counters));
        let client = Client::new(server.tools(tools![clash_beside_a_step])).era(era).answer("who", ada());
        assert_eq!(client.call_tool("clash_beside_a_step", json!({})).await.unwrap().text(), CONFLICT, "{era:?}");
        assert_eq!(counters.charges.load(Ordering::Relaxed), 1, "{era:?}");
    }
}

#[tokio::test]
async fn a_deferred_function_sees_a_key_conflict_as_a_failure() {
    for (era, endings) in [(Era::Stateless, "[Pending, Failed]"), (Era::Session, "[Failed]")] {
        let seen = Arc::new(Endings::default());
        let server = Server::new("keys", "1.0.0").provide_arc(Arc::clone(&seen));
        let client = Client::new(server.tools(tools![clash_with_an_end])).era(era).answer("who", ada());
        assert_eq!(client.call_tool("clash_with_an_end", json!({})).await.unwrap().text(), CONFLICT, "{era:?}");
        assert_eq!(format!("{:?}", seen.0.lock().unwrap()), endings, "{era:?}");
    }
}

#[tokio::test]
async fn the_same_question_under_the_same_key_is_asked_once() {
    let server = Server::new("keys", "1.0.0").tools(tools![again]);
    in_both_eras(Client::new(server).answer("who", ada()), async |client| {
        let reply = client.call_tool("again", json!({})).await.unwrap();
        assert_eq!(reply.text(), "Ada Ada Ada");
        assert_eq!(reply.asked, [["who"]]);
    })
    .await;
}

/// Makes its keys as it goes.
#[tool]
async fn each(names: Vec<String>, ctx: Context) -> Result<String, CallError> {
    let mut sure = Vec::new();
    for name in &names {
        sure.push(ctx.ask(format!("sure {name}"), Ask::confirm(format!("Is {name} sure?"))).await?);
        ctx.once(format!("note {name}"), || async { Ok(()) }).await?;
    }
    Ok(format!("{sure:?}"))
}

#[tokio::test]
async fn a_key_may_be_made_at_run_time() {
    let yes = || rejoinder::form::ConfirmForm { yes: true };
    let client = Client::new(Server::new("keys", "1.0.0").tools(tools![each]));
    let client = ["Ada", "Eve"].iter().fold(client, |client, name| client.answer(format!("sure {name}"), yes()));
    in_both_eras(client, async |client| {
        let reply = client.call_tool("each", json!({ "names": ["Ada", "Eve"] })).await.unwrap();
        assert_eq!(reply.text(), "[true, true]");
    })
    .await;
}
