//! Subscriptions, opened and left.

use serde_json::{Value, json};

use crate::{
    client::{Connection, Post, request},
    fixture::Host,
};

fn listen(id: &str, notifications: Value) -> Post {
    let mut message = request("subscriptions/listen", json!({}));
    message["params"]["notifications"] = notifications;
    message["id"] = "ID".into();
    let body = message.to_string().replace("\"ID\"", id);
    Post::raw(body).set("Mcp-Method", "subscriptions/listen").without("Mcp-Name")
}

async fn subscribe(host: &Host, post: &Post) -> Connection {
    let mut connection = host.connect().await;
    connection.send(post.bytes()).await;
    connection.head().await.expect("a stream");
    let first = connection.event().await.expect("the acknowledgement");
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    connection
}

#[tokio::test]
async fn closed_subscriptions_do_not_disturb_others() {
    let host = Host::start().await;
    let wanted = || json!({ "resourceSubscriptions": ["a://b"] });
    let mut stays = subscribe(&host, &listen("1", wanted())).await;
    for number in 0..300 {
        let left = subscribe(&host, &listen(&number.to_string(), wanted())).await;
        if number % 2 == 0 {
            host.handle.resource_updated("a://b");
        }
        drop(left);
    }
    host.handle.resource_updated("a://b");
    let update = stays.event().await.expect("an update");
    assert_eq!(update["params"]["uri"], "a://b");
    host.still_answers().await;
}

#[tokio::test]
async fn every_notification_has_the_id_unchanged() {
    let host = Host::start().await;
    for id in ["7", "\"seven\"", "-1", "123456789012345678901234567890", "\"\\u0041\""] {
        let mut connection = host.connect().await;
        connection.send(listen(id, json!({ "resourceSubscriptions": ["a://b"] })).bytes()).await;
        connection.head().await.expect("a stream");
        host.handle.resource_updated("a://b");
        for _ in 0..2 {
            let notification = connection.data().await.expect("a notification");
            let carried = format!("\"io.modelcontextprotocol/subscriptionId\":{id}}}");
            assert!(notification.contains(&carried), "{notification}");
        }
    }
}

#[tokio::test]
async fn thousands_of_subscriptions_in_one_request_are_honoured() {
    let host = Host::start().await;
    let uris: Vec<String> = (0..10_000).map(|number| format!("a://{number}")).collect();
    let mut connection = subscribe(&host, &listen("1", json!({ "resourceSubscriptions": uris }))).await;
    // One notification for each, however often it changes before the client reads.
    for _ in 0..3 {
        uris.iter().for_each(|uri| host.handle.resource_updated(uri.as_str()));
    }
    host.handle.resource_updated("b://not-subscribed");
    for _ in 0..uris.len() {
        let update = connection.event().await.expect("an update");
        assert!(update["params"]["uri"].as_str().is_some_and(|uri| uri.starts_with("a://")));
    }
    host.still_answers().await;
}

#[tokio::test]
async fn a_subscriber_that_does_not_read_does_not_block_others() {
    let host = Host::start().await;
    let _deaf =
        subscribe(&host, &listen("1", json!({ "resourceSubscriptions": ["a://b"], "toolsListChanged": true }))).await;
    for _ in 0..10_000 {
        host.handle.resource_updated("a://b");
    }
    host.still_answers().await;
}
