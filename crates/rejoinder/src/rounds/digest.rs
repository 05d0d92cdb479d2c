use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use rejoinder_core::ask::Question;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// What tells one question from another: every word of it, and nothing of how it is written down.
pub(super) fn digest(question: &Question) -> String {
    let mut words = Vec::with_capacity(512);
    match question {
        Question::Form { message, schema } => {
            write_text(message, &mut words);
            write(schema, &mut words);
        }
        other => write(&other.params(), &mut words),
    }
    let kind: &[u8] = if matches!(question, Question::Form { .. }) { b"form" } else { question.method().as_bytes() };
    let mut hash = Sha256::new_with_prefix("rejoinder/question/v2\0");
    hash.update(kind);
    hash.update(b"\0");
    hash.update(words);
    URL_SAFE_NO_PAD.encode(&hash.finalize()[..16])
}

/// Writes a value as JSON, with the members of objects in the order of their names.
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

/// A text with its length before it needs no quotes and no escapes.
fn write_text(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(&(text.len() as u64).to_be_bytes());
    out.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use rejoinder_core::ask::Sampling;
    use serde_json::json;

    use super::*;

    fn form(message: &str, schema: Value) -> String {
        digest(&Question::Form { message: message.to_owned(), schema })
    }

    #[test]
    fn every_word_of_a_question_counts() {
        let asked = form("Sure?", json!({ "type": "object", "properties": { "yes": { "type": "boolean" } } }));
        let others = [
            form("Sure", json!({ "type": "object", "properties": { "yes": { "type": "boolean" } } })),
            form("Sure?", json!({ "type": "object", "properties": { "yes": { "type": "string" } } })),
            form("Sure?", json!({ "type": "object", "properties": { "yes": { "type": "boolean", "title": "Yes" } } })),
            digest(&Question::Visit { message: "Sure?".to_owned(), url: "https://a.example".to_owned() }),
            digest(&Question::Visit { message: "Sure?".to_owned(), url: "https://b.example".to_owned() }),
            digest(&Question::Sample(Sampling::new("Sure?"))),
            digest(&Question::Roots),
        ];
        for (index, other) in others.iter().enumerate() {
            assert_ne!(*other, asked);
            assert!(!others[..index].contains(other));
        }
    }

    #[test]
    fn how_it_is_written_down_does_not() {
        let parse = |json: &str| serde_json::from_str(json).expect("JSON");
        assert_eq!(
            form("?", parse(r#"{ "a": [1, {"c": 2, "b": 3}], "d": 1 }"#)),
            form("?", parse(r#"{"d":1,"a":[1,{"b":3,"c":2}]}"#))
        );
    }
}
