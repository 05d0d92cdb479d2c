//! Replays every recorded conversation with the Python server against the Rust server, and reports the differences.

mod compare;
mod differences;
mod pipe;
mod recorded;
mod replay;
mod seen;
mod sessions;
mod web;
mod wire;

use std::time::Duration;

use compare::{Difference, Purpose, verdict};
use pipe::Pipe;
use recorded::{SESSION, STATELESS, cases};
use replay::replay;
use serde_json::{Value, json};
use web::Web;
use wire::{Request, Wire};

/// The server, as its users start it.
const SERVER: &str = env!("CARGO_BIN_EXE_rejoinder-parity");

/// A guard against hanging, not a measure: it is long enough for the busiest machine.
async fn bounded<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(180), future).await.expect("the server hangs")
}

/// Replays every recorded conversation, and panics on differences that are not intended.
async fn replay_all(wire: &mut impl Wire, listed: &[Purpose]) {
    let (mut found, mut replayed) = (Vec::new(), 0);
    let session = wire.open_session().await;
    for case in cases() {
        found.extend(replay(wire, &session, &case).await);
        replayed += 1;
    }
    assert_eq!(replayed, recorded::TRANSCRIPTS.lines().count(), "every line is a conversation");
    verdict(&found, listed).unwrap_or_else(|verdict| panic!("{verdict}"));
}

#[tokio::test]
async fn every_recorded_conversation_replays_over_http() {
    bounded(async { replay_all(&mut Web::start().await, &differences::on_purpose()).await }).await;
}

#[tokio::test]
async fn every_recorded_conversation_replays_over_stdio() {
    let mut listed = differences::on_purpose();
    // Stdio has no HTTP status.
    listed.iter_mut().for_each(|purpose| purpose.differences.retain(|difference| difference.field != "http"));
    bounded(replay_all(&mut Pipe::start(), &listed)).await;
}

/// A call of the stateless era that can be asked anything.
async fn call(wire: &mut impl Wire, params: Value) -> Value {
    let request = Request::stateless(params, &recorded::everything());
    wire.request(request, &mut |question| panic!("only sessions are asked: {question}")).await.message
}

#[tokio::test]
async fn a_call_that_begins_in_one_process_goes_on_in_another() {
    let done = bounded(async {
        let asked = call(&mut Web::start().await, json!({ "name": "whoami", "arguments": {} })).await;
        let retry = json!({
            "name": "whoami",
            "arguments": {},
            "inputResponses": { "who": { "action": "accept", "content": { "name": "ann" } } },
            "requestState": asked["result"]["requestState"],
        });
        call(&mut Pipe::start(), retry).await
    });
    assert_eq!(done.await["result"]["structuredContent"], json!({ "result": "ann" }));
}

#[tokio::test]
async fn the_text_of_a_question_can_be_changed() {
    bounded(async {
        let mut server = Pipe::start();
        let reword = |resolver| json!({ "name": "reword", "arguments": { "resolver": resolver, "text": "Name?" } });
        let whoami = json!({ "name": "whoami", "arguments": {} });
        call(&mut server, reword("who")).await;
        let asked = call(&mut server, whoami).await;
        assert_eq!(asked["result"]["inputRequests"]["who"]["params"]["message"], "Name?");
        let refused = call(&mut server, reword("price")).await;
        assert_eq!(refused["result"]["isError"], true);
        let text = refused["result"]["content"][0]["text"].as_str().expect("a text");
        assert!(text.starts_with("`price` has no text to change; use one of after_sample, askA"), "{text}");
    })
    .await;
}

fn difference(case: &str, field: &str) -> Difference {
    let case = case.to_owned();
    Difference { era: STATELESS, case, step: 1, field: field.to_owned(), theirs: json!(1), ours: json!(2) }
}

#[test]
fn a_difference_that_is_not_listed_is_told() {
    let report = verdict(&[difference("pure", "http")], &[]).expect_err("it is not listed");
    assert!(report.contains("pure (2026-07-28), step 1, http\n    theirs: 1\n    ours:   2"), "{report}");
}

#[test]
fn a_listed_difference_that_is_gone_or_another_is_told() {
    let listed = [Purpose { why: "because", differences: vec![difference("pure", "http")] }];
    let report = verdict(&[], &listed).expect_err("it is gone");
    assert!(report.contains("listed, and not there") && report.contains("pure (2026-07-28), step 1, http"), "{report}");
    let other = Difference { ours: json!(3), ..difference("pure", "http") };
    let report = verdict(&[other], &listed).expect_err("it is another");
    assert!(report.contains("not listed") && report.contains("listed, and not there"), "{report}");
    assert_eq!(verdict(&[difference("pure", "http")], &listed), Ok(()));
}

#[test]
fn every_recorded_session_is_told_what_to_call() {
    let mut recorded: Vec<String> =
        cases().into_iter().filter(|case| case.era == SESSION).map(|case| case.name).collect();
    let mut listed = sessions::names();
    recorded.sort_unstable();
    listed.sort_unstable();
    assert_eq!(recorded, listed);
}
