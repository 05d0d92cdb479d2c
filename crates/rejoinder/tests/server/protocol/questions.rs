//! C9, C22, C24, C25, C35, C36: questions on the wire. What becomes of their answers is in `tests/calls/asking`.

use rejoinder::{Ask, BuiltServer, ask::Sampling, prelude::*};
use serde_json::{Value, json};

use crate::protocol::wire::{Answer, Pipe, message, meta, post};

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// Says how far it is, and then asks.
#[tool]
pub async fn pack(ctx: Context) -> Result<String, CallError> {
    ctx.progress(1.0).message("looking for the suitcase").await;
    ctx.info("it is under the bed").await;
    ctx.ask("what", Ask::text("What shall I pack?")).await
}

/// One of every kind of question, all at once.
#[tool]
pub async fn everything(ctx: Context) -> Result<String, CallError> {
    let (form, page, sample, roots) = tokio::join!(
        ctx.ask("form", Ask::text("What?")),
        ctx.ask("page", Ask::url("https://example.com/", "Go there.")),
        ctx.ask("sample", Ask::sample(Sampling::new("A haiku, please."))),
        ctx.ask("roots", Ask::roots()),
    );
    page?;
    Ok(format!("{} {} {}", form?, sample?.text(), roots?.roots.len()))
}

/// What may be shared by everybody, and still asks.
#[resource("shared://map", public, ttl_ms = 60000)]
pub async fn map(ctx: Context) -> Result<String, CallError> {
    ctx.ask("scale", Ask::text("At which scale?")).await
}

#[prompt]
pub async fn letter(ctx: Context) -> Result<String, CallError> {
    ctx.ask("to", Ask::text("To whom?")).await
}

pub fn asking() -> BuiltServer {
    let server = Server::new("asking", "1.0.0").tools(tools![pack, everything]);
    server.prompts(prompts![letter]).resources(resources![map]).build().unwrap()
}

/// The `_meta` of a client that can be asked everything.
pub fn can_be_asked() -> Value {
    let mut meta = meta();
    meta[CAPABILITIES] = json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {} });
    meta
}

/// The same, and wants to hear how it goes.
pub fn observed() -> Value {
    let mut meta = can_be_asked();
    meta["progressToken"] = json!("token");
    meta["io.modelcontextprotocol/logLevel"] = json!("debug");
    meta
}

async fn ask(server: &BuiltServer, method: &str, mut params: Value) -> Answer {
    params["_meta"] = can_be_asked();
    let answer = post(method, params).send(server).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer
}

#[tokio::test]
async fn c22_only_tools_prompts_and_resources_may_require_input() {
    let server = asking();
    for (method, params, asks) in [
        ("tools/call", json!({ "name": "pack" }), true),
        ("prompts/get", json!({ "name": "letter" }), true),
        ("resources/read", json!({ "uri": "shared://map" }), true),
        ("server/discover", json!({}), false),
        ("tools/list", json!({}), false),
        ("prompts/list", json!({}), false),
        ("resources/list", json!({}), false),
        ("resources/templates/list", json!({}), false),
    ] {
        // Nor does a list become a question because its request brings answers.
        let answers = json!({ "inputResponses": { "stranger": { "action": "decline" } } });
        for extra in [json!({}), answers] {
            let mut params = params.clone();
            params.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            let kind = ask(&server, method, params).await.json()["result"]["resultType"].clone();
            assert_eq!(kind, if asks { "input_required" } else { "complete" }, "{method}");
        }
    }
}

#[tokio::test]
async fn c24_c25_every_input_request_has_its_own_key_and_is_one_of_three_kinds() {
    let result = ask(&asking(), "tools/call", json!({ "name": "everything" })).await.json()["result"].clone();
    assert_eq!(result["resultType"], "input_required");
    let requests = result["inputRequests"].as_object().unwrap();
    let kinds: Vec<_> = requests.iter().map(|(key, request)| (key.as_str(), request["method"].as_str())).collect();
    let expected = [
        ("form", Some("elicitation/create")),
        ("page", Some("elicitation/create")),
        ("sample", Some("sampling/createMessage")),
        ("roots", Some("roots/list")),
    ];
    assert_eq!(kinds.len(), expected.len());
    for one in expected {
        assert!(kinds.contains(&one), "{one:?} in {kinds:?}");
    }
    for request in requests.values() {
        let mut fields: Vec<_> = request.as_object().unwrap().keys().map(String::as_str).collect();
        fields.sort_unstable();
        assert_eq!(fields, ["method", "params"], "it is no JSON-RPC request");
    }
}

#[tokio::test]
async fn c35_on_a_stream_the_questions_come_last() {
    let params = json!({ "name": "pack", "_meta": observed() });
    let answer = post("tools/call", params).send(&asking()).await;
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    let events = answer.events();
    let methods: Vec<_> = events.iter().map(|event| event["method"].as_str()).collect();
    assert_eq!(methods, [Some("notifications/progress"), Some("notifications/message"), None]);
    let last = &events[2];
    assert_eq!((&last["id"], &last["result"]["resultType"]), (&json!(1), &json!("input_required")));
    assert_eq!(last["result"]["inputRequests"]["what"]["params"]["message"], "What shall I pack?");
}

#[tokio::test]
async fn c35_without_earlier_notifications_the_questions_are_json() {
    let answer = ask(&asking(), "tools/call", json!({ "name": "pack" })).await;
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.json()["result"]["resultType"], "input_required");
}

#[tokio::test]
async fn c36_questions_have_no_cache_hints_and_results_with_answers_are_not_shared() {
    let server = asking();
    let first = ask(&server, "resources/read", json!({ "uri": "shared://map" })).await.json()["result"].clone();
    assert_eq!(first["resultType"], "input_required");
    assert_eq!((first.get("ttlMs"), first.get("cacheScope")), (None, None));
    let answers = json!({ "scale": { "action": "accept", "content": { "text": "1:25000" } } });
    let retry = json!({ "uri": "shared://map", "requestState": first["requestState"], "inputResponses": answers });
    let done = ask(&server, "resources/read", retry).await.json()["result"].clone();
    assert_eq!((&done["resultType"], &done["contents"][0]["text"]), (&json!("complete"), &json!("1:25000")));
    assert_eq!((&done["ttlMs"], &done["cacheScope"]), (&json!(0), &json!("private")));
}

#[tokio::test]
async fn c09_a_server_that_asks_sends_no_request() {
    let server = asking();
    let calls = [
        ("tools/call", json!({ "name": "pack", "_meta": observed() })),
        ("tools/call", json!({ "name": "everything", "_meta": observed() })),
        ("prompts/get", json!({ "name": "letter", "_meta": observed() })),
        ("resources/read", json!({ "uri": "shared://map", "_meta": observed() })),
    ];
    let mut pipe = Pipe::open(&server);
    let mut messages = Vec::new();
    for (id, (method, params)) in calls.into_iter().enumerate() {
        let answer = post(method, params.clone()).send(&server).await;
        let is_stream = answer.header("content-type") == Some("text/event-stream");
        messages.extend(if is_stream { answer.events() } else { vec![answer.json()] });
        pipe.send(message(id, method, params)).await;
    }
    messages.extend(pipe.close().await);
    let asked = messages.iter().filter(|message| message["result"]["resultType"] == "input_required").count();
    assert_eq!(asked, 8, "all of them ask, on both transports");
    for message in messages {
        assert!(message.get("method").is_none() || message.get("id").is_none(), "{message}");
    }
}
