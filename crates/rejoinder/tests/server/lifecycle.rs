//! A server starts before its first request and stops after its last one, each once.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

use std::{
    future::pending,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures_util::future::BoxFuture;
use rejoinder::{
    Error,
    middleware::{Next, OperationRequest, OperationResult},
    prelude::*,
    tasks::{BirthError, KeeperFuture, NewTask, TaskId, TaskKeeper, TaskOwner, TaskRunner, TaskSnapshot, Tasks},
    testing::{Client, in_both_eras},
};
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio_util::sync::CancellationToken;

use crate::logged::Logged;

/// The events, in order.
#[derive(Clone, Default)]
struct Events(Arc<Mutex<Vec<String>>>);

impl Events {
    fn note(&self, text: impl Into<String>) {
        self.0.lock().unwrap().push(text.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

struct Pool {
    name: &'static str,
}

trait Store: Send + Sync {
    fn pool(&self) -> &str;
}

impl Store for Pool {
    fn pool(&self) -> &str {
        self.name
    }
}

#[tool]
async fn pool(pool: Dep<Pool>, store: Dep<dyn Store>) -> String {
    format!("{} and {}", pool.name, store.pool())
}

/// Makes a pool, a store that needs it, and notes everything.
fn server(events: &Events) -> Server {
    let [connects, stores, starts, stops, closes] = std::array::from_fn(|_| events.clone());
    Server::new("pooled", "1.0.0")
        .provide_async(async move |_| {
            tokio::task::yield_now().await;
            connects.note("connect");
            Ok::<_, Error>(Pool { name: "real" })
        })
        .provide_arc_async(async move |server: ServerHandle| {
            stores.note("store");
            server.dependency::<Pool>().map(|pool| pool as Arc<dyn Store>).ok_or("no pool")
        })
        .on_start(async move |server: ServerHandle| {
            starts.note(format!("start with {}", server.dependency::<Pool>().map_or("nothing", |pool| pool.name)));
        })
        .on_stop(async move |server: ServerHandle| {
            closes.note(format!("close {}", server.dependency::<Pool>().map_or("nothing", |pool| pool.name)));
        })
        .on_stop(async move |_| stops.note("stop"))
        .tools(tools![pool])
}

const STARTED: [&str; 3] = ["connect", "store", "start with real"];
const STOPPED: [&str; 2] = ["stop", "close real"];

#[tokio::test]
async fn the_first_request_starts_a_server_that_nobody_has_started() {
    let events = Events::default();
    in_both_eras(Client::new(server(&events)), async |client| {
        assert_eq!(client.call_tool("pool", json!({})).await.unwrap().text(), "real and real");
    })
    .await;
    assert_eq!(events.take(), STARTED, "once for all clients");
}

#[tokio::test]
async fn middleware_has_the_services() {
    async fn refuse_without(request: OperationRequest, next: Next) -> Result<OperationResult, CallError> {
        match request.dependency::<Pool>() {
            Some(pool) if pool.name == "real" => Ok(next.run(request).await),
            _ => Err(CallError::new("no pool")),
        }
    }
    let client = Client::new(server(&Events::default()).middleware(refuse_without));
    assert_eq!(client.call_tool("pool", json!({})).await.unwrap().text(), "real and real");
    assert_eq!(client.replace(Pool { name: "fake" }).call_tool("pool", json!({})).await.unwrap().text(), "no pool");
}

#[tokio::test]
async fn checking_and_building_start_nothing() {
    let events = Events::default();
    server(&events).check().unwrap();
    let built = server(&events).build().unwrap();
    built.stop().await;
    assert!(events.take().is_empty(), "what has not started does not stop either");
    // `check` knows what is missing all the same.
    let error = Server::new("pooled", "1.0.0").tools(tools![pool]).check().unwrap_err();
    assert_eq!(error.0.len(), 2);
}

#[tokio::test]
async fn a_mounted_server_starts_and_stops_when_the_application_says_so() {
    let events = Events::default();
    let built = server(&events).build().unwrap();
    let (first, second) = tokio::join!(built.start(), built.start());
    first.and(second).unwrap();
    assert_eq!(events.take(), STARTED);
    let client = Client::new(built.clone());
    assert_eq!(client.call_tool("pool", json!({})).await.unwrap().text(), "real and real");
    built.stop().await;
    built.stop().await;
    assert_eq!(events.take(), STOPPED, "the latest first, and once");
}

#[tokio::test]
async fn l22_two_servers_in_one_application_start_and_stop_by_themselves() {
    let events = [Events::default(), Events::default()];
    let [first, second] = events.each_ref().map(|events| server(events).build().unwrap());
    first.start().await.unwrap();
    assert_eq!(events.each_ref().map(Events::take), [STARTED.map(String::from).to_vec(), vec![]]);
    assert_eq!(Client::new(second.clone()).call_tool("pool", json!({})).await.unwrap().text(), "real and real");
    first.stop().await;
    assert_eq!(events[0].take(), STOPPED);
    assert_eq!(events[1].take(), STARTED);
    assert_eq!(Client::new(second).call_tool("pool", json!({})).await.unwrap().text(), "real and real");
}

#[tokio::test]
async fn requests_that_come_at_once_wait_for_one_start() {
    let events = Events::default();
    let client = Client::new(server(&events));
    let calls = (0..8).map(|_| client.call_tool("pool", json!({})));
    for reply in futures_util::future::join_all(calls).await {
        assert_eq!(reply.unwrap().text(), "real and real");
    }
    assert_eq!(events.take(), STARTED);
}

#[tokio::test]
async fn a_client_that_leaves_does_not_stop_the_start() {
    let events = Events::default();
    let client = Client::new(server(&events));
    let leaving = client.clone();
    tokio::select! {
        biased;
        _ = leaving.call_tool("pool", json!({})) => panic!("it waits"),
        () = std::future::ready(()) => {}
    }
    assert_eq!(client.call_tool("pool", json!({})).await.unwrap().text(), "real and real");
    assert_eq!(events.take(), STARTED);
}

#[tokio::test]
async fn a_test_that_replaces_a_service_does_not_make_it() {
    let events = Events::default();
    let client = Client::new(server(&events)).replace(Pool { name: "fake" });
    assert_eq!(client.call_tool("pool", json!({})).await.unwrap().text(), "fake and fake");
    assert_eq!(events.take(), ["store", "start with fake"]);
}

#[tokio::test]
async fn a_server_that_does_not_start_serves_nothing_and_stops() {
    let (logged, _guard) = Logged::here();
    let failing = |events: &Events| {
        let (stops, after) = (events.clone(), events.clone());
        server(events)
            .on_start(async |_| Err::<(), _>(std::io::Error::other("the migration failed")))
            .on_start(async move |_| after.note("never"))
            .on_stop(async move |_| stops.note("stop first"))
    };
    let expected = "the server did not start: `on_start`: the migration failed";
    let events = Events::default();

    // Over pipes and over HTTP the error ends serving; both stop what has started.
    let (mut client, served) = tokio::io::duplex(64);
    client.shutdown().await.unwrap();
    let (input, output) = tokio::io::split(served);
    let error = failing(&events).build().unwrap().serve_io(input, output).await.unwrap_err();
    assert_eq!(error.to_string(), expected);
    assert!(matches!(error, Error::Start(_)));
    assert_eq!(events.take(), STARTED);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let error = failing(&events).build().unwrap().serve_http(listener).await.unwrap_err();
    assert_eq!(error.to_string(), expected);
    assert_eq!(events.take(), [&STARTED[..], &["stop first"], &STOPPED].concat());

    // Mounted, each request is refused.
    let client = Client::new(failing(&events));
    for _ in 0..2 {
        let error = client.call_tool("pool", json!({})).await.unwrap_err();
        assert_eq!(error.rpc().unwrap().status, 503, "{error}");
    }
    assert_eq!(events.take(), STARTED);
    assert!(logged.text().contains(expected));
}

async fn panics(_: ServerHandle) {
    panic!("on purpose")
}

#[tokio::test]
async fn a_function_that_panics_does_not_keep_the_others_from_running() {
    let (logged, _guard) = Logged::here();
    let events = Events::default();
    let built = server(&events)
        .on_stop(panics)
        .on_stop(async |_| Err(std::io::Error::other("the disk is full")))
        .build()
        .unwrap();
    built.start().await.unwrap();
    built.stop().await;
    assert_eq!(events.take(), [&STARTED[..], &STOPPED].concat());
    let logged = logged.text();
    assert!(logged.contains("`on_stop` panicked") && logged.contains("the disk is full"), "{logged}");

    let server = Server::new("panics", "1.0.0").on_start(panics).build().unwrap();
    assert_eq!(server.start().await.unwrap_err().to_string(), "the server did not start: `on_start`: panicked");
}

#[tokio::test(start_paused = true)]
async fn a_function_that_hangs_is_dropped_after_the_grace_period() {
    let events = Events::default();
    let built = server(&events).on_stop(async |_| pending::<()>().await).grace_period(Duration::from_secs(3));
    let built = built.build().unwrap();
    built.start().await.unwrap();
    built.stop().await;
    assert_eq!(events.take(), [&STARTED[..], &STOPPED].concat());
}

/// Notes its own end, and does something after it.
#[tool]
async fn wait(scope: Scope, background: BackgroundTasks, events: Dep<Events>) -> Result<(), CallError> {
    let [begun, later] = [events.clone(), events.clone()];
    scope.defer(move |end| async move { events.note(format!("{end:?}")) });
    background.add(async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        later.note("background");
    })?;
    begun.note("call");
    tokio::time::sleep(Duration::from_secs(1)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_stop_waits_for_calls_what_they_deferred_and_background_tasks() {
    let events = Events::default();
    let client = Client::new(server(&events).provide(events.clone()).tools(tools![wait]));
    client.server().start().await.unwrap();
    events.take();
    let stopping = client.server().clone();
    let (reply, ()) = tokio::join!(client.call_tool("wait", json!({})), async {
        tokio::task::yield_now().await;
        stopping.stop().await;
    });
    reply.unwrap();
    assert_eq!(events.take(), ["call", "Succeeded", "background", "stop", "close real"]);
}

#[tokio::test]
async fn every_stop_waits_until_the_functions_have_run() {
    let log = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&log);
    let server = Server::new("slow", "1").on_stop(async move |_| {
        tokio::task::yield_now().await;
        tokio::time::sleep(Duration::from_millis(50)).await;
        seen.lock().unwrap().push("stopped");
    });
    let server = server.build().unwrap();
    server.start().await.unwrap();
    let stop = || async {
        server.stop().await;
        log.lock().unwrap().clone()
    };
    let (first, second) = tokio::join!(stop(), stop());
    assert_eq!((first, second), (vec!["stopped"], vec!["stopped"]), "it runs once, and both have waited for it");
}

/// Keeps no tasks, and never stops.
struct NeverStops;

impl TaskKeeper for NeverStops {
    fn outlives_process(&self) -> bool {
        false
    }

    fn open(&self) -> KeeperFuture<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    fn create(&self, _: NewTask) -> KeeperFuture<'_, TaskSnapshot, BirthError> {
        Box::pin(pending())
    }

    fn get<'a>(&'a self, _: &'a TaskOwner, _: &'a TaskId) -> KeeperFuture<'a, Option<TaskSnapshot>> {
        Box::pin(pending())
    }

    fn answer<'a>(
        &'a self,
        _: &'a TaskOwner,
        _: &'a TaskId,
        _: Vec<(Arc<str>, bytes::Bytes)>,
    ) -> KeeperFuture<'a, Option<()>> {
        Box::pin(pending())
    }

    fn cancel<'a>(&'a self, _: &'a TaskOwner, _: &'a TaskId) -> KeeperFuture<'a, Option<()>> {
        Box::pin(pending())
    }

    fn work(
        self: Arc<Self>,
        _: Arc<dyn TaskRunner>,
        _: usize,
        _: CancellationToken,
        _: Duration,
    ) -> BoxFuture<'static, ()> {
        Box::pin(pending())
    }
}

#[tokio::test(start_paused = true)]
async fn tasks_that_never_end_do_not_keep_the_stop_from_being_in_time() {
    /// Never ends.
    #[tool]
    async fn hang(events: Dep<Events>) {
        events.note("hangs");
        pending::<()>().await;
    }
    let events = Events::default();
    let grace = Duration::from_secs(3);
    let server = server(&events).provide(events.clone()).tools(tools![hang]).tasks(Tasks::kept_by(NeverStops));
    let client = Client::new(server.grace_period(grace));
    client.server().start().await.unwrap();
    events.take();
    let server = client.server().clone();
    let calling = tokio::spawn(async move { client.call_tool("hang", json!({})).await });
    while events.take().is_empty() {
        tokio::task::yield_now().await;
    }
    let began = tokio::time::Instant::now();
    server.stop().await;
    assert_eq!(events.take(), STOPPED);
    assert!(began.elapsed() <= 3 * grace, "{:?}", began.elapsed());
    calling.abort();
}
