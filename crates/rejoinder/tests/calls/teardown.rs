//! What a call defers runs when the call ends, however it ends.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use futures_util::stream;
use rejoinder::{
    auth::Principal,
    call::{CallEnd, Era},
    model::{CallToolResult, ContentBlock},
    prelude::*,
    testing::{Client, ClientError, Response, Transport},
};
use serde_json::json;

use crate::journal::Journal;
use crate::logged::Logged;

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
        assert_eq!(client.call_tool("end", json!({ "how": "well" })).await.unwrap().text(), "done");
        assert_eq!(log.take(), ["open", "body", "dropped", "commit", "close: Succeeded"]);
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

/// Commits in the way that the argument names, after the function has succeeded.
#[resolver]
fn committed(how: &str, #[resolve(connection)] _connection: &Connection, scope: Scope, log: Dep<Journal>) {
    let how = how.to_owned();
    scope.defer(move |end| async move {
        log.note(format!("commit: {end:?}"));
        match how.as_str() {
            "fails" => Err(std::io::Error::other("the disk is full").into()),
            "explains" => Err(CallError::new("somebody else has the last seat: choose another one")),
            "panics" => panic!("on purpose"),
            "hangs" => std::future::pending().await,
            _ => Ok(()),
        }
    });
}

#[tool]
async fn order(
    how: String,
    #[resolve(committed)] _committed: &(),
    scope: Scope,
    log: Dep<Journal>,
) -> Result<&'static str, CallError> {
    scope.defer(move |end| async move { log.note(format!("last: {end:?}")) });
    if how == "fails too late" { Err(CallError::new("no")) } else { Ok("ordered") }
}

#[prompt]
async fn order_prompt(how: String, #[resolve(committed)] _committed: &()) -> String {
    how
}

#[resource("order://{how}")]
async fn order_resource(how: String, #[resolve(committed)] _committed: &()) -> String {
    how
}

fn shop() -> (Server, Arc<Journal>) {
    let log = Arc::new(Journal::default());
    let server = Server::new("shop", "1").provide_arc(Arc::clone(&log)).tools(tools![order]);
    let server = server.prompts(prompts![order_prompt]).resources(resources![order_resource]);
    (server.grace_period(Duration::from_secs(3)), log)
}

/// What a client reads of a call.
fn read(reply: Result<Response, ClientError>) -> String {
    reply.map_or_else(
        |error| error.to_string(),
        |reply| {
            let prefix = if reply.is_error() { "error: " } else { "" };
            format!("{prefix}{}", reply.text())
        },
    )
}

