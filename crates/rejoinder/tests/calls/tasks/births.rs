//! Which calls become tasks, and what their clients get.

use rejoinder::{
    auth::Principal,
    call::Era,
    form::ConfirmForm,
    model::{Task, TaskStatus},
    prelude::*,
    testing::{Client, ClientAnswer, Transport},
};
use serde_json::{Value, json};

use super::{askable, client, journal, yes};
use crate::journal::Journal;

/// Runs as a task where it can.
#[tool(task)]
async fn double(number: u32) -> u32 {
    number * 2
}

/// Runs as a task only.
#[tool(task(required, ttl = "2h", poll = "500ms"))]
async fn render(journal: Dep<Journal>) -> &'static str {
    journal.note("rendered");
    "https://.."
}

/// Never a task.
#[tool]
async fn plain() -> &'static str {
    "plain"
}

#[resolver]
fn sure(number: u32) -> Ask<ConfirmForm> {
    Ask::user(format!("{number}?"))
}

/// Asks before there is a task.
#[tool(task)]
async fn print(number: u32, #[resolve(sure)] sure: &ConfirmForm, journal: Dep<Journal>) -> String {
    journal.note("printed");
    format!("{number} {}", sure.yes)
}

fn server() -> Server {
    Server::new("studio", "1.0.0").tools(tools![double, render, plain, print])
}

#[tokio::test]
async fn t1_the_extension_is_advertised_where_there_are_tasks_and_no_legacy_capability() {
    let discovered = client(server()).request("server/discover", json!({})).await.unwrap();
    assert_eq!(discovered["capabilities"]["extensions"], json!({ Task::EXTENSION: {} }));
    assert_eq!(discovered["capabilities"].get("tasks"), None);
    let without = Client::new(Server::new("studio", "1.0.0").tools(tools![plain]));
    let discovered = without.request("server/discover", json!({})).await.unwrap();
    assert_eq!(discovered["capabilities"].get("extensions"), None);
    assert_eq!(without.request("tasks/get", json!({ "taskId": "x" })).await.unwrap_err().code(), Some(-32601));
}

#[tokio::test]
async fn t2_t4_only_a_request_that_declares_the_extension_gets_a_task() {
    let follows = client(server());
    let call = |extensions: Value| {
        let capabilities = json!({ "elicitation": {}, "extensions": extensions });
        let meta = json!({ "io.modelcontextprotocol/clientCapabilities": capabilities });
        follows.request("tools/call", json!({ "name": "double", "arguments": { "number": 2 }, "_meta": meta }))
    };
    assert_eq!(call(json!({ Task::EXTENSION: {} })).await.unwrap()["resultType"], "task");
    for other in [json!({}), json!({ "other": {} }), json!({ Task::EXTENSION: true }), json!([]), json!(null)] {
        let result = call(other.clone()).await.unwrap();
        assert_eq!(
            (&result["resultType"], &result["content"][0]["text"]),
            (&json!("complete"), &json!("4")),
            "{other}"
        );
    }
    assert_eq!(follows.request("tools/call", json!({ "name": "plain" })).await.unwrap()["resultType"], "complete");
}

#[tokio::test]
async fn t31_who_declares_only_the_legacy_capability_does_not_follow_tasks() {
    let capabilities = serde_json::from_value(json!({ "tasks": { "requests": { "tools": { "call": {} } } } })).unwrap();
    let legacy = Client::new(client(server()).server().clone()).capabilities(capabilities);
    assert_eq!(legacy.call_tool("double", json!({ "number": 2 })).await.unwrap().text(), "4");
}

#[tokio::test]
async fn t3_a_tool_that_runs_as_a_task_only_refuses_others_before_anything_runs() {
    let client = client(server());
    let error = Client::new(client.server().clone()).call_tool("render", json!({})).await.unwrap_err();
    let rpc = error.rpc().unwrap();
    assert_eq!((rpc.code, rpc.status.as_u16()), (-32021, 400));
    let needed = json!({ "requiredCapabilities": { "extensions": { Task::EXTENSION: {} } } });
    assert_eq!(rpc.data, Some(needed));
    assert!(journal(&client).take().is_empty());
}

