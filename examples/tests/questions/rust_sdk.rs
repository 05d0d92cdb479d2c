//! The Rust SDK's client carries every call to its end, by itself.

use std::error::Error;

use rmcp::{
    RoleClient,
    transport::{IntoTransport, StreamableHttpClientTransport, TokioChildProcess},
};
use tokio::process::Command;

use crate::{
    calls::{Call, Era, calls},
    person::{Person, call, wire},
    program::{Program, bounded, url},
};

async fn make<T, E, A>(era: Era, transport: T, made: &Call)
where
    T: IntoTransport<RoleClient, E, A>,
    E: Error + Send + Sync + 'static,
{
    let person = Person::new(made.answers.clone());
    let client = person.connect(era, transport).await;
    // One request more than there are rounds that ask.
    let params = call(made.tool, &made.arguments);
    let result = wire(client.call_tool_with_mrtr_max_rounds(params, made.rounds + 1).await.expect("a result"));
    client.cancel().await.expect("the client leaves");
    let said = result["content"][0]["text"].as_str().expect("text");
    made.check(era, person.asked(), said, result["isError"] == true);
}

async fn over_stdio(era: Era) {
    for made in calls() {
        let mut command = Command::new(made.program);
        command.arg("--stdio").kill_on_drop(true);
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
