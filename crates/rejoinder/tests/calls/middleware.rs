//! Functions around every operation: what they see, what they change, how they end.

use std::sync::{Arc, Mutex};

use futures_util::stream::{FuturesUnordered, StreamExt};
use rejoinder::{
    call::{CallEnd, Era},
    form::ConfirmForm,
    middleware::{Next, OperationRequest, OperationResult},
    model::Reference,
    prelude::*,
    server::Limits,
    testing::{Client, Filter, in_both_eras},
};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use crate::journal::Journal;

/// Notes what goes in and what comes out.
fn noting(
    name: &'static str,
    log: &Journal,
) -> impl Fn(OperationRequest, Next) -> rejoinder::BoxFuture<'static, OperationResult> + Send + Sync + 'static {
    let log = log.clone();
    move |request, next| {
        let log = log.clone();
        Box::pin(async move {
            let (method, of) = (request.method(), request.name().unwrap_or("-").to_owned());
            log.note(format!("{name}: {method} {of}"));
            let result = next.run(request).await;
            let end = match (result.is_input_required(), result.error()) {
                (true, _) => "input required".to_owned(),
                (false, None) => "success".to_owned(),
                (false, Some(error)) => error.into_owned(),
            };
            log.note(format!("{name}: {end}"));
            result
        })
    }
}

/// Ends in the way that the argument names.
#[tool]
async fn end(
    how: String,
    #[arg(default = "nobody")] tenant: String,
    scope: Scope,
    ctx: Context,
    log: Dep<Journal>,
) -> Result<String, CallError> {
    log.note("body");
    let deferred = log.clone();
    scope.defer(move |end| async move { deferred.note(format!("{end:?}")) });
    match how.as_str() {
        "fail" => Err(CallError::new("no")),
        "hidden" => Err(std::io::Error::other("the disk is full").into()),
        "panic" => panic!("on purpose"),
        "wait" => std::future::pending().await,
        "ask" => ctx.ask("sure", Ask::confirm(format!("Sure, {tenant}?"))).await.map(|_| format!("asked {tenant}")),
        "progress" => {
            ctx.progress(1.0).await;
            ctx.progress(2.0).await;
            log.note("progress was sent");
            Ok("progressed".into())
        }
        _ => Ok(format!("{how} for {tenant}")),
    }
}

#[prompt]
async fn review(code: String) -> String {
    code
}

#[resource("note://{name}")]
async fn note(name: String) -> String {
    name
}

#[derive(Clone)]
struct Tag(&'static str);

#[tool]
async fn tag(ctx: Context) -> &'static str {
    ctx.extension::<Tag>().map_or("none", |tag| tag.0)
}

fn server(log: &Journal) -> Server {
    Server::new("wrapped", "1.0.0")
        .provide(log.clone())
        .tools(tools![end, tag])
        .prompts(prompts![review])
        .resources(resources![note])
}

#[tokio::test]
async fn every_operation_passes_in_order_and_the_first_is_outermost() {
    let log = Journal::default();
    let server = server(&log).middleware(noting("a", &log)).middleware(noting("b", &log));
    in_both_eras(Client::new(server), async |client| {
        let around = |inner: &[&str], operation: &str, end: &str| {
            let (before, after) =
                ([format!("a: {operation}"), format!("b: {operation}")], [format!("b: {end}"), format!("a: {end}")]);
            [&before[..], &inner.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>(), &after[..]].concat()
        };
        assert_eq!(client.call_tool("end", json!({ "how": "well" })).await.unwrap().text(), "well for nobody");
        assert_eq!(log.take(), around(&["body", "Succeeded"], "tools/call end", "success"));
        assert_eq!(client.get_prompt("review", json!({ "code": "x" })).await.unwrap().text(), "x");
        assert_eq!(log.take(), around(&[], "prompts/get review", "success"));
        assert_eq!(client.read_resource("note://a").await.unwrap().text(), "a");
        assert_eq!(log.take(), around(&[], "resources/read note://a", "success"));
        client.complete(Reference::prompt("review"), "code", "").await.unwrap();
        assert_eq!(log.take(), around(&[], "completion/complete review", "success"));
        assert_eq!(client.list_tools().await.unwrap().len(), 2);
        assert_eq!(log.take(), around(&[], "tools/list -", "success"));
        client.list_prompts().await.unwrap();
        client.list_resources().await.unwrap();
        client.list_resource_templates().await.unwrap();
        assert_eq!(log.take().len(), 12);
        // Refused by the server, after the middleware.
        client.call_tool("nothing", json!({})).await.unwrap_err();
        assert_eq!(log.take(), around(&[], "tools/call nothing", "there is no tool `nothing`"));
    })
    .await;
}

