use rmcp::{RoleServer, service::RxJsonRpcMessage};
use serde_json::Value;

use crate::protocol::RpcError;

/// Whether rmcp can read a message that is JSON: it passes over what it cannot without a word, and whoever sent a request
/// would wait for its answer for ever.
pub(crate) fn readable(message: &[u8]) -> Result<(), RpcError> {
    if serde_json::from_slice::<RxJsonRpcMessage<RoleServer>>(message).is_ok() {
        return Ok(());
    }
    Err(RpcError::invalid_request(match serde_json::from_slice::<Value>(message) {
        // JSON by its grammar may hold half a surrogate pair, a number that no type has, or any depth.
        Err(error) => format!("the message cannot be read: {error}"),
        Ok(_) => "this is no message of a session; an id is a text or an integer of 64 bits".to_owned(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(message: &str) -> String {
        readable(message.as_bytes()).unwrap_err().message.into_owned()
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_reason() {
        readable(br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#).expect("a request");
        readable(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).expect("a notification");
        let call = |arguments: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"a","arguments":{arguments}}}}}"#
            )
        };
        let cut = "the message cannot be read: ";
        assert!(refused(&call(r#"{"text":"\ud83d"}"#)).starts_with(cut));
        assert!(refused(&call(r#"{"number":1e999}"#)).starts_with(&format!("{cut}number out of range")));
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        assert!(refused(&call(&deep)).starts_with(&format!("{cut}recursion limit exceeded")));
        let large = refused(r#"{"jsonrpc":"2.0","id":18446744073709551615,"method":"ping"}"#);
        assert_eq!(large, "this is no message of a session; an id is a text or an integer of 64 bits");
    }
}
