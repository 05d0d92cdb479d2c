//! What clients do with tasks: `tasks/get`, `tasks/update`, `tasks/cancel`, and listening.

use std::time::Duration;

use rejoinder::{
    auth::Principal,
    call::CallEnd,
    model::{Task, TaskStatus},
    prelude::*,
    testing::{Client, ClientAnswer, Filter, Notification},
};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::{askable, client, journal, yes};
use crate::journal::Journal;

/// Asks two people at once, and then a third.
#[tool(task)]
async fn launch(ctx: Context) -> Result<String, CallError> {
    let ask = |who: &'static str| ctx.ask(who, Ask::confirm(format!("{who}: go?")));
    let (ada, bob) = tokio::try_join!(ask("ada"), ask("bob"))?;
    let eve = ask("eve").await?;
    Ok(format!("{ada} {bob} {eve}"))
}

/// Runs until it is cancelled.
#[tool(task)]
async fn compute(scope: Scope, journal: Dep<Journal>) -> Result<(), CallError> {
    let ended = journal.clone();
    scope.defer(move |end: CallEnd| async move { ended.note(format!("{end:?}")) });
    journal.note("runs");
    std::future::pending().await
}

#[tool(task)]
async fn fail(how: String) -> Result<String, CallError> {
    match &*how {
        "error" => Err(CallError::new("sold out")),
        "protocol" => Err(CallError::protocol(-31_999, "no such account", Some(json!({ "account": 7 })))),
        _ => panic!("a mistake"),
    }
}

/// As any tool returns it.
#[tool(task)]
async fn sum() -> Json<Value> {
    Json(json!({ "sum": 3, "text": "\u{2028}" }))
}

/// The same, never as a task.
#[tool]
async fn plain_sum() -> Json<Value> {
    sum().await
}

fn server() -> Server {
    Server::new("base", "1.0.0").tools(tools![launch, compute, fail, sum, plain_sum])
}

async fn waits_for(task: &rejoinder::testing::ClientTask, keys: &[&str]) {
    let shown = task.until(|shown| shown["status"] == "input_required").await.unwrap();
    let open: Vec<_> = shown["inputRequests"].as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect();
    assert_eq!(open, keys, "{shown}");
}

#[tokio::test]
async fn t10_t14_t16_questions_are_answered_in_any_order_and_only_open_ones_are_shown() {
    let client = client(server());
    let task = client.start_task("launch", json!({})).await.unwrap();
    waits_for(&task, &["ada", "bob"]).await;
    let first = task.get().await.unwrap();
    assert_eq!(first["inputRequests"]["ada"]["method"], "elicitation/create");
    assert_eq!((first.get("result"), first.get("error"), first.get("requestState")), (None, None, None));
    assert_eq!(task.get().await.unwrap(), first, "reading changes nothing");

    let answers = json!({ "bob": { "action": "accept", "content": { "yes": true } } });
    let ack = client.request("tasks/update", json!({ "taskId": task.id(), "inputResponses": answers })).await.unwrap();
    assert_eq!(ack, json!({ "resultType": "complete" }), "an empty acknowledgement");
    waits_for(&task, &["ada"]).await;
    task.answer("ada", yes()).await.unwrap();
    task.until_asked("eve").await.unwrap();
    waits_for(&task, &["eve"]).await;
    task.answer("eve", yes()).await.unwrap();
    assert_eq!(task.finish().await.unwrap().text(), "true true true");
}

#[tokio::test]
async fn t13_t15_a_key_shows_one_question_and_answers_count_once() {
    let client = client(server());
    let task = client.start_task("launch", json!({})).await.unwrap();
    waits_for(&task, &["ada", "bob"]).await;
    // What does not fit is asked again, under another key.
    task.answer_with("ada", ClientAnswer::with(json!({ "action": "accept", "content": { "yes": "maybe" } })))
        .await
        .unwrap();
    task.answer("bob", yes()).await.unwrap();
    let again = task.until_asked("ada~2").await.unwrap();
    assert!(again["params"]["message"].as_str().unwrap().contains("ada: go?"), "{again}");
    waits_for(&task, &["ada~2"]).await;
    for late in ["ada", "bob", "never asked"] {
        task.answer_with(late, ClientAnswer::decline()).await.expect("it is acknowledged");
        let no_answer = ClientAnswer::with(json!({ "ignored": true }));
        task.answer_with(late, no_answer).await.expect("what is ignored need not be an answer");
    }
    waits_for(&task, &["ada~2"]).await;
    task.answer("ada~2", yes()).await.unwrap();
    task.until_asked("eve").await.unwrap();
    task.answer("eve", yes()).await.unwrap();
    assert_eq!(task.finish().await.unwrap().text(), "true true true");
    task.answer_with("eve", ClientAnswer::decline()).await.expect("an update of an ended task is acknowledged, too");
    assert_eq!(task.finish().await.unwrap().text(), "true true true");
}

