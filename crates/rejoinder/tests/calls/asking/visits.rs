//! Questions in URL mode.

use rejoinder::model::ClientCapabilities;
use serde_json::Value;

use super::*;

/// Sends the user to a sign-in page.
#[tool]
async fn sign_in(ctx: Context) -> Result<&'static str, CallError> {
    ctx.ask("page", Ask::url("https://example.com/sign-in", "Please sign in.")).await?;
    Ok("signed in")
}

fn client(elicitation: Value) -> Client {
    let capabilities: ClientCapabilities = serde_json::from_value(json!({ "elicitation": elicitation })).unwrap();
    Client::new(server().tools(tools![sign_in])).capabilities(capabilities)
}

/// The capabilities that the error requires of the client.
async fn lacking(client: &Client, tool: &str) -> Value {
    let error = client.call_tool(tool, json!({})).await.unwrap_err();
    let error = error.rpc().expect("a JSON-RPC error").clone();
    assert_eq!((error.code, error.status.as_u16()), (-32021, 400));
    error.data.expect("what is needed")
}

#[tokio::test]
async fn c38_the_request_has_a_url_and_no_elicitation_id() {
    let result = client(json!({ "url": {} })).request("tools/call", json!({ "name": "sign_in" })).await.unwrap();
    let params = json!({ "mode": "url", "message": "Please sign in.", "url": "https://example.com/sign-in" });
    let requests = json!({ "page": { "method": "elicitation/create", "params": params } });
    assert_eq!(result["inputRequests"], requests, "no `elicitationId` among them");
    let mut fields: Vec<_> = result.as_object().unwrap().keys().map(String::as_str).collect();
    fields.sort_unstable();
    assert_eq!(fields, ["_meta", "inputRequests", "requestState", "resultType"]);
}

#[tokio::test]
async fn c38_only_the_state_ties_an_answer_to_its_question() {
    let client = client(json!({ "url": {} }));
    let call = |rest: Value| {
        let mut params = json!({ "name": "sign_in" });
        params.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        client.request("tools/call", params)
    };
    let first = call(json!({})).await.unwrap();
    let went = json!({ "page": { "action": "accept" } });
    let without = call(json!({ "inputResponses": went })).await.unwrap();
    assert_eq!(without["resultType"], "input_required", "nobody was asked to go as far as this request says");
    let done = call(json!({ "inputResponses": went, "requestState": first["requestState"] })).await.unwrap();
    assert_eq!(done["content"][0]["text"], "signed in");
}

#[tokio::test]
async fn c26_c41_a_client_is_asked_only_in_the_modes_that_it_declares() {
    let url = json!({ "requiredCapabilities": { "elicitation": { "url": {} } } });
    let form = json!({ "requiredCapabilities": { "elicitation": { "form": {} } } });
    // Without a mode, the capability means forms.
    for forms_only in [json!({}), json!({ "form": {} })] {
        let client = client(forms_only).answer("who", ada());
        assert_eq!(lacking(&client, "sign_in").await, url);
        assert_eq!(client.call_tool("greet", json!({})).await.unwrap().text(), "Hello, Ada!");
    }
    let pages_only = client(json!({ "url": {} })).answer_with("page", json!({ "action": "accept" }));
    assert_eq!(lacking(&pages_only, "greet").await, form);
    assert_eq!(pages_only.call_tool("sign_in", json!({})).await.unwrap().text(), "signed in");
    let neither = Client::new(server().tools(tools![sign_in]));
    assert_eq!(lacking(&neither, "sign_in").await, url);
}

#[tokio::test]
async fn c37_accept_decline_and_cancel_are_distinct_and_their_content_is_ignored() {
    let cases = [
        (json!({ "action": "accept" }), "signed in"),
        (json!({ "action": "accept", "content": { "password": "secret" } }), "signed in"),
        (json!({ "action": "decline" }), "the user declined `page`"),
        (json!({ "action": "cancel" }), "the user cancelled `page`"),
    ];
    for (answer, text) in cases {
        in_both_eras(client(json!({ "url": {} })).answer_with("page", answer.clone()), async |client| {
            let reply = client.call_tool("sign_in", json!({})).await.unwrap();
            assert_eq!((reply.text().as_str(), reply.is_error()), (text, text != "signed in"), "{answer}");
            assert_eq!(reply.asked, [["page"]]);
        })
        .await;
    }
}
