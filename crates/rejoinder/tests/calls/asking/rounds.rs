//! The rounds of a call on the wire, one request at a time.

use rejoinder::{
    auth::Principal,
    form::{ConfirmForm, TextForm},
    state::{StateKeys, StatePolicy},
};
use serde_json::Value;

use super::*;

#[tokio::test]
async fn a_client_that_has_answered_needs_no_capability() {
    let client = Client::new(server());
    let asked = round(&client.clone().answer("who", ada()), "greet", json!({}), json!({})).await.unwrap();
    let rest = json!({ "requestState": asked["requestState"], "inputResponses": accept("Ada") });
    let done = round(&client, "greet", json!({}), rest.clone()).await.unwrap();
    assert_eq!(done["content"][0]["text"], "Hello, Ada!");
    let bad = json!({ "requestState": asked["requestState"], "inputResponses": accept("") });
    assert_eq!(round(&client, "greet", json!({}), bad).await.unwrap_err().0, -32021);
}

/// A request of one round, by hand.
pub(super) async fn round(
    client: &Client,
    tool: &str,
    arguments: Value,
    rest: Value,
) -> Result<Value, (i32, Option<Value>)> {
    let mut params = json!({ "name": tool, "arguments": arguments });
    if let (Value::Object(params), Value::Object(rest)) = (&mut params, rest) {
        params.extend(rest);
    }
    client.request("tools/call", params).await.map_err(|error| {
        let error = error.rpc().expect("a JSON-RPC error").clone();
        (error.code, error.data)
    })
}

pub(super) fn accept(name: &str) -> Value {
    json!({ "who": { "action": "accept", "content": { "name": name } } })
}

#[tokio::test]
async fn c24_d3_a_round_that_asks_is_input_required_and_has_a_state() {
    let client = Client::new(server()).answer("who", ada());
    let result = round(&client, "greet", json!({}), json!({})).await.unwrap();
    assert_eq!(result["resultType"], "input_required");
    assert_eq!(result["inputRequests"]["who"]["method"], "elicitation/create");
    assert_eq!(result["inputRequests"]["who"]["params"]["message"], "Who are you?");
    assert!(result["requestState"].as_str().unwrap().starts_with("v1."));
    assert!(result.get("ttlMs").is_none());
}

#[tokio::test]
async fn c27_c28_a_state_is_valid_only_for_its_call() {
    let client = Client::new(server()).answer("who", ada());
    let first = round(&client, "buy", json!({ "item": "tea" }), json!({})).await.unwrap();
    let state = first["requestState"].as_str().unwrap().to_owned();
    let refused = Err((-32602, Some(json!({ "reason": "invalid_request_state" }))));
    let tampered = json!({ "requestState": format!("{state}-TAMPERED"), "inputResponses": accept("Eve") });
    assert_eq!(round(&client, "buy", json!({ "item": "tea" }), tampered).await, refused);
    let whole = json!({ "requestState": state, "inputResponses": accept("Ada") });
    assert_eq!(round(&client, "buy", json!({ "item": "gold" }), whole.clone()).await, refused);
    assert_eq!(round(&client, "greet", json!({}), whole.clone()).await, refused);
    for other in [json!(""), json!(7), json!({}), json!("v1.")] {
        assert_eq!(round(&client, "buy", json!({ "item": "tea" }), json!({ "requestState": other })).await, refused);
    }
    assert_eq!(round(&client, "no_such_tool", json!({}), whole.clone()).await, Err((-32602, None)));
    let next = round(&client, "buy", json!({ "item": "tea" }), whole).await.unwrap();
    assert_eq!(next["inputRequests"]["sure"]["params"]["message"], "Ada, do you want tea?");
    assert_ne!(next["requestState"], state);
}

#[tokio::test]
async fn a_null_state_is_the_same_as_no_state() {
    let client = Client::new(server()).answer("who", ada());
    let nulls = json!({ "requestState": null, "inputResponses": null });
    let asked = round(&client, "greet", json!({}), nulls).await.unwrap();
    assert_eq!(asked["inputRequests"]["who"]["params"]["message"], "Who are you?");
    // Without the state, the server does not know what was asked.
    let rest = json!({ "requestState": null, "inputResponses": accept("Ada") });
    assert_eq!(round(&client, "greet", json!({}), rest).await.unwrap()["resultType"], "input_required");
    // A null state is also accepted by a function that asks nothing, and on a session.
    let nobody = Client::new(server());
    for client in [nobody.clone(), nobody.era(Era::Session)] {
        let done = round(&client, "optional", json!({}), json!({ "requestState": null })).await.unwrap();
        assert_eq!(done["content"][0]["text"], "stranger");
    }
}