#[tokio::test]
async fn t32_a_session_never_gets_a_task_and_never_sees_the_extension() {
    let session = client(server()).era(Era::Session);
    assert_eq!(session.call_tool("double", json!({ "number": 2 })).await.unwrap().text(), "4");
    let reply = session.call_tool("render", json!({})).await.unwrap();
    assert!(reply.is_error() && reply.text().contains("a client that supports tasks"), "{}", reply.text());
    assert!(journal(&session).take().is_empty());
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        assert_eq!(session.request(method, json!({ "taskId": "x" })).await.unwrap_err().code(), Some(-32601));
    }
}

#[tokio::test]
async fn t5_t6_the_reply_is_a_flat_task_on_every_transport() {
    for transport in [Transport::Http, Transport::Stdio, Transport::WebSocket] {
        let client = client(server()).transport(transport);
        let task = client.start_task("render", json!({})).await.unwrap();
        let created = task.created();
        let mut members: Vec<_> = created.as_object().unwrap().keys().map(String::as_str).collect();
        members.sort_unstable();
        let expected =
            ["_meta", "createdAt", "lastUpdatedAt", "pollIntervalMs", "resultType", "status", "taskId", "ttlMs"];
        assert_eq!(members, expected);
        assert_eq!((&created["resultType"], &created["status"]), (&json!("task"), &json!("working")));
        assert_eq!((&created["ttlMs"], &created["pollIntervalMs"]), (&json!(7_200_000), &json!(500)));
        assert_eq!(task.finish().await.unwrap().text(), "https://..");
        let shown = task.get().await.unwrap();
        assert_eq!((&shown["taskId"], &shown["createdAt"]), (&created["taskId"], &created["createdAt"]));
        assert_eq!((&shown["resultType"], &shown["status"]), (&json!("complete"), &json!("completed")));
    }
}

#[tokio::test]
async fn t27_ids_are_22_characters_of_128_random_bits() {
    let client = client(server());
    let [first, second] = [client.start_task("render", json!({})).await, client.start_task("render", json!({})).await];
    let (first, second) = (first.unwrap(), second.unwrap());
    assert!(first.id().len() == 22 && first.id() != second.id());
}

#[tokio::test]
async fn t8_resolvers_ask_in_rounds_before_there_is_a_task_and_run_again_with_the_answers() {
    let client = client(server()).answer("sure", yes());
    let reply = client.call_tool("print", json!({ "number": 3 })).await.unwrap();
    assert_eq!((reply.text(), &*reply.asked), ("3 true".to_owned(), &[vec!["sure".to_owned()]][..]));
    assert_eq!(reply.ran, [["sure"], ["sure"], ["sure"]], "two rounds, and the run of the task");
}

#[tokio::test]
async fn t3_what_fails_before_the_function_runs_makes_no_task() {
    let client = client(server());
    let declined = client.clone().decline("sure").call_tool("print", json!({ "number": 3 })).await.unwrap();
    assert!(declined.is_error() && declined.asked.len() == 1, "{}", declined.text());
    let bad = client.call_tool("print", json!({ "number": "three" })).await.unwrap();
    assert!(bad.is_error(), "{}", bad.text());
    let nobody = Client::new(client.server().clone()).tasks().call_tool("print", json!({ "number": 3 })).await;
    assert_eq!(nobody.unwrap_err().code(), Some(-32021));
    assert!(journal(&client).take().is_empty());
}

#[tokio::test]
async fn t8_sending_again_the_round_that_made_a_task_gives_the_same_task() {
    let client = client(server());
    let call = json!({ "name": "print", "arguments": { "number": 3 } });
    let asked = client.request("tools/call", call.clone()).await.unwrap();
    let mut retry = call;
    retry["requestState"] = asked["requestState"].clone();
    retry["inputResponses"] = json!({ "sure": { "action": "accept", "content": { "yes": true } } });
    let first = client.request("tools/call", retry.clone()).await.unwrap();
    let again = client.request("tools/call", retry).await.unwrap();
    assert_eq!((&first["resultType"], &first["taskId"]), (&json!("task"), &again["taskId"]));
}

