//! Errors, as the session era codes them.

use rmcp::model::{ErrorCode, ErrorData};
use serde_json::json;

use crate::protocol::RpcError;

/// The code for a resource that is not there, up to 2025-11-25.
const RESOURCE_NOT_FOUND: i32 = -32002;

/// An error of ours in rmcp's type.
pub(super) fn wire(error: RpcError) -> ErrorData {
    ErrorData::new(ErrorCode(error.code), error.message, error.data)
}

/// The resource that was asked for is not there.
pub(super) fn unknown_resource(uri: &str) -> ErrorData {
    wire(RpcError { code: RESOURCE_NOT_FOUND, ..RpcError::unknown_resource(uri) })
}

/// A resource's function could not answer. Where it says so in its own words, the resource is not to be had: the
/// stateless era says that with -32602 and the URI, this era has a code for it.
pub(super) fn unread_resource(uri: &str, error: RpcError) -> ErrorData {
    if error.code == RpcError::INVALID_PARAMS && error.data.is_none() {
        return wire(RpcError { code: RESOURCE_NOT_FOUND, ..error.with_data(json!({ "uri": uri })) });
    }
    wire(error)
}

/// The client took its request back. rmcp drops the reply, so nobody reads this.
pub(super) fn cancelled() -> ErrorData {
    wire(RpcError::invalid_request("the request was cancelled"))
}
