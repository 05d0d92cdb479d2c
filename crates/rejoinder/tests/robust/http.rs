//! HTTP that is old, odd or wrong.

use rejoinder::{Server, http};
use serde_json::json;

use crate::{
    client::{Post, call, observed},
    fixture::Host,
    logged::Logged,
};

fn add(a: i64) -> Post {
    Post::of(&call("add", json!({ "a": a, "b": 2 })))
}

#[tokio::test]
async fn only_post_is_answered() {
    let host = Host::start_with(Server::stateless_only).await;
    for method in ["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW", "post"] {
        let response = host.post(&add(1).line(&format!("{method} /mcp HTTP/1.1"))).await;
        assert_eq!((response.status, response.head.contains("allow: post")), (405, true), "{method}");
    }
    // The answer to HEAD has no body, whatever it says of its length.
    let mut connection = host.connect().await;
    connection.send(add(1).line("HEAD /mcp HTTP/1.1").bytes()).await;
    assert_eq!(connection.head().await.expect("an answer").status, 405);
    host.still_answers().await;
}

#[tokio::test]
async fn there_is_one_path() {
    let host = Host::start().await;
    for target in ["/", "/mcp/x", "/MCP", "//mcp", "/mcp/../mcp", "/%6dcp", "/mc", "/mcpp", "*", "/sse"] {
        let status = host.post(&add(1).line(&format!("POST {target} HTTP/1.1"))).await.status;
        assert_eq!(status, 404, "{target}");
    }
    for target in ["/mcp?x=y", "/mcp?", "/mcp/", "/mcp/?x", "http://localhost/mcp"] {
        assert_eq!(host.post(&add(1).line(&format!("POST {target} HTTP/1.1"))).await.text(), "3", "{target}");
    }
}

#[tokio::test]
async fn the_path_can_be_set() {
    for (path, target, other) in
        [("/tools/shop", "/tools/shop/", "/mcp"), ("/shop/", "/shop", "/mcp"), ("/", "/", "/mcp")]
    {
        let host = Host::start_at(http::Config::new().path(path), |server| server).await;
        assert_eq!(host.post(&add(1).line(&format!("POST {target} HTTP/1.1"))).await.text(), "3", "{path}");
        let elsewhere = host.post(&add(1).line(&format!("POST {other} HTTP/1.1"))).await;
        assert_eq!(elsewhere.status, 404);
        assert_eq!(elsewhere.body, format!("the MCP endpoint is {path}\n").as_bytes());
    }
    for bad in ["mcp", "", "/mcp?x", "/m cp", "/healthz"] {
        let server = Server::new("odd", "1.0.0").http(http::Config::new().path(bad));
        let error = server.check().expect_err("not a path").to_string();
        assert!(error.contains(&format!("`{bad}` is not a path")), "{error}");
    }
}

#[tokio::test]
async fn a_load_balancer_can_ask_whether_the_server_is_up() {
    let host = Host::start().await;
    let health = Post::raw("").line("GET /healthz HTTP/1.1").set("Host", "10.0.0.7:8000");
    let response = host.post(&health).await;
    assert_eq!((response.status, &*response.body), (200, &b"ok\n"[..]));
    assert_eq!(host.post(&health.line("POST /healthz HTTP/1.1")).await.status, 404);
}

#[tokio::test]
async fn a_refused_host_is_logged_once_with_the_remedy() {
    let (logged, _guard) = Logged::here();
    let host = Host::start().await;
    for _ in 0..3 {
        let foreign = add(1).set("Host", "shop.internal");
        assert_eq!(host.post(&foreign).await.refusal(), (403, -32600));
    }
    let text = logged.text();
    assert_eq!(text.matches("refused a request").count(), 1, "{text}");
    assert!(text.contains("shop.internal") && text.contains("--allow-host"), "{text}");
}

#[tokio::test]
async fn http_1_0_is_served_and_then_closed() {
    let host = Host::start().await;
    let mut connection = host.connect().await;
    connection.send(add(1).line("POST /mcp HTTP/1.0").bytes()).await;
    assert_eq!(connection.response().await.expect("an answer").text(), "3");
    assert!(connection.response().await.is_none());

    // It knows no chunks: a stream of events just ends.
    let chat = Post::of(&observed(call("chat", json!({ "name": "n" })), "t")).line("POST /mcp HTTP/1.0");
    let response = host.post(&chat).await;
    assert!(!response.head.contains("chunked"));
    let events = String::from_utf8(response.body).expect("text");
    assert_eq!(events.matches("event: message").count(), 41);
    assert!(events.trim_end().lines().last().is_some_and(|last| last.contains("\"result\"")));
}

