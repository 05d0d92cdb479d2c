//! What a call defers runs when the call ends, however it ends.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

mod journal;
mod logged;

use std::{sync::Arc, time::Duration};

use rejoinder::{CallEnd, Era, prelude::*, testing::Client};
use serde_json::json;

use journal::Journal;
use logged::Logged;

/// Something that has to be released.
#[derive(Clone)]
struct Connection;

#[resolver]
async fn connection(scope: Scope, log: Dep<Journal>) -> Connection {
    log.note("open");
    scope.defer(move |ending| async move {
        // A deferred function can await, which `Drop` cannot.
        tokio::task::yield_now().await;
        log.note(format!("close: {ending:?}"));
    });
    Connection
}

#[resolver]
async fn transaction(#[resolve(connection)] _connection: &Connection, scope: Scope, log: Dep<Journal>) -> &'static str {
    scope.defer(move |ending| async move {
        log.note(if ending.is_success() { "commit" } else { "roll back" });
    });
    "transaction"
}

/// Ends in the way that the argument names.
#[tool]
async fn end(
    how: String,
    #[resolve(transaction)] _transaction: &&'static str,
    ctx: Context,
    scope: Scope,
    log: Dep<Journal>,
) -> Result<&'static str, CallError> {
    struct Held(Dep<Journal>);
    impl Drop for Held {
        fn drop(&mut self) {
            self.0.note("dropped");
        }
    }
    let _held = Held(log.clone());
    log.note("body");
    match how.as_str() {
        "fail" => return Err(CallError::new("no")),
        "panic" => panic!("on purpose"),
        "wait" => std::future::pending().await,
        "ask" => return ctx.ask("sure", Ask::confirm("Sure?")).await.map(|_| "asked"),
        "broken" => {
            scope.defer(|_| async { Err(std::io::Error::other("the disk is full")) });
            scope.defer(|ending| async move { assert!(!ending.is_success(), "on purpose") });
        }
        "nested" => {
            let (inner, log) = (scope.clone(), log.clone());
            scope.defer(move |_| async move {
                inner.defer(move |_| async move { log.note("deferred later") });
            });
        }
        _ => {}
    }
    Ok("done")
}

/// Spawns a task that defers something after the end of the call.
#[tool]
async fn outlived(scope: Scope, ctx: Context, log: Dep<Journal>) {
    let over = ctx.cancellation();
    tokio::spawn(async move {
        over.cancelled().await;
        let inner = log.clone();
        scope.defer(move |ending| async move { inner.note(format!("deferred too late: {ending:?}")) });
        log.note("task over");
    });
}

/// Never ends by itself, and records what sees its end.
#[tool]
async fn watches(#[arg(default)] talks: bool, scope: Scope, ctx: Context, log: Dep<Journal>) {
    let (over, inner) = (ctx.cancellation(), log.clone());
    tokio::spawn(async move {
        over.cancelled().await;
        inner.note("task: cancelled");
    });
    let inner = log.clone();
    scope.defer(move |ending| async move { inner.note(format!("deferred: {ending:?}")) });
    if talks {
        // From here on the reply is a stream.
        ctx.progress(1.0).await;
    }
    log.note("body");
    std::future::pending::<()>().await;
}

/// Asks after its end, which is too late.
#[tool]
async fn asks_at_the_end(scope: Scope, ctx: Context, log: Dep<Journal>) {
    scope.defer(move |_| async move {
        let answer = ctx.ask("sure", Ask::confirm("Sure?")).await;
        log.note(answer.unwrap_err().to_string());
    });
}

/// Fails before the body runs.
#[resolver]
fn refused(#[resolve(connection)] _connection: &Connection) -> Result<(), CallError> {
    Err(CallError::new("not you"))
}

#[tool(timeout = "30s")]
async fn limited(
    how: String,
    #[resolve(transaction)] _transaction: &&'static str,
    ctx: Context,
) -> Result<(), CallError> {
    match how.as_str() {
        "fail" => return Err(CallError::new("no")),
        "panic" => panic!("on purpose"),
        "wait" => std::future::pending().await,
        "ask" => drop(ctx.ask("sure", Ask::confirm("Sure?")).await?),
        _ => {}
    }
    Ok(())
}

#[prompt(timeout = "30s")]
async fn limited_prompt(
    how: String,
    #[resolve(transaction)] transaction: &&'static str,
    ctx: Context,
) -> Result<String, CallError> {
    limited(how, transaction, ctx).await.map(|()| "done".to_owned())
}

#[resource("limited://{how}", timeout = "30s")]
async fn limited_resource(
    how: String,
    #[resolve(transaction)] transaction: &&'static str,
    ctx: Context,
) -> Result<String, CallError> {
    limited(how, transaction, ctx).await.map(|()| "done".to_owned())
}

