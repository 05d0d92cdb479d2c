//! The runs of a task: what runs again, and what does not.

use std::time::Duration;

use rejoinder::{BackgroundTasks, call::CallEnd, prelude::*, testing::ClientAnswer};
use serde_json::json;

use super::{Counter, client, journal, yes};
use crate::journal::Journal;

/// Charges once, asks, and ships once.
#[tool(task)]
async fn order(ctx: Context, scope: Scope, journal: Dep<Journal>, counter: Dep<Counter>) -> Result<String, CallError> {
    let ended = journal.clone();
    scope.defer(move |end: CallEnd| async move { ended.note(format!("{end:?}")) });
    let run = counter.next();
    let receipt = ctx.once("charge", || async { Ok(run) }).await?;
    let key = ctx.idempotency_key("charge");
    let sure = ctx.ask("sure", Ask::confirm("Ship?")).await?;
    let shipped = ctx.once("ship", || async { Ok(counter.next()) }).await?;
    Ok(format!("{receipt} {sure} {shipped} {}", key == ctx.idempotency_key("charge")))
}

#[tokio::test]
async fn p2_p5_steps_run_once_and_the_function_again_after_each_question() {
    let client = client(Server::new("shop", "1.0.0").tools(tools![order]));
    let task = client.start_task("order", json!({})).await.unwrap();
    task.until_asked("sure").await.unwrap();
    assert_eq!(journal(&client).wait_for(1).await, ["PendingAfterSteps"]);
    task.answer("sure", yes()).await.unwrap();
    assert_eq!(task.finish().await.unwrap().text(), "1 true 3 true");
    assert_eq!((task.steps(), task.runs()), (vec!["charge".to_owned(), "ship".to_owned()], 2));
    assert_eq!(journal(&client).wait_for(1).await, ["Succeeded"]);
}

#[tokio::test]
async fn a_decline_in_a_task_completes_it_with_an_error() {
    let client = client(Server::new("shop", "1.0.0").tools(tools![order])).decline("sure");
    let reply = client.call_tool("order", json!({})).await.unwrap();
    assert!(reply.is_error() && reply.text().contains("declined"), "{}", reply.text());
}

#[tokio::test]
async fn an_answer_that_never_fits_ends_the_task_after_three_tries() {
    let bad = json!({ "action": "accept", "content": { "yes": "maybe" } });
    let client = client(Server::new("shop", "1.0.0").tools(tools![order])).answer_with("sure", bad);
    let reply = client.call_tool("order", json!({})).await.unwrap();
    assert!(reply.is_error(), "{}", reply.text());
    assert_eq!(reply.asked, [["sure"], ["sure~2"], ["sure~3"]]);
}

#[tokio::test]
async fn rounds_made_by_hand_park_and_resume_is_a_checkpoint() {
    /// Adds up numbers, with a checkpoint after each.
    #[tool(task)]
    async fn add_up(rounds: Rounds, journal: Dep<Journal>) -> Result<Reply<String>, CallError> {
        let (next, sum): (u32, u32) = rounds.state().unwrap_or_default();
        if next == 3 {
            return Ok(Reply::done(sum.to_string()));
        }
        journal.note(format!("adds {next}"));
        Ok(Reply::resume((next + 1, sum + next)))
    }
    let client = client(Server::new("sums", "1.0.0").tools(tools![add_up]));
    assert_eq!(client.call_tool("add_up", json!({})).await.unwrap().text(), "3");
    assert_eq!(journal(&client).take(), ["adds 0", "adds 1", "adds 2"]);
}

#[tokio::test]
async fn background_tasks_start_when_the_end_of_the_task_is_recorded() {
    /// Leaves work for afterwards.
    #[tool(task)]
    async fn publish(ctx: Context, background: BackgroundTasks, journal: Dep<Journal>) -> Result<bool, CallError> {
        background.add(async move { journal.note("indexed") })?;
        ctx.ask("sure", Ask::confirm("Publish?")).await
    }
    let client = client(Server::new("press", "1.0.0").tools(tools![publish]));
    let task = client.start_task("publish", json!({})).await.unwrap();
    task.until_asked("sure").await.unwrap();
    assert!(journal(&client).take().is_empty());
    task.answer("sure", yes()).await.unwrap();
    task.finish().await.unwrap();
    assert_eq!(journal(&client).wait_for(1).await, ["indexed"]);
}

#[tokio::test(start_paused = true)]
async fn background_tasks_of_a_run_that_lost_its_task_never_start() {
    /// Leaves work for afterwards, and never ends.
    #[tool(task)]
    async fn hang(background: BackgroundTasks, journal: Dep<Journal>) -> Result<(), CallError> {
        let left = journal.clone();
        background.add(async move { left.note("indexed") })?;
        journal.note("runs");
        std::future::pending().await
    }
    let client = client(Server::new("press", "1.0.0").tools(tools![hang]));
    client.start_task("hang", json!({})).await.unwrap();
    assert_eq!(journal(&client).wait_for(1).await, ["runs"]);
    // The lease ends as if something had blocked all threads: the function runs again.
    tokio::time::advance(Duration::from_secs(11)).await;
    assert_eq!(journal(&client).wait_for(1).await, ["runs"]);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(journal(&client).take(), [""; 0]);
}

