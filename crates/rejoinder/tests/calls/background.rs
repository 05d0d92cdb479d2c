//! Background tasks run after the reply, however the call ended.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use rejoinder::{
    auth::Principal,
    call::{BackgroundStatus, BackgroundTask, Era},
    form::ConfirmForm,
    model::CallToolResult,
    prelude::*,
    server::Limits,
    testing::{Client, in_both_eras},
};
use serde_json::json;
use tokio::{
    sync::{Barrier, Notify},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use crate::{journal::Journal, logged::Logged};

fn client(server: Server) -> (Client, Arc<Journal>) {
    let log = Arc::new(Journal::default());
    (Client::new(server.provide_arc(Arc::clone(&log))), log)
}

#[resolver]
fn transaction(scope: Scope, background: BackgroundTasks, log: Dep<Journal>) -> Result<(), CallError> {
    let inner = log.clone();
    scope.defer(move |end| async move { inner.note(format!("teardown: {end:?}")) });
    background.add(async move { log.note("task of the resolver") })?;
    Ok(())
}

/// Ends in the way that the argument names.
#[tool]
async fn end(
    how: String,
    #[resolve(transaction)] _transaction: &(),
    background: BackgroundTasks,
    ctx: Context,
    log: Dep<Journal>,
) -> Result<&'static str, CallError> {
    let inner = log.clone();
    background.add(async move {
        tokio::task::yield_now().await;
        inner.note("task of the body");
    })?;
    let inner = log.clone();
    background.add_blocking(move || inner.note("blocking task"))?;
    log.note("body");
    match how.as_str() {
        "fail" => Err(CallError::new("no")),
        "panic" => panic!("on purpose"),
        "wait" => std::future::pending().await,
        "ask" => ctx.ask("sure", Ask::confirm("Sure?")).await.map(|_| "asked"),
        _ => Ok("done"),
    }
}

const TASKS: [&str; 3] = ["task of the resolver", "task of the body", "blocking task"];

#[tokio::test]
async fn l6_tasks_run_in_order_after_teardown_however_the_call_ends() {
    let (client, log) = client(Server::new("late", "1.0.0").tools(tools![end]));
    in_both_eras(client, async |client| {
        for (how, end) in [("well", "Succeeded"), ("fail", "Failed"), ("panic", "Panicked")] {
            let reply = client.call_tool("end", json!({ "how": how })).await;
            let torn_down = format!("teardown: {end}");
            assert_eq!(log.wait_for(5).await, [&["body", &torn_down], &TASKS[..]].concat(), "{how}");
            if let Ok(reply) = reply {
                assert_eq!(reply.background.finished().await, [BackgroundStatus::Succeeded; 3]);
            }
        }
    })
    .await;
}

#[tokio::test]
async fn tasks_of_a_cancelled_call_run() {
    let (client, log) = client(Server::new("late", "1.0.0").tools(tools![end]));
    in_both_eras(client, async |client| {
        let call = tokio::spawn(async move { client.call_tool("end", json!({ "how": "wait" })).await });
        assert_eq!(log.wait_for(1).await, ["body"]);
        call.abort();
        assert_eq!(log.wait_for(4).await, [&["teardown: Cancelled"], &TASKS[..]].concat());
    })
    .await;
}

#[tokio::test]
async fn a_round_that_ends_in_a_question_drops_its_tasks() {
    let (client, log) = client(Server::new("late", "1.0.0").tools(tools![end, by_hand]));
    in_both_eras(client.answer("sure", ConfirmForm { yes: true }), async |client| {
        let reply = client.call_tool("end", json!({ "how": "ask" })).await.unwrap();
        assert_eq!(reply.background.finished().await, [BackgroundStatus::Succeeded; 3]);
        // A stateless client makes the function run again.
        let first = ["body", "teardown: Pending"];
        let last = [&["body", "teardown: Succeeded"], &TASKS[..]].concat();
        let expected = if reply.runs == 1 { last } else { [&first[..], &last].concat() };
        assert_eq!(log.take(), expected);

        let reply = client.call_tool("by_hand", json!({})).await.unwrap();
        assert_eq!(reply.background.finished().await, [BackgroundStatus::Succeeded]);
        assert_eq!(log.take(), ["second"]);
    })
    .await;
}

#[tool]
async fn by_hand(rounds: Rounds, background: BackgroundTasks, log: Dep<Journal>) -> Result<Reply<()>, CallError> {
    let (round, reply) = match rounds.state::<u32>() {
        None => ("first", Reply::resume(1)),
        Some(_) => ("second", Reply::done(())),
    };
    background.add(async move { log.note(round) })?;
    Ok(reply)
}

