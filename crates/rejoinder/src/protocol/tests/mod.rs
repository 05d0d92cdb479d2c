//! What cannot be seen from outside: what a request costs, what is kept of it, and for how long a call can go on.

mod kept;
mod records;
mod renewal;

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};

use super::{Dispatched, Envelope, Frame, Http, dispatch};
use crate::{prelude::*, server::Engine};

/// Asks twice, and in between takes a step.
#[tool]
async fn buy(ctx: Context, item: Option<String>) -> Result<String, CallError> {
    let sure: bool = ctx.ask("sure", Ask::confirm("Sure?")).await?;
    ctx.ask::<bool>("really", Ask::confirm("Really?")).await?;
    let receipt: u32 = ctx.once("pay", || async { Ok(7) }).await?;
    ctx.ask::<bool>("gift", Ask::confirm("A gift?")).await?;
    Ok(format!("{item:?} {sure} {receipt}"))
}

/// Never ends.
#[tool]
async fn wait() {
    std::future::pending::<()>().await;
}

fn server() -> Server {
    Server::new("tested", "1.0.0").tools(tools![buy, wait])
}

/// A request of a client that can be asked.
fn request(method: &str, mut params: Value) -> Bytes {
    params["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} } });
    json!({ "jsonrpc": "2.0", "id": "an id", "method": method, "params": params }).to_string().into()
}

fn answer(engine: &Arc<Engine>, body: &Bytes) -> Dispatched {
    let Ok(envelope) = Envelope::read(body, 200_000) else { panic!("not a message: {body:?}") };
    dispatch(engine, body, envelope, Http::default(), None)
}

/// The reply to a request that says nothing before it.
async fn reply(engine: &Arc<Engine>, method: &str, params: Value) -> Value {
    let reply = match answer(engine, &request(method, params)) {
        Dispatched::Nothing => panic!("no reply"),
        Dispatched::Reply(reply) => reply,
        Dispatched::Stream(mut stream) => match stream.frame().await {
            Frame::Last(reply) => reply,
            Frame::Notification(early) | Frame::Request(early) => panic!("before the reply: {early:?}"),
        },
    };
    let reply: Vec<u8> = reply.into_body().pieces().flatten().collect();
    serde_json::from_slice(&reply).expect("a reply is JSON")
}
