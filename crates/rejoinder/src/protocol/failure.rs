//! What a client gets to see of a call that failed.

use std::borrow::Cow;

use super::RpcError;
use crate::{
    error::{CallError, CallErrorKind},
    server::Failed,
};

/// The text for the client, with the code that it has where there is no `isError`; or the error that ends the request.
pub(super) fn failure(of: &str, failed: Failed) -> Result<(i32, Cow<'static, str>), RpcError> {
    let error = match failed {
        Failed::Error(error) => error,
        Failed::Panicked => return Err(RpcError::panicked(of)),
    };
    match CallError::into_kind(error) {
        CallErrorKind::Message(text) => Ok((RpcError::INVALID_PARAMS, text)),
        CallErrorKind::Protocol { code, message, data } => Err(RpcError { code, message, data }),
        CallErrorKind::Internal(error) => {
            let id = incident();
            tracing::error!(of, id, error = &*error as &dyn std::error::Error, "failed");
            Ok((RpcError::INTERNAL, format!("Internal error. See the server log, id {id}.").into()))
        }
    }
}

impl RpcError {
    /// What a client gets to see of a function that panicked.
    pub(super) fn panicked(of: &str) -> Self {
        let id = incident();
        tracing::error!(of, id, "panicked");
        Self::internal(&id)
    }
}

/// A unique id, to find one failure in the log.
pub(super) fn incident() -> String {
    use std::hash::{BuildHasher, Hasher, RandomState};
    // Each `RandomState` has other keys: enough for an id that guards nothing.
    format!("{:016x}", RandomState::new().build_hasher().finish())
}
