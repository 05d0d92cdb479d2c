//! When gates run, how often, and what happens if one fails.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime},
};

use rejoinder::{
    BoxError, BoxFuture,
    auth::Principal,
    call::{CallEnd, Era},
    prelude::*,
    server::Limits,
    state::{ReplayStore, StatePolicy},
    testing::{Client, in_both_eras},
};
use serde_json::json;
use tokio::sync::{Barrier, Notify};

use crate::{
    gates::fixture::{Runs, everyday_tool, gold_tool, is_pro, plan, server},
    logged::Logged,
};

fn counted() -> (Arc<Runs>, Client) {
    let runs = Arc::new(Runs::default());
    (Arc::clone(&runs), Client::new(server().provide_arc(runs)))
}

#[tokio::test]
async fn a_resolver_runs_once_for_a_list_and_once_for_a_call() {
    for era in [Era::Stateless, Era::Session] {
        let (runs, client) = counted();
        let client = client.era(era).header("x-plan", "pro");
        client.list_tools().await.unwrap();
        assert_eq!(runs.count(), 1, "two gates of tools use it");
        client.call_tool("gold_tool", json!({ "place": "Rome" })).await.unwrap();
        assert_eq!(runs.count(), 2, "the gate and the body share it");
        client.call_tool("everyday_tool", json!({})).await.unwrap();
        assert_eq!(runs.count(), 2, "what has no gate runs none");
    }
}

/// Two gates that wait for each other.
#[resolver]
async fn first(barrier: Dep<Barrier>) -> bool {
    barrier.wait().await;
    true
}

#[resolver]
async fn second(barrier: Dep<Barrier>) -> bool {
    barrier.wait().await;
    true
}

#[tool(enabled = first)]
async fn one() {}

#[tool(enabled = second)]
async fn two() {}

#[tokio::test]
async fn gates_run_concurrently() {
    let client = Client::new(Server::new("pair", "1").provide(Barrier::new(2)).tools(tools![one, two]));
    assert_eq!(client.list_tools().await.unwrap().len(), 2);
}

#[resolver]
fn broken() -> Result<bool, CallError> {
    Err(CallError::new("the database of plans is down"))
}

#[resolver]
fn panics() -> bool {
    panic!("of a gate, as this test wants it")
}

#[resolver]
async fn never() -> bool {
    std::future::pending().await
}

#[resolver]
async fn asks_in_its_body(ctx: Context) -> Result<bool, CallError> {
    ctx.ask("sure", Ask::confirm("Sure?")).await
}

#[tool(enabled = broken)]
async fn behind_broken() {}

#[tool(enabled = panics)]
async fn behind_panics() {}

#[tool(enabled = never)]
async fn behind_never() {}

#[tool(enabled = asks_in_its_body)]
async fn behind_asks() {}

fn failing() -> Server {
    Server::new("failing", "1")
        .tools(tools![everyday_tool, behind_broken, behind_panics, behind_never, behind_asks, gold_tool])
        .timeout(Duration::from_millis(20))
}

#[tokio::test(start_paused = true)]
async fn a_gate_that_fails_hides_its_own_item() {
    in_both_eras(Client::new(failing()).header("x-plan", "pro"), async |client| {
        let names: Vec<_> = client.list_tools().await.unwrap().into_iter().map(|tool| tool.name).collect();
        assert_eq!(names, ["everyday_tool", "gold_tool"]);
        for name in ["behind_broken", "behind_panics", "behind_never", "behind_asks"] {
            let error = client.call_tool(name, json!({})).await.unwrap_err();
            assert_eq!(error.rpc().unwrap().message, format!("there is no tool `{name}`"));
        }
    })
    .await;
}