#[tool]
async fn guarded(#[resolve(refused)] _refused: &()) {}

fn setup() -> (Client, Arc<Journal>) {
    let log = Arc::new(Journal::default());
    let server = Server::new("teardown", "1.0.0").provide_arc(Arc::clone(&log)).tools(tools![
        end,
        limited,
        not_async,
        guarded,
        outlived,
        watches,
        asks_at_the_end
    ]);
    let server = server.prompts(prompts![limited_prompt]).resources(resources![limited_resource]);
    (Client::new(server).answer("sure", rejoinder::form::ConfirmForm { yes: true }), log)
}

async fn in_both_eras(test: impl AsyncFn(Client, &Journal)) {
    for era in [Era::Stateless, Era::Session] {
        let (client, log) = setup();
        test(client.era(era), &log).await;
    }
}

#[tokio::test]
async fn deferred_functions_run_in_reverse_order_between_the_body_and_the_reply() {
    in_both_eras(async |client, log| {
        // What fails or panics in one hides neither the result nor the others.
        for how in ["well", "broken"] {
            assert_eq!(client.call_tool("end", json!({ "how": how })).await.unwrap().text(), "done");
            assert_eq!(log.take(), ["open", "body", "dropped", "commit", "close: Succeeded"], "{how}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_deferred_function_sees_failures_and_panics() {
    in_both_eras(async |client, log| {
        assert!(client.call_tool("end", json!({ "how": "fail" })).await.unwrap().is_error());
        assert_eq!(log.take(), ["open", "body", "dropped", "roll back", "close: Failed"]);
        let panicked = client.call_tool("end", json!({ "how": "panic" })).await;
        // On a session the model reads it.
        assert!(panicked.map_or_else(|error| error.code() == Some(-32603), |reply| reply.is_error()));
        assert_eq!(log.take(), ["open", "body", "dropped", "roll back", "close: Panicked"]);
        assert_eq!(client.call_tool("guarded", json!({})).await.unwrap().text(), "not you");
        assert_eq!(log.take(), ["open", "close: Failed"]);
    })
    .await;
}

/// Neither this nor what it needs is `async`.
#[tool]
fn not_async(#[resolve(plain)] plain: &&'static str) -> &'static str {
    plain
}

#[resolver]
fn plain(#[resolve(transaction)] transaction: &&'static str, scope: Scope, log: Dep<Journal>) -> &'static str {
    scope.defer(move |_| async move { log.note("plain") });
    transaction
}

#[tokio::test]
async fn l21_functions_with_and_without_async_nest_and_are_torn_down_in_reverse_order() {
    in_both_eras(async |client, log| {
        assert_eq!(client.call_tool("not_async", json!({})).await.unwrap().text(), "transaction");
        assert_eq!(log.take(), ["open", "plain", "commit", "close: Succeeded"]);
    })
    .await;
}

/// Every way to end, for tools, prompts and resources: what was opened hears which one it was.
#[tokio::test(start_paused = true)]
async fn what_was_opened_hears_how_the_call_ended() {
    use CallEnd::{Cancelled, Failed, Panicked, Pending, Succeeded, TimedOut};
    for era in [Era::Stateless, Era::Session] {
        // On a session a question is answered in the same round.
        let asked: &[CallEnd] = if era == Era::Stateless { &[Pending, Succeeded] } else { &[Succeeded] };
        let declined: &[CallEnd] = if era == Era::Stateless { &[Pending, Failed] } else { &[Failed] };
        let ends: [(&str, &[CallEnd]); 8] = [
            ("well", &[Succeeded]),
            ("fail", &[Failed]),
            ("panic", &[Panicked]),
            ("ask", asked),
            ("decline", declined),
            ("wait", &[TimedOut]),
            ("leave", &[Cancelled]),
            ("bad argument", &[]),
        ];
        for (how, expected) in ends {
            for item in ["tool", "prompt", "resource"] {
                let (client, log) = setup();
                let client = client.era(era);
                let client = if how == "decline" { client.decline("sure") } else { client };
                let sent = match how {
                    "decline" => "ask",
                    "leave" => "wait",
                    how => how,
                };
                let arguments = if how == "bad argument" { json!({}) } else { json!({ "how": sent }) };
                let call = async {
                    match item {
                        "tool" => drop(client.call_tool("limited", arguments).await),
                        "prompt" => drop(client.get_prompt("limited_prompt", arguments).await),
                        _ if how == "bad argument" => drop(client.read_resource("limited://").await),
                        _ => drop(client.read_resource(&format!("limited://{sent}")).await),
                    }
                };
                if how == "leave" {
                    tokio::select! {
                        () = call => panic!("it waits"),
                        opened = log.wait_for(1) => assert_eq!(opened, ["open"]),
                    }
                    assert_eq!(log.wait_for(2).await, ["roll back", "close: Cancelled"]);
                    continue;
                }
                call.await;
                let events = |end: &CallEnd| {
                    let closed = if end.is_success() { "commit" } else { "roll back" };
                    ["open".to_owned(), closed.to_owned(), format!("close: {end:?}")]
                };
                let expected: Vec<_> = expected.iter().flat_map(events).collect();
                assert_eq!(log.take(), expected, "{era:?}: {item} that ends with {how}");
            }
        }
    }
}

#[tokio::test]
async fn a_round_that_ends_in_a_question_ends_as_pending() {
    let (client, log) = setup();
    assert_eq!(client.call_tool("end", json!({ "how": "ask" })).await.unwrap().text(), "asked");
    let first = ["open", "body", "dropped", "roll back", "close: Pending"];
    let second = ["open", "body", "dropped", "commit", "close: Succeeded"];
    assert_eq!(log.take(), [first, second].concat());
    let reply = client.era(Era::Session).call_tool("end", json!({ "how": "ask" })).await.unwrap();
    assert_eq!((reply.text().as_str(), log.take()), ("asked", second.map(String::from).to_vec()));
}

#[tokio::test]
async fn deferred_functions_run_after_the_client_has_disconnected() {
    in_both_eras(async |client, log| {
        let call = tokio::spawn(async move { client.call_tool("end", json!({ "how": "wait" })).await });
        assert_eq!(log.wait_for(2).await, ["open", "body"]);
        call.abort();
        assert_eq!(log.wait_for(3).await, ["dropped", "roll back", "close: Cancelled"]);
    })
    .await;
}

#[tokio::test]
async fn a_test_cancels_a_call_by_dropping_it() {
    in_both_eras(async |client, log| {
        for arguments in [json!({}), json!({ "talks": true })] {
            let begun = tokio::select! {
                reply = client.call_tool("watches", arguments) => panic!("it never ends: {reply:?}"),
                begun = log.wait_for(1) => begun,
            };
            assert_eq!(begun, ["body"]);
            let mut lines = log.wait_for(2).await;
            lines.sort();
            assert_eq!(lines, ["deferred: Cancelled", "task: cancelled"]);
        }
        let reply = client.call_tool("end", json!({ "how": "well" })).await.unwrap();
        assert_eq!(reply.text(), "done", "other calls continue");
    })
    .await;
}

#[tokio::test]
async fn a_deferred_function_that_fails_is_logged() {
    let (logged, _guard) = Logged::here();
    assert_eq!(setup().0.call_tool("end", json!({ "how": "broken" })).await.unwrap().text(), "done");
    let lines = logged.text();
    assert!(lines.contains("a deferred function failed error=the disk is full end=Succeeded"), "{lines}");
    assert!(lines.contains("a deferred function panicked end=Succeeded"), "{lines}");
}

#[tokio::test]
async fn a_function_deferred_after_the_end_runs_at_once() {
    in_both_eras(async |client, log| {
        client.call_tool("outlived", json!({})).await.unwrap();
        assert_eq!(log.wait_for(2).await, ["task over", "deferred too late: Succeeded"]);
    })
    .await;
}

#[tokio::test]
async fn a_deferred_function_cannot_ask() {
    in_both_eras(async |client, log| {
        let reply = client.call_tool("asks_at_the_end", json!({})).await.unwrap();
        assert!(reply.asked.is_empty() && !reply.is_error());
        assert_eq!(log.take(), ["this round of the call has ended: nothing can be asked or recorded in it"]);
    })
    .await;
}

#[tokio::test]
async fn a_deferred_function_can_defer_another() {
    in_both_eras(async |client, log| {
        client.call_tool("end", json!({ "how": "nested" })).await.unwrap();
        assert_eq!(log.take(), ["open", "body", "dropped", "deferred later", "commit", "close: Succeeded"]);
    })
    .await;
}

#[tokio::test]
async fn a_unit_test_ends_its_scope_itself() {
    let (scope, log) = (Scope::detached(), Dep::new(Journal::default()));
    connection(scope.clone(), log.clone()).await;
    scope.end(CallEnd::Cancelled).await;
    assert_eq!(log.take(), ["open", "close: Cancelled"]);
}

/// Defers a function that never ends, between two that do.
#[tool]
async fn hang(scope: Scope, log: Dep<Journal>) -> &'static str {
    let last = log.clone();
    scope.defer(move |_| async move { log.note("first") });
    scope.defer(|_| std::future::pending::<()>());
    scope.defer(move |_| async move { last.note("last") });
    "done"
}

#[tokio::test(start_paused = true)]
async fn r_l6_a_deferred_function_that_hangs_is_dropped_after_the_grace_period() {
    let (logged, _guard) = Logged::here();
    for era in [Era::Stateless, Era::Session] {
        let log = Arc::new(Journal::default());
        let server = Server::new("teardown", "1").provide_arc(Arc::clone(&log)).tools(tools![hang]);
        let client = Client::new(server.grace_period(Duration::from_secs(3))).era(era);
        let start = tokio::time::Instant::now();
        assert_eq!(client.call_tool("hang", json!({})).await.unwrap().text(), "done");
        assert_eq!(start.elapsed().as_secs(), 3, "{era:?}: the paused clock moves only while everything waits");
        assert_eq!(log.take(), ["last", "first"], "{era:?}: the others still run");
    }
    let logged = logged.text();
    assert!(logged.contains("a deferred function was dropped: it took longer than the grace period"), "{logged}");
}
