//! Many concurrent callers: no question, state or answer reaches another caller.

use std::{collections::HashSet, time::Duration};

use serde_json::Value;
use tokio::{sync::Barrier, task::JoinSet};

use super::*;

const CALLERS: usize = 10_000;

/// A barrier for all callers.
struct Meeting(Barrier);

impl Meeting {
    async fn everybody(&self) {
        self.0.wait().await;
    }
}

/// Asks each caller a different question, once all of them wait.
#[resolver]
async fn visitor(number: &usize, meeting: Dep<Meeting>) -> Ask<Name> {
    meeting.everybody().await;
    Ask::user(format!("Caller {number}, who are you?"))
}

/// Answers once all callers are waiting for an answer.
#[tool]
async fn sign(number: usize, #[resolve(visitor)] visitor: &Name, meeting: Dep<Meeting>) -> String {
    meeting.everybody().await;
    format!("{number} is {}", visitor.name)
}

/// Sends all requests at once. Returns the replies by the number of the caller.
async fn all_at_once(requests: impl IntoIterator<Item = (usize, Client, Value)>) -> Vec<(usize, Value)> {
    let mut calls = JoinSet::new();
    for (number, client, params) in requests {
        calls.spawn(async move { (number, client.request("tools/call", params).await.unwrap()) });
    }
    // If one caller did not reach the barrier, the others would wait forever.
    let mut replies = tokio::time::timeout(Duration::from_mins(5), calls.join_all()).await.expect("all of them meet");
    replies.sort_by_key(|(number, _)| *number);
    replies
}

fn params(number: usize) -> Value {
    json!({ "name": "sign", "arguments": { "number": number } })
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_concurrent_callers_each_get_their_own_answer() {
    let server = Server::new("crowd", "1.0.0").provide(Meeting(Barrier::new(CALLERS))).tools(tools![sign]);
    let forms = serde_json::from_value(json!({ "elicitation": { "form": {} } })).unwrap();
    let client = Client::new(server).capabilities(forms);

    let asked = all_at_once((0..CALLERS).map(|number| (number, client.clone(), params(number)))).await;
    let mut states = HashSet::new();
    let mut retries = Vec::new();
    for (number, reply) in asked {
        let question = &reply["inputRequests"]["visitor"]["params"]["message"];
        assert_eq!(question, &json!(format!("Caller {number}, who are you?")));
        assert!(states.insert(reply["requestState"].to_string()), "a state is nobody else's");
        let mut retry = params(number);
        retry["requestState"] = reply["requestState"].clone();
        let name = format!("visitor {}", number * 31 + 7);
        retry["inputResponses"] = json!({ "visitor": { "action": "accept", "content": { "name": name } } });
        retries.push((number, client.clone(), retry));
    }

    // The retries come in another order: 7919 and the number of callers are coprime, so each comes once.
    let shuffled = (0..CALLERS).map(|place| retries[place * 7919 % CALLERS].clone());
    let done = all_at_once(shuffled).await;
    assert_eq!(done.len(), CALLERS);
    for (number, reply) in done {
        let text = &reply["content"][0]["text"];
        assert_eq!(text, &json!(format!("{number} is visitor {}", number * 31 + 7)));
    }
}