#[tokio::test]
async fn a_gate_that_fails_is_logged_once_with_what_it_hides() {
    let (logged, _guard) = Logged::here();
    let server = Server::new("failing", "1").tools(tools![everyday_tool, behind_broken]);
    let client = Client::new(server).header("x-plan", "topsecret");
    client.call_tool("behind_broken", json!({ "secret": "hush" })).await.unwrap_err();
    let text = logged.text();
    assert_eq!(text.matches("WARN").count(), 1, "{text}");
    assert!(text.contains("the gate `broken` failed") && text.contains("`behind_broken`"), "{text}");
    assert!(!text.contains("topsecret") && !text.contains("hush"), "{text}");
}

/// What teardown heard.
#[derive(Default)]
struct Ends(Mutex<Vec<CallEnd>>);

#[resolver]
async fn transaction(scope: Scope, ends: Dep<Ends>, #[resolve(plan)] plan: &str) -> String {
    scope.defer(move |end| async move { ends.0.lock().unwrap().push(end) });
    plan.to_owned()
}

#[resolver]
fn in_transaction(#[resolve(transaction)] plan: &str) -> bool {
    plan == "pro"
}

#[tool(enabled = in_transaction)]
async fn transact(#[resolve(transaction)] plan: &str, ends: Dep<Ends>) -> String {
    assert!(ends.0.lock().unwrap().is_empty(), "it is open until the call ends");
    plan.to_owned()
}

#[tokio::test]
async fn what_a_gate_defers_runs_when_the_request_ends() {
    for (call, plan, expected) in
        [(true, "pro", CallEnd::Succeeded), (true, "free", CallEnd::Failed), (false, "pro", CallEnd::Succeeded)]
    {
        for era in [Era::Stateless, Era::Session] {
            let ends = Arc::new(Ends::default());
            let server = Server::new("bank", "1").provide_arc(Arc::clone(&ends)).tools(tools![transact]);
            let client = Client::new(server).era(era).header("x-plan", plan);
            if call {
                let called = client.call_tool("transact", json!({})).await;
                assert_eq!(called.is_ok(), plan == "pro");
            } else {
                client.list_tools().await.unwrap();
            }
            assert_eq!(*ends.0.lock().unwrap(), [expected], "{call} {plan} {era:?}");
        }
    }
}

#[resolver]
async fn waits_in_transaction(#[resolve(transaction)] _plan: &str) -> bool {
    std::future::pending().await
}

#[tool(enabled = waits_in_transaction)]
async fn behind_waits() {}

#[tokio::test(start_paused = true)]
async fn a_client_that_leaves_while_a_gate_runs_cancels_it() {
    for era in [Era::Stateless, Era::Session] {
        let ends = Arc::new(Ends::default());
        let server = Server::new("bank", "1").provide_arc(Arc::clone(&ends)).tools(tools![behind_waits]);
        let client = Client::new(server).era(era);
        let call = client.call_tool("behind_waits", json!({}));
        assert!(tokio::time::timeout(Duration::from_millis(50), call).await.is_err());
        drop(client);
        while ends.0.lock().unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert_eq!(*ends.0.lock().unwrap(), [CallEnd::Cancelled], "{era:?}");
    }
}

#[resolver]
async fn talks(ctx: Context) -> bool {
    for _ in 0..200 {
        ctx.info("there is something here").await;
    }
    ctx.header("x-plan") == Some("pro")
}

#[tool(enabled = talks)]
async fn behind_talks(ctx: Context) {
    ctx.info("hello").await;
}

#[tokio::test]
async fn what_a_gate_says_to_the_client_is_dropped() {
    in_both_eras(Client::new(Server::new("talks", "1").tools(tools![behind_talks])), async |client| {
        let client = client.log_level(rejoinder::call::Level::Info);
        client.call_tool("behind_talks", json!({})).await.unwrap_err();
        let called = client.header("x-plan", "pro").call_tool("behind_talks", json!({})).await.unwrap();
        assert_eq!(called.logs.len(), 1, "that of the body");
    })
    .await;
}

#[resolver]
fn confirm() -> Ask<bool> {
    Ask::confirm("Sure?")
}

#[resolver]
fn counts(attempts: Dep<Attempts>) -> bool {
    attempts.0.fetch_add(1, Ordering::SeqCst) < 1
}

