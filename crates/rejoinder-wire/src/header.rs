use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;

/// The prefix of a header that is not plain ASCII.
const ENCODED: &str = "=?base64?";

/// The text of an argument, for [`encode_header`] and an `Mcp-Param-` header. `None` if the header is left out: for `null`, and
/// for what no header may mirror.
///
/// ```
/// use rejoinder_wire::{encode_header, header_text};
/// use serde_json::{Value, json};
///
/// let header = |argument: Value| header_text(&argument).map(|text| encode_header(&text).into_owned());
/// assert_eq!(header(json!("Zürich")).as_deref(), Some("=?base64?WsO8cmljaA==?="));
/// assert_eq!(header(json!(42.0)).as_deref(), Some("42"));
/// assert_eq!(header(json!(true)).as_deref(), Some("true"));
/// assert_eq!(header(json!(null)), None);
/// ```
pub fn header_text(argument: &Value) -> Option<Cow<'_, str>> {
    match argument {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Bool(true) => Some(Cow::Borrowed("true")),
        Value::Bool(false) => Some(Cow::Borrowed("false")),
        Value::Number(number) => {
            let text = number.to_string();
            Some(Cow::Owned(integer(&text).map_or(text, |integer| integer.to_string())))
        }
        _ => None,
    }
}

/// Whether the [decoded](decode_header) value of an `Mcp-Param-` header says the same as an argument. Integers are compared as
/// numbers.
///
/// ```
/// use rejoinder_wire::header_equals;
/// use serde_json::json;
///
/// assert!(header_equals("42.0", &json!(42)) && header_equals("true", &json!(true)));
/// assert!(!header_equals("42", &json!("42.0")));
/// ```
pub fn header_equals(text: &str, argument: &Value) -> bool {
    match argument {
        Value::Number(number) => integer(text).is_some_and(|sent| integer(&number.to_string()) == Some(sent)),
        other => header_text(other).is_some_and(|expected| expected == text),
    }
}

/// The integer in a text such as `42` or `42.0`, if a float holds it exactly.
fn integer(text: &str) -> Option<i128> {
    const EXACT: f64 = (1_u64 << f64::MANTISSA_DIGITS) as f64;
    text.parse().ok().or_else(|| {
        let number: f64 = text.parse().ok()?;
        (number.fract() == 0.0 && number.abs() < EXACT).then_some(number as i128)
    })
}

/// Writes a text as the value of `Mcp-Name` or of an `Mcp-Param-` header. What a header cannot carry is sent in base64.
///
/// ```
/// use rejoinder_wire::encode_header;
///
/// assert_eq!(encode_header("eu-west"), "eu-west");
/// assert_eq!(encode_header("Zürich"), "=?base64?WsO8cmljaA==?=");
/// ```
pub fn encode_header(text: &str) -> Cow<'_, str> {
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && text.trim_matches(' ').len() == text.len()
        && !text.starts_with(ENCODED);
    if is_plain { Cow::Borrowed(text) } else { Cow::Owned(format!("{ENCODED}{}?=", STANDARD.encode(text))) }
}

/// Reads the value of `Mcp-Name` or of an `Mcp-Param-` header. `None` if it is not valid.
///
/// ```
/// use rejoinder_wire::decode_header;
///
/// assert_eq!(decode_header(" eu-west ").as_deref(), Some("eu-west"));
/// assert_eq!(decode_header("=?base64?WsO8cmljaA==?=").as_deref(), Some("Zürich"));
/// assert_eq!(decode_header("=?base64?*?="), None);
/// ```
pub fn decode_header(value: &str) -> Option<Cow<'_, str>> {
    let value = value.trim_matches([' ', '\t']);
    match value.strip_prefix(ENCODED).and_then(|rest| rest.strip_suffix("?=")) {
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok().map(Cow::Owned),
        None => Some(Cow::Borrowed(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_read_as_it_was_written() {
        for text in ["", "a", "a b", " a", "a ", "\ta", "\n", "ü", "=?base64?YQ==?=", "=?base64?", "\u{7f}"] {
            assert_eq!(decode_header(&encode_header(text)).as_deref(), Some(text), "{text:?}");
        }
    }

    #[test]
    fn every_argument_equals_its_header() {
        for (argument, expected) in [
            ("\"\"", ""),
            ("\" 1 \"", " 1 "),
            ("true", "true"),
            ("-7", "-7"),
            ("1e3", "1000"),
            ("-0.0", "0"),
            ("9007199254740993", "9007199254740993"),
            ("18446744073709551615", "18446744073709551615"),
        ] {
            let argument: Value = serde_json::from_str(argument).expect("JSON");
            let text = header_text(&argument);
            assert_eq!(text.as_deref(), Some(expected));
            assert!(header_equals(expected, &argument), "{argument}");
        }
        for (text, argument) in
            [("TRUE", "true"), ("1", "true"), ("1", "\"1.0\""), ("1.5", "1.5"), ("null", "null"), ("", "null")]
        {
            let argument: Value = serde_json::from_str(argument).expect("JSON");
            assert!(!header_equals(text, &argument), "{text} {argument}");
        }
    }
}