#[tokio::test]
async fn what_answers_no_kind_of_question_is_refused_and_nothing_is_taken() {
    let client = client(server());
    let task = client.start_task("launch", json!({})).await.unwrap();
    waits_for(&task, &["ada", "bob"]).await;
    for bad in [json!(7), json!({ "ada": 7 }), json!([]), json!({ "ada": { "action": "accept" }, "bob": "yes" })] {
        let update = json!({ "taskId": task.id(), "inputResponses": bad });
        assert_eq!(client.request("tasks/update", update).await.unwrap_err().code(), Some(-32602), "{bad}");
    }
    waits_for(&task, &["ada", "bob"]).await;
    let missing = client.request("tasks/update", json!({ "taskId": task.id() })).await.unwrap_err();
    assert_eq!(missing.code(), Some(-32602));
}

#[tokio::test]
async fn t11_t12_an_error_of_the_tool_completes_and_an_error_of_the_protocol_fails() {
    let client = client(server());
    let ended = async |how: &str| {
        let task = client.start_task("fail", json!({ "how": how })).await.unwrap();
        task.until(|_| false).await.unwrap()
    };
    let error = ended("error").await;
    assert_eq!((&error["status"], &error["result"]["isError"]), (&json!("completed"), &json!(true)));
    assert_eq!(error["result"]["content"][0]["text"], "sold out");
    let protocol = ended("protocol").await;
    let expected = json!({ "code": -31_999, "message": "no such account", "data": { "account": 7 } });
    assert_eq!((&protocol["status"], &protocol["error"]), (&json!("failed"), &expected));
    assert_eq!((&protocol["statusMessage"], protocol.get("result")), (&json!("no such account"), None));
    let panicked = ended("panic").await;
    assert_eq!((&panicked["status"], &panicked["error"]["code"]), (&json!("failed"), &json!(-32603)));
    assert!(panicked["error"]["data"]["id"].is_string(), "{panicked}");
}

#[tokio::test]
async fn t11_the_result_is_what_the_call_would_have_returned_byte_for_byte() {
    let client = client(server());
    let plain = client.request("tools/call", json!({ "name": "plain_sum" })).await.unwrap();
    let task = client.start_task("sum", json!({})).await.unwrap();
    let shown = task.until(|_| false).await.unwrap();
    assert_eq!(shown["result"].to_string(), plain.to_string());
}

#[tokio::test]
async fn t18_a_cancelled_task_ends_at_once_and_what_it_deferred_hears_it() {
    let client = client(server());
    let task = client.start_task("compute", json!({})).await.unwrap();
    assert_eq!(journal(&client).wait_for(1).await, ["runs"]);
    task.cancel().await.unwrap();
    let shown = task.get().await.unwrap();
    assert_eq!((&shown["status"], shown.get("result"), shown.get("error")), (&json!("cancelled"), None, None));
    assert_eq!(journal(&client).wait_for(1).await, ["Cancelled"]);
    task.cancel().await.expect("cancelling again is the same");
    assert_eq!(task.show().await.unwrap().status, TaskStatus::Cancelled);

    let done = client.start_task("sum", json!({})).await.unwrap();
    done.finish().await.unwrap();
    done.cancel().await.expect("an end that came first stands");
    assert_eq!(done.show().await.unwrap().status, TaskStatus::Completed);
}

#[tokio::test]
async fn t18_a_task_that_waits_can_be_cancelled() {
    let client = client(server());
    let task = client.start_task("launch", json!({})).await.unwrap();
    waits_for(&task, &["ada", "bob"]).await;
    task.cancel().await.unwrap();
    let shown = task.get().await.unwrap();
    assert_eq!((&shown["status"], shown.get("inputRequests")), (&json!("cancelled"), None));
    task.answer("ada", yes()).await.expect("it is acknowledged");
    assert_eq!(task.show().await.unwrap().status, TaskStatus::Cancelled);
}

#[tokio::test]
async fn t17_t28_unknown_tasks_and_those_of_others_look_the_same() {
    let client = client(server());
    let [ada, bob, nobody] = [Some("ada"), Some("bob"), None].map(|name| match name {
        Some(name) => client.clone().extension(Principal::new(name)),
        None => client.clone(),
    });
    let of_ada = ada.start_task("launch", json!({})).await.unwrap();
    let of_nobody = nobody.start_task("launch", json!({})).await.unwrap();
    waits_for(&of_ada, &["ada", "bob"]).await;
    let unknown = rejoinder::tasks::TaskId::new().to_string();
    let same = |client: Client, method: &'static str, id: String| async move {
        let params = json!({ "taskId": id, "inputResponses": { "ada": { "action": "decline" } } });
        let error = client.request(method, params).await.unwrap_err();
        let rpc = error.rpc().unwrap();
        (rpc.code, rpc.status.as_u16(), rpc.message.clone(), rpc.data.clone())
    };
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let refused = same(bob.clone(), method, unknown.clone()).await;
        assert_eq!((refused.0, refused.1), (-32602, 400));
        for (who, id) in
            [(&bob, of_ada.id()), (&nobody, of_ada.id()), (&ada, of_nobody.id()), (&ada, "not an id"), (&ada, "")]
        {
            assert_eq!(same((*who).clone(), method, id.to_owned()).await, refused, "{method} {id}");
        }
    }
    waits_for(&of_ada, &["ada", "bob"]).await;
}

