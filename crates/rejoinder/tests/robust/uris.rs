//! URIs made to be costly, and other odd params.

use serde_json::json;

use crate::{client::request, fixture::Host};

fn read(uri: &str) -> serde_json::Value {
    request("resources/read", json!({ "uri": uri }))
}

#[tokio::test]
async fn a_uri_with_many_possible_matches_is_decided_quickly() {
    let host = Host::start().await;
    for bomb in ["-".repeat(8000), "-a".repeat(4000), "%2d-".repeat(2000), "-/".repeat(4000)] {
        let response = host.ask(&read(&format!("bomb://{bomb}/fin"))).await;
        assert_eq!(response.refusal(), (400, -32602), "{}", &bomb[..10]);
    }
    let response = host.ask(&read("bomb://1-2-3-4-5/end")).await;
    assert_eq!(response.json()["result"]["contents"][0]["text"], "1 2 3 4 5");
    // The first takes the most that leaves something for the others.
    let response = host.ask(&read(&format!("bomb://{}/end", "-".repeat(13)))).await;
    assert_eq!(response.json()["result"]["contents"][0]["text"], "----- - - - -");
    host.still_answers().await;
}

#[tokio::test]
async fn odd_uris_are_nobodys() {
    let host = Host::start().await;
    let long = format!("bomb://1-2-3-4-{}/end", "5".repeat(20_000));
    for uri in ["", ":", "bomb://", "bomb://1-2-3-4-5/end/", "bomb://%-2-3-4-5/end", "bomb://%ff-2-3-4-5/end", &long] {
        let uri = read(uri);
        assert_eq!(host.ask(&uri).await.refusal(), (400, -32602), "{}", &uri["params"]["uri"].to_string()[..2]);
    }
    host.still_answers().await;
}

#[tokio::test]
async fn odd_params_of_other_methods_are_refused() {
    let host = Host::start().await;
    let complete = |reference, argument| json!({ "ref": reference, "argument": argument });
    let prompt = json!({ "type": "ref/prompt", "name": "panicking_prompt" });
    let cases = [
        ("prompts/get", json!({ "name": "panicking_prompt", "arguments": [] })),
        ("prompts/get", json!({ "name": "panicking_prompt", "arguments": { "text": 1 } })),
        ("prompts/get", json!({ "name": "panicking_prompt", "arguments": {} })),
        ("prompts/get", json!({ "name": "panicking_prompt", "arguments": { "text": "t", "other": "o" } })),
        ("resources/read", json!({ "uri": 7 })),
        ("completion/complete", json!({})),
        ("completion/complete", complete(json!({ "type": "ref/other" }), json!({ "name": "text", "value": "" }))),
        ("completion/complete", complete(prompt.clone(), json!({ "name": "text" }))),
        ("completion/complete", complete(prompt.clone(), json!({ "name": "other", "value": "" }))),
        ("completion/complete", complete(prompt, json!("text"))),
        ("subscriptions/listen", json!({})),
        ("subscriptions/listen", json!({ "notifications": [] })),
        ("subscriptions/listen", json!({ "notifications": { "toolsListChanged": "yes" } })),
        ("subscriptions/listen", json!({ "notifications": { "resourceSubscriptions": [1] } })),
    ];
    for (method, params) in cases {
        let response = host.ask(&request(method, params.clone())).await;
        assert_eq!(response.refusal(), (400, -32602), "{method} {params}");
    }
    host.still_answers().await;
}
