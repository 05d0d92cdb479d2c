//! Arguments that pass a reader who cannot hold them.
//!
//! rmcp reads the arguments of a session's call into JSON values, which hold no integer of more than 64 bits and no name
//! twice. Arguments that may have either pass it as a text.

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::Envelope;

/// The one argument that such a call seems to have.
const WRAPPED: &str = "rejoinder/arguments";

/// The message with its arguments wrapped, if they need it.
pub(crate) fn wrap(message: &Bytes, envelope: &Envelope<'_>) -> Option<Bytes> {
    let arguments = envelope.params.arguments.filter(|_| envelope.method.as_deref() == Some("tools/call"))?.get();
    if !arguments.starts_with('{') {
        return None;
    }
    let begin = arguments.as_ptr().addr() - message.as_ptr().addr();
    let wrapped = json!({ WRAPPED: arguments }).to_string();
    Some([&message[..begin], wrapped.as_bytes(), &message[begin + arguments.len()..]].concat().into())
}

/// The arguments of a tool, wrapped or not, as JSON.
pub(crate) fn unwrap(arguments: Option<Map<String, Value>>) -> String {
    match arguments {
        Some(mut arguments) if arguments.len() == 1 => match arguments.get_mut(WRAPPED) {
            Some(Value::String(arguments)) => std::mem::take(arguments),
            _ => Value::Object(arguments).to_string(),
        },
        arguments => Value::Object(arguments.unwrap_or_default()).to_string(),
    }
}
