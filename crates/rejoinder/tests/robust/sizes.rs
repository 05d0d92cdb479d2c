//! Bodies that are too long, too slow or not all there.

use std::time::Duration;

use rejoinder::http;
use rejoinder::server::Limits;
use serde_json::json;
use tokio::io::AsyncWriteExt;

use crate::{
    client::{Post, call, within},
    fixture::Host,
};

const MIB: usize = 1024 * 1024;

#[tokio::test]
async fn a_body_over_the_limit_by_its_length_header_is_refused_unread() {
    let host = Host::start().await;
    let long = Post::raw(vec![b' '; 5 * MIB]);
    assert_eq!(host.post(&long).await.refusal(), (413, -32600));
    // The server refuses it before any of it is sent, and sends no `100 Continue`.
    let expecting = host.exchange(long.set("Expect", "100-continue").head()).await.expect("an answer");
    assert_eq!(expecting.refusal(), (413, -32600));
    assert_eq!(expecting.message(), "the body is larger than 4194304 bytes");
    host.still_answers().await;
}

#[tokio::test]
async fn a_body_that_exceeds_the_limit_is_refused_while_it_arrives() {
    let host = Host::start().await;
    let chunked = Post::raw("").without("Content-Length").set("Transfer-Encoding", "chunked");
    let mut connection = host.connect().await;
    connection.send(chunked.head()).await;
    // It never ends: only the limit makes an answer come.
    let chunk = [b"100000\r\n".to_vec(), vec![b' '; MIB], b"\r\n".to_vec()].concat();
    for _ in 0..5 {
        connection.send(&chunk).await;
    }
    assert_eq!(connection.response().await.expect("an answer").refusal(), (413, -32600));
    host.still_answers().await;
}

#[tokio::test]
async fn a_client_that_sends_everything_before_it_reads_sees_why_its_body_is_refused() {
    let host = Host::start().await;
    let body = vec![b' '; 8 * MIB];
    let long = Post::raw(body.clone());
    let chunked = long.clone().without("Content-Length").set("Transfer-Encoding", "chunked");
    let chunked = [chunked.head(), b"800000\r\n".to_vec(), body, b"\r\n0\r\n\r\n".to_vec()].concat();
    let foreign = long.clone().set("Host", "evil.example").bytes();
    for (request, status) in [(long.bytes(), 413), (chunked, 413), (foreign, 403)] {
        let mut connection = host.connect().await;
        within(connection.socket.write_all(&request)).await.expect("the server reads on");
        assert_eq!(connection.response().await.expect("an answer").refusal(), (status, -32600));
        // The connection serves the next request.
        connection.send(Post::of(&call("add", json!({ "a": 1, "b": 2 }))).bytes()).await;
        assert_eq!(connection.response().await.expect("an answer").text(), "3");
    }
}

#[tokio::test]
async fn the_server_reads_a_refused_body_for_a_while_and_not_without_end() {
    let short = http::Config::new().body_timeout(Duration::from_secs(1));
    let host = Host::start_at(short, |server| server).await;
    let mut connection = host.connect().await;
    connection.send(Post::raw("").set("Content-Length", "1000000000").head()).await;
    assert_eq!(connection.response().await.expect("an answer").refusal(), (413, -32600));
    assert!(connection.response().await.is_none(), "the connection ends");
    host.still_answers().await;
}

#[tokio::test]
async fn a_body_of_exactly_the_limit_is_read() {
    let host = Host::start_with(|server| server.limits(Limits::new().message_size(1000))).await;
    let body = call("add", json!({ "a": 1, "b": 2 })).to_string();
    let padded = |length: usize| Post::raw(format!("{body}{}", " ".repeat(length - body.len())));
    assert_eq!(host.post(&padded(1000)).await.text(), "3");
    assert_eq!(host.post(&padded(1001)).await.refusal(), (413, -32600));
}

