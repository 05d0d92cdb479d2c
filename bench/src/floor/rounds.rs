//! The least a server can do for a call of two rounds: no state is made or opened, no question is put together.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Meta, Request, reply};
use crate::two_rounds;

/// What a round of `remove` is answered with.
#[derive(Debug, PartialEq, Eq)]
pub enum Round {
    /// The question, which is the same every time.
    Question,
    /// What the tool says in the end.
    Removed(Vec<u8>),
}

/// Parameters of a `tools/call` of `remove`.
#[derive(Debug, Deserialize)]
struct Call<'a> {
    #[serde(borrow)]
    name: &'a str,
    #[serde(borrow)]
    arguments: Remove<'a>,
    #[serde(borrow, rename = "inputResponses")]
    answers: Option<Answers<'a>>,
    #[serde(borrow, rename = "requestState")]
    state: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Meta<'a>,
}

/// The arguments of `remove`.
#[derive(Debug, Deserialize)]
struct Remove<'a> {
    #[serde(borrow)]
    path: &'a str,
}

/// What came back for the one question.
#[derive(Debug, Deserialize)]
struct Answers<'a> {
    #[serde(borrow)]
    confirm: Answer<'a>,
}

#[derive(Debug, Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    action: &'a str,
    content: Confirm,
}

#[derive(Debug, Deserialize)]
struct Confirm {
    yes: bool,
}

/// Answers a round of a `tools/call` of `remove`; `None` for anything else.
pub fn round(body: &[u8]) -> Option<Round> {
    let request: Request<'_, Call<'_>> = serde_json::from_slice(body).ok()?;
    let call = &request.params;
    if request.jsonrpc != "2.0" || request.method != "tools/call" || call.name != "remove" || !call.meta.is_fine() {
        return None;
    }
    match (call.state, &call.answers) {
        (None, None) => Some(Round::Question),
        (Some(_), Some(Answers { confirm: Answer { action: "accept", content: Confirm { yes: true } } })) => {
            reply(request.id, two_rounds::removed(call.arguments.path)).map(Round::Removed)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Ask;

    #[test]
    fn asks_and_then_removes() {
        assert_eq!(round(Ask::TwoRounds.body().as_bytes()), Some(Round::Question));
        let answer = two_rounds::answer(br#"{"requestState":"v1.abc"}"#).unwrap();
        let Some(Round::Removed(reply)) = round(answer.as_bytes()) else { panic!("{answer}") };
        let reply: serde_json::Value = serde_json::from_slice(&reply).unwrap();
        assert_eq!(reply["id"], 2);
        assert_eq!(reply["result"]["content"][0]["text"], "removed photos/2019");
    }

    #[test]
    fn knows_it_from_another_call() {
        assert_eq!(round(Ask::Call.body().as_bytes()), None);
    }
}