/// Holds up its first task until the concurrent ones have met.
#[tool]
async fn together(background: BackgroundTasks, barrier: Dep<Barrier>, log: Dep<Journal>) -> Result<(), CallError> {
    let (meet, note) = (barrier.clone(), log.clone());
    background.add(async move {
        meet.wait().await;
        note.note("first");
    })?;
    background.add(async move { log.note("second") })?;
    for _ in 0..2 {
        let meet = barrier.clone();
        background.concurrent().add(async move {
            meet.wait().await;
        })?;
    }
    Ok(())
}

#[tokio::test]
async fn concurrent_tasks_wait_for_no_other() {
    let (client, log) = client(Server::new("late", "1.0.0").provide(Barrier::new(3)).tools(tools![together]));
    in_both_eras(client, async |client| {
        let reply = client.call_tool("together", json!({})).await.unwrap();
        let finished = timeout(Duration::from_secs(30), reply.background.finished()).await;
        assert_eq!(finished.expect("they meet"), [BackgroundStatus::Succeeded; 4]);
        assert_eq!(log.take(), ["first", "second"]);
    })
    .await;
}

#[prompt]
async fn prompt(background: BackgroundTasks, log: Dep<Journal>) -> Result<&'static str, CallError> {
    background.add(async move { log.note("prompt") })?;
    Ok("done")
}

#[resource("late://{name}")]
async fn resource(name: String, background: BackgroundTasks, log: Dep<Journal>) -> Result<&'static str, CallError> {
    background.add(async move { log.note(name) })?;
    Ok("done")
}

#[tokio::test]
async fn prompts_and_resources_have_tasks_too() {
    let server = Server::new("late", "1.0.0").prompts(prompts![prompt]).resources(resources![resource]);
    let (client, log) = client(server);
    in_both_eras(client, async |client| {
        let prompt = client.get_prompt("prompt", json!({})).await.unwrap();
        assert_eq!(prompt.background.finished().await, [BackgroundStatus::Succeeded]);
        let resource = client.read_resource("late://thing").await.unwrap();
        assert_eq!(resource.background.finished().await, [BackgroundStatus::Succeeded]);
        assert_eq!(log.take(), ["prompt", "thing"]);
    })
    .await;
}

/// Fails in every way.
#[tool]
async fn broken(background: BackgroundTasks) -> Result<(), CallError> {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("on purpose");
        }
    }
    background.add(async { Err::<(), _>(std::io::Error::other("the disk is full")) })?;
    background.add(async { assert!(std::env::args().count() == 0, "on purpose") })?;
    background.add_blocking(|| assert!(std::env::args().count() == 0, "on purpose"))?;
    // Its value is dropped where nobody waits for it.
    background.add(async { Ok::<_, CallError>(Bomb) })?;
    background.add(async {})?;
    Ok(())
}

#[tokio::test]
async fn failures_are_logged_with_the_call_and_the_others_run() {
    let (logged, _guard) = Logged::here();
    let (client, _) = client(Server::new("late", "1.0.0").tools(tools![broken]));
    let reply = client.call_tool("broken", json!({})).await.unwrap();
    let statuses = reply.background.finished().await;
    let [failed, succeeded] = [BackgroundStatus::Failed, BackgroundStatus::Succeeded];
    assert_eq!(statuses, [failed, failed, failed, succeeded, succeeded]);
    let lines = logged.text();
    // Requests are numbered in the whole process.
    let failed = "a background task failed error=the disk is full target=\"broken\" request=\"";
    assert!(lines.contains(failed), "{lines}");
    assert_eq!(lines.matches("a background task panicked target=\"broken\" request=\"").count(), 2, "{lines}");
}

#[tool]
async fn tells_late(background: BackgroundTasks, ctx: Context) -> Result<(), CallError> {
    background.add(async move {
        for text in ["dropped", "dropped, too"] {
            ctx.info(text).await;
        }
    })?;
    Ok(())
}

#[tokio::test]
async fn a_message_after_the_end_of_its_call_is_logged_once() {
    let (logged, _guard) = Logged::here();
    let (client, _) = client(Server::new("late", "1.0.0").tools(tools![tells_late]));
    // It does not want log messages.
    client.call_tool("tells_late", json!({})).await.unwrap().background.finished().await;
    assert_eq!(logged.text(), "");
    let client = client.era(Era::Session);
    client.call_tool("tells_late", json!({})).await.unwrap().background.finished().await;
    assert_eq!(logged.text().matches("after its call had ended, so it was dropped: await").count(), 1);
    assert!(logged.text().contains("request=\""), "{}", logged.text());
}

