//! A server whose tools do what tools should not.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use rejoinder::{BuiltServer, call::CompletionRequest, http, prelude::*};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::Semaphore, task::JoinHandle};

use crate::client::{Connection, Post, Response, call, within};

/// What happens inside tools, for tests to wait for.
pub(crate) struct Events {
    /// A permit for each tool that began to wait.
    pub(crate) waiting: Semaphore,
    /// Lets one waiting tool go with each permit.
    pub(crate) release: Semaphore,
    /// A permit for each future that was dropped before its end.
    pub(crate) dropped: Semaphore,
    /// A permit for each token that fired.
    pub(crate) cancelled: Semaphore,
    /// How much progress was sent.
    pub(crate) progress: AtomicU64,
}

impl Default for Events {
    fn default() -> Self {
        let none = || Semaphore::new(0);
        Self { waiting: none(), release: none(), dropped: none(), cancelled: none(), progress: AtomicU64::new(0) }
    }
}

impl Events {
    /// Waits until it has happened so many times.
    pub(crate) async fn happened(event: &Semaphore, times: u32) {
        within(event.acquire_many(times)).await.expect("never closed").forget();
    }
}

/// Every transport that is reached over HTTP.
pub(crate) fn everywhere() -> http::Config {
    http::Config::new().websocket("/mcp/ws").sse("/sse")
}

/// Serves an application on a free port.
pub(crate) async fn mount(app: axum::Router) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, app).await });
    address
}

/// A running server; dropping it stops it.
pub(crate) struct Host {
    pub(crate) address: SocketAddr,
    pub(crate) events: Arc<Events>,
    pub(crate) handle: ServerHandle,
    pub(crate) server: BuiltServer,
    task: JoinHandle<rejoinder::Result<()>>,
}

impl Drop for Host {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Host {
    pub(crate) async fn start() -> Self {
        Self::start_with(|server| server).await
    }

    pub(crate) async fn start_with(options: impl FnOnce(Server) -> Server) -> Self {
        Self::start_at(everywhere(), options).await
    }

    pub(crate) async fn start_at(http: http::Config, options: impl FnOnce(Server) -> Server) -> Self {
        let events = Arc::new(Events::default());
        let server = Server::new("robust", "1.0.0")
            .http(http)
            .provide_arc(Arc::clone(&events))
            .tools(tools![
                add,
                wide,
                between,
                anything,
                optional,
                wait,
                forever,
                flood,
                items,
                chat,
                panic_at_once,
                panic_later,
                panic_after_progress,
                panic_in_drop,
                panic_while_reading,
                asks,
                panic_while_parked
            ])
            .prompts(prompts![panicking_prompt, prompt_with_a_mine])
            .resources(resources![panicking_resource, resource_with_a_mine, bomb]);
        let built = options(server).build().expect("wired right");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (handle, server) = (built.handle(), built.clone());
        Self { address, events, handle, server, task: tokio::spawn(built.serve_http(listener)) }
    }

    pub(crate) async fn connect(&self) -> Connection {
        Connection::open(self.address).await
    }

    /// Sends bytes on a connection of their own; the answer, if there is one.
    pub(crate) async fn exchange(&self, bytes: impl AsRef<[u8]>) -> Option<Response> {
        let mut connection = self.connect().await;
        connection.send(bytes).await;
        connection.response().await
    }

    pub(crate) async fn post(&self, post: &Post) -> Response {
        self.exchange(post.bytes()).await.expect("an answer")
    }

    pub(crate) async fn ask(&self, message: &Value) -> Response {
        self.post(&Post::of(message)).await
    }

    /// Waits until `flood` has to wait, because nothing more fits into the buffers of the sockets; how much it has sent.
    pub(crate) async fn stopped_sending(&self) -> u64 {
        let sent = || self.events.progress.load(Ordering::Relaxed);
        let stopped = within(async {
            let (mut last, mut still) = (sent(), 0);
            while still < 10 || last == 0 {
                tokio::time::sleep(Duration::from_millis(20)).await;
                still = if sent() == last { still + 1 } else { 0 };
                last = sent();
            }
            last
        });
        let stopped = stopped.await;
        assert!(stopped < 5000, "{stopped} messages of 10 KiB are on their way");
        stopped
    }

