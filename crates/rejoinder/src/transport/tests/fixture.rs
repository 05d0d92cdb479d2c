//! A server with something of everything.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use crate::{
    model::{self, JsonObject},
    reply::IntoToolResult,
};

use crate::{
    Tool,
    call::{CallEnd, CompletionRequest},
    form::{ConfirmForm, Field, Form},
    prelude::*,
    server::{BuiltServer, Engine},
};

/// How many calls are running, and how many were dropped before their end.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) running: AtomicUsize,
    pub(super) dropped: AtomicUsize,
    pub(super) endings: Mutex<Vec<CallEnd>>,
}

struct Running(Arc<Seen>);

impl Running {
    fn new(seen: &Arc<Seen>) -> Self {
        seen.running.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(seen))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
        self.0.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

/// The server, and what its `wait` tool has seen.
pub(super) struct Fixture {
    pub(super) server: BuiltServer,
    pub(super) seen: Arc<Seen>,
}

impl Fixture {
    pub(super) fn engine(&self) -> Arc<Engine> {
        Arc::clone(&self.server.0)
    }
}

pub(super) fn fixture() -> Fixture {
    let seen = Arc::new(Seen::default());
    let server = Server::new("fixture", "1.0.0")
        .instructions("Use it in tests.")
        .provide_arc(Arc::clone(&seen))
        .tools(tools![add, hold, ask_both, deliver])
        .tools(dynamic_tools(&seen))
        .prompts(prompts![greet])
        .resources(resources![readme, file])
        .page_size(20);
    Fixture { server: server.build().expect("a good server"), seen }
}

pub(super) fn dynamic<F, R>(name: &'static str, body: impl Fn(JsonObject, Context) -> F + Send + Sync + 'static) -> Tool
where
    F: Future<Output = R> + Send + 'static,
    R: IntoToolResult,
{
    Tool::dynamic(model::Tool::new(name, "For a test.", JsonObject::new()), body)
}

fn dynamic_tools(seen: &Arc<Seen>) -> Vec<Tool> {
    let (waiting, asking) = (Arc::clone(seen), Arc::clone(seen));
    vec![
        dynamic("emit", |arguments, ctx| async move {
            let who = arguments.get("who").and_then(|who| who.as_str()).unwrap_or("nobody").to_owned();
            for step in 1..=3 {
                ctx.progress(f64::from(step)).total(3.0).message(who.clone()).await;
                ctx.info(format!("{who} {step}")).await;
                ctx.debug(format!("{who} debug {step}")).await;
                tokio::task::yield_now().await;
            }
            "emitted"
        }),
        dynamic("wait", move |_, ctx| {
            let running = Running::new(&waiting);
            async move {
                let _running = running;
                ctx.progress(1.0).await;
                std::future::pending::<()>().await;
            }
        }),
        dynamic("ask", move |arguments, ctx| {
            let running = Running::new(&asking);
            async move {
                let _running = running;
                let what = arguments.get("what").and_then(|what| what.as_str()).unwrap_or("really").to_owned();
                let answer: ConfirmForm = ctx.ask("sure", Ask::user(format!("{what}?"))).await?;
                Ok::<_, CallError>(format!("{what}: {}", answer.yes))
            }
        }),
        dynamic("ask_much", |_, ctx| async move {
            let ask = async |number: usize| ctx.ask(&format!("sure {number}"), Ask::confirm("Sure?")).await;
            futures_util::future::try_join_all((0..32).map(ask)).await?;
            Ok::<_, CallError>("asked")
        }),
        dynamic("visit", |_, ctx| async move {
            ctx.ask("first", Ask::url("https://pay.example/1", "Pay here.")).await?;
            ctx.ask("second", Ask::url("https://pay.example/2", "And here.")).await?;
            Ok::<_, CallError>("paid")
        }),
        dynamic("leave", |_, ctx| async move {
            let stream = ctx.extension::<crate::transport::ReplyStream>().cloned().unwrap_or_default();
            let left = stream.disconnect(Duration::from_millis(10)).await;
            ctx.info("away").await;
            format!("left: {left}")
        }),
        dynamic("fill", |_, ctx| async move {
            let form = Form::new().with(&Field::<String>::new("code").pattern("^[A-Z]{3}$"));
            ctx.ask("code", Ask::dynamic_form("Which code?", form, |content| Ok(content["code"].to_string()))).await
        }),
        dynamic("choose", |_, ctx| async move {
            let form = Form::new()
                .with(&Field::<Size>::new("size").title("Size"))
                .with(&Field::<String>::new("name").pattern("^[a-z]+$").min_length(2).default("tea"))
                .with(&Field::<u8>::new("count").max(9).default(1))
                .with(&Field::<bool>::new("gift").default(false));
            ctx.ask("choose", Ask::dynamic_form("Which?", form, |content| Ok(content["size"].to_string()))).await
        }),
        dynamic("choose_several", |arguments, ctx| async move {
            let form = Form::new().with(&Field::<Vec<Size>>::new("sizes"));
            let ask = Ask::dynamic_form("Which ones?", form, |content| Ok(content["sizes"].to_string()));
            let ask = if arguments.contains_key("fallback") { ask.fallback("any".to_owned()) } else { ask };
            ctx.ask("several", ask).await
        }),
        dynamic("folders", |_, ctx| async move {
            let roots = ctx.ask("folders", Ask::roots()).await?;
            Ok::<_, CallError>(roots.roots.len().to_string())
        }),
        dynamic("panic", |_, _| async move {
            if true {
                panic!("on purpose");
            }
        }),
        dynamic("fails", |_, _| async { Err::<(), _>(CallError::new("try another")) }),
        dynamic("hidden", |_, _| async { Err::<(), _>(CallError::internal("the password is 123")) }),
        dynamic("protocol", |_, _| async { Err::<(), _>(CallError::protocol(-30001, "not today", None)) }),
        dynamic("fail_after", |arguments, _| async move {
            let seconds = arguments.get("seconds").and_then(serde_json::Value::as_u64).unwrap_or_default();
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            Err::<(), _>(CallError::protocol(-32602, "not today", None))
        }),
        dynamic("facts", |_, ctx| async move {
            let client = ctx.client().map(|client| client.name);
            serde_json::json!({ "era": format!("{:?}", ctx.era()), "version": ctx.protocol_version(),
                "client": client, "id": ctx.request_id(), "header": ctx.header("x-tenant"),
                "meta": ctx.meta("own"), "roots": ctx.capabilities().roots })
            .to_string()
        }),
    ]
}

#[derive(Debug, ElicitEnum)]
enum Size {
    #[elicit(title = "Small one")]
    Small,
    Large,
}

/// Adds.
#[tool]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Waits, and notes how it ends.
#[tool]
async fn hold(scope: Scope, ctx: Context, seen: Dep<Seen>) {
    scope.defer(move |ending| async move {
        tokio::task::yield_now().await;
        seen.endings.lock().expect("no panic").push(ending);
    });
    ctx.progress(1.0).await;
    std::future::pending::<()>().await;
}

#[resolver]
fn tea() -> Ask<bool> {
    Ask::confirm("tea?")
}

#[resolver]
fn milk() -> Ask<bool> {
    Ask::confirm("milk?")
}

/// Asks two questions at once.
#[tool]
async fn ask_both(#[resolve(tea)] tea: bool, #[resolve(milk)] milk: bool) -> String {
    format!("{tea} {milk}")
}

/// Charges for what the client was asked, and runs again, by hand.
#[tool]
async fn deliver(rounds: Rounds, ctx: Context) -> Result<Reply<String>, CallError> {
    let amount: String = ctx.ask("amount", Ask::text("How many?").fallback("1".to_owned())).await?;
    let paid: String = ctx.once("charge", || async { Ok(amount.clone()) }).await?;
    Ok(match rounds.state::<u8>() {
        None => Reply::resume(1_u8),
        Some(_) => Reply::done(format!("{amount} delivered, {paid} charged")),
    })
}

#[completion]
async fn names(completing: CompletionRequest) -> Vec<String> {
    assert_ne!(completing.value, "panic", "on purpose");
    ["ada", "adam", "bob"].into_iter().filter(|name| name.starts_with(&completing.value)).map(Into::into).collect()
}

/// Greets.
#[prompt]
async fn greet(#[arg(complete = names)] name: String) -> String {
    format!("Greet {name}.")
}

#[resource("docs://readme")]
async fn readme() -> &'static str {
    "Read me."
}

#[resource("files://{path}")]
async fn file(path: String) -> Result<String, CallError> {
    if path == "gone" {
        return Err(CallError::new("it was deleted"));
    }
    Ok(path)
}

/// Waits until something is so, which must be soon.
pub(super) async fn until(what: &str, so: impl Fn() -> bool) {
    for _ in 0..1000 {
        if so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("never: {what}");
}
