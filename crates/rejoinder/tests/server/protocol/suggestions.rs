//! A name that nothing has, and the one that was probably meant.

use rejoinder::{call::Era, testing::Client};
use serde_json::json;

use crate::protocol::fixture::server;

fn both_eras() -> [Client; 2] {
    [Era::Stateless, Era::Session].map(|era| Client::new(server()).era(era))
}

#[tokio::test]
async fn a_similar_name_is_suggested() {
    for client in both_eras() {
        for (name, expected) in [
            ("ad", "there is no tool `ad`; did you mean `add`?"),
            ("Talk", "there is no tool `Talk`; did you mean `talk`?"),
            ("who_am_i", "there is no tool `who_am_i`; did you mean `whoami`?"),
            // The name of a prompt is of no use here.
            ("greet", "there is no tool `greet`"),
            ("delete_everything", "there is no tool `delete_everything`"),
        ] {
            let error = client.call_tool(name, json!({})).await.unwrap_err();
            assert_eq!((error.code(), &*error.rpc().unwrap().message), (Some(-32602), expected));
        }
        let error = client.get_prompt("gret", json!({})).await.unwrap_err();
        assert_eq!(error.rpc().unwrap().message, "there is no prompt `gret`; did you mean `greet`?");
    }
}

#[tokio::test]
async fn removed_names_are_not_suggested() {
    for client in both_eras() {
        client.server().handle().remove_tool("add");
        let error = client.call_tool("ad", json!({})).await.unwrap_err();
        assert_eq!(error.rpc().unwrap().message, "there is no tool `ad`");
    }
}

#[tokio::test]
async fn a_very_long_name_gets_no_suggestion() {
    let error = Client::new(server()).call_tool(&"a".repeat(1_000_000), json!({})).await.unwrap_err();
    assert!(!error.rpc().unwrap().message.contains("did you mean"), "{error}");
}