#[tokio::test]
async fn discover_and_subscriptions_pass() {
    let log = Journal::default();
    let client = Client::new(server(&log).middleware(noting("a", &log)));
    client.discover().await.unwrap();
    assert_eq!(log.take(), ["a: server/discover -", "a: success"]);
    let mut subscription = client.listen(Filter::default().tools()).await.unwrap();
    assert_eq!(log.take(), ["a: subscriptions/listen -", "a: success"], "it ends when the subscription begins");
    client.server().handle().remove_tool("tag");
    subscription.next().await.unwrap();
    let few = Client::new(server(&log).limits(Limits::new().subscriptions(1)).middleware(noting("a", &log)));
    let _first = few.listen(Filter::default().tools()).await.unwrap();
    log.take();
    let error = few.listen(Filter::default().tools()).await.unwrap_err();
    assert_eq!((error.rpc().unwrap().status.as_u16(), error.code()), (503, Some(-32603)));
    assert_eq!(log.take()[1], "a: too many subscriptions (limit 1), try again later");
}

#[tokio::test]
async fn the_result_is_seen_as_it_is() {
    let log = Journal::default();
    let client = Client::new(server(&log).middleware(noting("a", &log)));
    in_both_eras(client.answer("sure", ConfirmForm { yes: true }), async |client| {
        let mut ends = Vec::new();
        for how in ["fail", "hidden", "panic", "ask"] {
            let _ = client.call_tool("end", json!({ "how": how })).await;
            ends.extend(log.take().into_iter().filter(|line| line.starts_with("a: ") && !line.contains("tools/call")));
        }
        ends.dedup();
        let (before, asked) = ends.split_at(3);
        assert_eq!(before, ["a: no", "a: the disk is full", "a: panicked"]);
        assert!(asked == ["a: input required", "a: success"] || asked == ["a: success"], "{asked:?}");
        // A bad argument.
        client.call_tool("end", json!({})).await.unwrap();
        assert!(log.take()[1].contains("`how`"));
    })
    .await;
}

#[tokio::test]
async fn l23_middleware_sees_the_text_of_an_internal_error_and_the_client_does_not() {
    let log = Journal::default();
    in_both_eras(Client::new(server(&log).middleware(noting("a", &log))), async |client| {
        let reply = client.call_tool("end", json!({ "how": "hidden" })).await.unwrap();
        assert!(reply.is_error() && !reply.text().contains("disk"), "{}", reply.text());
        assert!(log.take().contains(&"a: the disk is full".to_owned()));
    })
    .await;
}

/// Adds the tenant of the caller to the arguments of each call.
async fn add_tenant(mut request: OperationRequest, next: Next) -> OperationResult {
    let mut arguments = request.arguments();
    if let (Some(tenant), Some("end")) = (request.header("x-tenant"), request.name()) {
        arguments.insert("tenant".into(), tenant.into());
        request.set_arguments(arguments);
    }
    next.run(request).await
}

#[tokio::test]
async fn changed_arguments_are_what_a_call_of_two_rounds_is_bound_to() {
    let log = Journal::default();
    let client = Client::new(server(&log).middleware(add_tenant)).answer("sure", ConfirmForm { yes: true });
    in_both_eras(client.header("x-tenant", "blue"), async |client| {
        let reply = client.call_tool("end", json!({ "how": "ask" })).await.unwrap();
        assert_eq!((reply.text().as_str(), &reply.asked), ("asked blue", &vec![vec!["sure".to_owned()]]));
    })
    .await;
}