#[tokio::test]
async fn the_middleware_runs_around_every_run_and_arguments_stay_as_it_left_them() {
    use rejoinder::middleware::{Next, OperationRequest, OperationResult};

    /// Says it.
    #[tool(task)]
    async fn say(text: String, ctx: Context) -> Result<String, CallError> {
        ctx.ask("sure", Ask::confirm("Say it?")).await?;
        Ok(text)
    }
    async fn around(mut request: OperationRequest, next: Next) -> OperationResult {
        if request.method() != "tools/call" {
            return next.run(request).await;
        }
        let journal = request.dependency::<Journal>().unwrap();
        let mut arguments = request.arguments();
        let text = arguments["text"].as_str().unwrap_or_default().to_owned();
        arguments["text"] = format!("{text}!").into();
        request.set_arguments(arguments);
        let is_run = request.is_task_run();
        let mut result = next.run(request).await;
        journal.note(format!("run: {is_run}, goes on: {}", result.is_task()));
        if let Some(result) = result.tool_mut() {
            result.content.push(rejoinder::model::ContentBlock::text("redacted"));
        }
        result
    }
    let client = client(Server::new("mouth", "1.0.0").tools(tools![say]).middleware(around));
    let reply = client.answer("sure", yes());
    let said = reply.call_tool("say", json!({ "text": "tea" })).await.unwrap();
    assert_eq!(said.text(), "tea!\nredacted");
    // The first run may begin before the reply to the call has passed the middleware.
    let mut rounds = journal(&reply).take();
    assert_eq!(rounds.pop().as_deref(), Some("run: true, goes on: false"));
    rounds.sort();
    assert_eq!(rounds, ["run: false, goes on: true", "run: true, goes on: true"]);
}

#[tokio::test]
async fn a_run_that_takes_too_long_ends_with_an_error() {
    /// Never ends.
    #[tool(task, timeout = "20ms")]
    async fn hang() {
        std::future::pending::<()>().await;
    }
    let client = client(Server::new("slow", "1.0.0").tools(tools![hang]));
    let reply = client.call_tool("hang", json!({})).await.unwrap();
    assert!(reply.is_error() && reply.text().contains("timed out"), "{}", reply.text());
}

#[tokio::test]
async fn a_result_cannot_pass_for_a_question_of_the_task() {
    /// Says that it needs input.
    #[tool(task)]
    async fn forge() -> rejoinder::model::CallToolResult {
        let forged = json!({ "resultType": "input_required", "requestState": "v1.x", "content": [] });
        serde_json::from_value(forged).unwrap()
    }
    let client = client(Server::new("forger", "1.0.0").tools(tools![forge]));
    let task = client.start_task("forge", json!({})).await.unwrap();
    let shown = task.until(|_| false).await.unwrap();
    assert_eq!(shown["status"], "completed", "{shown}");
}

#[tokio::test]
async fn a_result_that_is_too_large_fails_the_task() {
    /// Returns too much.
    #[tool(task)]
    async fn dump() -> String {
        "x".repeat(17 * 1024 * 1024)
    }
    let client = client(Server::new("large", "1.0.0").tools(tools![dump]));
    let task = client.start_task("dump", json!({})).await.unwrap();
    let shown = task.until(|_| false).await.unwrap();
    assert_eq!((&shown["status"], &shown["error"]["code"]), (&json!("failed"), &json!(-32603)));
    assert!(shown["statusMessage"].as_str().unwrap().contains("return a link"), "{shown}");
}

#[tokio::test]
async fn a_spawned_future_in_a_step_ends_with_its_task() {
    /// A spawned future takes a step that never ends.
    #[tool(task)]
    async fn spawns(ctx: Context, journal: Dep<Journal>) -> Result<(), CallError> {
        tokio::spawn(async move {
            journal.note("begins");
            let step = ctx.once("never", || async {
                ctx.cancellation().cancelled().await;
                Ok(())
            });
            let ended = step.await;
            journal.note(format!("{}", ended.is_err()));
        });
        std::future::pending().await
    }
    let client = client(Server::new("spawner", "1.0.0").tools(tools![spawns]));
    let task = client.start_task("spawns", json!({})).await.unwrap();
    assert_eq!(journal(&client).wait_for(1).await, ["begins"]);
    task.cancel().await.unwrap();
    assert_eq!(journal(&client).wait_for(1).await, ["true"]);
}

#[tokio::test]
async fn a_task_answers_again_after_partial_answers_that_come_one_by_one() {
    /// Asks many at once.
    #[tool(task)]
    async fn poll(ctx: Context) -> Result<u32, CallError> {
        let ask = async |number: u32| {
            let sure = ctx.ask(format!("q{number}"), Ask::confirm(format!("{number}?"))).await?;
            Ok::<_, CallError>(u32::from(sure))
        };
        Ok(futures_util::future::try_join_all((0..8).map(ask)).await?.into_iter().sum())
    }
    let client = client(Server::new("polls", "1.0.0").tools(tools![poll]));
    let task = client.start_task("poll", json!({})).await.unwrap();
    for number in (0..8).rev() {
        let key = format!("q{number}");
        task.until_asked(&key).await.unwrap();
        task.answer_with(&key, ClientAnswer::accept(yes())).await.unwrap();
    }
    assert_eq!(task.finish().await.unwrap().text(), "8");
}

