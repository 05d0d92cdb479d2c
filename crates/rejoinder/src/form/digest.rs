//! What tells one JSON value from another, whatever way it is written down.

use serde_json::Value;
use sha2::{Digest, Sha256};

/// The digest of a value; the order of members does not count.
pub(crate) fn digest_of(value: &Value) -> [u8; 32] {
    let mut words = Vec::with_capacity(512);
    write(value, &mut words);
    Sha256::digest(words).into()
}

/// Writes a value, with the members of objects in the order of their names and every text after its length, which needs
/// no quotes and no escapes.
fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Object(members) => {
            let mut members: Vec<(&String, &Value)> = members.iter().collect();
            members.sort_unstable_by_key(|(name, _)| *name);
            out.push(b'{');
            for (name, value) in members {
                write_text(name, out);
                out.push(b':');
                write(value, out);
                out.push(b',');
            }
            out.push(b'}');
        }
        Value::Array(items) => {
            out.push(b'[');
            for item in items {
                write(item, out);
                out.push(b',');
            }
            out.push(b']');
        }
        Value::String(text) => write_text(text, out),
        other => out.extend_from_slice(other.to_string().as_bytes()),
    }
}

fn write_text(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(&(text.len() as u64).to_be_bytes());
    out.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_it_is_written_down_does_not_count() {
        let parse = |json: &str| digest_of(&serde_json::from_str(json).expect("JSON"));
        assert_eq!(parse(r#"{ "a": [1, {"c": 2, "b": 3}], "d": 1 }"#), parse(r#"{"d":1,"a":[1,{"b":3,"c":2}]}"#));
        assert_ne!(parse(r#"{"a":[1,{"c":2,"b":3}],"d":1}"#), parse(r#"{"a":[1,{"c":2,"b":4}],"d":1}"#));
    }
}
