//! The requests that every server gets, byte for byte the same.

use anyhow::{Context, Result, bail};

use crate::{caller, task, two_rounds};

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// `tools/call` of `add` with 1 and 2.
    Call,
    /// The same with a token: see [`crate::caller`].
    CallerCall,
    /// The same on an open session: see [`crate::session`].
    SessionCall,
    /// `tools/list`.
    List,
    /// `tools/call` of `remove`, which asks back: see [`crate::two_rounds`].
    TwoRounds,
    /// The first round of that call only.
    FirstRound,
    /// `tools/call` of `wait`, which does not return during a run.
    Wait,
    /// `tools/call` of `count`, whose reply is a stream of events: see [`crate::stream`].
    Stream,
    /// `tools/call` of `add_later`, and `tasks/get` until it has ended: see [`crate::task`].
    Task,
    /// `tasks/get` of a task that has ended.
    TaskGet,
}

/// What precedes the id in every request.
const BEFORE_ID: &str = r#"{"jsonrpc":"2.0","id":"#;

/// What every stateless request says about its client.
const META: &str = concat!(
    r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},"#,
    r#""io.modelcontextprotocol/clientCapabilities":{}}"#
);

/// The method and the parameters of a call of `add`, without `_meta`.
const ADD: &str = r#","method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}"#;

impl Ask {
    /// Reads the word used on the command line.
    ///
    /// # Errors
    ///
    /// When the word is unknown.
    pub fn parse(word: &str) -> Result<Self> {
        match word {
            "call" => Ok(Self::Call),
            "caller" => Ok(Self::CallerCall),
            "session" => Ok(Self::SessionCall),
            "list" => Ok(Self::List),
            "rounds" => Ok(Self::TwoRounds),
            "question" => Ok(Self::FirstRound),
            "stream" => Ok(Self::Stream),
            "task" => Ok(Self::Task),
            "task-get" => Ok(Self::TaskGet),
            other => {
                bail!(
                    "unknown request `{other}`; expected `call`, `caller`, `session`, `list`, `rounds`, `question`, \
                     `stream`, `task` or `task-get`"
                )
            }
        }
    }