struct Attempts(AtomicUsize);

#[tool(enabled = counts)]
async fn asking(#[resolve(confirm)] sure: bool) -> bool {
    sure
}

#[tokio::test]
async fn a_gate_decides_about_every_request_of_a_call() {
    let client = |era| {
        let server = Server::new("asking", "1").provide(Attempts(AtomicUsize::new(0))).tools(tools![asking]);
        Client::new(server).era(era).answer_with("confirm", json!({ "action": "accept", "content": { "yes": true } }))
    };
    // It is closed in the second round.
    let error = client(Era::Stateless).call_tool("asking", json!({})).await.unwrap_err();
    assert_eq!(error.rpc().unwrap().message, "there is no tool `asking`");
    // Over a session the call is one request.
    assert_eq!(client(Era::Session).call_tool("asking", json!({})).await.unwrap().text(), "true");
}

#[tokio::test]
async fn o17_a_test_replaces_a_gate_or_what_it_needs() {
    let client = Client::new(server());
    assert_eq!(client.clone().replace_resolver::<is_pro>(|| true).list_tools().await.unwrap().len(), 3);
    assert_eq!(client.replace_resolver::<plan>(|| "pro".to_owned()).list_tools().await.unwrap().len(), 3);
}

#[tokio::test]
async fn middleware_is_around_gates() {
    use rejoinder::middleware::{Next, OperationRequest, OperationResult};
    async fn watch(request: OperationRequest, next: Next) -> OperationResult {
        next.run(request).await
    }
    in_both_eras(Client::new(server().middleware(watch)), async |client| {
        assert_eq!(client.list_tools().await.unwrap().len(), 2);
        assert_eq!(client.call_tool("gold_tool", json!({})).await.unwrap_err().code(), Some(-32602));
        let client = client.header("x-plan", "pro");
        assert_eq!(client.call_tool("gold_tool", json!({ "place": "Rome" })).await.unwrap().text(), "pro in Rome");
    })
    .await;
}

/// Keeps the server busy.
#[tool]
async fn hold(started: Dep<Notify>) {
    started.notify_one();
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn a_busy_server_refuses_what_is_hidden_and_what_is_unknown_alike() {
    for (era, status) in [(Era::Stateless, 503), (Era::Session, 200)] {
        let started = Arc::new(Notify::new());
        let server = server().tools(tools![hold]).provide_arc(Arc::clone(&started));
        let client = Client::new(server.limits(Limits::new().calls(1))).era(era);
        let refused = async {
            started.notified().await;
            let mut errors = Vec::new();
            for name in ["gold_tool", "nothing"] {
                let error = client.call_tool(name, json!({})).await.unwrap_err();
                let error = error.rpc().unwrap();
                errors.push((error.status.as_u16(), error.code, error.message.clone()));
            }
            errors
        };
        let errors = tokio::select! {
            ended = client.call_tool("hold", json!({})) => panic!("{ended:?}"),
            errors = refused => errors,
        };
        let full = (status, -32603, "too many concurrent calls (limit 1), try again later".to_owned());
        assert_eq!(errors, [full.clone(), full], "{era:?}");
    }
}

/// A gate that holds something until the call ends.
#[resolver]
fn has_connection(scope: Scope, ends: Dep<Ends>) -> bool {
    scope.defer(move |end| async move { ends.0.lock().unwrap().push(end) });
    true
}

#[tool(enabled = has_connection)]
async fn confirmed(ctx: Context) -> Result<bool, CallError> {
    ctx.ask("sure", Ask::confirm("Sure?")).await
}

/// How a store ends a call.
#[derive(Clone, Copy)]
enum Refuses {
    Used,
    Fails,
    Hangs,
}

impl ReplayStore for Refuses {
    fn spend(&self, _: [u8; 16], _: SystemTime, _: Option<&Principal>) -> BoxFuture<'_, Result<bool, BoxError>> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            match self {
                Self::Used => Ok(false),
                Self::Fails => Err("the store is away".into()),
                Self::Hangs => std::future::pending().await,
            }
        })
    }
}