#[tokio::test]
async fn a_body_that_does_not_arrive_in_time_is_refused() {
    let host = Host::start_at(http::Config::new().body_timeout(Duration::from_secs(1)), |server| server).await;
    let add = Post::of(&call("add", json!({ "a": 1, "b": 2 })));
    let chunked = add.clone().without("Content-Length").set("Transfer-Encoding", "chunked");
    for head in [add.head(), chunked.head()] {
        let mut silent = host.connect().await;
        silent.send(&head).await;
        assert_eq!(silent.response().await.expect("an answer").refusal(), (408, -32600));
    }
    // Byte by byte, without end: each byte is in time, the body is not.
    let mut drip = host.connect().await;
    drip.send(chunked.head()).await;
    let (reader, mut writer) = drip.socket.into_split();
    let dripping = tokio::spawn(async move {
        while writer.write_all(b"1\r\n \r\n").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    let mut answer = Vec::new();
    let _ = within(tokio::io::AsyncReadExt::read_to_end(&mut { reader }, &mut answer)).await;
    assert!(answer.starts_with(b"HTTP/1.1 408 "), "{}", String::from_utf8_lossy(&answer));
    within(dripping).await.expect("the server hung up");
    host.still_answers().await;
}

#[tokio::test]
async fn an_incomplete_body_is_not_a_request() {
    let host = Host::start().await;
    let add = Post::of(&call("add", json!({ "a": 1, "b": 2 })));
    for cut in [0, 1, add.body.len() / 2, add.body.len() - 1] {
        let mut connection = host.connect().await;
        connection.send(&[add.head(), add.body[..cut].to_vec()].concat()).await;
        connection.socket.shutdown().await.expect("half closed");
        let response = connection.response().await.expect("an answer, although it sends no more");
        assert_eq!(response.refusal(), (400, -32600), "cut at {cut}");
        assert_eq!(response.message(), "the body is incomplete");
        host.still_answers().await;
    }
}

#[tokio::test]
async fn a_body_may_arrive_in_any_pieces() {
    let host = Host::start().await;
    let add = Post::of(&call("add", json!({ "a": 1, "b": 2 })));
    let mut connection = host.connect().await;
    connection.socket.set_nodelay(true).expect("a socket");
    for byte in add.bytes() {
        connection.send([byte]).await;
    }
    assert_eq!(connection.response().await.expect("an answer").text(), "3");

    let chunked = add.clone().without("Content-Length").set("Transfer-Encoding", "chunked");
    connection.send(chunked.head()).await;
    for byte in add.body {
        connection.send([b"1\r\n", &[byte][..], b"\r\n"].concat()).await;
    }
    connection.send("0\r\n\r\n").await;
    assert_eq!(connection.response().await.expect("an answer").text(), "3");
}

#[tokio::test]
async fn an_error_is_not_longer_than_its_cause() {
    let host = Host::start().await;
    let unknown: serde_json::Map<_, _> = (0..50_000).map(|number| (format!("k{number}"), json!(0))).collect();
    let doubles: String = (0..50_000).map(|number| format!("\"k{number}\":0,\"k{number}\":0,")).collect();
    let doubles = format!("{{{}}}", doubles.trim_end_matches(','));
    let long = format!("{{\"{0}\":0,\"{0}\":0}}", "x".repeat(MIB));
    let plain = [json!(unknown), json!({ "x".repeat(MIB): 1 }), json!({ "a": "x".repeat(MIB), "b": 1 })];
    for arguments in plain.iter().map(ToString::to_string).chain([doubles, long]) {
        let body = call("add", json!("ARGUMENTS")).to_string().replace("\"ARGUMENTS\"", &arguments);
        let response = host.post(&Post::raw(body)).await;
        assert_eq!(response.json()["result"]["isError"], true);
        assert!(response.body.len() < 10_000, "{} bytes", response.body.len());
    }
    host.still_answers().await;
}