#[tokio::test]
async fn a_middleware_knows_the_retry_of_a_call() {
    let log = Journal::default();
    let retries = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&retries);
    let server = server(&log).middleware(move |request: OperationRequest, next: Next| {
        noted.lock().unwrap().push(request.is_retry());
        next.run(request)
    });
    let client = Client::new(server).answer("sure", ConfirmForm { yes: true });
    client.call_tool("end", json!({ "how": "ask" })).await.unwrap();
    assert_eq!(std::mem::take(&mut *retries.lock().unwrap()), [false, true]);
    client.era(Era::Session).call_tool("end", json!({ "how": "ask" })).await.unwrap();
    assert_eq!(*retries.lock().unwrap(), [false], "a call on a session is one request");
}

#[tokio::test]
async fn a_state_does_not_open_for_other_arguments_of_the_middleware() {
    let client = Client::new(server(&Journal::default()).middleware(add_tenant));
    let capable = client.capabilities(serde_json::from_value(json!({ "elicitation": {} })).unwrap());
    let call = |tenant: &'static str, state: Option<Value>| {
        let client = capable.clone().header("x-tenant", tenant);
        async move {
            let mut params = json!({ "name": "end", "arguments": { "how": "ask" } });
            if let Some(state) = state {
                params["requestState"] = state;
                params["inputResponses"] = json!({ "sure": { "action": "accept", "content": { "yes": true } } });
            }
            client.request("tools/call", params).await
        }
    };
    let first = call("blue", None).await.unwrap();
    let state = first["requestState"].clone();
    let other = call("red", Some(state.clone())).await.unwrap_err();
    assert_eq!(other.rpc().unwrap().data, Some(json!({ "reason": "invalid_request_state" })));
    assert_eq!(call("blue", Some(state)).await.unwrap()["content"][0]["text"], "asked blue");
}

#[tokio::test]
async fn an_extension_reaches_the_function_on_every_transport() {
    async fn attach(mut request: OperationRequest, next: Next) -> OperationResult {
        request.insert_extension(Tag("attached"));
        assert_eq!(request.extension::<Tag>().map(|tag| tag.0), Some("attached"));
        next.run(request).await
    }
    let server = || server(&Journal::default()).middleware(attach);
    in_both_eras(Client::new(server()), async |client| {
        assert_eq!(client.call_tool("tag", json!({})).await.unwrap().text(), "attached");
    })
    .await;
    let (client, served) = tokio::io::duplex(4096);
    let (input, output) = tokio::io::split(served);
    tokio::spawn(server().build().unwrap().serve_io(input, output));
    let (output, mut input) = tokio::io::split(client);
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {} });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "tag", "_meta": meta } });
    input.write_all(format!("{call}\n").as_bytes()).await.unwrap();
    let line = BufReader::new(output).lines().next_line().await.unwrap().unwrap();
    assert!(line.contains("attached"), "{line}");
}

#[tokio::test]
async fn l11_a_middleware_answers_itself_and_nothing_is_opened() {
    async fn answer(request: OperationRequest, next: Next) -> Result<OperationResult, CallError> {
        Ok(match request.method() {
            "tools/call" if request.name() == Some("end") => return Err(CallError::new("not you")),
            "tools/call" => OperationResult::of_tool("from the cache"),
            "prompts/get" => OperationResult::of_prompt("a prompt from the cache"),
            "resources/read" => OperationResult::of_resource("contents from the cache"),
            // Not what a list returns.
            "tools/list" => OperationResult::of_tool("no list"),
            "prompts/list" => return Err(CallError::protocol(-32001, "not for you", None)),
            _ => next.run(request).await,
        })
    }
    let log = Journal::default();
    let server = server(&log).middleware(noting("a", &log)).middleware(answer);
    in_both_eras(Client::new(server), async |client| {
        log.take();
        let refused = client.call_tool("end", json!({ "how": "well" })).await.unwrap();
        assert!(refused.is_error());
        assert_eq!(refused.text(), "not you");
        assert_eq!(log.take(), ["a: tools/call end", "a: not you"]);
        // Not even looked up.
        assert_eq!(client.call_tool("no such tool", json!({})).await.unwrap().text(), "from the cache");
        assert_eq!(client.get_prompt("review", json!({})).await.unwrap().text(), "a prompt from the cache");
        assert_eq!(client.read_resource("note://a").await.unwrap().text(), "contents from the cache");
        let mistake = client.list_tools().await.unwrap_err();
        assert!(
            mistake.to_string().contains("a middleware answered `tools/list` with the result of a tool"),
            "{mistake}"
        );
        assert_eq!(client.list_prompts().await.unwrap_err().code(), Some(-32001));
    })
    .await;
}

