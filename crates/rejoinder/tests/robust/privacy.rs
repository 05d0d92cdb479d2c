//! A caller never receives what belongs to another one.

use serde_json::json;

use crate::{
    client::{call, observed, text},
    fixture::Host,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn notifications_reach_only_their_caller() {
    let host = Host::start().await;
    let mut callers = Vec::new();
    for number in 0..100 {
        let mut connection = host.connect().await;
        callers.push(tokio::spawn(async move {
            let name = format!("caller {number}");
            // On one connection after another, as clients do.
            for round in 0..3 {
                let token = format!("token {number} {round}");
                let messages =
                    connection.messages(&observed(call("chat", json!({ "name": name })), token.as_str())).await;
                let (last, notifications) = messages.split_last().expect("an answer");
                assert_eq!(text(last), name);
                assert_eq!(notifications.len(), 40);
                for notification in notifications {
                    let params = &notification["params"];
                    match notification["method"].as_str() {
                        Some("notifications/progress") => {
                            assert_eq!((&params["progressToken"], &params["message"]), (&json!(token), &json!(name)));
                        }
                        Some("notifications/message") => assert_eq!(params["data"], json!(name)),
                        other => panic!("{other:?}"),
                    }
                }
            }
        }));
    }
    for caller in callers {
        caller.await.expect("it received only its own messages");
    }
}

#[tokio::test]
async fn a_caller_without_a_token_gets_no_progress() {
    let host = Host::start().await;
    let messages = host.connect().await.messages(&call("chat", json!({ "name": "quiet" }))).await;
    assert_eq!(messages.len(), 1);
    let mut only_errors = call("chat", json!({ "name": "quiet" }));
    only_errors["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = "error".into();
    assert_eq!(host.connect().await.messages(&only_errors).await.len(), 1);
}
