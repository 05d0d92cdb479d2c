//! Background tasks start when the client has the reply, or cannot have it.

use std::{future::ready, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::FutureExt;
use http::Response;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::{sync::Notify, time::timeout};

use super::{fixture::Fixture, http::Http};
use crate::{
    call::BackgroundStatus,
    middleware::{Next, OperationRequest, OperationResult},
    model::version::STATELESS,
    prelude::*,
    testing::Client,
    transport::{ResponseBody, shutdown::finish_teardown},
};

/// What a test sees of the tools, and what lets the second one return.
#[derive(Default)]
struct Seen {
    started: Notify,
    release: Notify,
}

impl Seen {
    /// Whether the task has started, after everything has run that can.
    async fn has_started(&self) -> bool {
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        self.started.notified().now_or_never().is_some()
    }

    async fn starts(&self) {
        timeout(Duration::from_secs(30), self.started.notified()).await.expect("it starts");
    }
}

#[tool]
async fn at_once(background: BackgroundTasks, seen: Dep<Seen>) -> Result<&'static str, CallError> {
    background.add(async move { seen.started.notify_one() })?;
    Ok("done")
}

/// Its reply is events.
#[tool]
async fn later(ctx: Context, background: BackgroundTasks, seen: Dep<Seen>) -> Result<&'static str, CallError> {
    ctx.progress(1.0).await;
    seen.release.notified().await;
    at_once(background, seen).await
}

async fn pass(request: OperationRequest, next: Next) -> OperationResult {
    next.run(request).await
}

/// Makes a reply of its own.
async fn replace(request: OperationRequest, next: Next) -> OperationResult {
    drop(next.run(request).await);
    OperationResult::of_tool("replaced")
}

fn setup(change: fn(Server) -> Server) -> (Http, Arc<Seen>) {
    let seen = Arc::new(Seen::default());
    let server = Server::new("late", "1.0.0").provide_arc(Arc::clone(&seen)).tools(tools![at_once, later]);
    let fixture = Fixture { server: change(server).build().expect("a good server"), seen: Arc::default() };
    (Http::new(&fixture), seen)
}

/// Calls a tool: standing alone, or in a session of that version.
async fn call(client: &mut Http, version: &'static str, tool: &str, is_batch: bool) -> Response<ResponseBody> {
    let mut meta = json!({ "progressToken": 1 });
    let mut headers = Vec::new();
    if version == STATELESS {
        meta["io.modelcontextprotocol/protocolVersion"] = version.into();
        meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
        headers.extend([("mcp-protocol-version", version), ("mcp-method", "tools/call"), ("mcp-name", tool)]);
    } else {
        client.initialize(version).await;
    }
    let params = json!({ "name": tool, "_meta": meta });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let body = if is_batch { Value::Array(vec![request]) } else { request };
    client.send("POST", &headers, body).await
}

/// The piece of the body with the reply.
async fn last_piece(response: Response<ResponseBody>) -> Bytes {
    let mut body = response.into_body();
    loop {
        let piece = body.frame().await.expect("a reply").expect("no error").into_data().expect("data");
        if String::from_utf8_lossy(&piece).contains("\"result\"") {
            return piece;
        }
    }
}

const WAYS: [(&str, &str, bool); 6] = [
    (STATELESS, "at_once", false),
    (STATELESS, "later", false),
    ("2025-11-25", "at_once", false),
    ("2025-11-25", "later", false),
    ("2025-03-26", "at_once", true),
    ("2025-03-26", "later", true),
];

#[tokio::test]
async fn l6_a_task_has_not_started_while_the_client_holds_the_reply() {
    let servers: [fn(Server) -> Server; 3] =
        [|server| server, |server| server.middleware(pass), |server| server.middleware(replace)];
    for ((version, tool, is_batch), change) in WAYS.into_iter().flat_map(|way| servers.map(|change| (way, change))) {
        let (mut client, seen) = setup(change);
        seen.release.notify_one();
        let reply = last_piece(call(&mut client, version, tool, is_batch).await).await;
        assert!(!seen.has_started().await, "{version} {tool}");
        drop(reply);
        seen.starts().await;
    }
}

#[tokio::test]
async fn a_task_starts_if_the_reply_cannot_be_delivered() {
    for (version, tool, is_batch) in WAYS {
        let (mut client, seen) = setup(|server| server);
        let response = call(&mut client, version, tool, is_batch).await;
        assert!(!seen.has_started().await, "{version} {tool}");
        if tool == "at_once" || version != STATELESS {
            drop(response);
            // A call of a session goes on without its client.
            seen.release.notify_one();
            seen.starts().await;
        }
    }
}

#[tokio::test]
async fn a_task_of_a_session_waits_for_a_client_that_reads_slowly_and_not_for_one_that_left() {
    let (mut client, seen) = setup(|server| server);
    let response = call(&mut client, "2025-11-25", "later", false).await;
    seen.release.notify_one();
    assert!(!seen.has_started().await, "the client is connected, and has not read the reply");
    drop(response);
    seen.starts().await;
}

/// Leaves a task that takes that many seconds.
#[tool]
async fn takes(seconds: u64, background: BackgroundTasks) -> Result<(), CallError> {
    background.add(tokio::time::sleep(Duration::from_secs(seconds)))?;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_server_that_stops_waits_for_tasks_for_the_grace_period_and_then_cancels_them() {
    for (seconds, status) in [(5, BackgroundStatus::Succeeded), (3600, BackgroundStatus::Cancelled)] {
        let server = Server::new("late", "1.0.0").tools(tools![takes]).grace_period(Duration::from_secs(10));
        let client = Client::new(server);
        let reply = client.call_tool("takes", json!({ "seconds": seconds })).await.expect("a result");
        assert!(!reply.background.statuses()[0].is_over());
        finish_teardown(&client.server().0, ready(())).await;
        assert_eq!(reply.background.statuses(), [status], "{seconds}");
    }
}
