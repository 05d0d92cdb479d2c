//! The record of another build in the state of a call.

use futures_util::FutureExt;

use super::*;
use crate::rounds::seal::{Binding, Log};

#[test]
fn a3_l9_a_record_that_this_build_cannot_read_is_refused_and_nothing_runs() {
    for (record, is_read) in [
        (r#"{"n":1,"x":{"new":{"any":"thing"}},"v":["2.0.0"]}"#, true),
        (r#"{"n":1,"new":"secret","s":{"pay":7}}"#, false),
        (r#"{"s":["secret"]}"#, false),
    ] {
        // Another server for each, because a reason is logged at intervals.
        let engine = server().build().expect("wired right").0;
        let binding = Binding::new("tools/call", "buy", None);
        let state = engine.seal().seal_until(&binding, record.as_bytes(), None).expect("it is short");
        let mut result = Value::Null;
        let log = Log::of(|| {
            let params = json!({ "name": "buy", "requestState": state });
            result = reply(&engine, "tools/call", params).now_or_never().expect("nothing waits");
        });
        if is_read {
            assert!(result["result"]["inputRequests"]["sure"].is_object(), "{result}");
            continue;
        }
        assert_eq!(result["error"]["code"], -32602, "{result}");
        assert_eq!(result["error"]["data"]["reason"], "invalid_request_state");
        assert!(log.contains("this build cannot read the record in it, because another build"), "{log}");
        assert!(!log.contains("secret"), "{log}");
    }
}
