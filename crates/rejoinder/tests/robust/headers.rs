//! Headers that are missing, contradict the body or each other, or are not text.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use crate::{
    client::{Post, call, request},
    fixture::Host,
};

fn add() -> Post {
    Post::of(&call("add", json!({ "a": 1, "b": 2 })))
}

#[tokio::test]
async fn headers_that_repeat_the_body_must_occur_once_and_match() {
    let host = Host::start().await;
    for (name, right) in [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "add")] {
        let encoded = format!("=?base64?{}?=", STANDARD.encode(right));
        let good = [
            add(),
            add().set(&name.to_uppercase(), right),
            add().set(name, format!(" \t{right} ")),
            add().set(name, encoded),
        ];
        for post in good {
            assert_eq!(host.post(&post).await.text(), "3", "{name}");
        }
        let other = STANDARD.encode("other");
        let bad = [
            ("missing", add().without(name)),
            ("empty", add().set(name, "")),
            ("other", add().set(name, "other")),
            ("in capitals", add().set(name, right.to_uppercase().replace("2026-07-28", "2026-07-29"))),
            ("twice", add().also(name, right)),
            ("contradicting", add().also(name, "other")),
            ("a list", add().set(name, format!("{right}, {right}"))),
            ("UTF-8", add().set(name, "äöü")),
            ("Latin-1", add().set(name, b"\xE4")),
            ("other, encoded", add().set(name, format!("=?base64?{other}?="))),
            ("not base64", add().set(name, "=?base64?%%%?=")),
            ("base64 without padding", add().set(name, "=?base64?YQ?=")),
            ("base64 of no text", add().set(name, "=?base64?//79?=")),
            ("base64 of nothing", add().set(name, "=?base64??=")),
            ("half encoded", add().set(name, format!("=?base64?{other}"))),
            ("long", add().set(name, "x".repeat(20_000))),
        ];
        for (what, post) in bad {
            let response = host.post(&post).await;
            assert_eq!(response.refusal(), (400, -32020), "{name}: {what}");
            assert!(response.message().contains(name), "{what}: {}", response.message());
            assert_eq!(response.json()["id"], 1, "{name}: {what}");
        }
    }
    host.still_answers().await;
}

#[tokio::test]
async fn names_that_no_header_can_carry_are_encoded() {
    let host = Host::start().await;
    let read = request("resources/read", json!({ "uri": "no://ü\n" }));
    let name = format!("=?base64?{}?=", STANDARD.encode("no://ü\n"));
    let response = host.post(&Post::of(&read).set("Mcp-Name", name)).await;
    assert_eq!((response.refusal(), &response.json()["error"]["data"]["uri"]), ((400, -32602), &json!("no://ü\n")));
}

#[tokio::test]
async fn only_requests_for_this_host_from_this_machine_are_served() {
    let host = Host::start().await;
    let port = host.address.port();
    let good = [
        add().set("Host", format!("127.0.0.1:{port}")),
        add().set("Host", "[::1]:1"),
        add().set("Origin", "http://localhost:3000"),
    ];
    for post in good {
        assert_eq!(host.post(&post).await.text(), "3");
    }
    let bad = [
        ("a foreign host", add().set("Host", "evil.example")),
        ("a host that begins like ours", add().set("Host", "localhost.evil.example")),
        ("no host", add().without("Host")),
        ("an empty host", add().set("Host", "")),
        ("two hosts", add().also("Host", "localhost")),
        ("a second, foreign host", add().also("Host", "evil.example")),
        ("a host that is not text", add().set("Host", b"localhost\xFF")),
        ("a user in the host", add().set("Host", "localhost@evil.example")),
        (
            "a foreign host, ours in the target",
            add().set("Host", "evil.example").line("POST http://localhost/mcp HTTP/1.1"),
        ),
        ("a foreign origin", add().set("Origin", "https://evil.example")),
        ("a sandboxed origin", add().set("Origin", "null")),
        ("an empty origin", add().set("Origin", "")),
        ("two origins", add().also("Origin", "http://localhost").also("Origin", "http://localhost")),
    ];
    for (what, post) in bad {
        // This check comes first, before the method is known.
        for post in [post.clone(), post.line("GET /mcp HTTP/1.1")] {
            assert_eq!(host.post(&post).await.refusal(), (403, -32600), "{what}");
        }
    }
    host.still_answers().await;
}

