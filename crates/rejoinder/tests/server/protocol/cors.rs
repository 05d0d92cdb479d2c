//! Pages in browsers: which of them may read what the server answers.

use rejoinder::http;
use serde_json::json;

use crate::protocol::{
    fixture::server,
    wire::{Answer, Post, message, post},
};

const APP: &str = "https://app.example";

/// What a browser asks before it sends what a page wants to send.
fn preflight(origin: &str) -> Post {
    Post { method: "OPTIONS", headers: Default::default(), body: String::new() }
        .header("host", "localhost")
        .header("origin", origin)
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "content-type,mcp-method,mcp-param-region,x-request-id")
}

fn says_nothing_to_pages(answer: &Answer) -> bool {
    !answer.headers.keys().any(|name| name.as_str().starts_with("access-control-"))
}

#[tokio::test]
async fn an_allowed_origin_may_send_every_header_of_clients() {
    let server = server().http(http::Config::new().allow_origin(APP)).build().unwrap();
    let answer = preflight(APP).send(&server).await;
    assert_eq!((answer.status, answer.body.as_str()), (204, ""));
    assert_eq!(answer.header("access-control-allow-origin"), Some(APP));
    assert_eq!(answer.header("access-control-allow-methods"), Some("GET, POST, DELETE"));
    let headers = answer.header("access-control-allow-headers");
    assert_eq!(headers, Some("content-type,mcp-method,mcp-param-region,x-request-id"));
    assert!(answer.header("vary").is_some_and(|vary| vary.to_ascii_lowercase().contains("origin")));
    assert_eq!(answer.header("access-control-allow-credentials"), None, "no page brings its user's cookies");
}

#[tokio::test]
async fn a_stateless_only_server_allows_only_post_to_pages() {
    let server = server().http(http::Config::new().allow_origin(APP)).stateless_only().build().unwrap();
    assert_eq!(preflight(APP).send(&server).await.header("access-control-allow-methods"), Some("POST"));
}

#[tokio::test]
async fn an_allowed_origin_may_read_every_answer() {
    let server = server().http(http::Config::new().allow_origin(APP)).build().unwrap();
    let initialize = json!({ "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "page", "version": "1" } });
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize });
    for (request, status) in [
        (post("tools/list", json!({})), 200),
        (post("no/such", json!({})), 404),
        (post("tools/list", json!({})).header("content-type", "text/plain"), 415),
        (post("tools/list", json!({})).body("{"), 400),
        (post("x", json!({})).verb("PUT"), 405),
        (
            post("x", json!({})).body(message(1, "notifications/x", json!({})).to_string().replacen(
                "\"id\":1,",
                "",
                1,
            )),
            202,
        ),
        (post("x", json!({})).without("mcp-protocol-version").body(&initialize), 200),
    ] {
        let shown = request.body.clone();
        let answer = request.header("origin", APP).send(&server).await;
        assert_eq!(answer.status, status, "{shown}");
        assert_eq!(answer.header("access-control-allow-origin"), Some(APP), "{shown}");
        assert_eq!(answer.header("access-control-expose-headers"), Some("Mcp-Session-Id, WWW-Authenticate"), "{shown}");
        assert!(answer.header("vary").is_some_and(|vary| vary.to_ascii_lowercase().contains("origin")), "{shown}");
    }
}

#[tokio::test]
async fn other_origins_get_no_cors_headers() {
    let server = server().http(http::Config::new().allow_origin(APP)).build().unwrap();
    for origin in ["https://evil.example", "null", "http://app.example"] {
        for request in [preflight(origin), post("tools/list", json!({})).header("origin", origin)] {
            let answer = request.send(&server).await;
            assert!(answer.status == 403 && says_nothing_to_pages(&answer), "{origin}: {answer:?}");
        }
    }
    // A page of this machine is accepted where its browser sends the request at all, which it does not announce.
    let local = preflight("http://localhost:5173").send(&server).await;
    assert!(local.status == 405 && says_nothing_to_pages(&local), "{local:?}");
    let rebound = preflight(APP).header("host", "evil.example").send(&server).await;
    assert!(rebound.status == 403 && says_nothing_to_pages(&rebound), "{rebound:?}");
}

#[tokio::test]
async fn requests_without_an_origin_get_no_cors_headers() {
    let server = server().http(http::Config::new().allow_origin(APP)).build().unwrap();
    let answer = post("tools/list", json!({})).send(&server).await;
    assert!(answer.status == 200 && says_nothing_to_pages(&answer));
    let options = post("tools/list", json!({})).verb("OPTIONS").send(&server).await;
    assert_eq!((options.status, options.header("allow")), (405, Some("POST")), "that is all there is for its era");
}
