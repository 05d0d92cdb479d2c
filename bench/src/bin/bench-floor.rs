//! A bare handler that sends what `bench-rejoinder` sends: the floor to measure against.
//!
//! `bench-floor --http 127.0.0.1:PORT [--hyper | --ws] [--list FILE] [--question FILE]`, where the files hold the bytes to
//! answer `tools/list` and the first round of `remove` with. It runs on axum, or on hyper alone, or is a WebSocket.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{
    IntoResponse, Response,
    sse::{Event, Sse},
};
use axum::routing::post;
use bytes::Bytes;
use futures_util::{SinkExt, StreamExt, stream::iter};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rejoinder_bench::{
    flags::Flags,
    floor::{self, Round},
    serve, stream,
};
use tokio::net::TcpListener;
use tokio_tungstenite::{accept_async, tungstenite::Message};

fn main() -> Result<()> {
    let flags = Flags::parse(std::env::args().skip(1))?;
    let address = flags.address()?;
    let kept = Arc::new(Kept { list: kept(&flags, "list")?, question: kept(&flags, "question")? });
    serve::runtime()?.block_on(async {
        if flags.has("hyper") {
            return on_hyper(address, kept).await;
        }
        if flags.has("ws") {
            return on_websocket(address).await;
        }
        serve::serve(address, Router::new().route("/mcp", post(on_axum)).with_state(kept)).await
    })
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

/// The handler as axum calls it.
async fn on_axum(State(kept): State<Arc<Kept>>, headers: HeaderMap, body: Bytes) -> Response {
    if headers.get("mcp-name").is_some_and(|name| name == "count") {
        let event = |message| Ok::<_, Infallible>(Event::default().event("message").data(message));
        return Sse::new(iter(stream::messages().map(event))).into_response();
    }
    match answer(&kept, &headers, &body) {
        Some(reply) => ([(header::CONTENT_TYPE, "application/json")], reply).into_response(),
        None => StatusCode::BAD_REQUEST.into_response(),
    }
}

/// Serves the handler without a router, until the process is ended.
async fn on_hyper(address: SocketAddr, kept: Arc<Kept>) -> Result<()> {
    let listener = TcpListener::bind(address).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let kept = kept.clone();
        tokio::spawn(async move {
            let service = service_fn(|request: hyper::Request<Incoming>| async {
                let (head, body) = request.into_parts();
                let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
                let reply = answer(&kept, &head.headers, &body);
                let mut response = hyper::Response::new(Full::<Bytes>::default());
                match reply {
                    Some(reply) => *response.body_mut() = reply.into(),
                    None => *response.status_mut() = StatusCode::BAD_REQUEST,
                }
                let json = HeaderValue::from_static("application/json");
                response.headers_mut().insert(header::CONTENT_TYPE, json);
                Ok::<_, Infallible>(response)
            });
            // It ends when the client leaves, which is not an error here.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

/// Serves WebSockets that answer each call as it comes, until the process is ended.
async fn on_websocket(address: SocketAddr) -> Result<()> {
    let listener = TcpListener::bind(address).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(async move {
            let Ok(mut socket) = accept_async(stream).await else { return };
            while let Some(Ok(message)) = socket.next().await {
                let reply = floor::call(&message.into_data()).and_then(|reply| String::from_utf8(reply).ok());
                let Some(reply) = reply else { continue };
                if socket.send(Message::text(reply)).await.is_err() {
                    return;
                }
            }
        });
    }
}

/// Looks at the three headers a server must look at, then answers; `None` is a bad request.
fn answer(kept: &Kept, headers: &HeaderMap, body: &[u8]) -> Option<Bytes> {
    let says = |name: &str, value: &str| headers.get(name).is_some_and(|given| given == value);
    if !says("mcp-protocol-version", "2026-07-28") {
        return None;
    }
    if says("mcp-method", "tools/call") && says("mcp-name", "add") {
        return floor::call(body).map(Bytes::from);
    }
    if says("mcp-method", "tools/call") && says("mcp-name", "remove") {
        return floor::round(body).map(|round| match round {
            Round::Question => kept.question.clone(),
            Round::Removed(reply) => reply.into(),
        });
    }
    (says("mcp-method", "tools/list") && floor::is_list(body)).then(|| kept.list.clone())
}
