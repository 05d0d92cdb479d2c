//! rejoinder with the `add` tool, and as many copies of it as are wanted.
//!
//! `bench-rejoinder --http 127.0.0.1:PORT [--tools N | --asking | --slow]` or `bench-rejoinder --stdio`.
//! With `--asking` it has `remove` instead, whose calls take two rounds; with `--slow` it has `wait` too.

use std::time::Duration;

use anyhow::Result;
use rejoinder::prelude::*;
use rejoinder_bench::{flags::Flags, serve, two_rounds};

/// Add two integers
#[tool]
async fn add(a: i64, b: i64) -> i64 {
    a + b
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

fn main() -> Result<()> {
    let flags = Flags::parse(std::env::args().skip(1))?;
    let copies = 1..flags.get("tools")?.unwrap_or(1);
    let copy = |number: usize| tools![add].into_iter().map(move |tool| tool.renamed(format!("tool_{number:04}")));
    let server = Server::new("bench", "1.0.0");
    let server = if flags.has("asking") {
        server.tools(tools![remove])
    } else if flags.has("slow") {
        server.tools(tools![add, wait])
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