#[tokio::test]
async fn the_content_type_must_be_json() {
    let host = Host::start().await;
    for good in ["application/json", "Application/JSON", "application/json; charset=utf-8", "application/json;x=\"y\""]
    {
        assert_eq!(host.post(&add().set("Content-Type", good)).await.text(), "3", "{good}");
    }
    for bad in
        ["", "text/plain", "application/x-www-form-urlencoded", "application/jsonp", "application/json/x", "json"]
    {
        assert_eq!(host.post(&add().set("Content-Type", bad)).await.refusal(), (415, -32600), "{bad}");
    }
    assert_eq!(host.post(&add().without("Content-Type")).await.refusal(), (415, -32600));
    host.still_answers().await;
}

#[tokio::test]
async fn the_reply_has_an_accepted_type() {
    let host = Host::start().await;
    let chat = crate::client::observed(call("chat", json!({ "name": "n" })), 1);
    let chat = Post::of(&chat);
    for (accept, kind) in [
        ("application/json, text/event-stream", "text/event-stream"),
        ("text/event-stream, application/json;q=0.5", "text/event-stream"),
        ("TEXT/Event-Stream, Application/JSON", "text/event-stream"),
        ("*/*", "text/event-stream"),
        ("text/html, */*;q=0.1", "text/event-stream"),
        ("text/*", "text/event-stream"),
        ("application/json", "application/json"),
        ("application/*", "application/json"),
    ] {
        let response = host.post(&chat.clone().set("Accept", accept)).await;
        assert_eq!(response.status, 200);
        assert!(response.head.contains(&format!("content-type: {kind}")), "{accept}: {}", response.head);
    }
    assert!(host.post(&chat.clone().without("Accept")).await.head.contains("text/event-stream"));
    for accept in ["text/html", "image/*", "application/jsonp", ";"] {
        assert_eq!(host.post(&chat.clone().set("Accept", accept)).await.refusal(), (406, -32600), "{accept}");
    }
    let listen = request("subscriptions/listen", json!({ "notifications": {} }));
    let response = host.post(&Post::of(&listen).set("Accept", "application/json")).await;
    assert_eq!(response.refusal(), (406, -32600));
    host.still_answers().await;
}

#[tokio::test]
async fn too_many_headers_are_refused() {
    let host = Host::start().await;
    let many = (0..200).fold(add(), |post, number| post.also(&format!("X-{number}"), "x"));
    let cases = [
        ("one huge", add().set("Mcp-Name", "x".repeat(1024 * 1024))),
        ("many", many),
        ("a huge name", add().set(&"x".repeat(100_000), "x")),
    ];
    for (what, post) in cases {
        assert_eq!(host.post(&post).await.status, 431, "{what}");
    }
    // More than a header's worth of text without a line break: refused, not collected.
    let response = host.exchange(vec![b'x'; 2 * 1024 * 1024]).await;
    assert_eq!(response.expect("an answer").status, 431);
    let long_target = add().line(&format!("POST /{} HTTP/1.1", "x".repeat(100_000)));
    assert_eq!(host.post(&long_target).await.status, 431);
    host.still_answers().await;
}

#[tokio::test]
async fn a_stateless_request_ignores_a_session_id() {
    let host = Host::start().await;
    let post = add().set("Mcp-Session-Id", "someone-elses").set("Last-Event-ID", "7");
    let response = host.post(&post).await;
    assert_eq!(response.text(), "3");
    assert!(!response.head.contains("mcp-session-id"));
    assert_ne!(response.json()["result"], Value::Null);
}
