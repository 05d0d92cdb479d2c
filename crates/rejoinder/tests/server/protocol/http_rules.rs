//! C57 to C59: the endpoint.

use rejoinder::http;
use rejoinder::server::Limits;
use serde_json::{Value, json};

use crate::protocol::{
    fixture::{built, one_of_each, server},
    wire::{meta, post},
};

#[tokio::test]
async fn c57_a_stateless_only_server_accepts_only_post() {
    let server = server().stateless_only().build().unwrap();
    for verb in ["GET", "DELETE", "PUT", "PATCH"] {
        let answer = post("tools/list", json!({})).verb(verb).send(&server).await;
        assert_eq!(answer.status, 405, "{verb}");
        assert_eq!(answer.header("allow"), Some("POST"));
    }
}

#[tokio::test]
async fn c57_a_stateless_client_has_only_post_even_beside_sessions() {
    let server = built();
    for verb in ["GET", "DELETE", "PUT"] {
        let request = || post("tools/list", json!({})).verb(verb);
        for request in [request(), request().header("mcp-session-id", "x")] {
            let answer = request.send(&server).await;
            assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")), "{verb}");
            assert!(answer.body.contains("requests are sent with POST"), "{}", answer.body);
        }
    }
    for request in [
        post("tools/list", json!({})).without("mcp-protocol-version"),
        post("tools/list", json!({})).header("mcp-protocol-version", "2025-11-25"),
    ] {
        for verb in ["GET", "DELETE"] {
            let answer = request.clone().verb(verb).send(&server).await;
            assert_eq!(answer.status, 400, "{verb}");
            assert!(answer.body.contains("a session begins with `initialize`"), "{}", answer.body);
        }
        let answer = request.verb("PUT").send(&server).await;
        assert_eq!((answer.status, answer.header("allow")), (405, Some("GET, POST, DELETE")));
    }
}

#[tokio::test]
async fn c57_session_ids_and_event_ids_are_ignored_and_not_sent() {
    let server = server().stateless_only().build().unwrap();
    for (method, params) in one_of_each() {
        let request = post(method, params).header("mcp-session-id", "x").header("last-event-id", "7");
        let answer = request.send(&server).await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("mcp-session-id"), None);
    }
    let mut meta = meta();
    meta["progressToken"] = json!(1);
    let answer = post("tools/call", json!({ "name": "count", "_meta": meta })).send(&server).await;
    assert!(!answer.body.lines().any(|line| line.starts_with("id:")), "events have no ids to come back with");
}

#[tokio::test]
async fn c58_o18_a_foreign_origin_is_forbidden_on_every_request() {
    let server = built();
    for (method, params) in one_of_each() {
        let answer = post(method, params).header("origin", "https://evil.example").send(&server).await;
        assert_eq!(answer.status, 403, "{method}");
    }
    for verb in ["GET", "DELETE", "OPTIONS"] {
        let answer = post("tools/list", json!({})).verb(verb).header("origin", "null").send(&server).await;
        assert_eq!(answer.status, 403, "{verb}");
    }
    let nonsense = post("tools/list", json!({})).header("origin", "https://evil.example").body("{");
    assert_eq!(nonsense.send(&server).await.status, 403);
    let local = post("tools/list", json!({})).header("origin", "http://localhost:5173");
    assert_eq!(local.send(&server).await.status, 200);
}

#[tokio::test]
async fn c58_o18_a_foreign_host_is_forbidden_unless_allowed() {
    let rebound = || post("tools/list", json!({})).header("host", "mcp.example:8000");
    assert_eq!(rebound().send(&built()).await.status, 403);
    assert_eq!(
        rebound().send(&server().http(http::Config::new().allow_host("mcp.example")).build().unwrap()).await.status,
        200
    );
    let app = || post("tools/list", json!({})).header("origin", "https://app.example");
    assert_eq!(app().send(&built()).await.status, 403);
    assert_eq!(
        app()
            .send(&server().http(http::Config::new().allow_origin("https://app.example")).build().unwrap())
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn c59_a_notification_is_accepted_without_a_body() {
    let server = built();
    for (method, params) in [
        ("notifications/cancelled", json!({ "requestId": 1 })),
        ("notifications/unheard_of", json!({ "_meta": meta() })),
        ("notifications/unheard_of", Value::Null),
    ] {
        let mut body = json!({ "jsonrpc": "2.0", "method": method });
        if !params.is_null() {
            body["params"] = params;
        }
        let answer = post(method, json!({})).body(body).send(&server).await;
        assert_eq!((answer.status, answer.body.as_str()), (202, ""), "{method}");
        assert_eq!(answer.header("content-type"), None);
    }
    let broken = post("notifications/x", json!({})).body(r#"{"jsonrpc":"2.0","method":"notifications/x","params":3}"#);
    assert_eq!(broken.send(&server).await.status, 400);
}

#[tokio::test]
async fn c59_a_reply_is_json_or_a_stream_that_ends_with_it() {
    let server = built();
    let plain = post("tools/call", json!({ "name": "count" })).send(&server).await;
    assert_eq!(plain.header("content-type"), Some("application/json"));
    assert_eq!(plain.json()["result"]["content"][0]["text"], "counted");

    let mut meta = meta();
    meta["progressToken"] = json!(1);
    let params = json!({ "name": "count", "_meta": meta });
    let streamed = post("tools/call", params.clone()).send(&server).await;
    assert_eq!(streamed.header("content-type"), Some("text/event-stream"));
    let (last, before) = streamed.events().split_last().map(|(last, before)| (last.clone(), before.to_vec())).unwrap();
    assert_eq!(last["result"]["content"][0]["text"], "counted");
    assert!(before.iter().all(|message| message.get("id").is_none()));

    let no_events = post("tools/call", params).header("accept", "application/json").send(&server).await;
    assert_eq!(no_events.json()["result"]["content"][0]["text"], "counted");
}

#[tokio::test]
async fn c59_a_response_or_a_batch_is_refused() {
    let server = built();
    for body in [
        json!({ "jsonrpc": "2.0", "id": 1, "result": {} }),
        json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": 1, "message": "no" } }),
        json!([{ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta() } }]),
    ] {
        let answer = post("tools/list", json!({})).body(&body).send(&server).await;
        assert_eq!((answer.status, answer.code()), (400, Some(-32600)), "{body}");
    }
}

#[tokio::test]
async fn a_body_must_be_json_within_the_limit_and_acceptable() {
    let server = server().limits(Limits::new().message_size(500)).build().unwrap();
    let request = || post("tools/list", json!({}));
    assert_eq!(request().header("content-type", "text/plain").send(&server).await.status, 415);
    assert_eq!(request().without("content-type").send(&server).await.status, 415);
    assert_eq!(request().header("content-type", "Application/JSON; charset=utf-8").send(&server).await.status, 200);
    assert_eq!(request().header("accept", "text/html").send(&server).await.status, 406);
    assert_eq!(request().header("accept", "*/*").send(&server).await.status, 200);
    assert_eq!(request().body("x".repeat(501)).send(&server).await.status, 413);
}
