//! Questions to clients of versions before 2025-11-25, which know less of forms or nothing at all.

use serde_json::json;

use super::{
    asking::{Client, can_be_asked, text},
    fixture::fixture,
};

#[tokio::test]
async fn a_form_is_written_in_the_words_of_2025_06_18() {
    for mut client in Client::each_of("2025-06-18", &fixture(), can_be_asked()).await {
        client.call("call", "choose", json!({})).await;
        let question = client.next("call").await;
        assert_eq!(question["method"], "elicitation/create", "{question}");
        assert_eq!(question["params"].get("mode"), None);
        let form = json!({
            "type": "object",
            "properties": {
                "size": {
                    "type": "string",
                    "title": "Size",
                    "enum": ["Small", "Large"],
                    "enumNames": ["Small one", "Large"],
                },
                "name": { "type": "string", "minLength": 2 },
                "count": { "type": "integer", "minimum": 0, "maximum": 9 },
                "gift": { "type": "boolean", "default": false },
            },
            "required": ["size"],
        });
        assert_eq!(question["params"]["requestedSchema"], form);
        let content = json!({ "size": "Large" });
        client.send(json!({ "id": question["id"], "result": { "action": "accept", "content": content } })).await;
        assert_eq!(text(&client.next("call").await), "\"Large\"");
    }
}

#[tokio::test]
async fn what_a_version_has_no_words_for_cannot_be_asked_in_it() {
    let both = json!({ "elicitation": { "form": {}, "url": {} } });
    for (version, tool, what, since) in [
        ("2025-06-18", "choose_several", "to choose several of a list", "2025-11-25"),
        ("2025-06-18", "visit", "to send the user to a page", "2025-11-25"),
        ("2025-03-26", "ask", "to fill in forms", "2025-06-18"),
        ("2024-11-05", "choose_several", "to choose several of a list", "2025-11-25"),
    ] {
        for mut client in Client::each_of(version, &fixture(), both.clone()).await {
            client.call("call", tool, json!({})).await;
            let reply = client.next("call").await;
            let reason = format!(
                "the client cannot be asked {what}: that needs protocol version {since}, and the session uses {version}"
            );
            assert_eq!((text(&reply), &reply["result"]["isError"]), (&*reason, &json!(true)), "{version} {tool}");
            client.still_answers().await;
        }
    }
}

#[tokio::test]
async fn the_fallback_is_for_clients_of_older_versions_too() {
    for version in ["2025-06-18", "2025-03-26"] {
        for mut client in Client::each_of(version, &fixture(), can_be_asked()).await {
            client.call("call", "choose_several", json!({ "fallback": true })).await;
            assert_eq!(text(&client.next("call").await), "any", "{version}");
        }
    }
}

#[tokio::test]
async fn roots_and_samples_are_as_old_as_sessions() {
    for mut client in Client::each_of("2024-11-05", &fixture(), json!({ "roots": {} })).await {
        client.call("call", "folders", json!({})).await;
        let question = client.next("call").await;
        assert_eq!(question["method"], "roots/list", "{question}");
        client.send(json!({ "id": question["id"], "result": { "roots": [] } })).await;
        assert_eq!(text(&client.next("call").await), "0");
    }
}
