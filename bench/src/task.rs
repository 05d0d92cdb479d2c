//! A call that becomes a task: the request that makes it, and looking at it until it has ended.

use anyhow::{Context, Result};

/// What every request says of its client: it follows tasks.
const META: &str = concat!(
    r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},"#,
    r#""io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}"#
);

/// The request that makes a task.
pub fn create() -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"add_later","arguments":{{"a":1,"b":2}},{META}}}}}"#
    )
}

/// The id of the task in the reply to that request.
///
/// # Errors
///
/// When the reply has none.
pub fn id(reply: &[u8]) -> Result<&str> {
    const FIELD: &[u8] = br#""taskId":""#;
    let begin = reply.windows(FIELD.len()).position(|part| part == FIELD).map(|at| at + FIELD.len());
    let id = begin.and_then(|begin| {
        let length = reply[begin..].iter().position(|byte| *byte == b'"')?;
        std::str::from_utf8(&reply[begin..begin + length]).ok()
    });
    id.with_context(|| format!("expected a task, got: {}", String::from_utf8_lossy(reply)))
}

/// The request that looks at a task.
pub fn get(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{{"taskId":"{id}",{META}}}}}"#)
}

/// The headers of that request.
pub fn headers(id: &str) -> String {
    format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tasks/get\r\nMcp-Name: {id}\r\n")
}

/// The result of the call in a reply that shows its task; `None` while it runs.
pub fn result(reply: &[u8]) -> Option<&[u8]> {
    const STATUS: &[u8] = br#""status":"completed""#;
    const FIELD: &[u8] = br#""result":{"resultType":"complete","content""#;
    reply.windows(STATUS.len()).position(|part| part == STATUS)?;
    let begin = reply.windows(FIELD.len()).rposition(|part| part == FIELD)?;
    Some(&reply[begin..])
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn requests_are_json_that_declare_the_extension() {
        for request in [create(), get("an id")] {
            let parsed: Value = serde_json::from_str(&request).unwrap();
            let can = &parsed["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
            assert!(can["extensions"]["io.modelcontextprotocol/tasks"].is_object(), "{request}");
        }
    }

    #[test]
    fn a_task_is_found_in_the_reply_and_its_result_when_it_has_ended() {
        assert_eq!(id(br#"{"id":1,"result":{"resultType":"task","taskId":"abc"}}"#).unwrap(), "abc");
        assert_eq!(result(br#"{"id":1,"result":{"taskId":"abc","status":"working"}}"#), None);
        let ended = br#"{"result":{"resultType":"complete","taskId":"abc","status":"completed","result":{"resultType":"complete","content":[]}}}"#;
        assert_eq!(result(ended), Some(&br#""result":{"resultType":"complete","content":[]}}}"#[..]));
    }
}
