//! The test client in both eras: the same server, the same answers.

use rejoinder::{
    Era, Level,
    model::Reference,
    testing::{Client, Filter, Notification},
};
use serde_json::json;

use crate::fixture::server;

fn both_eras() -> [Client; 2] {
    [Era::Stateless, Era::Session].map(|era| Client::new(server().page_size(2)).era(era))
}

#[tokio::test]
async fn c21_both_eras_live_on_one_endpoint() {
    let stateless = Client::new(server());
    let session = stateless.clone().era(Era::Session);
    for _ in 0..2 {
        assert_eq!(session.call("add", json!({ "a": 1, "b": 2 })).await.unwrap().text(), "3");
        assert_eq!(stateless.call("add", json!({ "a": 3, "b": 4 })).await.unwrap().text(), "7");
    }
    let refused = Client::new(server().modern_only()).era(Era::Session).list_tools().await.unwrap_err();
    assert_eq!(refused.code(), Some(-32022), "there are no sessions where they are turned off");
}

#[tokio::test]
async fn calls_are_answered_alike() {
    for client in both_eras() {
        assert_eq!(client.call("add", json!({ "a": 1, "b": 2 })).await.unwrap().text(), "3");
        assert!(client.call("add", json!({})).await.unwrap().is_error());
        assert_eq!(client.get("greet", json!({ "name": "Ada" })).await.unwrap().text(), "Say hello to Ada.");
        assert_eq!(client.read("item://7").await.unwrap().text(), "item 7");
        let completion = client.complete(Reference::for_prompt("greet"), "name", "al").await.unwrap();
        assert_eq!(completion.values, ["alan"]);
    }
}

#[tokio::test]
async fn errors_have_the_same_codes() {
    for client in both_eras() {
        assert_eq!(client.call("none", json!({})).await.unwrap_err().code(), Some(-32602));
        assert_eq!(client.call("panics", json!({})).await.unwrap_err().code(), Some(-32603));
        assert_eq!(client.get("none", json!({})).await.unwrap_err().code(), Some(-32602));
        assert_eq!(client.request("no/such/method", json!({})).await.unwrap_err().code(), Some(-32601));
    }
}

#[tokio::test]
async fn lists_are_followed_to_their_end() {
    for client in both_eras() {
        assert_eq!(client.list_tools().await.unwrap().len(), 8);
        assert_eq!(client.list_prompts().await.unwrap().len(), 1);
        assert_eq!(client.list_resources().await.unwrap()[0].uri, "text://readme");
        assert_eq!(client.list_resource_templates().await.unwrap()[0].uri_template, "item://{id}");
    }
}

#[tokio::test]
async fn progress_and_logs_come_with_the_reply() {
    for client in both_eras() {
        let counted = client.call("count", json!({})).await.unwrap();
        assert_eq!(counted.progress.iter().map(|report| report.progress).collect::<Vec<_>>(), [1.0, 2.0, 3.5]);
        let talked = client.log_level(Level::Warning).call("talk", json!({})).await.unwrap();
        assert_eq!(talked.logs.iter().map(|log| log.level).collect::<Vec<_>>(), [Level::Warning, Level::Error]);
    }
}

#[tokio::test]
async fn headers_extensions_and_the_client_s_name_reach_the_tool() {
    for client in both_eras() {
        let client = client.name("tester").header("x-request-id", "7").extension("ada");
        let seen: serde_json::Value = client.call("whoami", json!({})).await.unwrap().structured().unwrap();
        assert_eq!(seen["client"], "tester");
        assert_eq!((&seen["header"], &seen["extension"]), (&json!("7"), &json!("ada")));
    }
}

#[tokio::test]
async fn changes_are_told() {
    for client in both_eras() {
        let mut subscription = client.listen(Filter::default().tools().resource("item://1")).await.unwrap();
        let handle = client.server().handle();
        handle.remove_tool("find");
        assert_eq!(subscription.next().await, Some(Notification::ToolsChanged));
        handle.resource_updated("item://2");
        handle.resource_updated("item://1");
        assert_eq!(subscription.next().await, Some(Notification::ResourceUpdated("item://1".into())));
    }
}
