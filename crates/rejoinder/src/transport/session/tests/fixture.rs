//! A server with something of everything.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use rejoinder_core::{
    BoxFuture,
    ask::Ask,
    call::{Call, Completing, Param, ReadParams},
    error::ToolError,
    form::Confirmed,
    inject::{Context, Need},
    item::{
        Annotations, Function, Prompt, PromptDetails, PromptKind, Resource, ResourceDetails, ResourceKind, Tool,
        ToolDetails, ToolKind,
    },
    model::{self, CallToolResult, GetPromptResult, JsonObject},
    reply::{IntoPrompt, IntoReply, IntoResource, ResourceBody},
};

use crate::{
    Server,
    server::{BuiltServer, Engine},
};

/// How many calls are running, and how many were dropped before their end.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) running: AtomicUsize,
    pub(super) dropped: AtomicUsize,
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
        .tools(tools(&seen))
        .prompts([Prompt::of::<Greet>(Arc::new(()))])
        .resources([Resource::of::<Readme>(Arc::new(())), Resource::of::<File>(Arc::new(()))])
        .page_size(20);
    Fixture { server: server.build().expect("a good server"), seen }
}

pub(super) fn tool<F, R>(name: &'static str, body: impl Fn(JsonObject, Context) -> F + Send + Sync + 'static) -> Tool
where
    F: Future<Output = R> + Send + 'static,
    R: IntoReply,
{
    Tool::dynamic(model::Tool::new(name, "For a test.", JsonObject::new()), body)
}

fn tools(seen: &Arc<Seen>) -> Vec<Tool> {
    let (waiting, asking) = (Arc::clone(seen), Arc::clone(seen));
    vec![
        Tool::of::<Add>(Arc::new(())),
        tool("emit", |arguments, ctx| async move {
            let who = arguments.get("who").and_then(|who| who.as_str()).unwrap_or("nobody").to_owned();
            for step in 1..=3 {
                ctx.progress(f64::from(step)).of(3.0).message(who.clone()).await;
                ctx.info(format!("{who} {step}")).await;
                ctx.debug(format!("{who} debug {step}")).await;
                tokio::task::yield_now().await;
            }
            "emitted"
        }),
        tool("wait", move |_, ctx| {
            let running = Running::new(&waiting);
            async move {
                let _running = running;
                ctx.progress(1.0).await;
                std::future::pending::<()>().await;
            }
        }),
        tool("ask", move |arguments, ctx| {
            let running = Running::new(&asking);
            async move {
                let _running = running;
                let what = arguments.get("what").and_then(|what| what.as_str()).unwrap_or("really").to_owned();
                let answer: Confirmed = ctx.ask("sure", Ask::user(format!("{what}?"))).await?;
                Ok::<_, ToolError>(format!("{what}: {}", answer.yes))
            }
        }),
        tool("visit", |_, ctx| async move {
            ctx.ask("first", Ask::visit("https://pay.example/1", "Pay here.")).await?;
            ctx.ask("second", Ask::visit("https://pay.example/2", "And here.")).await?;
            Ok::<_, ToolError>("paid")
        }),
        tool("leave", |_, ctx| async move {
            let stream = ctx.extension::<super::super::ReplyStream>().cloned().unwrap_or_default();
            let left = stream.disconnect(Duration::from_millis(10)).await;
            ctx.info("away").await;
            format!("left: {left}")
        }),
        tool("panic", |_, _| async move {
            if true {
                panic!("on purpose");
            }
        }),
        tool("told", |_, _| async { Err::<(), _>(ToolError::new("try another")) }),
        tool("hidden", |_, _| async { Err::<(), _>(ToolError::hidden("the password is 123")) }),
        tool("protocol", |_, _| async { Err::<(), _>(ToolError::protocol(-30001, "not today", None)) }),
        tool("facts", |_, ctx| async move {
            let client = ctx.client().map(|client| client.name);
            serde_json::json!({ "era": format!("{:?}", ctx.era()), "version": ctx.protocol_version(),
                "client": client, "id": ctx.request_id(), "header": ctx.header("x-tenant"),
                "meta": ctx.meta("own"), "roots": ctx.capabilities().roots.is_some() })
            .to_string()
        }),
    ]
}

