//! Many clients at once.

use rejoinder::http;
use rejoinder::server::Limits;
use serde_json::json;

use crate::{
    client::{Post, call, observed},
    fixture::{Events, Host, everywhere},
    ways::{Session, Way, in_session},
};

/// How many calls wait over HTTP. Both ends of each connection are in this process, which may have only 1,024 open files.
const CALLS: u32 = 300;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hundreds_of_waiting_calls_do_not_delay_others() {
    let host = Host::start().await;
    let mut waiting = Vec::new();
    for number in 0..CALLS {
        let mut connection = host.connect().await;
        connection.send(Post::of(&call("wait", json!({ "number": number }))).bytes()).await;
        waiting.push(connection);
    }
    Events::happened(&host.events.waiting, CALLS).await;
    for _ in 0..20 {
        host.still_answers().await;
    }
    host.events.release.add_permits(CALLS as usize);
    for (number, mut connection) in waiting.into_iter().enumerate() {
        let response = connection.response().await.expect("an answer");
        assert_eq!(response.text(), number.to_string());
    }
    host.still_answers().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hundreds_of_waiting_calls_in_sessions_do_not_delay_others() {
    let host = Host::start().await;
    let (mut sessions, mut waiting) = (Vec::new(), Vec::new());
    for _ in 0..10 {
        sessions.push(Session::begin(&host).await);
    }
    for number in 0..CALLS {
        let mut wait = in_session("tools/call", json!({ "name": "wait", "arguments": { "number": number } }));
        wait["id"] = number.into();
        waiting.push(sessions[number as usize % sessions.len()].open(&wait).await);
    }
    Events::happened(&host.events.waiting, CALLS).await;
    let add = in_session("tools/call", json!({ "name": "add", "arguments": { "a": 1, "b": 2 } }));
    for session in &sessions {
        let mut add = add.clone();
        add["id"] = "fast".into();
        let answer = session.ask(&add).await.messages().pop().expect("an answer");
        assert_eq!(answer["result"]["content"][0]["text"], "3", "{answer}");
        host.still_answers().await;
    }
    host.events.release.add_permits(CALLS as usize);
    for (number, mut connection) in waiting.into_iter().enumerate() {
        let answer = connection.response().await.expect("an answer").messages().pop().expect("a message");
        assert_eq!(
            (&answer["id"], &answer["result"]["content"][0]["text"]),
            (&json!(number), &json!(number.to_string()))
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_waiting_calls_on_a_connection_do_not_delay_others() {
    // A connection is one open file, whatever the number of calls.
    const PIPED: u32 = 1000;
    let host = Host::start_at(everywhere().max_calls_per_session(2000), |server| server).await;
    for mut way in Way::links(&host).await {
        let waits: Vec<_> = (0..PIPED).map(|number| way.call("wait", json!({ "number": number }))).collect();
        for (number, mut wait) in waits.into_iter().enumerate() {
            wait["id"] = format!("slow {number}").into();
            way.link().send(wait.to_string()).await;
        }
        Events::happened(&host.events.waiting, PIPED).await;
        for _ in 0..20 {
            way.still_answers().await;
        }
        host.events.release.add_permits(PIPED as usize);
        for _ in 0..PIPED {
            let answer = way.link().reply().await;
            let number = answer["result"]["content"][0]["text"].as_str().expect("a number");
            assert_eq!(answer["id"], format!("slow {number}"));
        }
    }
}

#[tokio::test]
async fn the_number_of_calls_on_a_connection_is_limited() {
    let host = Host::start_with(|server| server.limits(Limits::new().calls(2))).await;
    for mut way in Way::links(&host).await {
        let wait = way.call("wait", json!({ "number": 7 }));
        for number in 0..2 {
            let mut wait = wait.clone();
            wait["id"] = number.into();
            way.link().send(wait.to_string()).await;
        }
        Events::happened(&host.events.waiting, 2).await;
        let mut third = wait;
        third["id"] = "third".into();
        let answer = way.ask(&third).await;
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("third"), &json!(-32603)), "{answer}");
        let message = answer["error"]["message"].as_str().expect("a sentence");
        assert_eq!(message, "too many concurrent calls (limit 2), try again later");
        host.events.release.add_permits(2);
        for _ in 0..2 {
            assert_eq!(way.link().reply().await["result"]["content"][0]["text"], "7");
        }
        way.still_answers().await;
    }
}

#[tokio::test]
async fn connections_over_the_limit_wait() {
    let host = Host::start_at(http::Config::new().max_connections(2), |server| server).await;
    let (mut first, mut second) = (host.connect().await, host.connect().await);
    for connection in [&mut first, &mut second] {
        connection.send(Post::of(&call("add", json!({ "a": 1, "b": 2 }))).bytes()).await;
        assert_eq!(connection.response().await.expect("an answer").text(), "3");
    }
    let mut third = host.connect().await;
    third.send(Post::of(&call("wait", json!({ "number": 3 }))).bytes()).await;
    // The two are still served, and the third has not begun.
    first.send(Post::of(&call("add", json!({ "a": 1, "b": 2 }))).bytes()).await;
    assert_eq!(first.response().await.expect("an answer").text(), "3");
    assert_eq!(host.events.waiting.available_permits(), 0);
    drop(second);
    Events::happened(&host.events.waiting, 1).await;
    host.events.release.add_permits(1);
    assert_eq!(third.response().await.expect("an answer").text(), "3");
}

#[tokio::test]
async fn connections_that_send_nothing_do_not_block_others() {
    let host = Host::start().await;
    let mut silent = Vec::new();
    for number in 0..300 {
        let mut connection = host.connect().await;
        // Nothing at all, half a head, or a head without its body.
        match number % 3 {
            0 => {}
            1 => connection.send("POST /mcp HTTP/1.1\r\nHost: loc").await,
            _ => connection.send(Post::of(&call("add", json!({ "a": 1, "b": 2 }))).head()).await,
        }
        silent.push(connection);
    }
    for _ in 0..20 {
        host.still_answers().await;
    }
}

#[tokio::test]
async fn an_idle_connection_is_closed_after_a_timeout() {
    let silence = std::time::Duration::from_secs(1);
    let host = Host::start_at(http::Config::new().header_timeout(silence), |server| server).await;
    for head in ["", "POST /mcp HTTP/1.1\r\nHost: localhost\r\n"] {
        let mut connection = host.connect().await;
        connection.send(head).await;
        assert!(connection.response().await.is_none(), "{head:?}");
    }
    // A call may take longer than its head.
    let mut connection = host.connect().await;
    connection.send(Post::of(&call("wait", json!({ "number": 7 }))).bytes()).await;
    Events::happened(&host.events.waiting, 1).await;
    tokio::time::sleep(silence * 3 / 2).await;
    host.events.release.add_permits(1);
    assert_eq!(connection.response().await.expect("an answer").text(), "7");
    // So may a stream of events, however little it says.
    let mut stream = host.connect().await;
    stream.send(Post::of(&observed(call("forever", json!({ "progress_first": true })), 7)).bytes()).await;
    Events::happened(&host.events.waiting, 1).await;
    tokio::time::sleep(silence * 3 / 2).await;
    assert_eq!(host.events.dropped.available_permits(), 0);
    host.still_answers().await;
}