#[tokio::test]
async fn t25_requests_that_do_not_declare_the_extension_are_refused() {
    let client = client(server());
    let task = client.start_task("launch", json!({})).await.unwrap();
    let other = Client::new(client.server().clone()).capabilities(askable());
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let error = other.request(method, json!({ "taskId": task.id(), "inputResponses": {} })).await.unwrap_err();
        let rpc = error.rpc().unwrap();
        assert_eq!((rpc.code, rpc.status.as_u16()), (-32021, 400), "{method}");
        assert_eq!(rpc.data.as_ref().unwrap()["requiredCapabilities"]["extensions"][Task::EXTENSION], json!({}));
    }
    let listens = other.request("subscriptions/listen", json!({ "notifications": { "taskIds": [task.id()] } })).await;
    assert_eq!(listens.unwrap_err().code(), Some(-32021), "T23");
}

#[tokio::test]
async fn t26_the_header_names_the_task() {
    let client = client(server());
    let task = client.start_task("launch", json!({})).await.unwrap();
    let other = client.clone().header("mcp-name", "another");
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let error = other.request(method, json!({ "taskId": task.id(), "inputResponses": {} })).await.unwrap_err();
        assert_eq!(error.code(), Some(-32020), "{method}");
    }
}

#[tokio::test]
async fn t30_removed_methods_are_unknown_and_the_legacy_parameter_is_ignored() {
    let client = client(server());
    for method in ["tasks/result", "tasks/list"] {
        assert_eq!(client.request(method, json!({ "taskId": "x" })).await.unwrap_err().code(), Some(-32601));
    }
    let call = json!({ "name": "plain_sum", "arguments": {}, "task": { "ttl": 60_000 } });
    assert_eq!(client.request("tools/call", call).await.unwrap()["resultType"], "complete");
}

#[tokio::test]
async fn t22_t23_t24_a_listener_hears_each_change_of_its_own_tasks_as_get_shows_it() {
    let client = client(server());
    let ada = client.clone().extension(Principal::new("ada"));
    let task = ada.start_task("launch", json!({})).await.unwrap();
    let foreign = client.start_task("launch", json!({})).await.unwrap();
    let filter = Filter::default().task(task.id()).task(foreign.id()).task("not an id");
    let mut heard = ada.listen(filter).await.unwrap();
    assert_eq!(heard.honoured().task_ids, [task.id()]);
    let mut next = async |is_wanted: &dyn Fn(&Value) -> bool| {
        loop {
            let next = tokio::time::timeout(Duration::from_secs(30), heard.next()).await.expect("a notification");
            let Some(Notification::Task(shown)) = next else { panic!("{next:?}") };
            if is_wanted(&shown) {
                return shown;
            }
        }
    };
    let asked = next(&|shown| shown["status"] == "input_required").await;
    let got = without_meta(task.get().await.unwrap());
    assert_eq!(without_meta(asked), got);
    task.answer("ada", yes()).await.unwrap();
    let partly = next(&|shown| shown["inputRequests"].as_object().is_some_and(|open| open.len() == 1)).await;
    assert_eq!(partly["inputRequests"].as_object().unwrap().keys().collect::<Vec<_>>(), ["bob"]);
    task.answer("bob", yes()).await.unwrap();
    next(&|shown| shown["inputRequests"].get("eve").is_some()).await;
    task.answer("eve", yes()).await.unwrap();
    let ended = next(&|shown| shown["status"] == "completed").await;
    assert_eq!(ended["result"]["content"][0]["text"], "true true true");
}

/// Without what belongs to the message alone.
fn without_meta(mut shown: Value) -> Value {
    for member in ["_meta", "resultType"] {
        shown.as_object_mut().unwrap().remove(member);
    }
    shown
}

#[tokio::test]
async fn t19_t24_neither_a_cancelled_request_nor_progress_reaches_a_task() {
    /// Says how far it is, and waits.
    #[tool(task)]
    async fn count(ctx: Context, gate: Dep<Notify>) -> &'static str {
        ctx.progress(1).total(3).await;
        ctx.info("not for a task").await;
        gate.notified().await;
        ctx.progress(2).total(3).message("nearly done").await;
        gate.notified().await;
        ctx.status("done").await;
        "three"
    }
    let client = client(Server::new("counter", "1.0.0").provide(Notify::new()).tools(tools![count]));
    let gate = client.dependency::<Notify>();
    let task = client.start_task("count", json!({})).await.unwrap();
    let says = async |message: &str| {
        let shown = task.until(|shown| shown["statusMessage"] == message).await.unwrap();
        assert_eq!(shown["status"], "working", "{shown}");
    };
    says("1 of 3").await;
    gate.notify_one();
    says("nearly done").await;
    gate.notify_one();
    let reply = task.finish().await.unwrap();
    assert_eq!((reply.text().as_str(), reply.progress.len(), reply.logs.len()), ("three", 0, 0));
}
