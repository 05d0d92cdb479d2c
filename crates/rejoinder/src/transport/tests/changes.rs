#![expect(deprecated, reason = "resources/subscribe is deprecated in the protocol, and still part of it")]

use rmcp::model::{SubscribeRequestParams, UnsubscribeRequestParams};
use serde_json::json;

use super::{
    client::Client,
    fixture::{dynamic, fixture, until},
};

#[tokio::test]
async fn every_session_hears_of_changes() {
    let fixture = fixture();
    let (one, other) = (Client::connect(&fixture).await, Client::connect(&fixture).await);
    let handle = fixture.server.handle();
    handle.add_tools([dynamic("late", |_, _| async { "here" })]).expect("tools were declared");
    for client in [&one, &other] {
        until("they are notified", || client.received.has("tools")).await;
        assert_eq!(client.text("late", json!({})).await, "here");
    }
    handle.remove_prompt("greet");
    handle.remove_resource("docs://readme");
    until("they are notified", || one.received.has("prompts") && other.received.has("resources")).await;
}

#[tokio::test]
async fn only_subscribers_hear_of_updates() {
    let fixture = fixture();
    let (one, other) = (Client::connect(&fixture).await, Client::connect(&fixture).await);
    let handle = fixture.server.handle();
    one.peer.subscribe(SubscribeRequestParams::new("files://a")).await.expect("subscribed");
    one.peer.subscribe(SubscribeRequestParams::new("files://b")).await.expect("subscribed");
    other.peer.subscribe(SubscribeRequestParams::new("files://b")).await.expect("subscribed");
    handle.resource_updated("files://a");
    until("one is notified", || one.received.has("files://a")).await;
    one.peer.unsubscribe(UnsubscribeRequestParams::new("files://b")).await.expect("unsubscribed");
    handle.resource_updated("files://b");
    until("the other is notified", || other.received.has("files://b")).await;
    // Both are asked once more, so that whatever was on its way has arrived.
    one.text("emit", json!({})).await;
    other.text("emit", json!({})).await;
    assert!(!one.received.has("files://b") && !other.received.has("files://a"));
}

#[tokio::test]
async fn nothing_is_left_of_a_session_that_ended() {
    let fixture = fixture();
    let engine = fixture.engine();
    let before = std::sync::Arc::strong_count(&engine);
    let clients = [Client::connect(&fixture).await, Client::connect(&fixture).await];
    assert_eq!(engine.hub().subscribers(), 2);
    for client in clients {
        client.text("add", json!({ "a": 1, "b": 1 })).await;
        client.peer.cancel().await.expect("it ends");
    }
    until("nobody listens", || engine.hub().subscribers() == 0).await;
    until("nobody holds the server", || std::sync::Arc::strong_count(&engine) == before).await;
}