/// Waits for a future that tells the client something when the call is over.
#[tool(timeout = "10ms")]
async fn waits_for_who_tells_late(ctx: Context, told: Dep<Notify>) {
    let telling = tokio::spawn(async move {
        ctx.cancellation().cancelled().await;
        ctx.info("dropped").await;
        told.notify_one();
    });
    telling.await.unwrap();
}

#[tokio::test]
async fn a_message_after_a_call_that_could_not_wait_for_it_is_not_logged() {
    let (logged, _guard) = Logged::here();
    let told = Arc::new(Notify::new());
    let server = Server::new("late", "1.0.0").provide_arc(Arc::clone(&told)).tools(tools![waits_for_who_tells_late]);
    let client = Client::new(server).era(Era::Session);
    let reply = client.call_tool("waits_for_who_tells_late", json!({})).await.unwrap();
    assert!(reply.is_error());
    timeout(Duration::from_secs(30), told.notified()).await.unwrap();
    assert!(!logged.text().contains("after its call had ended"), "{}", logged.text());
}

/// What a test does with a task.
#[derive(Default)]
struct Kept {
    task: Mutex<Option<BackgroundTask<u32>>>,
    release: Notify,
    early: Mutex<Option<String>>,
}

#[tool]
async fn keeps(background: BackgroundTasks, kept: Dep<Kept>) -> Result<(), CallError> {
    let inner = kept.clone();
    let task = background.add(async move {
        inner.release.notified().await;
        Ok::<_, CallError>(7)
    })?;
    *kept.task.lock().unwrap() = Some(task);
    // It would wait for itself.
    let own = background.add(async {})?.result().await.unwrap_err();
    *kept.early.lock().unwrap() = Some(own.to_string());
    Ok(())
}

#[tokio::test]
async fn l6_a_task_can_be_watched_cancelled_and_waited_for() {
    let kept = Arc::new(Kept::default());
    let client = Client::new(Server::new("late", "1.0.0").provide_arc(Arc::clone(&kept)).tools(tools![keeps]));
    in_both_eras(client, async |client| {
        let [cancelled, succeeded] = [BackgroundStatus::Cancelled, BackgroundStatus::Succeeded];
        // Whether it is cancelled before it starts or while it runs.
        for runs in [false, true] {
            let reply = client.call_tool("keeps", json!({})).await.unwrap();
            let early = kept.early.lock().unwrap().take();
            assert_eq!(
                early.as_deref(),
                Some("a background task starts after the reply, so the call cannot wait for its result")
            );
            let task = kept.task.lock().unwrap().take().unwrap();
            while runs && task.status() != BackgroundStatus::Running {
                tokio::task::yield_now().await;
            }
            task.cancel();
            assert_eq!(reply.background.finished().await, [cancelled, succeeded]);
            assert_eq!(task.result().await.unwrap_err().to_string(), "the background task was cancelled");
        }
        let reply = client.call_tool("keeps", json!({})).await.unwrap();
        let task = kept.task.lock().unwrap().take().unwrap();
        assert!(task.id() > 0);
        kept.release.notify_one();
        assert_eq!(task.result().await.unwrap(), 7);
        assert_eq!(reply.background.finished().await, [succeeded; 2]);
    })
    .await;
}

#[tool]
async fn many(tasks: usize, background: BackgroundTasks, release: Dep<CancellationToken>) -> Result<usize, CallError> {
    for _ in 0..tasks {
        let release = release.clone();
        background.add(async move { release.cancelled().await })?;
    }
    Ok(tasks)
}

#[tokio::test]
async fn there_is_a_limit_for_a_call_and_for_the_server() {
    for era in [Era::Stateless, Era::Session] {
        let release = Arc::new(CancellationToken::new());
        let server = Server::new("late", "1.0.0").provide_arc(Arc::clone(&release)).tools(tools![many]);
        let client = Client::new(server.limits(Limits::new().background_tasks(150))).era(era);
        let call = async |tasks: usize| client.call_tool("many", json!({ "tasks": tasks })).await.unwrap();
        // What was added before the limit runs all the same.
        let first = call(101).await;
        assert_eq!(first.text(), "too many background tasks in one call (limit 100)");
        let second = call(51).await;
        assert_eq!(second.text(), "too many background tasks (limit 150), try again later");
        release.cancel();
        assert_eq!(first.background.finished().await, [BackgroundStatus::Succeeded; 100]);
        assert_eq!(second.background.finished().await, [BackgroundStatus::Succeeded; 50]);
        assert_eq!(call(1).await.text(), "1");
    }
}

