//! What runs or listens for long keeps little of its request.

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

#[tokio::test]
async fn r_l8_a_running_call_does_not_keep_its_request() {
    let engine = server().build().expect("wired right").0;
    let body = request("tools/call", json!({ "name": "wait", "arguments": {}, "padding": "x".repeat(100_000) }));
    let Dispatched::Stream(mut stream) = answer(&engine, &body) else { panic!("no stream") };
    assert!(futures_util::poll!(std::pin::pin!(stream.frame())).is_pending());
    assert!(body.is_unique(), "the call holds a part of it");
}

#[tokio::test]
async fn a_list_is_a_head_and_one_piece_that_all_replies_share() {
    let engine = server().build().expect("a good server").0;
    let pieces = || -> Vec<Bytes> {
        let Dispatched::Reply(reply) = answer(&engine, &request("tools/list", json!({}))) else { panic!("no reply") };
        reply.into_body().pieces().collect()
    };
    let (first, second) = (pieces(), pieces());
    assert!(first.len() == 2 && first[1].ends_with(b"}}"), "{first:?}");
    assert_eq!(first, second);
    assert_eq!(first[1].as_ptr(), second[1].as_ptr(), "it is not copied");
}