#[tokio::test]
async fn a_result_can_be_changed() {
    async fn sign(request: OperationRequest, next: Next) -> OperationResult {
        let mut result = next.run(request).await;
        if let Some(tool) = result.tool_mut() {
            tool.content.push(rejoinder::model::ContentBlock::text("signed"));
        }
        if let Some(prompt) = result.prompt_mut() {
            prompt.description = Some("signed".into());
        }
        result
    }
    in_both_eras(Client::new(server(&Journal::default()).middleware(sign)), async |client| {
        assert_eq!(client.call_tool("tag", json!({})).await.unwrap().text(), "none\nsigned");
        let prompt = client.get_prompt("review", json!({ "code": "x" })).await.unwrap();
        assert_eq!(prompt.result.description.as_deref(), Some("signed"));
    })
    .await;
}

#[tokio::test]
async fn what_a_call_emits_is_sent_while_it_runs() {
    let log = Journal::default();
    let client = Client::new(server(&log).middleware(noting("a", &log)));
    in_both_eras(client, async |client| {
        let reply = client.call_tool("end", json!({ "how": "progress" })).await.unwrap();
        assert_eq!((reply.text().as_str(), reply.progress.len()), ("progressed", 2));
    })
    .await;
}

#[tokio::test]
async fn a_client_that_leaves_drops_the_chain_with_everything_in_it() {
    struct Held(Journal);
    impl Drop for Held {
        fn drop(&mut self) {
            self.0.note("the middleware was dropped");
        }
    }
    let log = Journal::default();
    let held = log.clone();
    let server = server(&log).middleware(move |request, next: Next| {
        let held = Held(held.clone());
        async move {
            let result = next.run(request).await;
            drop(held);
            result
        }
    });
    in_both_eras(Client::new(server), async |client| {
        let call = tokio::spawn(async move { client.call_tool("end", json!({ "how": "wait" })).await });
        assert_eq!(log.wait_for(1).await, ["body"]);
        call.abort();
        let mut ends = log.wait_for(2).await;
        ends.sort();
        assert_eq!(ends, [format!("{:?}", CallEnd::Cancelled), "the middleware was dropped".to_owned()]);
    })
    .await;
}

#[tokio::test]
async fn l27_a_middleware_that_panics_refuses_the_call() {
    async fn panics(request: OperationRequest, next: Next) -> OperationResult {
        assert!(request.arguments().get("how") != Some(&json!("before")), "on purpose");
        let result = next.run(request).await;
        assert!(result.is_error(), "on purpose");
        result
    }
    let log = Journal::default();
    in_both_eras(Client::new(server(&log).middleware(panics)), async |client| {
        let panicked = client.call_tool("end", json!({ "how": "well" })).await;
        // On a session the model reads it.
        assert!(panicked.map_or_else(|error| error.code() == Some(-32603), |reply| reply.is_error()));
        assert_eq!(client.list_tools().await.unwrap_err().code(), Some(-32603));
        log.take();
        let panicked = client.call_tool("end", json!({ "how": "before" })).await;
        assert!(panicked.map_or_else(|error| error.code() == Some(-32603), |reply| reply.is_error()));
        assert!(log.take().is_empty(), "nothing has run");
        assert_eq!(client.call_tool("end", json!({ "how": "fail" })).await.unwrap().text(), "no", "others continue");
    })
    .await;
}

#[tokio::test]
async fn the_rest_can_run_in_another_task() {
    async fn spawns(request: OperationRequest, next: Next) -> Result<OperationResult, CallError> {
        Ok(tokio::spawn(next.run(request)).await?)
    }
    in_both_eras(Client::new(server(&Journal::default()).middleware(spawns)), async |client| {
        let reply = client.call_tool("end", json!({ "how": "progress" })).await.unwrap();
        assert_eq!((reply.text().as_str(), reply.progress.len()), ("progressed", 2));
    })
    .await;
}