#[tokio::test]
async fn a3_m11_the_background_tasks_of_one_caller_leave_room_for_others() {
    for era in [Era::Stateless, Era::Session] {
        let release = Arc::new(CancellationToken::new());
        let server = Server::new("late", "1.0.0").provide_arc(Arc::clone(&release)).tools(tools![many]);
        let server = server.principal(|request| Some(Principal::new(request.header("x-user")?)));
        let client = Client::new(server.limits(Limits::new().background_tasks(8))).era(era);
        let call = async |user: &str, tasks: usize| {
            let client = client.clone().header("x-user", user);
            client.call_tool("many", json!({ "tasks": tasks })).await.unwrap().text()
        };
        let full = "too many background tasks of this caller (limit 2), try again later";
        assert_eq!(call("ada", 3).await, full, "{era:?}");
        assert_eq!(call("bob", 2).await, "2", "{era:?}");
        release.cancel();
    }
}

/// Spawns a task that adds another after the end of the call.
#[tool]
async fn outlived(background: BackgroundTasks, ctx: Context, log: Dep<Journal>) {
    let over = ctx.cancellation();
    tokio::spawn(async move {
        over.cancelled().await;
        let inner = log.clone();
        background.add(async move { inner.note("added late") }).unwrap();
    });
}

#[tokio::test]
async fn a_task_that_is_added_after_the_reply_starts_at_once() {
    let (client, log) = client(Server::new("late", "1.0.0").tools(tools![outlived]));
    in_both_eras(client, async |client| {
        client.call_tool("outlived", json!({})).await.unwrap();
        assert_eq!(log.wait_for(1).await, ["added late"]);
    })
    .await;
}