#[tokio::test(start_paused = true)]
async fn r3_h1_a_deferred_function_that_fails_after_a_success_fails_the_call() {
    for transport in [Transport::Http, Transport::Stdio, Transport::WebSocket, Transport::Sse] {
        for era in [Era::Stateless, Era::Session] {
            for (how, text) in [
                ("works", "ordered"),
                ("fails", "Internal error. See the server log"),
                ("explains", "error: somebody else has the last seat: choose another one"),
                ("panics", "Internal error. See the server log"),
                ("hangs", "error: the outcome is unknown: the end of this call took longer than 3 s and was stopped"),
            ] {
                let (server, log) = shop();
                let client = Client::new(server).transport(transport).era(era);
                let seen = read(client.call_tool("order", json!({ "how": how })).await);
                assert!(seen.contains(text), "{transport:?}, {era:?}, {how}: {seen}");
                assert!(!seen.contains("disk"), "details are for the log only: {seen}");
                let closed = if how == "works" { "close: Succeeded" } else { "close: Failed" };
                let ends = ["open", "last: Succeeded", "commit: Succeeded", closed];
                assert_eq!(log.take(), ends, "{transport:?}, {era:?}, {how}: those that come later hear it");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn prompts_and_resources_fail_with_what_they_deferred() {
    for era in [Era::Stateless, Era::Session] {
        for (how, reason) in [("fails", json!(null)), ("hangs", json!("outcome_unknown"))] {
            let client = Client::new(shop().0).era(era);
            let prompt = client.get_prompt("order_prompt", json!({ "how": how })).await.unwrap_err();
            let resource = client.read_resource(&format!("order://{how}")).await.unwrap_err();
            for error in [prompt, resource] {
                let rpc = error.rpc().unwrap();
                assert_eq!(
                    (rpc.code, &rpc.data.clone().unwrap_or_default()["reason"]),
                    (-32603, &reason),
                    "{era:?}: {error}"
                );
            }
        }
    }
}

#[tokio::test]
async fn a_call_that_has_failed_keeps_its_error_when_what_it_deferred_fails() {
    for era in [Era::Stateless, Era::Session] {
        let (server, log) = shop();
        let client = Client::new(server).era(era);
        assert_eq!(read(client.call_tool("order", json!({ "how": "fails too late" })).await), "error: no");
        assert_eq!(log.take(), ["open", "last: Failed", "commit: Failed", "close: Failed"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_deferred_function_that_fails_is_logged_with_its_item_and_request() {
    for (how, line) in [
        ("fails", "a deferred function failed error=the disk is full end=Succeeded"),
        ("panics", "a deferred function panicked end=Succeeded"),
        (
            "hangs",
            "a deferred function failed error=the outcome is unknown: the end of this call took longer than 3 s and was \
             stopped; check what was saved before you try again end=Succeeded",
        ),
    ] {
        let (logged, _guard) = Logged::here();
        let client = Client::new(shop().0.principal(|_| Some(Principal::new("lovelace"))));
        drop(client.call_tool("order", json!({ "how": how })).await);
        drop(client.read_resource(&format!("order://{how}")).await);
        let lines = logged.text();
        for item in ["order", "order://{how}"] {
            let line = format!("{line} of=\"{item}\" request=\"");
            let (_, id) = lines.split_once(&line).unwrap_or_else(|| panic!("{lines}"));
            assert!(id.starts_with(|digit: char| digit.is_ascii_digit()), "{lines}");
        }
        assert!(!lines.contains("lovelace"), "{lines}");
        // A URI may contain secrets.
        assert!(!lines.contains(&format!("order://{how}")), "{lines}");
    }
}

/// A result that the client sees as an error.
#[tool]
async fn out_of_stock(#[resolve(connection)] _connection: &Connection) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text("out of stock")])
}

/// The same at the end of a stream.
#[tool]
async fn out_of_stock_at_last(#[resolve(connection)] _connection: &Connection) -> ToolStream<String, CallToolResult> {
    let none = CallToolResult::error(vec![ContentBlock::text("out of stock")]);
    ToolStream::new(stream::iter(["looking".to_owned()])).fold(none, |none, _| none)
}

#[tokio::test]
async fn r3_m1_a_result_with_is_error_ends_as_a_failure() {
    for era in [Era::Stateless, Era::Session] {
        let log = Arc::new(Journal::default());
        let server = Server::new("shop", "1").provide_arc(Arc::clone(&log));
        let client = Client::new(server.tools(tools![out_of_stock, out_of_stock_at_last])).era(era);
        for tool in ["out_of_stock", "out_of_stock_at_last"] {
            assert_eq!(read(client.call_tool(tool, json!({})).await), "error: out of stock");
            assert_eq!(log.take(), ["open", "close: Failed"], "{era:?}: {tool}");
        }
    }
}

/// A table, and its rows that no transaction has committed.
#[derive(Default)]
struct Rows {
    stored: Mutex<Vec<&'static str>>,
}

/// A transaction that keeps what steps wrote, or forgets it.
#[resolver]
fn writing(how: &str, scope: Scope, rows: Dep<Rows>) -> Arc<Mutex<Vec<&'static str>>> {
    let written = Arc::new(Mutex::new(Vec::new()));
    let (ends, how) = (Arc::clone(&written), how.to_owned());
    scope.defer(move |end| async move {
        if if how == "forgets" { end.is_success() } else { end.keeps_changes() } {
            match how.as_str() {
                "fails" => return Err(CallError::new("the disk is full")),
                "panics" => panic!("on purpose"),
                "hangs" => std::future::pending().await,
                _ => rows.stored.lock().unwrap().append(&mut ends.lock().unwrap()),
            }
        }
        Ok(())
    });
    written
}

#[tool]
async fn buy(
    how: String,
    #[resolve(writing)] written: &Arc<Mutex<Vec<&'static str>>>,
    ctx: Context,
) -> Result<&'static str, CallError> {
    let _ = how;
    ctx.once("insert", async || {
        written.lock().unwrap().push("order");
        Ok(())
    })
    .await?;
    ctx.ask("sure", Ask::confirm("Sure?")).await?;
    Ok("ordered")
}

/// The same inside a step that asks, and so is not recorded itself.
#[tool]
async fn buy_inside(
    how: String,
    #[resolve(writing)] written: &Arc<Mutex<Vec<&'static str>>>,
    ctx: Context,
) -> Result<String, CallError> {
    let _ = how;
    let bought = ctx.once("buy", async || {
        let insert = async || {
            written.lock().unwrap().push("order");
            Ok(())
        };
        ctx.once("insert", insert).await?;
        ctx.ask("sure", Ask::confirm("Sure?")).await?;
        Ok("ordered".to_owned())
    });
    bought.await
}

/// The same with rounds by hand, whose state says what was written.
#[tool]
async fn buy_by_hand(
    how: String,
    #[resolve(writing)] written: &Arc<Mutex<Vec<&'static str>>>,
    rounds: Rounds,
) -> Reply<&'static str> {
    let _ = how;
    if rounds.state::<u32>().is_some() {
        return Reply::done("ordered");
    }
    written.lock().unwrap().push("order");
    Reply::ask("sure", Ask::confirm("Sure?")).with_state(7)
}

#[tokio::test(start_paused = true)]
async fn a_commit_that_fails_before_a_question_fails_the_call() {
    for era in [Era::Stateless, Era::Session] {
        for tool in ["buy", "buy_inside", "buy_by_hand"] {
            let rows = Arc::new(Rows::default());
            let server = Server::new("shop", "1").provide_arc(Arc::clone(&rows));
            let server = server.tools(tools![buy, buy_inside, buy_by_hand]);
            let client = Client::new(server.grace_period(Duration::from_secs(3))).era(era);
            let client = client.answer("sure", rejoinder::form::ConfirmForm { yes: true });
            for (how, text) in [
                ("fails", "error: the disk is full"),
                ("panics", "Internal error"),
                ("hangs", "error: the outcome is unknown"),
            ] {
                let seen = read(client.call_tool(tool, json!({ "how": how })).await);
                assert!(seen.contains(text), "{era:?}, {tool}, {how}: {seen}");
            }
            assert_eq!(read(client.call_tool(tool, json!({ "how": "keeps" })).await), "ordered", "{era:?}, {tool}");
            assert_eq!(*rows.stored.lock().unwrap(), ["order"], "{era:?}, {tool}");
        }
    }
}

#[tokio::test]
async fn r3_m6_a_transaction_keeps_what_a_step_wrote_before_a_question() {
    for era in [Era::Stateless, Era::Session] {
        let rows = Arc::new(Rows::default());
        let server = Server::new("shop", "1").provide_arc(Arc::clone(&rows)).tools(tools![buy]);
        let client = Client::new(server).era(era).answer("sure", rejoinder::form::ConfirmForm { yes: true });
        assert_eq!(read(client.call_tool("buy", json!({ "how": "keeps" })).await), "ordered", "{era:?}");
        assert_eq!(std::mem::take(&mut *rows.stored.lock().unwrap()), ["order"], "{era:?}");
        // A test of a transaction that forgets the step says so, where the step would be lost.
        let forgets = read(client.call_tool("buy", json!({ "how": "forgets" })).await);
        match era {
            Era::Session => assert_eq!(forgets, "ordered"),
            _ => assert!(forgets.contains("did not call `CallEnd::keeps_changes`"), "{forgets}"),
        }
    }
}

#[test]
fn only_a_success_or_a_question_after_steps_keeps_changes() {
    use CallEnd::{Cancelled, Failed, Panicked, Pending, PendingAfterSteps, Succeeded, TimedOut};
    let ends = [Succeeded, Failed, Panicked, Pending, PendingAfterSteps, Cancelled, TimedOut];
    assert_eq!(ends.map(CallEnd::keeps_changes), [true, false, false, false, true, false, false]);
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
    scope.end(CallEnd::Cancelled).await.unwrap();
    assert_eq!(log.take(), ["open", "close: Cancelled"]);
    let scope = Scope::detached();
    committed("explains", &Connection, scope.clone(), log);
    let error = scope.end(CallEnd::Succeeded).await.unwrap_err();
    assert_eq!(error.to_string(), "somebody else has the last seat: choose another one");
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
        let text = client.call_tool("hang", json!({})).await.unwrap().text();
        assert!(text.starts_with("the outcome is unknown"), "{text}");
        assert_eq!(start.elapsed().as_secs(), 3, "{era:?}: the paused clock moves only while everything waits");
        assert_eq!(log.take(), ["last", "first"], "{era:?}: the others still run");
    }
    let logged = logged.text();
    assert!(logged.contains("a deferred function failed error=the outcome is unknown"), "{logged}");
}