#[tokio::test]
async fn c31_any_replica_with_the_same_keys_takes_the_next_round() {
    let keys = || StateKeys::new(["0123456789abcdef0123456789abcdef"]).unwrap();
    let [one, two] = [0, 1].map(|_| Client::new(server().state(StatePolicy::new().keys(keys()))).answer("who", ada()));
    let first = round(&one, "greet", json!({}), json!({})).await.unwrap();
    let rest = json!({ "requestState": first["requestState"], "inputResponses": accept("Ada") });
    let done = round(&two, "greet", json!({}), rest).await.unwrap();
    assert_eq!(done["content"][0]["text"], "Hello, Ada!");
}

#[tokio::test]
async fn c32_c33_c34_unusable_answers_are_asked_again_and_unknown_ones_ignored() {
    let client = Client::new(server()).answer("who", ada());
    let asks =
        async |rest: Value| round(&client, "greet", json!({}), rest).await.unwrap()["inputRequests"]["who"].is_object();
    assert!(asks(json!({ "inputResponses": { "stranger": { "action": "accept" } } })).await);
    assert!(asks(json!({ "inputResponses": null })).await);
    assert!(
        asks(json!({ "inputResponses": accept("Ada") })).await,
        "an answer to a question that was not asked does not count"
    );
    let rubbish = [
        json!(5),
        json!({ "who": 12345 }),
        json!({ "who": { "nonsense": 1 } }),
        json!({ "who": { "action": "perhaps" } }),
        json!({ "who": { "action": "accept", "content": { "name": { "first": "Ada" } } } }),
        json!({ "stranger": { "roots": [{ "uri": "https://example.com" }] } }),
    ];
    for rubbish in rubbish {
        let bad = round(&client, "greet", json!({}), json!({ "inputResponses": rubbish })).await.unwrap_err();
        assert_eq!(bad, (-32602, None), "{rubbish}");
    }
    let first = round(&client, "greet", json!({}), json!({})).await.unwrap();
    let mut answers = accept("Ada");
    answers["stranger"] = json!({ "action": "decline" });
    let rest = json!({ "requestState": first["requestState"], "inputResponses": answers });
    assert_eq!(round(&client, "greet", json!({}), rest).await.unwrap()["content"][0]["text"], "Hello, Ada!");
}

#[tokio::test]
async fn c29_a_state_can_be_limited_to_a_single_use() {
    let server = server().state(StatePolicy::new().single_use(rejoinder::state::MemoryReplayStore::default()));
    let client = Client::new(server).answer("who", ada());
    let first = round(&client, "greet", json!({}), json!({})).await.unwrap();
    let rest = json!({ "requestState": first["requestState"], "inputResponses": accept("Ada") });
    assert!(round(&client, "greet", json!({}), rest.clone()).await.is_ok());
    let refused = Err((-32602, Some(json!({ "reason": "invalid_request_state" }))));
    assert_eq!(round(&client, "greet", json!({}), rest).await, refused);
}

#[tokio::test]
async fn only_the_principal_who_was_asked_can_answer() {
    let server = server().principal(|facts| Some(Principal::new(facts.headers()?.get("x-user")?.to_str().ok()?)));
    let client = Client::new(server).answer("who", ada());
    let [ada, eve] = ["ada", "eve"].map(|user| client.clone().header("x-user", user));
    let first = round(&ada, "greet", json!({}), json!({})).await.unwrap();
    let rest = json!({ "requestState": first["requestState"], "inputResponses": accept("Ada") });
    let refused = Err((-32602, Some(json!({ "reason": "invalid_request_state" }))));
    assert_eq!(round(&eve, "greet", json!({}), rest.clone()).await, refused);
    assert_eq!(round(&client, "greet", json!({}), rest.clone()).await, refused);
    assert!(round(&ada, "greet", json!({}), rest).await.is_ok());
}

