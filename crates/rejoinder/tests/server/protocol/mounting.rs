//! A server inside an application of yours.

use axum::{Extension, Router, body::Body};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower_service::Service;

use crate::protocol::{fixture::built, wire::post};

async fn ask(app: &mut Router, path: &str, request: crate::protocol::wire::Post) -> (u16, Value) {
    let mut request = request.request().map(Body::new);
    *request.uri_mut() = path.parse().unwrap();
    let Ok(response) = app.call(request).await;
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&body).unwrap_or_default())
}

#[tokio::test]
async fn extensions_of_a_layer_reach_the_tool_at_any_path() {
    let mut app = Router::new()
        .route("/health", axum::routing::get(|| async { "fine" }))
        .route_service("/api/v1/tools", built().into_service())
        .layer(Extension("ada"));
    let request = post("tools/call", json!({ "name": "whoami" })).header("x-request-id", "7");
    let (status, reply) = ask(&mut app, "/api/v1/tools", request.clone()).await;
    assert_eq!(status, 200);
    assert_eq!(reply["result"]["structuredContent"]["extension"], "ada");
    assert_eq!(reply["result"]["structuredContent"]["header"], "7");
    assert_eq!(ask(&mut app, "/mcp", request).await.0, 404);
}

#[tokio::test]
async fn two_servers_in_one_application_are_independent() {
    let empty = rejoinder::Server::new("empty", "1").tools([]).build().unwrap();
    let inner = Router::new().route_service("/mcp", empty.into_service());
    let mut app = Router::new().route_service("/mcp", built().into_service()).nest("/empty", inner);
    let list = || post("tools/list", json!({}));
    assert_eq!(ask(&mut app, "/mcp", list()).await.1["result"]["tools"].as_array().unwrap().len(), 8);
    assert_eq!(ask(&mut app, "/empty/mcp", list()).await.1["result"]["tools"], json!([]));
}