/// Reports more than waits for its client.
#[tool]
async fn report(ctx: Context, log: Dep<Journal>) {
    for step in 1..=200 {
        ctx.progress(step).await;
    }
    log.note("all is reported");
}

#[tokio::test]
async fn a_call_in_another_task_continues_after_the_middleware_has_answered() {
    async fn answers(request: OperationRequest, next: Next) -> OperationResult {
        if request.name() != Some("report") {
            return next.run(request).await;
        }
        tokio::spawn(next.run(request));
        OperationResult::of_tool("accepted")
    }
    let log = Journal::default();
    let server = Server::new("reports", "1.0.0").provide(log.clone()).tools(tools![report]).middleware(answers);
    in_both_eras(Client::new(server), async |client| {
        assert_eq!(client.call_tool("report", json!({})).await.unwrap().text(), "accepted");
        assert_eq!(log.wait_for(1).await, ["all is reported"]);
    })
    .await;
}

/// Asks and reports in another task.
#[tool]
async fn aside(ctx: Context) -> Result<String, CallError> {
    let asking = tokio::spawn(async move {
        tokio::task::yield_now().await;
        ctx.progress(1).await;
        ctx.ask("sure", Ask::confirm("Sure?")).await
    });
    Ok(format!("{:?}", asking.await??))
}

#[tokio::test]
async fn a_call_is_polled_again_by_a_middleware_that_polls_only_what_is_woken() {
    async fn alone(request: OperationRequest, next: Next) -> OperationResult {
        FuturesUnordered::from_iter([next.run(request)]).next().await.expect("there is one")
    }
    let server = Server::new("asides", "1.0.0").tools(tools![aside]).middleware(alone);
    in_both_eras(Client::new(server).answer("sure", ConfirmForm { yes: true }), async |client| {
        let reply = client.call_tool("aside", json!({})).await.unwrap();
        assert_eq!(reply.asked, [["sure"]]);
        assert!(!reply.progress.is_empty());
    })
    .await;
}

/// An argument that a header repeats.
#[tool]
async fn routed(#[arg(header = "region")] region: String) -> String {
    region
}

#[tokio::test]
async fn a_header_that_repeats_an_argument_is_compared_with_what_the_client_sent() {
    async fn redirect(mut request: OperationRequest, next: Next) -> OperationResult {
        request.set_arguments(serde_json::from_value(json!({ "region": "us" })).unwrap());
        next.run(request).await
    }
    let client = Client::new(Server::new("regions", "1.0.0").tools(tools![routed]).middleware(redirect));
    assert_eq!(client.call_tool("routed", json!({ "region": "eu" })).await.unwrap().text(), "us");
}

#[test]
fn what_is_printed_of_a_request_holds_no_secret() {
    let printed = Arc::new(Mutex::new(String::new()));
    let seen = Arc::clone(&printed);
    let server = server(&Journal::default()).middleware(move |request, next: Next| {
        *seen.lock().unwrap() = format!("{request:?}");
        next.run(request)
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = Client::new(server).header("authorization", "hunter2");
        client.call_tool("end", json!({ "how": "hunter2" })).await.unwrap();
    });
    let printed = printed.lock().unwrap().clone();
    assert!(printed.contains("tools/call") && !printed.contains("hunter2"), "{printed}");
}

#[tokio::test]
async fn r3_l13_a_resource_has_no_arguments_beside_its_uri() {
    let log = Journal::default();
    let seen = log.clone();
    let server = server(&log).middleware(move |request: OperationRequest, next: Next| {
        seen.note(format!("{:?}", request.arguments()));
        next.run(request)
    });
    in_both_eras(Client::new(server), async |client| {
        log.take();
        client.request("resources/read", json!({ "uri": "note://a", "arguments": { "role": "admin" } })).await.unwrap();
        assert!(log.take().contains(&"{}".to_owned()));
    })
    .await;
}