#[tokio::test]
async fn c30_an_abandoned_call_leaves_nothing_behind_and_an_empty_retry_is_asked_again() {
    let client = Client::new(server()).answer("who", ada());
    // Clients that never retry: nothing waits for them, and other clients see nothing of them.
    for _ in 0..100 {
        round(&client, "greet", json!({}), json!({})).await.unwrap();
    }
    let mut state = round(&client, "greet", json!({}), json!({})).await.unwrap()["requestState"].clone();
    // A retry without an answer does not count as a failed try.
    for _ in 0..10 {
        let again = round(&client, "greet", json!({}), json!({ "requestState": state })).await.unwrap();
        assert_eq!(again["inputRequests"]["who"]["params"]["message"], "Who are you?");
        state = again["requestState"].clone();
    }
    let rest = json!({ "requestState": state, "inputResponses": accept("Ada") });
    assert_eq!(round(&client, "greet", json!({}), rest).await.unwrap()["content"][0]["text"], "Hello, Ada!");
}

#[tokio::test]
async fn content_without_an_action_is_refused_and_the_error_shows_an_answer() {
    let client = Client::new(server()).answer("who", ada());
    let asked = round(&client, "greet", json!({}), json!({})).await.unwrap();
    let params = json!({ "name": "greet", "requestState": asked["requestState"],
        "inputResponses": { "who": { "name": "Ada" } } });
    let error = client.request("tools/call", params).await.unwrap_err().to_string();
    assert!(error.contains(r#"{"action":"accept","content":{..}}"#), "{error}");
}

/// The text of the first question changes when the others have been answered.
#[tool]
async fn subscribe(ctx: Context, counters: Dep<Counters>) -> Result<String, CallError> {
    let plans = if counters.runs.fetch_add(1, Ordering::Relaxed) < 3 { 3 } else { 4 };
    let plan = ctx.ask("plan", Ask::text(format!("Which of the {plans} plans?"))).await?;
    let name = ctx.ask("name", Ask::text("In whose name?")).await?;
    let sure = ctx.ask("sure", Ask::confirm("Sure?")).await?;
    Ok(format!("{plan} for {name}: {sure}"))
}

#[tokio::test]
async fn an_answer_is_kept_for_a_question_that_is_not_reached_in_a_round() {
    let server = Server::new("plans", "1").provide(Counters::default()).tools(tools![subscribe]);
    let client = Client::new(server)
        .answer("plan", TextForm { text: "the small one".into() })
        .answer("name", TextForm { text: "Ada".into() })
        .answer("sure", ConfirmForm { yes: true });
    let reply = client.call_tool("subscribe", json!({})).await.unwrap();
    assert_eq!(reply.text(), "the small one for Ada: true");
    assert_eq!(reply.asked, [["plan"], ["name"], ["sure"], ["plan"]]);
}

/// The same text, with more choices in the second round.
#[tool]
async fn pick(ctx: Context, counters: Dep<Counters>) -> Result<String, CallError> {
    let all = ["a small one", "a large one", "none"];
    let shown = if counters.runs.fetch_add(1, Ordering::Relaxed) == 0 { &all[..2] } else { &all };
    ctx.ask("plan", Ask::choice("Which plan?", shown.iter().copied())).await
}

#[tokio::test]
async fn d2_a_question_is_identified_by_its_text_and_its_form() {
    let server = Server::new("plans", "1").provide(Counters::default()).tools(tools![pick]);
    let small = json!({ "action": "accept", "content": { "choice": "a small one" } });
    let client = Client::new(server).answer_with("plan", small);
    let reply = client.call_tool("pick", json!({})).await.unwrap();
    assert_eq!(reply.text(), "a small one");
    assert_eq!(reply.asked, [["plan"], ["plan"]], "the first answer was to another form");
}

/// Asks the user to agree to an exact price.
#[tool]
async fn pay(ctx: Context) -> Result<String, CallError> {
    let price: f64 = ctx.once("price", || async { Ok(0.945_270_695_553_922_3) }).await?;
    let sure = ctx.ask("sure", Ask::confirm(format!("Pay {price}?"))).await?;
    Ok(format!("{price} {sure}"))
}

#[tokio::test]
async fn a_number_keeps_its_value_in_every_round() {
    let client = Client::new(Server::new("prices", "1").tools(tools![pay])).answer("sure", ConfirmForm { yes: true });
    in_both_eras(client, async |client| {
        let reply = client.call_tool("pay", json!({})).await.unwrap();
        assert_eq!(reply.text(), "0.9452706955539223 true");
        assert_eq!(reply.asked, [["sure"]]);
    })
    .await;
}