    /// The JSON-RPC message under this id.
    pub fn body(self, id: usize) -> String {
        match self {
            Self::Call | Self::CallerCall => format!("{BEFORE_ID}{id}{ADD},{META}}}}}"),
            Self::SessionCall => format!("{BEFORE_ID}{id}{ADD}}}}}"),
            Self::List => format!(r#"{BEFORE_ID}{id},"method":"tools/list","params":{{{META}}}}}"#),
            Self::TwoRounds | Self::FirstRound => two_rounds::question(),
            Self::Task | Self::TaskGet => task::create(),
            Self::Stream => {
                let meta = META.replacen('{', r#"{"progressToken":1,"#, 1);
                format!(
                    r#"{BEFORE_ID}{id},"method":"tools/call","params":{{"name":"count","arguments":{{}},{meta}}}}}"#
                )
            }
            Self::Wait => {
                format!(r#"{BEFORE_ID}{id},"method":"tools/call","params":{{"name":"wait","arguments":{{}},{META}}}}}"#)
            }
        }
    }

    /// The whole HTTP/1.1 request to `authority`, rendered once so that sending it costs one write.
    ///
    /// A call on a session needs the session's headers: see [`crate::session::post`].
    pub fn http(self, authority: &str) -> Vec<u8> {
        self.http_with(authority, &self.body(1))
    }

    /// The HTTP/1.1 request with another body.
    pub fn http_with(self, authority: &str, body: &str) -> Vec<u8> {
        let headers = match self {
            Self::CallerCall => {
                let token = caller::token();
                &format!("Authorization: Bearer {token}\r\nMcp-Method: tools/call\r\nMcp-Name: add\r\n")
            }
            Self::Call | Self::SessionCall => "Mcp-Method: tools/call\r\nMcp-Name: add\r\n",
            Self::List => "Mcp-Method: tools/list\r\n",
            Self::TwoRounds | Self::FirstRound => "Mcp-Method: tools/call\r\nMcp-Name: remove\r\n",
            Self::Wait => "Mcp-Method: tools/call\r\nMcp-Name: wait\r\n",
            Self::Stream => "Mcp-Method: tools/call\r\nMcp-Name: count\r\n",
            Self::Task | Self::TaskGet => "Mcp-Method: tools/call\r\nMcp-Name: add_later\r\n",
        };
        post(authority, &format!("MCP-Protocol-Version: 2026-07-28\r\n{headers}"), body)
    }
}

/// A POST to `/mcp` with these headers besides the usual ones.
pub fn post(authority: &str, headers: &str, body: &str) -> Vec<u8> {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: {authority}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// A reply: its id, and everything but the id, to compare with other replies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The id of the request.
    pub id: usize,
    /// The rest.
    pub around: Vec<u8>,
}

impl Reply {
    /// Finds the id without parsing: the replies of the bench contain `"id":` once.
    ///
    /// # Errors
    ///
    /// When there is no id.
    pub fn read(message: &[u8]) -> Result<Self> {
        const KEY: &[u8] = br#""id":"#;
        let found = message.windows(KEY.len()).position(|part| part == KEY).map(|at| {
            let begin = at + KEY.len();
            let digits = message[begin..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            (begin, begin + digits)
        });
        let id = found.and_then(|(begin, end)| str::from_utf8(&message[begin..end]).ok()?.parse().ok());
        let (begin, end) = found.unwrap_or_default();
        let id = id.with_context(|| format!("not a reply: {}", String::from_utf8_lossy(message)))?;
        Ok(Self { id, around: [&message[..begin], &message[end..]].concat() })
    }
}

/// The JSON object in a body, which may be JSON, an event or a chunk.
pub fn object(body: &[u8]) -> &[u8] {
    let begin = body.iter().position(|byte| *byte == b'{').unwrap_or_default();
    let end = body.iter().rposition(|byte| *byte == b'}').map_or(begin, |at| at + 1);
    &body[begin..end.max(begin)]
}

/// Appends one line for stdio: a `tools/call` under this id.
pub fn stdio_line(ask: Ask, id: usize, out: &mut Vec<u8>) {
    match ask {
        Ask::Call | Ask::SessionCall => message(ask == Ask::SessionCall, id, out),
        _ => out.extend_from_slice(ask.body(id).as_bytes()),
    }
    out.push(b'\n');
}

/// Appends the message of a `tools/call` of `add` under this id, on a session or not.
pub fn message(on_session: bool, id: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(BEFORE_ID.as_bytes());
    out.extend_from_slice(id.to_string().as_bytes());
    out.extend_from_slice(ADD.as_bytes());
    if !on_session {
        out.push(b',');
        out.extend_from_slice(META.as_bytes());
    }
    out.extend_from_slice(b"}}");
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn the_call_has_the_281_bytes_of_earlier_measurements() {
        assert_eq!(Ask::Call.body(1).len(), 281);
    }

    #[test]
    fn every_body_is_json() {
        for (ask, method, name) in [
            (Ask::Call, "tools/call", "add"),
            (Ask::SessionCall, "tools/call", "add"),
            (Ask::Wait, "tools/call", "wait"),
            (Ask::Stream, "tools/call", "count"),
            (Ask::List, "tools/list", ""),
        ] {
            let parsed: Value = serde_json::from_str(&ask.body(7)).unwrap();
            assert_eq!((&parsed["id"], &parsed["method"]), (&Value::from(7), &Value::from(method)));
            assert_eq!(parsed["params"]["name"].as_str().unwrap_or_default(), name);
            assert_eq!(parsed["params"]["_meta"].is_object(), ask != Ask::SessionCall);
        }
    }

    #[test]
    fn a_line_is_the_body() {
        for ask in [Ask::Call, Ask::SessionCall, Ask::Stream] {
            let mut line = Vec::new();
            stdio_line(ask, 7, &mut line);
            assert_eq!(String::from_utf8(line).unwrap(), ask.body(7) + "\n");
        }
    }

    #[test]
    fn content_length_is_that_of_the_body() {
        let request = String::from_utf8(Ask::Call.http("127.0.0.1:1")).unwrap();
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        assert!(head.ends_with(&format!("Content-Length: {}", body.len())));
    }

    #[test]
    fn replies_differ_only_in_their_ids() {
        let one = Reply::read(br#"{"id":7,"result":{}}"#).unwrap();
        let two = Reply::read(br#"{"id":1234,"result":{}}"#).unwrap();
        assert_eq!((one.id, two.id), (7, 1234));
        assert_eq!(one.around, two.around);
    }

    #[test]
    fn the_error_shows_what_is_not_a_reply() {
        let error = Reply::read(b"starting...").unwrap_err().to_string();
        assert_eq!(error, "not a reply: starting...");
    }

    #[test]
    fn the_object_is_found_in_json_and_in_events() {
        let event = b"5\r\nid: 0\nretry: 3000\ndata: \n\n\r\n1f\r\ndata: {\"id\":1,\"result\":{}}\n\n\r\n0\r\n\r\n";
        assert_eq!(object(event), br#"{"id":1,"result":{}}"#);
        assert_eq!(object(br#"{"id":1}"#), br#"{"id":1}"#);
        assert_eq!(object(b""), b"");
    }
}
