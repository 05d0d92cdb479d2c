//! A bare axum handler that sends what `bench-rejoinder` sends: the floor to measure against.
//!
//! `bench-floor --http 127.0.0.1:PORT [--list FILE] [--question FILE]`, where the files hold the bytes to answer
//! `tools/list` and the first round of `remove` with.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use bytes::Bytes;
use rejoinder_bench::{
    flags::Flags,
    floor::{self, Round},
    serve,
};

fn main() -> Result<()> {
    let flags = Flags::parse(std::env::args().skip(1))?;
    let address = flags.address()?;
    let kept = Kept { list: kept(&flags, "list")?, question: kept(&flags, "question")? };
    let app = Router::new().route("/mcp", post(answer)).with_state(Arc::new(kept));
    serve::runtime()?.block_on(serve::serve(address, app))
}

/// What is sent as it is.
#[derive(Debug)]
struct Kept {
    list: Bytes,
    question: Bytes,
}

/// What the file holds that a flag names; nothing without the flag.
fn kept(flags: &Flags, flag: &str) -> Result<Bytes> {
    let Some(file) = flags.get::<PathBuf>(flag)? else { return Ok(Bytes::new()) };
    let bytes = std::fs::read(&file).with_context(|| format!("the {flag} in {} cannot be read", file.display()))?;
    Ok(bytes.into())
}

/// Looks at the three headers a server must look at, then answers.
async fn answer(State(kept): State<Arc<Kept>>, headers: HeaderMap, body: Bytes) -> Response {
    let says = |name: &str, value: &str| headers.get(name).is_some_and(|given| given == value);
    if !says("mcp-protocol-version", "2026-07-28") {
        return StatusCode::BAD_REQUEST.into_response();
    }
    let json = [(header::CONTENT_TYPE, "application/json")];
    if says("mcp-method", "tools/call") && says("mcp-name", "add") {
        if let Some(reply) = floor::call(&body) {
            return (json, reply).into_response();
        }
    } else if says("mcp-method", "tools/call") && says("mcp-name", "remove") {
        match floor::round(&body) {
            Some(Round::Question) => return (json, kept.question.clone()).into_response(),
            Some(Round::Removed(reply)) => return (json, reply).into_response(),
            None => {}
        }
    } else if says("mcp-method", "tools/list") && floor::is_list(&body) {
        return (json, kept.list.clone()).into_response();
    }
    StatusCode::BAD_REQUEST.into_response()
}
