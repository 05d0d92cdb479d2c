//! A session of 2025-11-25: how it is opened, and calls of `add` on it.

use crate::wire::{self, Ask};

/// The first message.
pub const INITIALIZE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
    r#""capabilities":{},"clientInfo":{"name":"bench","version":"1.0.0"}}}"#
);

/// The message that completes the handshake.
pub const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// The id of the first call. All ids have as many digits, so that all requests are equally long.
pub const FIRST_ID: usize = 10_000_000;

/// The HTTP/1.1 request with this body, on a session unless it opens one.
pub fn post(authority: &str, session: Option<&str>, body: &str) -> Vec<u8> {
    let headers = session.map(|id| format!("MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: {id}\r\n"));
    wire::post(authority, headers.as_deref().unwrap_or_default(), body)
}

/// The first call.
pub fn first_call(authority: &str, session: &str) -> Vec<u8> {
    post(authority, Some(session), &Ask::SessionCall.body(FIRST_ID))
}

/// Turns a call into the next one: a session does not take an id twice.
pub fn next_call(request: &mut [u8]) {
    const KEY: &[u8] = br#""id":"#;
    let Some(at) = request.windows(KEY.len()).position(|part| part == KEY) else { return };
    let digits = request[at + KEY.len()..].iter_mut().take_while(|byte| byte.is_ascii_digit());
    for digit in digits.collect::<Vec<_>>().into_iter().rev() {
        if *digit < b'9' {
            *digit += 1;
            return;
        }
        *digit = b'0';
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_handshake_is_json() {
        for message in [INITIALIZE, INITIALIZED] {
            let parsed: serde_json::Value = serde_json::from_str(message).unwrap();
            assert_eq!(parsed["jsonrpc"], "2.0");
        }
    }

    #[test]
    fn each_call_has_the_next_id() {
        let mut request = first_call("127.0.0.1:1", "abc");
        for expected in ["10000001", "10000002"] {
            next_call(&mut request);
            assert!(String::from_utf8_lossy(&request).contains(&format!(r#""id":{expected},"#)));
        }
        let mut carry = br#""id":1099,"#.to_vec();
        next_call(&mut carry);
        assert_eq!(carry, br#""id":1100,"#);
    }
}