    /// An ordinary call is still answered.
    pub(crate) async fn still_answers(&self) {
        assert_eq!(self.ask(&call("add", json!({ "a": 1, "b": 2 }))).await.text(), "3");
    }
}

#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Numbers that not every reader of JSON can hold.
#[tool]
fn wide(most: u128, least: i128) -> String {
    format!("{most} {least}")
}

#[derive(Deserialize, JsonSchema)]
struct Span {
    from: i64,
    to: i64,
}

#[tool]
fn between(span: Span) -> i64 {
    span.to - span.from
}

#[tool]
fn anything(value: Value) -> String {
    value.to_string().len().to_string()
}

#[tool]
fn optional(text: Option<String>) -> String {
    text.unwrap_or_else(|| "nothing was sent".into())
}

/// Waits until it is released.
#[tool]
async fn wait(number: u32, events: Dep<Events>) -> u32 {
    let witness = Witness(Some(events.clone()));
    events.waiting.add_permits(1);
    events.release.acquire().await.expect("never closed").forget();
    witness.came_to_the_end();
    number
}

/// Tells when it is dropped before the end.
struct Witness(Option<Dep<Events>>);

impl Witness {
    fn came_to_the_end(mut self) {
        self.0 = None;
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        if let Some(events) = &self.0 {
            events.dropped.add_permits(1);
        }
    }
}

/// Never ends, and leaves a task behind that watches the call's token.
#[tool]
async fn forever(progress_first: Option<bool>, events: Dep<Events>, ctx: Context) {
    let (token, watcher) = (ctx.cancellation(), events.clone());
    tokio::spawn(async move {
        token.cancelled().await;
        watcher.cancelled.add_permits(1);
    });
    let _witness = Witness(Some(events.clone()));
    if progress_first == Some(true) {
        ctx.progress(1.0).await;
    }
    events.waiting.add_permits(1);
    std::future::pending::<()>().await;
}

/// Reports progress without end, 10 KiB each time, and never waits for anything else.
#[tool]
async fn flood(events: Dep<Events>, ctx: Context) {
    let _witness = Witness(Some(events.clone()));
    let message = "x".repeat(10 * 1024);
    loop {
        let sent = events.progress.fetch_add(1, Ordering::Relaxed);
        ctx.progress(sent as f64).message(message.as_str()).await;
    }
}

/// Items without end, 10 KiB each.
#[tool]
async fn items(events: Dep<Events>) -> ToolStream<String> {
    let (witness, item) = (Witness(Some(events.clone())), "x".repeat(10 * 1024));
    ToolStream::new(futures_util::stream::repeat_with(move || {
        let Witness(_) = &witness;
        events.progress.fetch_add(1, Ordering::Relaxed);
        item.clone()
    }))
}

/// Tells its caller's name again and again.
#[tool]
async fn chat(name: String, ctx: Context) -> String {
    for step in 1..=20 {
        ctx.progress(f64::from(step)).message(name.as_str()).await;
        ctx.info(name.as_str()).await;
        tokio::task::yield_now().await;
    }
    name
}

#[tool]
fn panic_at_once() -> String {
    panic!("at once")
}

#[tool]
async fn panic_later() -> String {
    tokio::task::yield_now().await;
    panic!("later")
}

#[tool]
async fn panic_after_progress(ctx: Context) -> String {
    ctx.progress(1.0).await;
    tokio::task::yield_now().await;
    panic!("after progress")
}

struct Grenade;

impl Drop for Grenade {
    fn drop(&mut self) {
        panic!("in drop")
    }
}

/// Panics when it is dropped, at its end or before.
#[tool]
async fn panic_in_drop(stay: bool, events: Dep<Events>) {
    let _grenade = Grenade;
    events.waiting.add_permits(1);
    if stay {
        std::future::pending::<()>().await;
    }
}

/// Ends its round with a question.
#[tool]
async fn asks(ctx: Context) -> Result<bool, CallError> {
    ctx.ask("sure", Ask::confirm("Sure?")).await
}

/// Panics when it is dropped, while it waits for an answer.
#[tool]
async fn panic_while_parked(ctx: Context) -> Result<bool, CallError> {
    let _grenade = Grenade;
    ctx.ask("sure", Ask::confirm("Sure?")).await
}

/// An argument whose `Deserialize` panics.
#[derive(JsonSchema)]
struct Landmine;

impl<'de> Deserialize<'de> for Landmine {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // `{}` is harmless, so that the tool can be described.
        let value = Value::deserialize(deserializer)?;
        assert!(value.is_object(), "stepped on");
        Ok(Self)
    }
}

#[tool]
fn panic_while_reading(mine: Landmine) {
    let Landmine = mine;
}

/// The same for arguments that come as text.
#[derive(JsonSchema)]
#[schemars(transparent)]
struct TextMine(String);

impl<'de> Deserialize<'de> for TextMine {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        assert_ne!(text, "x", "stepped on");
        Ok(Self(text))
    }
}

#[prompt]
fn prompt_with_a_mine(mine: TextMine) -> String {
    let TextMine(text) = mine;
    text
}

#[resource("mine://{mine}")]
fn resource_with_a_mine(mine: TextMine) -> String {
    let TextMine(text) = mine;
    text
}

#[completion]
async fn panicking_values(_: CompletionRequest) -> Vec<String> {
    tokio::task::yield_now().await;
    panic!("while completing")
}

#[prompt]
fn panicking_prompt(#[arg(complete = panicking_values)] text: String) -> String {
    panic!("prompt {text}")
}

#[resource("panic://now")]
fn panicking_resource() -> String {
    panic!("resource")
}

/// A template with as many ways to match as there are dashes.
#[resource("bomb://{+a}-{+b}-{+c}-{+d}-{+e}/end")]
fn bomb(a: String, b: String, c: String, d: String, e: String) -> String {
    format!("{a} {b} {c} {d} {e}")
}
