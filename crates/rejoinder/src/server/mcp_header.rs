//! `x-mcp-header`: arguments that a client repeats in an `Mcp-Param-` header, so that proxies can route by them.

use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::{HeaderMap, header::AsHeaderName};
use serde_json::{Map, Value};

use crate::call::Members;

/// How the text of a header begins that is not plain ASCII.
pub(crate) const ENCODED_HEADER: &str = "=?base64?";

/// One such argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParamHeader {
    /// The whole header's name, in lower case.
    pub(crate) header: String,
    /// The way to the argument, by property names.
    pub(crate) path: Vec<String>,
}

impl ParamHeader {
    /// Checks that the header says what the argument says.
    pub(super) fn check(&self, headers: &HeaderMap, arguments: Option<&str>) -> Result<(), String> {
        let sent = decoded_header(headers, &self.header, &self.header)?;
        let value = arguments.map_or(Ok(None), |arguments| argument(arguments, &self.path));
        let wrong = match (&sent, value) {
            (None, Ok(None)) => return Ok(()),
            (Some(sent), Ok(Some(value))) if says(sent, value) => return Ok(()),
            (_, Err(Ambiguous)) => "mirrors an argument that was sent twice, or beside an invalid key",
            (None, Ok(Some(_))) => "is missing: it mirrors an argument",
            (Some(_), Ok(None)) => "was sent without its argument",
            (Some(_), Ok(Some(_))) => "differs from its argument",
        };
        Err(format!("the header `{}` {wrong}: `{}`", self.header, self.path.join(".")))
    }
}

/// Finds them in a tool's input schema; what is wrong with them goes to `mistakes`.
pub(super) fn param_headers(schema: &Map<String, Value>, mistakes: &mut Vec<String>) -> Vec<ParamHeader> {
    let mut found = Vec::new();
    walk(schema, &mut Vec::new(), &mut found, mistakes);
    for (index, one) in found.iter().enumerate() {
        if found[..index].iter().any(|other| other.header == one.header) {
            mistakes.push(format!("the header `{}` is used for two arguments", one.header));
        }
    }
    let mut unreachable = Vec::new();
    misplaced(&Value::Object(schema.clone()), true, &mut unreachable);
    mistakes.append(&mut unreachable);
    found
}

fn walk(schema: &Map<String, Value>, path: &mut Vec<String>, found: &mut Vec<ParamHeader>, mistakes: &mut Vec<String>) {
    let Some(Value::Object(properties)) = schema.get("properties") else { return };
    for (name, property) in properties {
        let Value::Object(property) = property else { continue };
        path.push(name.clone());
        if let Some(header) = property.get("x-mcp-header") {
            let at = path.join(".");
            match header.as_str().filter(|header| is_token(header)) {
                None => mistakes
                    .push(format!("`x-mcp-header` of `{at}` is {header}: it must be a header token such as `Region`")),
                Some(_) if !is_simple(property) => {
                    mistakes.push(format!(
                        "`x-mcp-header` of `{at}`: only a string, an integer or a boolean can be in a header"
                    ));
                }
                Some(header) => found.push(ParamHeader {
                    header: format!("mcp-param-{}", header.to_ascii_lowercase()),
                    path: path.clone(),
                }),
            }
        }
        walk(property, path, found, mistakes);
        path.pop();
    }
}

/// An annotation that is not reached through `properties` alone has no place in the arguments to be read from.
fn misplaced(schema: &Value, reachable: bool, mistakes: &mut Vec<String>) {
    match schema {
        Value::Object(object) => {
            if !reachable && object.contains_key("x-mcp-header") {
                mistakes.push("`x-mcp-header` must be on a property, not inside an array or a combination".to_owned());
            }
            for (key, member) in object {
                if let (true, "properties", Value::Object(properties)) = (reachable, key.as_str(), member) {
                    properties.values().for_each(|property| misplaced(property, true, mistakes));
                } else {
                    misplaced(member, false, mistakes);
                }
            }
        }
        Value::Array(members) => members.iter().for_each(|member| misplaced(member, false, mistakes)),
        _ => {}
    }
}

fn is_simple(property: &Map<String, Value>) -> bool {
    property.get("type").and_then(Value::as_str).is_some_and(|kind| matches!(kind, "string" | "integer" | "boolean"))
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// Which argument the tool takes is not ours to guess.
struct Ambiguous;

/// An argument as JSON, if it is there and not `null`.
///
/// Nothing but the way to it is read, because a tool passes over what it does not know: what cannot be read beside an
/// argument must not hide it from its header.
fn argument<'a>(arguments: &'a str, path: &[String]) -> Result<Option<&'a str>, Ambiguous> {
    let mut value = arguments;
    for name in path {
        match member(value, name)? {
            Some(member) => value = member,
            None => return Ok(None),
        }
    }
    Ok(Some(value).filter(|value| *value != "null"))
}

/// A member of an object.
fn member<'a>(object: &'a str, name: &str) -> Result<Option<&'a str>, Ambiguous> {
    if !object.starts_with('{') {
        return Ok(None);
    }
    let members: Members<'_> = serde_json::from_str(object).map_err(|_| Ambiguous)?;
    let mut named = members.0.into_iter().filter(|(key, _)| key == name);
    match (named.next(), named.next()) {
        (_, Some(_)) => Err(Ambiguous),
        (found, None) => Ok(found.map(|(_, value)| value.get())),
    }
}

/// Whether a header's text is the argument's value; integers are compared as numbers.
fn says(text: &str, value: &str) -> bool {
    let Ok(value) = serde_json::from_str(value) else { return false };
    match &value {
        Value::String(value) => value == text,
        Value::Bool(value) => text == if *value { "true" } else { "false" },
        Value::Number(value) => integer(text).is_some_and(|number| integer(&value.to_string()) == Some(number)),
        _ => false,
    }
}

/// The integer that a text spells, `42` or `42.0`; not one that has been rounded on the way.
fn integer(text: &str) -> Option<i128> {
    const EXACT: f64 = (1_u64 << f64::MANTISSA_DIGITS) as f64;
    text.parse().ok().or_else(|| {
        let number: f64 = text.parse().ok()?;
        (number.fract() == 0.0 && number.abs() < EXACT).then_some(number as i128)
    })
}

/// A header that may be there once, decoded.
pub(crate) fn decoded_header<'h>(
    headers: &'h HeaderMap,
    name: impl AsHeaderName,
    shown: &str,
) -> Result<Option<Cow<'h, str>>, String> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(format!("the header `{shown}` was sent twice"));
    }
    let text = value.to_str().ok().map(|text| text.trim_matches([' ', '\t']));
    let decoded =
        text.and_then(|text| match text.strip_prefix(ENCODED_HEADER).and_then(|rest| rest.strip_suffix("?=")) {
            Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok().map(Cow::Owned),
            None => Some(Cow::Borrowed(text)),
        });
    decoded.map(Some).ok_or_else(|| format!("the header `{shown}` must be ASCII, or `=?base64?..?=` of UTF-8"))
}
