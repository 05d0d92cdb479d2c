use super::{FromCall, Need};
use crate::{auth::Principal, call::Call, error::CallError};

impl FromCall for Principal {
    const IS_OURS: bool = true;

    async fn from_call(call: &Call, parameter: &'static str) -> Result<Self, CallError> {
        let caller = call.request().principal.clone();
        caller.ok_or_else(|| {
            tracing::debug!(parameter, "a call needs a caller, and has none");
            CallError::new("authentication is required: this server does not know who is calling")
        })
    }

    fn need() -> Option<Need> {
        Some(Need::of::<Self>())
    }
}

/// The caller, if there is one.
impl FromCall for Option<Principal> {
    const IS_OURS: bool = true;

    async fn from_call(call: &Call, _: &'static str) -> Result<Self, CallError> {
        Ok(call.request().principal.clone())
    }
}