#[tokio::test(start_paused = true)]
async fn r3_m5_what_a_gate_deferred_runs_if_a_state_is_refused() {
    for (store, end) in
        [(Refuses::Used, CallEnd::Failed), (Refuses::Fails, CallEnd::Failed), (Refuses::Hangs, CallEnd::TimedOut)]
    {
        let ends = Arc::new(Ends::default());
        let server = Server::new("gated", "1").provide_arc(Arc::clone(&ends)).tools(tools![confirmed]);
        let server = server.timeout(Duration::from_secs(30)).state(StatePolicy::new().single_use(store));
        let client = Client::new(server);
        let client = client.answer("sure", rejoinder::form::ConfirmForm { yes: true });
        match client.call_tool("confirmed", json!({})).await {
            Ok(reply) => assert_eq!(reply.text(), "timed out after 30 s"),
            Err(error) => {
                assert_eq!(error.rpc().unwrap().data.as_ref().unwrap()["reason"], "invalid_request_state", "{error}");
            }
        }
        assert_eq!(*ends.0.lock().unwrap(), [CallEnd::Pending, end]);
    }
}

/// How many gates wait, and what lets them decide.
#[derive(Default)]
struct Waits(AtomicUsize, Notify);

impl Waits {
    async fn wait(&self) {
        let decide = self.1.notified();
        self.0.fetch_add(1, Ordering::SeqCst);
        decide.await;
    }

    /// Waits until so many gates wait, and lets them decide.
    async fn release(&self, gates: usize) {
        while self.0.load(Ordering::SeqCst) < gates {
            tokio::task::yield_now().await;
        }
        assert_eq!(self.0.swap(0, Ordering::SeqCst), gates);
        self.1.notify_waiters();
    }
}

#[resolver]
async fn slowly_closed(waits: Dep<Waits>) -> bool {
    waits.wait().await;
    false
}

#[resolver]
async fn slowly_open(waits: Dep<Waits>) -> bool {
    waits.wait().await;
    true
}

#[tool(enabled = slowly_closed)]
async fn slowly_hidden() {}

#[tool(enabled = slowly_open)]
async fn slowly_shown() {}

#[tool(enabled = is_pro)]
async fn quickly_shown() {}

/// The order of events, not the time: all gates wait together, once, for what is hidden and for what is unknown.
#[tokio::test]
async fn a3_m3_what_is_hidden_and_what_is_unknown_wait_for_the_same_gates_at_the_same_time() {
    let waits = Arc::new(Waits::default());
    let server = Server::new("slow", "1").provide_arc(Arc::clone(&waits));
    let server = server.tools(tools![everyday_tool, slowly_hidden, slowly_shown, quickly_shown]);
    in_both_eras(Client::new(server).header("x-plan", "pro"), async |client| {
        for name in ["slowly_hidden", "unknown"] {
            let (called, ()) = tokio::join!(client.call_tool(name, json!({})), waits.release(2));
            assert_eq!(called.unwrap_err().code(), Some(-32602), "{name}");
        }
        let (shown, ()) = tokio::join!(client.call_tool("slowly_shown", json!({})), waits.release(2));
        shown.unwrap();
        // What needs none of them waits for none of them.
        for name in ["everyday_tool", "quickly_shown"] {
            client.call_tool(name, json!({})).await.unwrap();
            assert_eq!(waits.0.load(Ordering::SeqCst), 0, "{name}");
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a3_l2_a_gate_that_hangs_is_closed_after_a_while_also_without_a_timeout() {
    let server = Server::new("hanging", "1").tools(tools![everyday_tool, behind_never]);
    in_both_eras(Client::new(server), async |client| {
        assert_eq!(client.list_tools().await.unwrap().len(), 1);
        for name in ["behind_never", "unknown"] {
            assert_eq!(client.call_tool(name, json!({})).await.unwrap_err().code(), Some(-32602));
        }
    })
    .await;
}
