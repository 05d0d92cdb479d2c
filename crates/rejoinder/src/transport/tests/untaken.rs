//! Calls that are over while their client is away.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::{sync::Notify, time::timeout};

use super::{
    asking::{can_be_asked, text},
    fixture::{Fixture, dynamic, fixture, until},
    http::{Events, Http},
};
use crate::Server;

/// What is known of the tool `held`, and what lets it return.
#[derive(Default)]
struct Held {
    begun: Notify,
    release: Notify,
}

/// A server that runs one call at a time.
fn one_at_a_time() -> (Fixture, Arc<Held>) {
    let held = Arc::new(Held::default());
    let of_tool = Arc::clone(&held);
    let tool = dynamic("held", move |_, _| {
        let held = Arc::clone(&of_tool);
        async move {
            held.begun.notify_one();
            held.release.notified().await;
            "done"
        }
    });
    let server = Server::new("small", "1.0.0")
        .tools([tool])
        .limits(crate::server::Limits::new().calls(1))
        .build()
        .expect("a good server");
    (Fixture { server, seen: Arc::default() }, held)
}

/// Calls `held` in a session of its own and leaves; the client, and the event to come back after.
async fn call_and_leave(mut client: Http, held: &Held) -> (Http, String) {
    client.initialize("2025-11-25").await;
    let mut events = Events::of(client.call("held", json!({})).await);
    let last = events.next().await.expect("an event").id.expect("an id");
    held.begun.notified().await;
    (client, last)
}

/// Well before a reply is no longer kept.
const SOON: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn a_reply_that_waits_for_its_client_keeps_nobody_from_calling() {
    let (fixture, held) = one_at_a_time();
    let (ada, last) = call_and_leave(Http::new(&fixture), &held).await;
    held.release.notify_one();
    timeout(SOON, fixture.engine().calls_ended()).await.expect("the call is over");

    let mut bob = ada.another();
    bob.initialize("2025-11-25").await;
    held.release.notify_one();
    assert_eq!(text(&Events::of(bob.call("held", json!({})).await).last().await), "done");

    let resumed = ada.send("GET", &[("last-event-id", &last)], Value::Null).await;
    assert_eq!(text(&Events::of(resumed).last().await), "done");
}

#[tokio::test]
async fn a_session_keeps_only_its_last_replies() {
    let mut client = Http::new(&fixture());
    client.initialize("2025-11-25").await;
    let mut ids = Vec::new();
    for _ in 0..17 {
        let mut events = Events::of(client.call("emit", json!({ "who": "me" })).await);
        ids.push(events.next().await.expect("an event").id.expect("an id"));
        assert_eq!(events.last().await["id"], "call");
    }
    until("all calls are over", || client.server.sessions().iter().sum::<usize>() == 0).await;
    for (index, id) in ids.iter().enumerate() {
        let resumed = client.send("GET", &[("last-event-id", id)], Value::Null).await;
        let replies = Events::of(resumed).messages().await;
        assert_eq!(replies.len(), usize::from(index > 0), "{index}: {replies:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_cannot_come_back_is_not_waited_for() {
    let (fixture, held) = one_at_a_time();
    let mut client = Http::new(&fixture);
    client.initialize("2025-06-18").await;
    let unread = client.call("held", json!({})).await;
    held.begun.notified().await;
    drop(unread);
    held.release.notify_one();
    until("nothing is left of it", || client.server.sessions().iter().sum::<usize>() == 0).await;
}

#[tokio::test(start_paused = true)]
async fn an_older_client_that_was_asked_can_come_back() {
    let mut client = Http::new(&fixture());
    client.initialize_with("2025-06-18", can_be_asked()).await;
    let mut events = Events::of(client.call("ask", json!({})).await);
    let asked = events.next().await.expect("a question");
    drop(events);
    let result = json!({ "action": "accept", "content": { "yes": true } });
    let answer = json!({ "jsonrpc": "2.0", "id": asked.data.expect("a message")["id"], "result": result });
    assert_eq!(client.post(answer).await.status(), 202);
    tokio::time::sleep(SOON).await;
    let resumed = client.send("GET", &[("last-event-id", &asked.id.expect("an id"))], Value::Null).await;
    assert_eq!(text(&Events::of(resumed).last().await), "really: true");
}

#[tokio::test]
async fn a_reply_to_a_client_that_has_come_back_outlives_the_session() {
    let (fixture, held) = one_at_a_time();
    let (client, last) = call_and_leave(Http::new(&fixture), &held).await;
    let resumed = Events::of(client.send("GET", &[("last-event-id", &last)], Value::Null).await);
    held.release.notify_one();
    fixture.engine().calls_ended().await;
    client.server.close().await;
    assert_eq!(text(&resumed.last().await), "done");
}
