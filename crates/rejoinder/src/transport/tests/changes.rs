#![expect(deprecated, reason = "resources/subscribe is deprecated in the protocol, and still part of it")]

use rmcp::model::{SubscribeRequestParams, UnsubscribeRequestParams};
use serde_json::json;

use super::{
    client::Client,
    fixture::{dynamic, fixture, until},
};

#[tokio::test]
async fn changes_are_told_to_every_session() {
    let fixture = fixture();
    let (one, other) = (Client::connect(&fixture).await, Client::connect(&fixture).await);
    let handle = fixture.server.handle();
    handle.add_tools([dynamic("late", |_, _| async { "here" })]).expect("tools were declared");
    for client in [&one, &other] {
        until("they were told", || client.told.has("tools")).await;
        assert_eq!(client.text("late", json!({})).await, "here");
    }
    handle.remove_prompt("greet");
    handle.remove_resource("docs://readme");
    until("they were told", || one.told.has("prompts") && other.told.has("resources")).await;
}

#[tokio::test]
async fn updates_are_told_to_whoever_subscribed() {
    let fixture = fixture();
    let (one, other) = (Client::connect(&fixture).await, Client::connect(&fixture).await);
    let handle = fixture.server.handle();
    one.peer.subscribe(SubscribeRequestParams::new("files://a")).await.expect("subscribed");
    one.peer.subscribe(SubscribeRequestParams::new("files://b")).await.expect("subscribed");
    other.peer.subscribe(SubscribeRequestParams::new("files://b")).await.expect("subscribed");
    handle.resource_updated("files://a");
    until("one was told", || one.told.has("files://a")).await;
    one.peer.unsubscribe(UnsubscribeRequestParams::new("files://b")).await.expect("unsubscribed");
    handle.resource_updated("files://b");
    until("the other was told", || other.told.has("files://b")).await;
    // Both are asked once more, so that whatever was on its way has arrived.
    one.text("emit", json!({})).await;
    other.text("emit", json!({})).await;
    assert!(!one.told.has("files://b") && !other.told.has("files://a"));
}

#[tokio::test]
async fn nothing_is_left_of_a_session_that_ended() {
    let fixture = fixture();
    let engine = fixture.engine();
    let before = std::sync::Arc::strong_count(&engine);
    let clients = [Client::connect(&fixture).await, Client::connect(&fixture).await];
    assert_eq!(engine.hub.subscribers(), 2);
    for client in clients {
        client.text("add", json!({ "a": 1, "b": 1 })).await;
        client.peer.cancel().await.expect("it ends");
    }
    until("nobody listens", || engine.hub.subscribers() == 0).await;
    until("nobody holds the server", || std::sync::Arc::strong_count(&engine) == before).await;
}
