//! `x-mcp-header`: arguments that a client mirrors in an `Mcp-Param-` header, so that proxies can route by them.

use std::borrow::Cow;

use http::{HeaderMap, header::AsHeaderName};
use serde_json::{Map, Value, value::RawValue};

use crate::{
    argument::Members,
    model::{decode_header, header_equals, header_name::PARAM_PREFIX},
};

/// A mirrored argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParamHeader {
    /// The name of the header, in lower case.
    pub(crate) header: String,
    /// The property names that lead to the argument.
    pub(crate) path: Vec<String>,
}

impl ParamHeader {
    /// Checks that the header equals the argument.
    pub(super) fn check(&self, headers: &HeaderMap, arguments: Option<&str>) -> Result<(), String> {
        let sent = decoded_header(headers, &self.header, &self.header)?;
        let value = arguments.map_or(Ok(None), |arguments| argument(arguments, &self.path));
        let is_equal = |sent: &str, value| serde_json::from_str(value).is_ok_and(|value| header_equals(sent, &value));
        let wrong = match (&sent, value) {
            (None, Ok(None)) => return Ok(()),
            (Some(sent), Ok(Some(value))) if is_equal(sent, value) => return Ok(()),
            (_, Err(Ambiguous)) => "mirrors an argument that was sent twice, or beside an invalid key",
            (None, Ok(Some(_))) => "is missing: it mirrors an argument",
            (Some(_), Ok(None)) => "was sent without its argument",
            (Some(_), Ok(Some(_))) => "differs from its argument",
        };
        Err(format!("the header `{}` {wrong}: `{}`", self.header, self.path.join(".")))
    }
}

/// The mirrored arguments of a tool's input schema. Problems with them go to `messages`.
pub(super) fn param_headers(schema: &Map<String, Value>, messages: &mut Vec<String>) -> Vec<ParamHeader> {
    let mut found: Vec<ParamHeader> = Vec::new();
    visit(schema, Some(&[]), &mut |header| match header {
        Ok(one) if found.iter().any(|other| other.header == one.header) => {
            messages.push(format!("the header `{}` is used for two arguments; rename one", one.header));
        }
        Ok(one) => found.push(one),
        Err(message) => messages.push(message),
    });
    found
}

/// Visits a schema, under the path of a property that is reached through `properties` alone.
fn visit(schema: &Map<String, Value>, path: Option<&[String]>, found: &mut dyn FnMut(Result<ParamHeader, String>)) {
    if let Some(header) = schema.get("x-mcp-header") {
        found(param_header(header, schema, path.filter(|path| !path.is_empty())));
    }
    for (key, member) in schema {
        match (member, path) {
            (Value::Object(properties), Some(path)) if key == "properties" => {
                for (name, property) in properties.iter().filter_map(|(name, it)| Some((name, it.as_object()?))) {
                    visit(property, Some(&[path, std::slice::from_ref(name)].concat()), found);
                }
            }
            (Value::Object(member), _) => visit(member, None, found),
            (Value::Array(members), _) => {
                members.iter().filter_map(Value::as_object).for_each(|member| visit(member, None, found));
            }
            _ => {}
        }
    }
}

fn param_header(header: &Value, schema: &Map<String, Value>, path: Option<&[String]>) -> Result<ParamHeader, String> {
    // Elsewhere it is not known which argument the header mirrors.
    let path = path.ok_or("`x-mcp-header` must be on a property, not inside an array or a combination")?;
    let name = header.as_str().filter(|name| is_token(name)).ok_or_else(|| {
        format!("`x-mcp-header` of `{}` is {header}: it must be a header token such as `Region`", path.join("."))
    })?;
    if !matches!(schema.get("type").and_then(Value::as_str), Some("string" | "integer" | "boolean")) {
        let path = path.join(".");
        return Err(format!("`x-mcp-header` of `{path}`: a header can only mirror a string, an integer or a boolean"));
    }
    Ok(ParamHeader { header: format!("{PARAM_PREFIX}{}", name.to_ascii_lowercase()), path: path.to_vec() })
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// It is not known which of several arguments the tool reads.
struct Ambiguous;

/// An argument as JSON, if it is there and not `null`.
///
/// Only the path to it is parsed: a tool ignores members that it does not know, so an unreadable one must not keep the
/// header from being checked.
fn argument<'a>(arguments: &'a str, path: &[String]) -> Result<Option<&'a str>, Ambiguous> {
    let mut value = arguments;
    for name in path {
        if !value.starts_with('{') {
            return Ok(None);
        }
        let Members(members): Members<'_, &RawValue> = serde_json::from_str(value).map_err(|_| Ambiguous)?;
        let mut named = members.into_iter().filter(|(key, _)| key == name);
        value = match (named.next(), named.next()) {
            (None, _) => return Ok(None),
            (Some((_, member)), None) => member.get(),
            (Some(_), Some(_)) => return Err(Ambiguous),
        };
    }
    Ok(Some(value).filter(|value| *value != "null"))
}

/// The decoded value of a header that may occur once.
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
    value
        .to_str()
        .ok()
        .and_then(decode_header)
        .map(Some)
        .ok_or_else(|| format!("the header `{shown}` must be ASCII, or `=?base64?..?=` of UTF-8"))
}
