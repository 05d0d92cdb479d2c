//! What the server offers: each feature as a tool, a prompt and a resource.

use std::{
    convert::Infallible,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use futures_util::stream;
use rejoinder::{
    call::CompletionRequest,
    form::ConfirmForm,
    middleware::{Next, OperationRequest, OperationResult},
    prelude::*,
};
use tokio::sync::Notify;

/// What happened, in order.
#[derive(Default)]
pub(crate) struct Log {
    lines: Mutex<Vec<String>>,
    changed: Notify,
}

impl Log {
    fn note(&self, line: impl Into<String>) {
        self.lines.lock().unwrap().push(line.into());
        self.changed.notify_one();
    }

    /// Waits until there are that many lines, and takes them.
    pub(crate) async fn take(&self, lines: usize) -> Vec<String> {
        while self.lines.lock().unwrap().len() < lines {
            self.changed.notified().await;
        }
        std::mem::take(&mut self.lines.lock().unwrap())
    }
}

/// What background tasks wait for.
#[derive(Default)]
pub(crate) struct Gate(pub(crate) Notify);

/// How often the server started and stopped.
#[derive(Default)]
pub(crate) struct Runs {
    pub(crate) started: AtomicUsize,
    pub(crate) stopped: AtomicUsize,
}

/// What is made when the server starts.
struct Palette([&'static str; 2]);

/// One function as a tool, a prompt and a resource.
macro_rules! offer {
    ($module:ident, $name:tt, $uri:tt $(, $option:ident = $value:tt)?; ($($parameters:tt)*) $body:block) => {
        mod $module {
            use super::*;

            #[tool(name = $name $(, $option = $value)?)]
            pub(super) async fn tool($($parameters)*) -> Result<String, CallError> $body

            #[prompt(name = $name $(, $option = $value)?)]
            pub(super) async fn prompt($($parameters)*) -> Result<String, CallError> $body

            #[resource($uri $(, $option = $value)?)]
            pub(super) async fn resource($($parameters)*) -> Result<String, CallError> $body
        }
    };
}

offer!(constraint, "constraint", "constraint://{value}"; (#[arg(min = 1, max = 10)] value: u32) {
    Ok(value.to_string())
});

#[pipe]
fn trim(text: String) -> String {
    text.trim().to_owned()
}

/// A colour that exists.
struct Colour(&'static str);

#[pipe]
async fn find_colour(name: String, palette: Dep<Palette>) -> Result<Colour, FieldError> {
    let found = palette.0.into_iter().find(|colour| *colour == name);
    found.map(Colour).ok_or_else(|| FieldError::new(format!("there is no colour `{name}`")))
}

offer!(pipe, "pipe", "pipe://{value}"; (#[pipe(trim, find_colour)] value: Colour) { Ok(value.0.to_owned()) });

/// Something that is open as long as the call runs.
struct Lease;

#[resolver]
async fn lease(value: &str, scope: Scope, log: Dep<Log>) -> Lease {
    log.note(format!("open {value}"));
    scope.defer(move |end| async move { log.note(format!("close: {end:?}")) });
    Lease
}

offer!(dependency, "dependency", "dependency://{value}"; (
    value: String,
    #[resolve(lease)] _lease: &Lease,
    log: Dep<Log>
) {
    log.note("body");
    match value.as_str() {
        "fail" => Err(CallError::new("it fails")),
        "wait" => std::future::pending().await,
        _ => Ok(value),
    }
});

offer!(header, "header", "header://{value}"; (
    value: String,
    #[header] x_user: Option<u64>,
    #[header("x-retries", default = 3)] retries: u32
) {
    Ok(format!("{value} {x_user:?} {retries}"))
});

offer!(required_header, "required_header", "required-header://{value}"; (value: String, #[header] x_user: u64) {
    Ok(format!("{value} {x_user}"))
});

#[resolver]
fn noted(value: &str, notes: State<Vec<String>>) {
    notes.with(|notes| notes.push(format!("resolver {value}")));
}

offer!(state, "state", "state://{value}"; (
    value: String,
    #[resolve(noted)] _noted: &(),
    notes: State<Vec<String>>
) {
    notes.with(|notes| notes.push(format!("body {value}")));
    Ok(notes.get().join(", "))
});

offer!(background, "background", "background://{value}"; (
    value: String,
    background: BackgroundTasks,
    gate: Dep<Gate>
) {
    background.add(async move { gate.0.notified().await })?;
    Ok(value)
});

offer!(timeout, "timeout", "timeout://{value}", timeout = "20ms"; (value: String, #[resolve(lease)] _lease: &Lease) {
    drop(value);
    std::future::pending().await
});

#[resolver]
fn sure(value: &str) -> Ask<ConfirmForm> {
    Ask::user(format!("Use {value}?"))
}

offer!(question, "question", "question://{value}"; (value: String, #[resolve(sure)] sure: &ConfirmForm) {
    Ok(format!("{value} {}", sure.yes))
});

offer!(lifecycle, "lifecycle", "lifecycle://{value}"; (value: String, palette: Dep<Palette>, runs: Dep<Runs>) {
    Ok(format!("{value} {} {}", palette.0.len(), runs.started.load(Ordering::Relaxed)))
});

#[resolver]
fn known_colours(palette: Dep<Palette>) -> Vec<&'static str> {
    palette.0.to_vec()
}

#[completion]
fn colours(typed: CompletionRequest, #[resolve(known_colours)] known: &Vec<&'static str>) -> Vec<String> {
    known.iter().filter(|colour| colour.starts_with(&typed.value)).map(|colour| (*colour).to_owned()).collect()
}

#[prompt]
async fn paint(#[arg(complete = colours)] value: String) -> String {
    value
}

#[resource("paint://{value}")]
async fn painted(#[arg(complete = colours)] value: String) -> String {
    value
}

/// What a middleware attaches.
#[derive(Clone)]
struct Tenant(String);

offer!(middleware, "middleware", "middleware://{value}"; (value: String, ctx: Context) {
    Ok(format!("{value} for {}", ctx.extension::<Tenant>().map_or("nobody", |tenant| &tenant.0)))
});

/// Counts to three.
#[tool]
async fn count() -> ToolStream<&'static str> {
    ToolStream::new(stream::iter(["one ", "two ", "three"]))
}

/// Attaches a tenant, and refuses the value `secret`.
pub(crate) async fn tenant(mut request: OperationRequest, next: Next) -> Result<OperationResult, CallError> {
    let is_secret = request.arguments().get("value").is_some_and(|value| value == "secret");
    if is_secret || request.name() == Some("middleware://secret") {
        return Err(CallError::new("that is secret"));
    }
    request.insert_extension(Tenant("acme".to_owned()));
    Ok(next.run(request).await)
}

pub(crate) fn server(log: &Arc<Log>, gate: &Arc<Gate>, runs: &Arc<Runs>) -> Server {
    let (starting, stopping) = (Arc::clone(runs), Arc::clone(runs));
    Server::new("matrix", "1.0.0")
        .provide_arc(Arc::clone(log))
        .provide_arc(Arc::clone(gate))
        .provide_arc(Arc::clone(runs))
        .provide_async(async |_| Ok::<_, Infallible>(Palette(["red", "blue"])))
        .on_start(async move |_| {
            starting.started.fetch_add(1, Ordering::Relaxed);
        })
        .on_stop(async move |_| {
            stopping.stopped.fetch_add(1, Ordering::Relaxed);
        })
        .tools(tools![
            constraint::tool,
            pipe::tool,
            dependency::tool,
            header::tool,
            required_header::tool,
            state::tool,
            background::tool,
            timeout::tool,
            question::tool,
            middleware::tool,
            lifecycle::tool,
            count,
        ])
        .prompts(prompts![
            constraint::prompt,
            pipe::prompt,
            dependency::prompt,
            header::prompt,
            required_header::prompt,
            state::prompt,
            background::prompt,
            timeout::prompt,
            question::prompt,
            middleware::prompt,
            lifecycle::prompt,
            paint,
        ])
        .resources(resources![
            constraint::resource,
            pipe::resource,
            dependency::resource,
            header::resource,
            required_header::resource,
            state::resource,
            background::resource,
            timeout::resource,
            question::resource,
            middleware::resource,
            lifecycle::resource,
            painted,
        ])
}
