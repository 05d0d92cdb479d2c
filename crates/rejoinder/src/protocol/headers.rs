//! Headers that repeat what the body says, so that proxies can route without reading it. They must agree.

use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::{HeaderMap, HeaderName, header::AsHeaderName};
use serde_json::Value;

use super::{RpcError, error::shortened, scan::Scan};
use crate::server::ToolEntry;

static VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
static METHOD: HeaderName = HeaderName::from_static("mcp-method");
static NAME: HeaderName = HeaderName::from_static("mcp-name");

/// What a header's text begins with that is not plain.
const ENCODED: &str = "=?base64?";

/// The protocol version header, which must be there and say what `_meta` says.
pub(super) fn check_version(headers: &HeaderMap, version: &str) -> Result<(), RpcError> {
    expect(headers, &VERSION, "MCP-Protocol-Version", version)
}

/// The method header.
pub(super) fn check_method(headers: &HeaderMap, method: &str) -> Result<(), RpcError> {
    expect(headers, &METHOD, "Mcp-Method", method)
}

/// The header that names the tool, prompt or resource.
pub(super) fn check_name(headers: &HeaderMap, name: &str) -> Result<(), RpcError> {
    expect(headers, &NAME, "Mcp-Name", name)
}

/// The headers that repeat arguments of this tool.
pub(super) fn check_arguments(headers: &HeaderMap, entry: &ToolEntry, arguments: Option<&str>) -> Result<(), RpcError> {
    if entry.param_headers.is_empty() {
        return Ok(());
    }
    for param in &entry.param_headers {
        let sent = single(headers, &param.header, &param.header)?;
        let value = arguments.map_or(Ok(None), |arguments| argument(arguments, &param.path));
        let wrong = match (&sent, value) {
            (None, Ok(None)) => continue,
            (Some(sent), Ok(Some(value))) if says(sent, value) => continue,
            (_, Err(Ambiguous)) => "repeats an argument that is there twice, or beside a name that is no text",
            (None, Ok(Some(_))) => "is missing: it repeats an argument",
            (Some(_), Ok(None)) => "is there, but its argument is not",
            (Some(_), Ok(Some(_))) => "differs from its argument",
        };
        let (header, argument) = (&param.header, param.path.join("."));
        return Err(RpcError::header_mismatch(format!("the header `{header}` {wrong}: `{argument}`")));
    }
    Ok(())
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
    let (mut scan, mut first, mut found) = (Scan::new(object), true, None);
    if !scan.open() {
        return Ok(None);
    }
    while let Some(key) = scan.key(&mut first).map_err(|_| Ambiguous)? {
        let value = scan.raw().map_err(|_| Ambiguous)?;
        if key == name && found.replace(value).is_some() {
            return Err(Ambiguous);
        }
    }
    Ok(found)
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

fn expect(headers: &HeaderMap, name: &HeaderName, shown: &'static str, body: &str) -> Result<(), RpcError> {
    let mut values = headers.get_all(name).iter();
    if let (Some(value), None) = (values.next(), values.next())
        && value == body
        && body.is_ascii()
        && !body.starts_with(ENCODED)
    {
        return Ok(());
    }
    match single(headers, name, shown)? {
        Some(value) if value == body => Ok(()),
        Some(value) => Err(RpcError::header_mismatch(format!(
            "the header `{shown}` and the body differ: it says `{}`, and the body `{}`",
            shortened(&value),
            shortened(body)
        ))),
        None => Err(RpcError::header_mismatch(format!(
            "the header `{shown}` is missing: here it says `{}`",
            shortened(body)
        ))),
    }
}

/// A header that may be there once, decoded.
fn single<'h>(headers: &'h HeaderMap, name: impl AsHeaderName, shown: &str) -> Result<Option<Cow<'h, str>>, RpcError> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(RpcError::header_mismatch(format!("the header `{shown}` is there twice")));
    }
    let text = value.to_str().ok().map(|text| text.trim_matches([' ', '\t']));
    let decoded = text.and_then(|text| match text.strip_prefix(ENCODED).and_then(|rest| rest.strip_suffix("?=")) {
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok().map(Cow::Owned),
        None => Some(Cow::Borrowed(text)),
    });
    decoded.map(Some).ok_or_else(|| {
        RpcError::header_mismatch(format!("the header `{shown}` must be ASCII, or `=?base64?..?=` of UTF-8"))
    })
}