const fn param(name: &'static str) -> Param {
    Param { name, description: None, default: None, header: None, complete: None }
}

/// Adds two numbers.
struct Add;

impl ReadParams for Add {
    type Set = (i64, i64);
    const PARAMS: &'static [Param] = &[param("a"), param("b")];
}

impl Function for Add {
    type Receiver = ();
    type Kind = ToolKind;
    const DETAILS: ToolDetails = ToolDetails {
        name: "add",
        title: None,
        description: Some("Adds."),
        annotations: Annotations { read_only: None, destructive: None, idempotent: None, open_world: None },
        icons: &[],
        output_schema: || None,
    };

    fn needs() -> Vec<(&'static str, Need)> {
        Vec::new()
    }

    fn run(_: Arc<()>, (a, b): (i64, i64), _: Call) -> BoxFuture<'static, Result<CallToolResult, ToolError>> {
        Box::pin(async move { (a + b).into_reply() })
    }
}

/// Greets somebody.
struct Greet;

fn names(completing: Completing) -> BoxFuture<'static, Vec<String>> {
    Box::pin(async move {
        assert_ne!(completing.value, "panic", "on purpose");
        ["ada", "adam", "bob"].into_iter().filter(|name| name.starts_with(&completing.value)).map(Into::into).collect()
    })
}

impl ReadParams for Greet {
    type Set = (String,);
    const PARAMS: &'static [Param] = &[Param { complete: Some(names), ..param("name") }];
}

impl Function for Greet {
    type Receiver = ();
    type Kind = PromptKind;
    const DETAILS: PromptDetails =
        PromptDetails { name: "greet", title: None, description: Some("Greets."), icons: &[] };

    fn needs() -> Vec<(&'static str, Need)> {
        Vec::new()
    }

    fn run(_: Arc<()>, (name,): (String,), _: Call) -> BoxFuture<'static, Result<GetPromptResult, ToolError>> {
        Box::pin(async move { format!("Greet {name}.").into_prompt() })
    }
}

/// A resource.
struct Readme;

impl ReadParams for Readme {
    type Set = ();
    const PARAMS: &'static [Param] = &[];
}

impl Function for Readme {
    type Receiver = ();
    type Kind = ResourceKind;
    const DETAILS: ResourceDetails = resource("docs://readme", "readme");

    fn needs() -> Vec<(&'static str, Need)> {
        Vec::new()
    }

    fn run(_: Arc<()>, (): (), _: Call) -> BoxFuture<'static, Result<ResourceBody, ToolError>> {
        Box::pin(async { "Read me.".into_resource() })
    }
}

/// A template.
struct File;

impl ReadParams for File {
    type Set = (String,);
    const PARAMS: &'static [Param] = &[param("path")];
}

impl Function for File {
    type Receiver = ();
    type Kind = ResourceKind;
    const DETAILS: ResourceDetails = resource("files://{path}", "file");

    fn needs() -> Vec<(&'static str, Need)> {
        Vec::new()
    }

    fn run(_: Arc<()>, (path,): (String,), _: Call) -> BoxFuture<'static, Result<ResourceBody, ToolError>> {
        Box::pin(async move {
            if path == "gone" {
                return Err(ToolError::new("it was deleted"));
            }
            path.into_resource()
        })
    }
}

const fn resource(uri: &'static str, name: &'static str) -> ResourceDetails {
    ResourceDetails {
        uri,
        name,
        title: None,
        description: None,
        mime_type: None,
        ttl_ms: None,
        public: None,
        icons: &[],
    }
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