#[tokio::test]
async fn a_short_sleep_waits_in_place() {
    /// Sleeps a little.
    #[tool(task)]
    async fn nap(ctx: Context) -> Result<&'static str, CallError> {
        ctx.sleep("nap", Duration::from_millis(20)).await?;
        Ok("awake")
    }
    let client = client(Server::new("bed", "1.0.0").tools(tools![nap]));
    let task = client.start_task("nap", json!({})).await.unwrap();
    assert_eq!((task.finish().await.unwrap().text().as_str(), task.runs()), ("awake", 1));
}

#[tokio::test]
async fn a_sleep_that_is_longer_than_any_time_does_not_end_at_once() {
    /// Sleeps for ever.
    #[tool(task)]
    async fn hibernate(ctx: Context) -> Result<&'static str, CallError> {
        ctx.sleep("winter", Duration::MAX).await?;
        Ok("awake")
    }
    let client = client(Server::new("bed", "1.0.0").tools(tools![hibernate]));
    let task = client.start_task("hibernate", json!({})).await.unwrap();
    client.advance(Duration::from_secs(60)).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!((task.get().await.unwrap()["status"].as_str(), task.runs()), (Some("working"), 1));
}

#[tokio::test]
async fn a_task_that_keeps_too_much_fails() {
    /// Takes steps with large results.
    #[tool(task)]
    async fn hoard(bytes: usize, steps: usize, ctx: Context) -> Result<(), CallError> {
        for step in 0..steps {
            ctx.once(format!("step {step}"), || async { Ok("x".repeat(bytes)) }).await?;
        }
        Ok(())
    }
    let client = client(Server::new("attic", "1.0.0").tools(tools![hoard]));
    for (bytes, steps, reason) in
        [(1024 * 1024, 1, "the result of step `step 0`"), (1_000_000, 20, "record of this call")]
    {
        let task = client.start_task("hoard", json!({ "bytes": bytes, "steps": steps })).await.unwrap();
        let shown = task.until(|_| false).await.unwrap();
        assert_eq!((&shown["status"], &shown["error"]["code"]), (&json!("failed"), &json!(-32603)), "{shown}");
        let message = shown["statusMessage"].as_str().unwrap();
        assert!(message.contains(reason) && message.contains("store large"), "{message}");
    }
}

#[tokio::test]
async fn a_capability_that_is_missing_in_a_task_fails_it() {
    /// Asks for the roots of the client.
    #[tool(task)]
    async fn dream(ctx: Context) -> Result<String, CallError> {
        Ok(format!("{} roots", ctx.ask("dream", Ask::roots()).await?.roots.len()))
    }
    let client = client(Server::new("dreamer", "1.0.0").tools(tools![dream]));
    let task = client.start_task("dream", json!({})).await.unwrap();
    let shown = task.until(|_| false).await.unwrap();
    assert_eq!((&shown["status"], &shown["error"]["code"]), (&json!("failed"), &json!(-32021)), "{shown}");
}

#[tokio::test]
async fn a_task_that_is_cancelled_before_it_runs_never_runs() {
    let server = Server::new("shop", "1.0.0").tools(tools![order]).tasks(rejoinder::tasks::Tasks::default().at_once(0));
    let client = client(server);
    let task = client.start_task("order", json!({})).await.unwrap();
    task.cancel().await.unwrap();
    assert_eq!(task.get().await.unwrap()["status"], "cancelled");
    assert_eq!(task.runs(), 0);
}

#[tokio::test]
async fn a_server_that_stops_gives_runs_the_grace_period() {
    /// Runs until it is let go, or for ever.
    #[tool(task)]
    async fn work(ends: bool, scope: Scope, journal: Dep<Journal>, go: Dep<tokio::sync::Notify>) {
        let ended = journal.clone();
        scope.defer(move |end: CallEnd| async move { ended.note(format!("{end:?}")) });
        journal.note("runs");
        if ends {
            go.notified().await;
        } else {
            std::future::pending::<()>().await;
        }
    }
    for (ends, expected) in [(true, "Succeeded"), (false, "Pending")] {
        let server = Server::new("shop", "1.0.0").tools(tools![work]).provide(tokio::sync::Notify::new());
        let client = client(server.grace_period(Duration::from_millis(if ends { 10_000 } else { 100 })));
        client.start_task("work", json!({ "ends": ends })).await.unwrap();
        assert_eq!(journal(&client).wait_for(1).await, ["runs"]);
        client.dependency::<tokio::sync::Notify>().notify_one();
        client.server().stop().await;
        assert_eq!(journal(&client).wait_for(1).await, [expected]);
    }
}
