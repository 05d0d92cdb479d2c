//! Errors, as the session era codes them.

use rmcp::model::{ErrorCode, ErrorData};

use crate::protocol::RpcError;

/// An error of ours in rmcp's type.
pub(super) fn wire(error: RpcError) -> ErrorData {
    ErrorData::new(ErrorCode(error.code), error.message, error.data)
}

/// The client took its request back. rmcp drops the reply, so nobody reads this.
pub(super) fn cancelled() -> ErrorData {
    wire(RpcError::invalid_request("the request was cancelled"))
}
