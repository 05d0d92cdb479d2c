//! One conversation, held again.

use serde_json::{Value, json};

use crate::{
    compare::{Difference, compare},
    recorded::{Case, STATELESS, Step, everything},
    seen::{Seen, seen},
    sessions,
    wire::{Reply, Request, Session, Wire},
};

/// The one case in which the author changes a question meanwhile: of that, only the new words are on record.
const REWORDED: (&str, usize, [&str; 2]) = ("reword-recorded", 3, ["Deploy to prod?", "Deploy to staging?"]);

/// What differs from the recording.
pub(crate) async fn replay(wire: &mut impl Wire, session: &Session, case: &Case) -> Vec<Difference> {
    let mut differences = Vec::new();
    let mut states = Vec::new();
    let (reworded_case, reworded_step, [before, after]) = REWORDED;
    for (step, number) in case.steps.iter().zip(1..) {
        if (case.name.as_str(), number) == (reworded_case, reworded_step) {
            control(wire, json!({ "name": "reword", "arguments": { "resolver": "deploy", "text": after } })).await;
        }
        let ours = if case.era == STATELESS {
            stateless(wire, step, &mut states).await
        } else {
            in_session(wire, session, case, step).await
        };
        differences.extend(compare(case, number, &step.theirs, &ours));
    }
    if case.name == reworded_case {
        control(wire, json!({ "name": "reword", "arguments": { "resolver": "deploy", "text": before } })).await;
    }
    differences
}

/// A round; `states` has what the rounds before gave.
async fn stateless(wire: &mut impl Wire, step: &Step, states: &mut Vec<Value>) -> Seen {
    let mut params = step.params.clone();
    let state = match params.get("requestState").and_then(Value::as_str) {
        Some("$previous") => states.last(),
        Some("$first") => states.first(),
        _ => None,
    };
    if let Some(state) = state {
        params["requestState"] = state.clone();
    }
    let request = Request::stateless(params, &step.capabilities);
    let reply = wire.request(request, &mut |question| panic!("only sessions are asked: {question}")).await;
    states.extend(reply.message["result"].get("requestState").cloned());
    look(wire, STATELESS, &reply, Vec::new()).await
}

async fn in_session(wire: &mut impl Wire, session: &Session, case: &Case, step: &Step) -> Seen {
    let script = sessions::of(&case.name);
    let mut asked = Vec::new();
    let request = Request::in_session(step.params.clone(), session.clone());
    let mut answer = |question: &Value| {
        asked.push(question.clone());
        script.answer(question)
    };
    let reply = wire.request(request, &mut answer).await;
    look(wire, case.era, &reply, asked).await
}

async fn look(wire: &mut impl Wire, era: &str, reply: &Reply, asked: Vec<Value>) -> Seen {
    let ran = control(wire, json!({ "name": "ran", "arguments": {} })).await;
    let ran = ran["structuredContent"]["ran"].as_array().expect("a list").clone();
    let mut seen = seen(era, reply.http, &reply.message, asked, ran);
    if reply.http.is_none() {
        seen.remove("http");
    }
    seen
}

/// Calls a tool of the test's own.
async fn control(wire: &mut impl Wire, params: Value) -> Value {
    let request = Request::stateless(params, &everything());
    let reply = wire.request(request, &mut |question| panic!("nothing to ask: {question}")).await;
    assert_ne!(reply.message["result"]["isError"], true, "{}", reply.message);
    reply.message["result"].clone()
}