#[tokio::test]
async fn a_round_that_is_sent_again_shows_the_task_as_it_is_now() {
    /// Says how far it is, and waits.
    #[tool(task)]
    async fn slow(number: u32, #[resolve(sure)] sure: &ConfirmForm, ctx: Context) -> Result<bool, CallError> {
        ctx.status(format!("{number}, {}", sure.yes)).await;
        ctx.ask("go", Ask::confirm("Go on?")).await
    }
    let keys = rejoinder::state::StateKeys::new([b"the first of two keys, 32 bytes!".to_vec()]).unwrap();
    for policy in [rejoinder::state::StatePolicy::new(), rejoinder::state::StatePolicy::new().keys(keys)] {
        let client = client(Server::new("studio", "1.0.0").tools(tools![slow]).state(policy));
        let call = json!({ "name": "slow", "arguments": { "number": 3 } });
        let asked = client.request("tools/call", call.clone()).await.unwrap();
        let mut retry = call;
        retry["requestState"] = asked["requestState"].clone();
        retry["inputResponses"] = json!({ "sure": { "action": "accept", "content": { "yes": true } } });
        let first = client.request("tools/call", retry.clone()).await.unwrap();
        let get = || client.request("tasks/get", json!({ "taskId": first["taskId"] }));
        while get().await.unwrap()["status"] != "input_required" {
            tokio::task::yield_now().await;
        }
        let again = client.request("tools/call", retry).await.unwrap();
        assert_eq!((&again["taskId"], &again["status"]), (&first["taskId"], &json!("input_required")));
        assert_eq!(again["statusMessage"], "3, true");
    }
}

#[tokio::test]
async fn a_client_that_leaves_while_a_task_is_made_does_not_cut_it_in_half() {
    let client = client(server());
    for _ in 0..20 {
        let call = client.start_task("render", json!({}));
        let _ = tokio::time::timeout(std::time::Duration::from_micros(50), call).await;
    }
    let task = client.start_task("render", json!({})).await.unwrap();
    assert_eq!(task.finish().await.unwrap().text(), "https://..");
}

#[tokio::test]
async fn too_many_tasks_are_refused_and_ended_ones_do_not_count() {
    /// Waits for its user.
    #[tool(task)]
    async fn wait(ctx: Context) -> Result<bool, CallError> {
        ctx.ask("go", Ask::confirm("Go on?")).await
    }
    let limits = rejoinder::server::Limits::new().tasks(2);
    let client = client(Server::new("small", "1.0.0").tools(tools![wait]).limits(limits));
    let first = client.start_task("wait", json!({})).await.unwrap();
    let _second = client.start_task("wait", json!({})).await.unwrap();
    let third = client.start_task("wait", json!({})).await.unwrap_err();
    let rpc = third.rpc().unwrap();
    assert_eq!((rpc.code, rpc.status.as_u16()), (-32603, 503), "{third}");
    first.until_asked("go").await.unwrap();
    first.answer_with("go", ClientAnswer::accept(yes())).await.unwrap();
    first.finish().await.unwrap();
    client.start_task("wait", json!({})).await.expect("there is room again");
}

#[tokio::test]
async fn one_caller_leaves_room_for_others() {
    let limits = rejoinder::server::Limits::new().tasks(8).tasks_per_caller(1);
    /// Waits for its user.
    #[tool(task)]
    async fn wait(ctx: Context) -> Result<bool, CallError> {
        ctx.ask("go", Ask::confirm("Go on?")).await
    }
    let server = Server::new("small", "1.0.0").tools(tools![wait]).limits(limits);
    let client = client(server);
    let [ada, bob] = ["ada", "bob"].map(|name| client.clone().extension(Principal::new(name)));
    let _first = ada.start_task("wait", json!({})).await.unwrap();
    let second = ada.start_task("wait", json!({})).await.unwrap_err();
    let rpc = second.rpc().unwrap();
    assert_eq!((rpc.code, rpc.status.as_u16()), (-32603, 429));
    assert_eq!(rpc.data, Some(json!({ "reason": "caller_limit" })));
    bob.start_task("wait", json!({})).await.expect("there is room for others");
}

#[tokio::test]
async fn a_call_that_is_made_by_hand_or_at_run_time_becomes_a_task_too() {
    let record = rejoinder::model::Tool::new("made", "Made at run time.", rejoinder::model::JsonObject::new());
    let made = rejoinder::Tool::dynamic(record, |_, ctx: Context| async move {
        ctx.once("step", || async { Ok(7) }).await.map(|seven| seven.to_string())
    });
    let client = Client::new(Server::new("plugins", "1.0.0").tools([made.task(rejoinder::tasks::TaskOptions::new())]));
    let task = client.tasks().capabilities(askable()).start_task("made", json!({})).await.unwrap();
    assert_eq!(task.finish().await.unwrap().text(), "7");
    assert_eq!(task.show().await.unwrap().status, TaskStatus::Completed);
}
