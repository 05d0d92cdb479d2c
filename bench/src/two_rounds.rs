//! A call that takes two rounds: `remove` asks whether it may, and the second request brings the answer.
//!
//! Both servers have the same tool, get the same two requests, and end with the same words. What they differ in is who
//! wrote the rounds, and that one of them signs its state where the other one encrypts it.

use std::ops::Range;

use anyhow::{Context, Result};

/// The key of the question: the name of the resolver that asks it.
pub const KEY: &str = "confirm";

/// The folder to remove.
const PATH: &str = "photos/2019";

/// What both requests say of themselves.
const META: &str = concat!(
    r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},"#,
    r#""io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}"#
);

/// What the user reads before agreeing.
pub fn message(path: &str) -> String {
    format!("{path} is not empty.")
}

/// What the tool says in the end.
pub fn removed(path: &str) -> String {
    format!("removed {path}")
}

/// The first request, which is answered with a question.
pub fn question() -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"remove","arguments":{{"path":"{PATH}"}},{META}}}}}"#
    )
}

/// The second request: the first one's reply answered.
///
/// # Errors
///
/// When the reply has no state.
pub fn answer(reply: &[u8]) -> Result<String> {
    let state = state(reply).and_then(|range| std::str::from_utf8(&reply[range]).ok());
    let state = state.with_context(|| format!("expected a question, got: {}", String::from_utf8_lossy(reply)))?;
    Ok(format!(
        concat!(
            r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"remove","arguments":{{"path":"{}"}},"#,
            r#""inputResponses":{{"{}":{{"action":"accept","content":{{"yes":true}}}}}},"requestState":"{}",{}}}}}"#
        ),
        PATH, KEY, state, META
    ))
}

/// Where the state is in a reply. Both servers write it in base64url and dots, so that nothing in it is escaped.
pub fn state(reply: &[u8]) -> Option<Range<usize>> {
    const FIELD: &[u8] = br#""requestState":""#;
    let begin = reply.windows(FIELD.len()).position(|part| part == FIELD)? + FIELD.len();
    let length = reply[begin..].iter().position(|byte| *byte == b'"')?;
    Some(begin..begin + length)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn the_answer_is_the_question_with_the_state_and_what_the_user_said() {
        let reply = br#"{"id":1,"result":{"requestState":"v1.abc","inputRequests":{}}}"#;
        let first: Value = serde_json::from_str(&question()).unwrap();
        let second: Value = serde_json::from_str(&answer(reply).unwrap()).unwrap();
        assert_eq!(second["params"]["arguments"], first["params"]["arguments"]);
        assert_eq!(second["params"]["requestState"], "v1.abc");
        assert_eq!(second["params"]["inputResponses"][KEY]["content"]["yes"], true);
    }

    #[test]
    fn the_error_shows_a_reply_without_a_question() {
        let error = answer(b"no question").unwrap_err().to_string();
        assert_eq!(error, "expected a question, got: no question");
    }
}
