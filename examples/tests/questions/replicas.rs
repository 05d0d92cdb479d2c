//! Any replica serves any round: nothing is kept between rounds, so nothing is shared but the keys.

use std::net::SocketAddr;

use rmcp::{
    RoleClient, ServiceError,
    model::{CallToolRequestParams, CallToolResponse, InputRequiredResult},
    service::RunningService,
    transport::StreamableHttpClientTransport,
};
use serde_json::{Value, json};

use crate::{
    calls::{Era, rome},
    person::{Person, call, wire},
    program::{Program, TRIP, bounded, url},
    proxy::Proxy,
};

/// Keys as a fleet has them: 32 bytes in base64.
const KEY: &str = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
const ANOTHER_KEY: &str = "ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=";

const BOOKED: &str = "Ada goes to Rome, Italy, for 3 nights";

async fn three() -> [Program; 3] {
    [
        Program::start(TRIP, Some(KEY)).await,
        Program::start(TRIP, Some(KEY)).await,
        Program::start(TRIP, Some(KEY)).await,
    ]
}

async fn client(address: SocketAddr) -> RunningService<RoleClient, Person> {
    Person::new(rome()).connect(Era::Stateless, StreamableHttpClientTransport::from_uri(url(address))).await
}

fn book() -> CallToolRequestParams {
    call("book_trip", &json!({ "traveller": "Ada" }))
}

/// The next round: the same request, with the state and the answers to what the last round asked.
fn retry(asked: InputRequiredResult) -> CallToolRequestParams {
    let asked = wire(asked);
    let answer = |(key, question): (&String, &Value)| {
        let words = question["params"]["message"].as_str().expect("a form");
        (key.clone(), rome()[words].clone())
    };
    let answers = asked["inputRequests"].as_object().expect("questions").iter().map(answer);
    let mut next = book().with_request_state(asked["requestState"].as_str().expect("a state"));
    next.input_responses = Some(answers.collect());
    next
}

fn asks(response: CallToolResponse) -> InputRequiredResult {
    match response {
        CallToolResponse::InputRequired(asked) => asked,
        other => panic!("it asks nothing: {other:?}"),
    }
}

fn said(response: CallToolResponse) -> String {
    match response {
        CallToolResponse::Complete(result) => wire(result)["content"][0]["text"].as_str().expect("text").to_owned(),
        other => panic!("it is not done: {other:?}"),
    }
}

#[tokio::test]
async fn every_round_of_a_call_may_be_served_by_another_process() {
    let replicas = three().await;
    let proxy = Proxy::start(replicas.each_ref().map(|replica| replica.address)).await;
    let client = client(proxy.address).await;
    let result = wire(bounded(client.call_tool(book())).await.expect("a result"));
    assert_eq!(result["content"][0]["text"], BOOKED);
    assert_eq!(client.service().asked().len(), 4, "each question was asked once");
    assert_eq!(proxy.served(), [0, 1, 2, 0, 1], "the call changed its process with every round");
}

#[tokio::test]
async fn a_process_that_dies_between_rounds_is_not_missed() {
    let mut replicas = three().await;
    let proxy = Proxy::start(replicas.each_ref().map(|replica| replica.address)).await;
    let client = client(proxy.address).await;
    let mut next = book();
    for question in 1..=4 {
        next = retry(asks(bounded(client.call_tool_once(next)).await.expect("a question")));
        if question == 2 {
            // It asked the question that is about to be answered.
            replicas[1].kill().await;
        }
    }
    assert_eq!(said(bounded(client.call_tool_once(next)).await.expect("a result")), BOOKED);
    assert_eq!(proxy.served(), [0, 1, 2, 0, 2], "the others went on");
}

#[tokio::test]
async fn a_process_with_another_key_refuses_the_state() {
    let [ours, other] = [Program::start(TRIP, Some(KEY)).await, Program::start(TRIP, Some(ANOTHER_KEY)).await];
    let next = retry(asks(client(ours.address).await.call_tool_once(book()).await.expect("a question")));
    let refused = bounded(client(other.address).await.call_tool_once(next.clone())).await;
    let Err(ServiceError::McpError(error)) = refused else { panic!("it was not refused: {refused:?}") };
    assert_eq!(error.code.0, -32602);
    assert_eq!(error.data, Some(json!({ "reason": "invalid_request_state" })));
    asks(client(ours.address).await.call_tool_once(next).await.expect("the next question"));
}

#[tokio::test]
async fn keys_are_changed_while_calls_go_on() {
    let both = format!("{ANOTHER_KEY},{KEY}");
    let [before, after] = [Program::start(TRIP, Some(KEY)).await, Program::start(TRIP, Some(&both)).await];
    let next = retry(asks(client(before.address).await.call_tool_once(book()).await.expect("a question")));
    asks(client(after.address).await.call_tool_once(next).await.expect("the next question"));
}
