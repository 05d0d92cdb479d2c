//! The floor: the least a server can do and still answer.
//!
//! Parse the body once into borrowed structs, look at the same headers, write the bytes. No dispatch, no context, no
//! limits, no errors worth reading. What a framework costs is its distance from here.

use std::fmt::Display;
use std::io::Write;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::two_rounds;

/// The answer to a call, up to the id. These three are to be what `bench-rejoinder` sends, byte for byte:
/// `cargo xtask bench` compares the two and stops when they differ.
const BEFORE_ID: &[u8] = br#"{"jsonrpc":"2.0","id":"#;

/// Between the id and what the tool says.
const BEFORE_TEXT: &[u8] = br#","result":{"resultType":"complete","content":[{"type":"text","text":""#;

/// Behind it, and behind the structured content of a number.
const AFTER_TEXT: &[u8] = br#""}]"#;
const AFTER_CONTENT: &[u8] =
    br#","isError":false,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"bench","version":"1.0.0"}}}}"#;

/// The protocol revision every request of the bench names.
const VERSION: &str = "2026-07-28";

/// A request whose parameters are `P`.
#[derive(Debug, Deserialize)]
struct Request<'a, P> {
    #[serde(borrow)]
    jsonrpc: &'a str,
    #[serde(borrow)]
    id: &'a RawValue,
    #[serde(borrow)]
    method: &'a str,
    params: P,
}

/// Parameters of a `tools/call` of `add`.
#[derive(Debug, Deserialize)]
struct Call<'a> {
    #[serde(borrow)]
    name: &'a str,
    arguments: Add,
    #[serde(borrow, rename = "_meta")]
    meta: Meta<'a>,
}

/// Parameters of a `tools/list`.
#[derive(Debug, Deserialize)]
struct List<'a> {
    #[serde(borrow, rename = "_meta")]
    meta: Meta<'a>,
}

/// The arguments of `add`.
#[derive(Debug, Deserialize)]
struct Add {
    a: i64,
    b: i64,
}

/// The part of `_meta` a server has to check.
#[derive(Debug, Deserialize)]
struct Meta<'a> {
    #[serde(borrow, rename = "io.modelcontextprotocol/protocolVersion")]
    version: &'a str,
    #[serde(borrow, rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: &'a RawValue,
}

impl Meta<'_> {
    fn is_fine(&self) -> bool {
        self.version == VERSION && self.capabilities.get().starts_with('{')
    }
}

/// Answers a `tools/call` of `add`; `None` for anything else.
pub fn call(body: &[u8]) -> Option<Vec<u8>> {
    let request: Request<'_, Call<'_>> = serde_json::from_slice(body).ok()?;
    let call = &request.params;
    if request.jsonrpc != "2.0" || request.method != "tools/call" || call.name != "add" || !call.meta.is_fine() {
        return None;
    }
    reply(request.id, call.arguments.a + call.arguments.b, true)
}

/// A reply with this text, which has nothing in it that JSON would escape.
fn reply(id: &RawValue, text: impl Display, is_number: bool) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(256);
    out.extend_from_slice(BEFORE_ID);
    out.extend_from_slice(id.get().as_bytes());
    out.extend_from_slice(BEFORE_TEXT);
    write!(out, "{text}").ok()?;
    out.extend_from_slice(AFTER_TEXT);
    if is_number {
        write!(out, r#","structuredContent":{{"result":{text}}}"#).ok()?;
    }
    out.extend_from_slice(AFTER_CONTENT);
    Some(out)
}

/// Whether the body is a `tools/list` that may be answered.
pub fn is_list(body: &[u8]) -> bool {
    serde_json::from_slice::<Request<'_, List<'_>>>(body).is_ok_and(|request| {
        request.jsonrpc == "2.0"
            && request.method == "tools/list"
            && request.params.meta.is_fine()
            && !request.id.get().is_empty()
    })
}

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
struct RemoveCall<'a> {
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
    let request: Request<'_, RemoveCall<'_>> = serde_json::from_slice(body).ok()?;
    let call = &request.params;
    if request.jsonrpc != "2.0" || request.method != "tools/call" || call.name != "remove" || !call.meta.is_fine() {
        return None;
    }
    match (call.state, &call.answers) {
        (None, None) => Some(Round::Question),
        (Some(_), Some(Answers { confirm: Answer { action: "accept", content: Confirm { yes: true } } })) => {
            reply(request.id, two_rounds::removed(call.arguments.path), false).map(Round::Removed)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Ask;

    #[test]
    fn adds() {
        let answer = call(Ask::Call.body(1).as_bytes()).unwrap();
        let answer: serde_json::Value = serde_json::from_slice(&answer).unwrap();
        assert_eq!(answer["id"], 1);
        assert_eq!(answer["result"]["content"][0]["text"], "3");
    }

    #[test]
    fn knows_a_list_from_a_call() {
        assert!(is_list(Ask::List.body(1).as_bytes()));
        assert!(!is_list(Ask::Call.body(1).as_bytes()));
        assert!(call(Ask::List.body(1).as_bytes()).is_none());
    }

    #[test]
    fn asks_and_then_removes() {
        assert_eq!(round(Ask::TwoRounds.body(1).as_bytes()), Some(Round::Question));
        let answer = two_rounds::answer(br#"{"requestState":"v1.abc"}"#).unwrap();
        let Some(Round::Removed(reply)) = round(answer.as_bytes()) else { panic!("{answer}") };
        let reply: serde_json::Value = serde_json::from_slice(&reply).unwrap();
        assert_eq!(reply["id"], 2);
        assert_eq!(reply["result"]["content"][0]["text"], "removed photos/2019");
    }

    #[test]
    fn knows_it_from_another_call() {
        assert_eq!(round(Ask::Call.body(1).as_bytes()), None);
    }
}
