//! The Rust SDK's client makes tasks, answers what they ask, and follows them to their ends.

use std::{collections::BTreeMap, error::Error, time::Duration};

use rmcp::{
    RoleClient,
    model::{
        CallToolRequestParams, CallToolResponse, CancelTaskParams, DetailedTask, GetTaskParams, TaskPayload,
        UpdateTaskParams,
    },
    service::RunningService,
    transport::{IntoTransport, StreamableHttpClientTransport, TokioChildProcess},
};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::{
    calls::{Era, accept},
    person::{Person, wire},
    program::{MRTR, Program, bounded, url},
};

type Client = RunningService<RoleClient, Person>;

fn answers(key: &str, answer: Value) -> BTreeMap<String, Value> {
    BTreeMap::from([(key.to_owned(), answer)])
}

/// Looks at a task until it is as wanted.
async fn until(client: &Client, id: &str, is_wanted: impl Fn(&TaskPayload) -> bool) -> DetailedTask {
    loop {
        let shown = client.get_task(GetTaskParams::new(id)).await.expect("the task").task;
        if is_wanted(&shown.payload) {
            return shown;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The id of the task that a call becomes.
async fn start(client: &Client, call: CallToolRequestParams) -> String {
    match client.call_tool_once(call).await.expect("a reply") {
        CallToolResponse::Task(created) => created.task.task_id,
        other => panic!("no task: {other:?}"),
    }
}

/// One round, then a task, then a question in it.
async fn paints_a_room(client: &Client) {
    let call = CallToolRequestParams::new("paint_room");
    let asked = match client.call_tool_once(call.clone()).await.expect("a reply") {
        CallToolResponse::InputRequired(asked) => wire(asked),
        other => panic!("no question: {other:?}"),
    };
    assert_eq!(asked["inputRequests"]["user_name"]["params"]["message"], "What is your name?");
    let state = asked["requestState"].as_str().expect("a state");
    let retry =
        call.with_input_responses(answers("user_name", accept(json!({ "name": "Ada" })))).with_request_state(state);
    let id = start(client, retry).await;
    let waits = until(client, &id, |payload| !matches!(payload, TaskPayload::Working)).await;
    let TaskPayload::InputRequired { input_requests } = waits.payload else { panic!("{waits:?}") };
    assert_eq!(wire(&input_requests)["color"]["params"]["message"], "Ada, what is your favorite color?");
    let update = UpdateTaskParams::new(&id, answers("color", accept(json!({ "color": "green" }))));
    client.update_task(update.clone()).await.expect("it is taken");
    client.update_task(update).await.expect("and once more ignored");
    let ended = until(client, &id, |payload| !matches!(payload, TaskPayload::Working)).await;
    let TaskPayload::Completed { result } = ended.payload else { panic!("{ended:?}") };
    assert_eq!(result["content"][0]["text"], "Ada's room is green now");
}

async fn cancels(client: &Client) {
    let seconds = json!({ "seconds": 3600 }).as_object().expect("an object").clone();
    let id = start(client, CallToolRequestParams::new("slow_compute").with_arguments(seconds)).await;
    client.cancel_task(CancelTaskParams::new(&id)).await.expect("it is cancelled");
    let ended = until(client, &id, |payload| !matches!(payload, TaskPayload::Working)).await;
    assert_eq!(ended.payload, TaskPayload::Cancelled);
}

async fn fails(client: &Client) {
    let id = start(client, CallToolRequestParams::new("protocol_error_job")).await;
    let ended = until(client, &id, |payload| !matches!(payload, TaskPayload::Working)).await;
    let TaskPayload::Failed { error } = ended.payload else { panic!("{ended:?}") };
    assert_eq!(error["code"], -32603);
}

async fn follows<T, E, A>(transport: T)
where
    T: IntoTransport<RoleClient, E, A>,
    E: Error + Send + Sync + 'static,
{
    let client = Person::new(json!({})).follows_tasks().connect(Era::Stateless, transport).await;
    paints_a_room(&client).await;
    cancels(&client).await;
    fails(&client).await;
    client.cancel().await.expect("the client leaves");
}

#[tokio::test]
async fn over_http() {
    let program = Program::start(MRTR, None).await;
    bounded(follows(StreamableHttpClientTransport::from_uri(url(program.address)))).await;
}

#[tokio::test]
async fn over_stdio() {
    let mut command = Command::new(MRTR);
    command.arg("--stdio").kill_on_drop(true);
    bounded(follows(TokioChildProcess::new(command).expect("it starts"))).await;
}
