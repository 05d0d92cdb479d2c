//! What only listens costs little.

use super::*;

#[tokio::test]
async fn an_open_subscription_keeps_nothing_of_its_request() {
    let engine = server().build().expect("wired right").0;
    let filter = json!({ "notifications": { "toolsListChanged": true }, "padding": "x".repeat(100_000) });
    let body = request("subscriptions/listen", filter);
    let Dispatched::Stream(mut stream) = answer(&engine, &body) else { panic!("no stream") };
    let Frame::Notification(first) = stream.frame().await else { panic!("no acknowledgement") };
    assert!(first.ends_with(br#"{"io.modelcontextprotocol/subscriptionId":"an id"}}}"#), "{first:?}");
    assert!(body.is_unique(), "the stream holds a part of it");
}
