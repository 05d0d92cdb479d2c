//! The requests every server is asked, byte for byte the same.

use anyhow::{Result, bail};

use crate::two_rounds;

/// What a request may call for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// `tools/call` of `add` with 1 and 2.
    Call,
    /// `tools/list`.
    List,
    /// `tools/call` of `remove`, which asks back: see [`crate::two_rounds`].
    TwoRounds,
    /// The first round of that call, and no more.
    FirstRound,
    /// `tools/call` of `wait`, which does not come back while anybody measures.
    Wait,
}

/// What stands before the id in a `tools/call` of `add`.
const CALL_BEFORE_ID: &str = r#"{"jsonrpc":"2.0","id":"#;

/// What stands after the id: 281 bytes in all when the id has one digit.
const CALL_AFTER_ID: &str = concat!(
    r#","method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2},"_meta":{"#,
    r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},"#,
    r#""io.modelcontextprotocol/clientCapabilities":{}}}}"#
);

/// The whole body of a `tools/list`.
const LIST: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"#,
    r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},"#,
    r#""io.modelcontextprotocol/clientCapabilities":{}}}}"#
);

/// The whole body of a `tools/call` of `wait`.
const WAIT: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait","arguments":{},"_meta":{"#,
    r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},"#,
    r#""io.modelcontextprotocol/clientCapabilities":{}}}}"#
);

impl Ask {
    /// Reads the word used on the command line.
    ///
    /// # Errors
    ///
    /// When the word is none of `call`, `list`, `rounds` and `question`.
    pub fn parse(word: &str) -> Result<Self> {
        match word {
            "call" => Ok(Self::Call),
            "list" => Ok(Self::List),
            "rounds" => Ok(Self::TwoRounds),
            "question" => Ok(Self::FirstRound),
            other => bail!("`{other}` is no request this bench knows; say `call`, `list`, `rounds` or `question`"),
        }
    }

    /// The JSON-RPC message, with id 1.
    pub fn body(self) -> String {
        match self {
            Self::Call => format!("{CALL_BEFORE_ID}1{CALL_AFTER_ID}"),
            Self::List => LIST.to_owned(),
            Self::TwoRounds | Self::FirstRound => two_rounds::question(),
            Self::Wait => WAIT.to_owned(),
        }
    }

    /// The whole HTTP/1.1 request to `authority`, rendered once so that sending it costs one write.
    pub fn http(self, authority: &str) -> Vec<u8> {
        self.http_with(authority, &self.body())
    }

    /// The HTTP/1.1 request with another body.
    pub fn http_with(self, authority: &str, body: &str) -> Vec<u8> {
        let headers = match self {
            Self::Call => "Mcp-Method: tools/call\r\nMcp-Name: add\r\n",
            Self::List => "Mcp-Method: tools/list\r\n",
            Self::TwoRounds | Self::FirstRound => "Mcp-Method: tools/call\r\nMcp-Name: remove\r\n",
            Self::Wait => "Mcp-Method: tools/call\r\nMcp-Name: wait\r\n",
        };
        format!(
            "POST /mcp HTTP/1.1\r\nHost: {authority}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
             {headers}Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .into_bytes()
    }
}

/// Appends one line for stdio: a `tools/call` of `add` under this id.
pub fn stdio_line(id: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(CALL_BEFORE_ID.as_bytes());
    out.extend_from_slice(id.to_string().as_bytes());
    out.extend_from_slice(CALL_AFTER_ID.as_bytes());
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_call_is_the_281_bytes_of_earlier_measurements() {
        assert_eq!(Ask::Call.body().len(), 281);
        let parsed: serde_json::Value = serde_json::from_str(&Ask::Call.body()).unwrap();
        assert_eq!(parsed["params"]["arguments"]["b"], 2);
    }

    #[test]
    fn the_list_and_the_slow_call_are_json() {
        let parsed: serde_json::Value = serde_json::from_str(&Ask::List.body()).unwrap();
        assert_eq!(parsed["method"], "tools/list");
        let parsed: serde_json::Value = serde_json::from_str(&Ask::Wait.body()).unwrap();
        assert_eq!(parsed["params"]["name"], "wait");
    }

    #[test]
    fn content_length_is_that_of_the_body() {
        let request = String::from_utf8(Ask::Call.http("127.0.0.1:1")).unwrap();
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        assert!(head.ends_with(&format!("Content-Length: {}", body.len())));
    }
}
