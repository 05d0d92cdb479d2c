//! What a client gets to see of a function that failed.

use crate::{
    error::{CallError, CallErrorKind},
    model::{CallToolResult, ContentBlock},
};

use super::RpcError;
use crate::server::Panicked;

/// What the function told, or an id that finds the rest in the log.
pub(crate) fn failure(of: &str, error: Result<CallError, Panicked>) -> Result<CallToolResult, RpcError> {
    match error.map(CallError::into_kind) {
        Ok(CallErrorKind::Told(text)) => Ok(CallToolResult::error(vec![ContentBlock::text(text)])),
        Ok(CallErrorKind::Protocol { code, message, data }) => Err(RpcError { code, message, data }),
        Ok(CallErrorKind::Hidden(error)) => {
            let id = incident();
            tracing::error!(of, id, error = &*error as &dyn std::error::Error, "failed");
            let text =
                format!("It failed for a reason that is not shown here. The server's log has it under the id {id}.");
            Ok(CallToolResult::error(vec![ContentBlock::text(text)]))
        }
        Err(panicked) => Err(RpcError::panicked(of, panicked)),
    }
}

impl RpcError {
    /// What a client gets to see of a function that panicked.
    pub(crate) fn panicked(of: &str, _: Panicked) -> Self {
        let id = incident();
        tracing::error!(of, id, "panicked");
        Self::internal(&id)
    }
}

/// An id that nobody else has, to find one failure in the log.
pub(super) fn incident() -> String {
    use std::hash::{BuildHasher, Hasher, RandomState};
    // Each `RandomState` has other keys: enough for an id that guards nothing.
    format!("{:016x}", RandomState::new().build_hasher().finish())
}