#[tool(timeout = "1s")]
async fn times_out(background: BackgroundTasks, scope: Scope, log: Dep<Journal>) -> Result<(), CallError> {
    let inner = log.clone();
    scope.defer(move |end| async move { inner.note(format!("teardown: {end:?}")) });
    background.add(async move { log.note("task") })?;
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn tasks_of_a_call_that_timed_out_run() {
    let (client, log) = client(Server::new("late", "1.0.0").tools(tools![times_out]));
    in_both_eras(client, async |client| {
        let reply = client.call_tool("times_out", json!({})).await.unwrap();
        assert!(reply.is_error());
        assert_eq!(reply.background.finished().await, [BackgroundStatus::Succeeded]);
        assert_eq!(log.take(), ["teardown: TimedOut", "task"]);
    })
    .await;
}

/// Ends in the way that the argument names, with a task that is for a success only.
#[tool(timeout = "1s")]
async fn confirms(
    how: String,
    background: BackgroundTasks,
    scope: Scope,
    ctx: Context,
    log: Dep<Journal>,
) -> Result<CallToolResult, CallError> {
    let inner = log.clone();
    background.on_success().add(async move { inner.note("mail") })?;
    background.add(async move { log.note("audit") })?;
    match how.as_str() {
        "fail" => return Err(CallError::new("no")),
        "is an error" => return Ok(CallToolResult::error(Vec::new())),
        "panic" => panic!("on purpose"),
        "wait" => std::future::pending().await,
        "ask" => drop(ctx.ask("sure", Ask::confirm("Sure?")).await?),
        "commit fails" => scope.defer(|_| async { Err(std::io::Error::other("the disk is full")) }),
        _ => {}
    }
    Ok(CallToolResult::success(Vec::new()))
}

#[tokio::test(start_paused = true)]
async fn r3_h1_a_task_for_a_success_runs_only_if_the_call_succeeds() {
    let (client, log) = client(Server::new("late", "1.0.0").tools(tools![confirms]));
    in_both_eras(client.answer("sure", ConfirmForm { yes: true }), async |client| {
        for how in ["well", "ask", "fail", "is an error", "panic", "wait", "commit fails"] {
            let reply = client.call_tool("confirms", json!({ "how": how })).await;
            let is_success = ["well", "ask"].contains(&how);
            let expected: &[&str] = if is_success { &["mail", "audit"] } else { &["audit"] };
            assert_eq!(log.wait_for(expected.len()).await, expected, "{how}");
            if let Ok(reply) = reply {
                let mail = if is_success { BackgroundStatus::Succeeded } else { BackgroundStatus::Cancelled };
                assert_eq!(reply.background.finished().await, [mail, BackgroundStatus::Succeeded], "{how}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn a_task_for_a_success_does_not_run_if_the_call_is_cancelled() {
    let (client, log) = client(Server::new("late", "1.0.0").tools(tools![confirms]));
    in_both_eras(client, async |client| {
        tokio::select! {
            reply = client.call_tool("confirms", json!({ "how": "wait" })) => panic!("it waits: {reply:?}"),
            () = tokio::time::sleep(Duration::from_millis(50)) => {}
        }
        assert_eq!(log.wait_for(1).await, ["audit"]);
    })
    .await;
}

/// Adds its tasks when it is over: one while it is torn down, and one after the reply.
#[tool]
async fn confirms_at_the_end(
    fails: bool,
    background: BackgroundTasks,
    scope: Scope,
    log: Dep<Journal>,
) -> Result<(), CallError> {
    scope.defer(move |_| async move {
        let (mail, late, mails) = (log.clone(), log.clone(), background.on_success());
        background.on_success().add(async move { mail.note("mail") })?;
        background.add(async move {
            mails.add(async move { late.note("late mail") })?;
            log.note("audit");
            Ok::<_, CallError>(())
        })?;
        Ok::<_, CallError>(())
    });
    if fails { Err(CallError::new("no")) } else { Ok(()) }
}

#[tokio::test]
async fn a_task_for_a_success_may_be_added_when_the_call_has_ended() {
    let (client, log) = client(Server::new("late", "1.0.0").tools(tools![confirms_at_the_end]));
    in_both_eras(client, async |client| {
        client.call_tool("confirms_at_the_end", json!({ "fails": false })).await.unwrap();
        assert_eq!(log.wait_for(3).await, ["mail", "audit", "late mail"]);
        client.call_tool("confirms_at_the_end", json!({ "fails": true })).await.unwrap();
        assert_eq!(log.wait_for(1).await, ["audit"]);
    })
    .await;
    assert!(log.take().is_empty());
}

#[tokio::test]
async fn a_unit_test_waits_for_tasks_that_tasks_add() {
    let (background, log) = (BackgroundTasks::detached(), Dep::new(Journal::default()));
    adds_a_task_in_a_task(background.clone(), log.clone()).await.unwrap();
    background.finish().await;
    assert_eq!(log.take(), ["inner"]);
}

/// Adds a task where a later round does not add it again.
#[tool]
async fn adds_in_a_step(ctx: Context, background: BackgroundTasks, log: Dep<Journal>) -> Result<(), CallError> {
    ctx.once("store", async || {
        let log = log.clone();
        // The function handles the error, and the call ends all the same.
        let _ = background.add(async move { log.note("mail") });
        Ok(())
    })
    .await?;
    ctx.ask("sure", Ask::confirm("Sure?")).await?;
    Ok(())
}

#[tokio::test]
async fn r3_m3_a_task_that_is_added_inside_a_step_is_a_mistake() {
    let (client, log) = client(Server::new("late", "1.0.0").tools(tools![adds_in_a_step]));
    in_both_eras(client.answer("sure", ConfirmForm { yes: true }), async |client| {
        let reply = client.call_tool("adds_in_a_step", json!({})).await.unwrap();
        assert_eq!(
            reply.text(),
            "a background task is added inside step `store`, which a later round does not run again, so the task would be \
             lost: add it after the step"
        );
        assert!(reply.is_error() && log.take().is_empty());
    })
    .await;
}

/// Its task waits for a task that it adds itself.
#[tool]
async fn adds_a_task_in_a_task(background: BackgroundTasks, log: Dep<Journal>) -> Result<(), CallError> {
    let inner = background.clone();
    background.add(async move {
        let added = inner.add(async { Ok::<_, CallError>("inner") })?;
        log.note(added.result().await?);
        Ok::<_, CallError>(())
    })?;
    Ok(())
}

#[tokio::test]
async fn r3_l6_a_task_can_wait_for_a_task_that_it_added() {
    let (client, log) = client(Server::new("late", "1.0.0").tools(tools![adds_a_task_in_a_task]));
    in_both_eras(client, async |client| {
        let reply = client.call_tool("adds_a_task_in_a_task", json!({})).await.unwrap();
        assert_eq!(log.wait_for(1).await, ["inner"]);
        assert_eq!(reply.background.finished().await[0], BackgroundStatus::Succeeded);
    })
    .await;
}