#[tokio::test]
async fn what_is_not_http_is_refused() {
    let host = Host::start().await;
    let add = || add(1);
    let chunked = || add().set("Transfer-Encoding", "chunked").without("Content-Length");
    let cases: Vec<Vec<u8>> = vec![
        b"hello\r\n\r\n".to_vec(),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".repeat(20),
        add().line("POST /mcp HTTP/9.9").bytes(),
        add().line("POST  /mcp  HTTP/1.1").bytes(),
        add().line("POST /mcp").bytes(),
        add().set("Content-Length", "x").bytes(),
        add().set("Content-Length", "-1").bytes(),
        add().set("Content-Length", "99999999999999999999999999").bytes(),
        add().also("Content-Length", "1").bytes(),
        add().set("Transfer-Encoding", "gzip").without("Content-Length").bytes(),
        add().also("Bad Name", "x").bytes(),
        add().also("X", "a\0b").bytes(),
    ];
    for bytes in cases {
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned();
        let response = host.exchange(&bytes).await.unwrap_or_else(|| panic!("no answer to {shown}"));
        // Refused before anybody looks at what it is about.
        assert_eq!((response.status, response.body.len()), (400, 0), "{shown}");
        host.still_answers().await;
    }
    // Its head is good, its chunks are not.
    for size in ["zz\r\n", "ffffffffffffffffff\r\n"] {
        let response = host.exchange([chunked().head(), size.into()].concat()).await.expect("an answer");
        assert_eq!(response.refusal(), (400, -32600), "{size}");
        host.still_answers().await;
    }
}

/// There is nothing to say to it in HTTP/1.1.
#[tokio::test]
async fn http_2_is_hung_up_on() {
    let host = Host::start().await;
    assert!(host.exchange("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.is_none());
    host.still_answers().await;
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let host = Host::start().await;
    let mut connection = host.connect().await;
    let all: Vec<u8> = (0..50).flat_map(|number| add(number).bytes()).collect();
    connection.send(all).await;
    for number in 0..50 {
        let response = connection.response().await.expect("an answer");
        assert_eq!(response.text(), (number + 2).to_string());
    }
}

/// A request inside the body of another one, which was refused before its body was read.
#[tokio::test]
async fn a_body_is_never_read_as_the_next_request() {
    let host = Host::start().await;
    let inner = add(40).bytes();
    let refused = [
        Post::raw(inner.clone()).set("Content-Type", "text/plain"),
        Post::raw(inner.clone()).set("Host", "evil.example"),
        Post::raw(inner.clone()).line("POST /elsewhere HTTP/1.1"),
        Post::raw(inner.clone()).line("GET /mcp HTTP/1.1"),
        Post::raw(inner.clone()).set("Accept", "text/html"),
        Post::raw([inner.clone(), vec![b' '; 5 * 1024 * 1024]].concat()),
        Post::raw(inner),
    ];
    for post in refused {
        let mut connection = host.connect().await;
        connection.send([post.bytes(), add(1).bytes()].concat()).await;
        let first = connection.response().await.expect("an answer");
        assert!(first.status >= 400, "{}", post.line);
        // Then the request that follows, or the end of the connection.
        if let Some(next) = connection.response().await {
            assert_eq!(next.text(), "3", "{}", post.line);
        }
    }
    host.still_answers().await;
}

/// One reader goes by the length, another by the chunks: what one takes for the body, the other takes for a request.
#[tokio::test]
async fn conflicting_body_lengths_are_refused() {
    let host = Host::start().await;
    let inner = add(40).bytes();
    let chunk = |bytes: &[u8]| [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n0\r\n\r\n"].concat();
    let both = |length: usize| add(1).set("Content-Length", length.to_string()).set("Transfer-Encoding", "chunked");
    let smuggled = [
        // The chunks end early, the length does not.
        [both(5 + inner.len()).head(), b"0\r\n\r\n".to_vec(), inner.clone()].concat(),
        // The length ends early, the chunks do not.
        [both(4).head(), chunk(&inner)].concat(),
        [both(4).head(), b"0\r\n\r\n".to_vec(), inner.clone()].concat(),
        // A good request by its chunks, and then another.
        [both(4).head(), chunk(&add(1).body), inner.clone()].concat(),
        [both(add(1).body.len()).also("Transfer-Encoding", "identity").head(), chunk(&add(1).body), inner].concat(),
    ];
    for bytes in smuggled {
        let shown = String::from_utf8_lossy(&bytes).into_owned();
        let mut connection = host.connect().await;
        connection.send(bytes).await;
        let mut answers = Vec::new();
        while let Some(answer) = connection.response().await {
            answers.push(answer);
        }
        // Whatever becomes of it, nothing that follows on the connection is answered.
        assert_eq!(answers.len(), 1, "{answers:#?} to {shown}");
        assert!(!String::from_utf8_lossy(&answers[0].body).contains("42"), "{answers:#?} to {shown}");
        host.still_answers().await;
    }
}
