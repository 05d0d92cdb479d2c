//! A server with one of everything.

use std::sync::atomic::{AtomicUsize, Ordering};

use rejoinder::{
    BuiltServer,
    call::{CompletionRequest, Level},
    prelude::*,
};
use serde_json::{Value, json};
use tokio::sync::Notify;

/// Tells a test how far a call has got.
#[derive(Default)]
pub struct Watch {
    pub started: Notify,
    pub dropped: Notify,
    pub running: AtomicUsize,
}

struct Guard(Dep<Watch>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
        self.0.dropped.notify_one();
    }
}

impl Guard {
    fn start(watch: Dep<Watch>) -> Self {
        watch.running.fetch_add(1, Ordering::SeqCst);
        watch.started.notify_one();
        Self(watch)
    }
}

/// Add two numbers.
#[tool(read_only)]
pub async fn add(
    /// The first
    a: i64,
    /// The second
    b: i64,
) -> i64 {
    a + b
}

/// Never ends by itself.
#[tool]
pub async fn wait(#[arg(default = false)] talk: bool, watch: Dep<Watch>, ctx: Context) {
    let _guard = Guard::start(watch);
    if talk {
        ctx.progress(1.0).await;
    }
    std::future::pending::<()>().await;
}

/// Reports progress that does not always rise.
#[tool]
pub async fn count(ctx: Context) -> &'static str {
    for progress in [1.0, 1.0, 0.5, f64::NAN, 2.0, 3.5] {
        ctx.progress(progress).total(4.0).message("counting").await;
    }
    // What is said after the end is said to nobody.
    let late = ctx.clone();
    tokio::spawn(async move {
        late.cancellation().cancelled().await;
        late.progress(4.0).await;
        late.error("too late").await;
    });
    "counted"
}

/// Says something at every level.
#[tool]
pub async fn talk(ctx: Context) {
    for level in [Level::Debug, Level::Info, Level::Warning, Level::Error] {
        ctx.log(level, json!({ "says": level })).await;
    }
}

/// Says what the request said of itself.
#[tool]
pub async fn whoami(ctx: Context) -> Json<Value> {
    Json(json!({
        "id": ctx.request_id(),
        "client": ctx.client().map(|client| client.name),
        "sampling": ctx.capabilities().sampling,
        "header": ctx.header("x-request-id"),
        "extension": ctx.extension::<&'static str>(),
        "traceparent": ctx.meta("traceparent"),
    }))
}

/// Answers with an error of its own.
#[tool]
pub async fn refuse(code: i32, data: Option<Value>) -> Result<(), CallError> {
    Err(CallError::protocol(code, "refused", data))
}

#[tool]
pub async fn panics() {
    panic!("a secret in a panic")
}

/// Where to look.
#[tool]
pub async fn find(
    #[arg(header = "Region")] region: Option<String>,
    #[arg(header = "Shelf")] shelf: Option<i64>,
    #[arg(header = "New")] new: Option<bool>,
) -> String {
    format!("{region:?} {shelf:?} {new:?}")
}

#[completion]
async fn names(typed: CompletionRequest) -> Vec<String> {
    ["ada", "alan"].into_iter().filter(|name| name.starts_with(&typed.value)).map(String::from).collect()
}

/// Say hello.
#[prompt]
pub async fn greet(
    /// Whom
    #[arg(complete = names)]
    name: String,
) -> String {
    format!("Say hello to {name}.")
}

/// What this is.
#[resource("text://readme", mime_type = "text/markdown")]
pub async fn readme() -> &'static str {
    "# Read me"
}

/// One of many.
#[resource("item://{id}")]
pub async fn item(id: u32) -> String {
    format!("item {id}")
}

pub fn server() -> Server {
    Server::new("fixture", "1.2.3")
        .instructions("Use it for tests.")
        .provide(Watch::default())
        .tools(tools![add, wait, count, talk, whoami, refuse, panics, find])
        .prompts(prompts![greet])
        .resources(resources![readme, item])
}

pub fn built() -> BuiltServer {
    server().build().unwrap()
}

/// A good request for each method that has a plain result.
pub fn one_of_each() -> Vec<(&'static str, Value)> {
    vec![
        ("server/discover", json!({})),
        ("tools/list", json!({})),
        ("prompts/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("tools/call", json!({ "name": "add", "arguments": { "a": 1, "b": 2 } })),
        ("tools/call", json!({ "name": "add", "arguments": { "a": "one" } })),
        ("prompts/get", json!({ "name": "greet", "arguments": { "name": "Ada" } })),
        ("resources/read", json!({ "uri": "text://readme" })),
        ("resources/read", json!({ "uri": "item://7" })),
        (
            "completion/complete",
            json!({ "ref": { "type": "ref/prompt", "name": "greet" }, "argument": { "name": "name", "value": "a" } }),
        ),
    ]
}
