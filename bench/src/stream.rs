//! A stream of a thousand items: what both servers send, and what the loader finds in it.

use rejoinder::ToolStream;

/// How many items there are.
pub const ITEMS: usize = 1000;

/// The item of that number, counted from 1.
pub fn item(number: usize) -> String {
    format!("line {number} of the log; ")
}

/// The items as a tool returns them.
pub fn items() -> ToolStream<String> {
    ToolStream::new(futures_util::stream::iter((1..=ITEMS).map(item)))
}

/// The messages of the stream, as our server sends them: the items, and the result.
pub fn messages() -> impl Iterator<Item = String> {
    let item = |number| {
        let message = item(number);
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":1,"progress":{number}.0,"total":{ITEMS}.0,"message":"{message}"}}}}"#
        )
    };
    let result = || {
        let text: String = (1..=ITEMS).map(self::item).collect();
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"resultType":"complete","content":[{{"type":"text","text":"{text}"}}],"isError":false,"_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"bench","version":"1.0.0"}}}}}}}}"#
        )
    };
    (1..=ITEMS).map(item).chain(std::iter::once_with(result))
}

/// A body without the lengths of its chunks, which depend on when it was written.
pub fn without_chunks(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::with_capacity(body.len());
    while let Some(end) = body.windows(2).position(|two| two == b"\r\n") {
        let length = str::from_utf8(&body[..end]).ok().and_then(|length| usize::from_str_radix(length, 16).ok());
        let begin = end + 2;
        let Some(chunk) = length.and_then(|length| body.get(begin..begin + length)) else { break };
        whole.extend_from_slice(chunk);
        body = body.get(begin + chunk.len() + 2..).unwrap_or_default();
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_joined() {
        assert_eq!(without_chunks(b"5\r\nhello\r\n7\r\n, world\r\n0\r\n\r\n"), b"hello, world");
        assert_eq!(without_chunks(b""), b"");
    }

    #[test]
    fn the_messages_are_json() {
        let messages: Vec<serde_json::Value> =
            messages().map(|message| serde_json::from_str(&message).unwrap()).collect();
        assert_eq!(messages.len(), ITEMS + 1);
        assert_eq!(messages[ITEMS - 1]["params"]["progress"], 1000.0);
    }
}
