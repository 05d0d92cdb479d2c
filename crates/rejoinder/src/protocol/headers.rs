//! Headers that mirror the body, so that proxies can route without reading it. They must agree.

use http::{HeaderMap, HeaderName};

use super::{RpcError, error::shortened};
use crate::server::{ENCODED_HEADER, decoded_header};

static VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
static METHOD: HeaderName = HeaderName::from_static("mcp-method");
static NAME: HeaderName = HeaderName::from_static("mcp-name");

/// The protocol version header, which must be there and agree with `_meta`.
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

fn expect(headers: &HeaderMap, name: &HeaderName, shown: &'static str, body: &str) -> Result<(), RpcError> {
    let mut values = headers.get_all(name).iter();
    if let (Some(value), None) = (values.next(), values.next())
        && value == body
        && body.is_ascii()
        && !body.starts_with(ENCODED_HEADER)
    {
        return Ok(());
    }
    match decoded_header(headers, name, shown).map_err(RpcError::header_mismatch)? {
        Some(value) if value == body => Ok(()),
        Some(value) => Err(RpcError::header_mismatch(format!(
            "the header `{shown}` does not match the body: expected `{1}`, got `{0}`",
            shortened(&value),
            shortened(body)
        ))),
        None => Err(RpcError::header_mismatch(format!("missing header `{shown}`: expected `{}`", shortened(body)))),
    }
}
