//! The Rust SDK's client carries every call to its end, by itself.

use std::error::Error;

use rmcp::{
    RoleClient, ServiceError,
    transport::{IntoTransport, StreamableHttpClientTransport, TokioChildProcess},
};
use tokio::process::Command;

use crate::{
    calls::{Call, Era, calls},
    person::{Person, call, wire},
    program::{BUSY, Program, bounded, url},
};

async fn make<T, E, A>(era: Era, transport: T, made: &Call)
where
    T: IntoTransport<RoleClient, E, A>,
    E: Error + Send + Sync + 'static,
{
    let person = Person::new(made.answers.clone()).together(made.together(era));
    let client = person.connect(era, transport).await;
    // One request more than there are rounds before the last.
    let params = call(made.tool, &made.arguments);
    let result = wire(client.call_tool_with_mrtr_max_rounds(params, made.rounds + 1).await.expect("a result"));
    client.cancel().await.expect("the client leaves");
    let said = result["content"][0]["text"].as_str().expect("text");
    made.check(person.asked(), said, result["isError"] == true);
}

async fn over_stdio(era: Era) {
    for made in calls() {
        let mut command = Command::new(made.program);
        command.arg("--stdio").env(BUSY.0, BUSY.1).kill_on_drop(true);
        let child = TokioChildProcess::new(command).expect("it starts");
        bounded(make(era, child, &made)).await;
    }
}

async fn over_http(era: Era) {
    for made in calls() {
        let program = Program::start(made.program, None).await;
        bounded(make(era, StreamableHttpClientTransport::from_uri(url(program.address)), &made)).await;
    }
}

#[tokio::test]
async fn stateless_over_stdio() {
    over_stdio(Era::Stateless).await;
}

#[tokio::test]
async fn session_over_stdio() {
    over_stdio(Era::Session).await;
}

#[tokio::test]
async fn stateless_over_http() {
    over_http(Era::Stateless).await;
}

#[tokio::test]
async fn session_over_http() {
    over_http(Era::Session).await;
}

/// Of all rounds that a call takes none can be left out, not even one that only hands on what there is so far.
#[tokio::test]
async fn one_round_less_is_not_enough() {
    for made in calls() {
        let program = Program::start(made.program, None).await;
        let transport = StreamableHttpClientTransport::from_uri(url(program.address));
        let client = bounded(Person::new(made.answers.clone()).connect(Era::Stateless, transport)).await;
        let params = call(made.tool, &made.arguments);
        let error = bounded(client.call_tool_with_mrtr_max_rounds(params, made.rounds)).await.expect_err("no result");
        assert!(matches!(error, ServiceError::InputRequiredRoundsExceeded { .. }), "{}: {error}", made.tool);
        client.cancel().await.expect("the client leaves");
    }
}
