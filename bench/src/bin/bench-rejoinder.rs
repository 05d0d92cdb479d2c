//! rejoinder with the `add` tool, and as many copies of it as are wanted.
//!
//! `bench-rejoinder --http 127.0.0.1:PORT [--tools N [--gated] | --asking | --slow | --stream | --parameters | --caller | --ws]`
//! or `bench-rejoinder --stdio`. With `--gated` its tools are behind ten gates, all of which are open. With `--caller` a call
//! needs a token, and `add` is behind a gate that reads its scopes. With `--asking` it has `remove` instead, whose calls take two rounds; with `--slow` it has
//! `wait` too; with `--stream` it has `count` too; with `--tasks` it has `add_later` too, whose calls become tasks, in memory or
//! with `--sqlite` in a file. With `--parameters` its `add` has parameters from everywhere. With `--ws` it
//! serves WebSocket too.

use std::time::Duration;

use anyhow::Result;
use rejoinder::{
    Tool,
    auth::{Auth, Principal},
    http,
    prelude::*,
    server::{Gated, Limits},
    tasks::Tasks,
};
use rejoinder_bench::{caller, flags::Flags, serve, stream, two_rounds};
use rejoinder_sqlite::SqliteTasks;

/// Add two integers
#[tool]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[pipe]
fn same(number: i64) -> i64 {
    number
}

/// Add two integers
#[tool(name = "add")]
async fn add_with_parameters(
    #[arg(min = 0, max = 1000)] a: i64,
    #[arg(max = 1000)]
    #[pipe(same)]
    b: i64,
    #[header] content_type: String,
    sum: State<i64>,
) -> i64 {
    sum.with(|sum| *sum += a + b);
    if content_type == "application/json" { sum.get() } else { 0 }
}

/// Add two integers, as a task
#[tool(task)]
async fn add_later(a: i64, b: i64) -> i64 {
    a + b
}

/// Count
#[tool]
async fn count() -> ToolStream<String> {
    stream::items()
}

/// Wait for longer than anybody measures
#[tool]
async fn wait() -> &'static str {
    tokio::time::sleep(Duration::from_hours(1)).await;
    "waited"
}

/// A consent.
#[derive(Debug, Clone, Elicit)]
struct Confirm {
    /// Remove it and everything in it?
    yes: bool,
}

#[resolver]
fn confirm(path: &str) -> Ask<Confirm> {
    Ask::user(two_rounds::message(path))
}

/// Remove a folder
#[tool]
async fn remove(path: String, #[resolve(confirm)] confirm: Confirm) -> Result<String, CallError> {
    if !confirm.yes {
        return Err(CallError::new("not removed"));
    }
    Ok(two_rounds::removed(&path))
}

#[resolver]
fn may_add(caller: Principal) -> bool {
    caller.has_scope(caller::SCOPE)
}

/// Gates that are open, each a function of its own.
macro_rules! gates {
    ($($gate:ident)*) => {
        $(
            #[resolver]
            fn $gate(caller: Option<Principal>) -> bool {
                caller.is_none()
            }
        )*

        const GATES: &[fn(Tool) -> Tool] = &[$(Gated::enabled::<$gate>),*];
    };
}

gates!(gate_0 gate_1 gate_2 gate_3 gate_4 gate_5 gate_6 gate_7 gate_8 gate_9);

fn main() -> Result<()> {
    let flags = Flags::parse(std::env::args().skip(1))?;
    let copies = 1..flags.get("tools")?.unwrap_or(1);
    let copy = |number: usize| tools![add].into_iter().map(move |tool| tool.renamed(format!("tool_{number:04}")));
    let folder = tempfile::tempdir()?;
    let server = Server::new("bench", "1.0.0");
    let server = if flags.has("asking") {
        server.tools(tools![remove])
    } else if flags.has("slow") {
        server.tools(tools![add, wait])
    } else if flags.has("stream") {
        server.tools(tools![add, count])
    } else if flags.has("parameters") {
        server.tools(tools![add_with_parameters])
    } else if flags.has("caller") {
        let auth = Auth::jwt(caller::ISSUER, caller::AUDIENCE).jwks(caller::jwks());
        server.tools(tools![add].enabled::<may_add>()).http(http::Config::new().auth(auth))
    } else if flags.has("gated") {
        let all = tools![add].into_iter().chain(copies.flat_map(copy));
        server.tools(all.zip(GATES.iter().cycle()).map(|(tool, gate)| gate(tool)))
    } else if flags.has("tasks") {
        // Ended tasks stay for ten minutes.
        let limits = Limits::new().memory(8 << 30).memory_per_caller(8 << 30).tasks(1 << 20);
        let server = server.tools(tools![add, add_later]).limits(limits);
        if flags.has("sqlite") {
            server.tasks(Tasks::new(SqliteTasks::at(folder.path().join("tasks.db"))))
        } else {
            server
        }
    } else if flags.has("ws") {
        server.tools(tools![add]).http(http::Config::new().websocket("/mcp/ws"))
    } else {
        server.tools(tools![add]).tools(copies.flat_map(copy))
    };
    serve::runtime()?.block_on(async {
        if flags.has("stdio") {
            return Ok(server.serve_stdio().await?);
        }
        Ok(server.serve_http(flags.address()?).await?)
    })
}
