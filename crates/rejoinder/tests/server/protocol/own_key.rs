//! What a server says of a key that no other process has.

use rejoinder::{
    BuiltServer,
    prelude::*,
    state::{StateKeys, StatePolicy},
    testing::Client,
};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::{
    logged::Logged,
    protocol::{
        questions::{asking, can_be_asked, pack},
        wire::post,
    },
};

/// The levels at which the key was spoken of.
fn spoken(logged: &Logged) -> Vec<String> {
    let lines = logged.text();
    let of_the_key = lines.lines().filter(|line| line.contains("a random key of this process"));
    of_the_key.map(|line| line.split_whitespace().nth(1).unwrap().to_owned()).collect()
}

async fn asks(server: &BuiltServer) {
    let asked = post("tools/call", json!({ "name": "pack", "_meta": can_be_asked() })).send(server).await;
    assert_eq!(asked.json()["result"]["resultType"], "input_required");
}

#[tokio::test]
async fn a_mounted_server_warns_about_a_random_key_when_it_asks() {
    let (logged, _guard) = Logged::here();
    let server = asking();
    post("tools/list", json!({})).send(&server).await;
    assert_eq!(spoken(&logged), [] as [&str; 0]);
    for _ in 0..3 {
        asks(&server).await;
        assert_eq!(spoken(&logged), ["WARN"], "once is enough");
    }
    let keys = StateKeys::new([b"a key of 32 bytes for some tests"]).unwrap();
    asks(&Server::new("asking", "1.0.0").tools(tools![pack]).state(StatePolicy::new().keys(keys)).build().unwrap())
        .await;
    assert_eq!(spoken(&logged), ["WARN"], "keys that were given are not spoken of");
}

#[tokio::test]
async fn a_server_on_loopback_mentions_a_random_key() {
    let (logged, _guard) = Logged::here();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let serving = tokio::spawn(asking().serve_http(listener));
    while spoken(&logged).is_empty() {
        tokio::task::yield_now().await;
    }
    serving.abort();
    assert_eq!(spoken(&logged), ["INFO"]);
}

#[tokio::test]
async fn a_test_gets_no_warning_about_a_random_key() {
    let (logged, _guard) = Logged::here();
    let client = Client::new(asking()).answer_with("what", Value::Null);
    let asked = client.request("tools/call", json!({ "name": "pack" })).await.unwrap();
    assert_eq!(asked["resultType"], "input_required");
    assert_eq!(spoken(&logged), [] as [&str; 0]);
}
