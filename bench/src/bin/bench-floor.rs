//! A bare axum handler that sends what `bench-rejoinder` sends: the floor to measure against.
//!
//! `bench-floor --http 127.0.0.1:PORT [--list FILE]`, where FILE holds the bytes to answer `tools/list` with.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use bytes::Bytes;
use rejoinder_bench::{flags::Flags, floor, serve};

fn main() -> Result<()> {
    let flags = Flags::parse(std::env::args().skip(1))?;
    let address = flags.address()?;
    let list = match flags.get::<PathBuf>("list")? {
        Some(file) => std::fs::read(&file).with_context(|| format!("the list in {} cannot be read", file.display()))?,
        None => Vec::new(),
    };
    let app = Router::new().route("/mcp", post(answer)).with_state(Arc::new(Bytes::from(list)));
    serve::runtime()?.block_on(serve::serve(address, app))
}

/// Looks at the three headers a server must look at, then answers.
async fn answer(State(list): State<Arc<Bytes>>, headers: HeaderMap, body: Bytes) -> Response {
    let says = |name: &str, value: &str| headers.get(name).is_some_and(|given| given == value);
    if !says("mcp-protocol-version", "2026-07-28") {
        return StatusCode::BAD_REQUEST.into_response();
    }
    let json = [(header::CONTENT_TYPE, "application/json")];
    if says("mcp-method", "tools/call") && says("mcp-name", "add") {
        if let Some(reply) = floor::call(&body) {
            return (json, reply).into_response();
        }
    } else if says("mcp-method", "tools/list") && floor::is_list(&body) {
        return (json, Bytes::clone(&list)).into_response();
    }
    StatusCode::BAD_REQUEST.into_response()
}
