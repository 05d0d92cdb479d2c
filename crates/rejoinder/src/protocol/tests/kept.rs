//! Whoever cannot make a state, or only listens, costs little.

use crate::call::RequestInfo;

use super::{
    super::{
        params::{Field, Params},
        round::Bound,
    },
    *,
};

#[test]
fn a_forged_state_is_refused_before_the_arguments_are_looked_at() {
    let engine = server().build().expect("wired right").0;
    let (body, arguments) = (Bytes::new(), r#"{"item":"tea"}"#);
    let long = "x".repeat(engine.options.state.limit + 1);
    for forged in ["", "junk", "v1.", "v1.AAAA", &long] {
        let mut bound = Bound::new(&engine, &body, ("tools/call", "buy"), Some(arguments), &RequestInfo::default())
            .expect("nothing panics");
        let params = Params { request_state: Field::Given(forged.into()), ..Params::default() };
        assert!(bound.begin(&engine, &params).is_err());
        assert!(!bound.is_made(), "{forged:.10}");
    }
}

#[tokio::test]
async fn an_open_subscription_keeps_nothing_of_its_request() {
    let engine = server().build().expect("wired right").0;
    let filter = json!({ "notifications": { "toolsListChanged": true }, "padding": "x".repeat(100_000) });
    let body = request("subscriptions/listen", filter);
    let Answer::Stream(mut stream) = answer(&engine, &body) else { panic!("no stream") };
    let Frame::Notification(first) = stream.frame().await else { panic!("no acknowledgement") };
    assert!(first.ends_with(br#"{"io.modelcontextprotocol/subscriptionId":"an id"}}}"#), "{first:?}");
    assert!(body.is_unique(), "the stream holds a part of it");
}
