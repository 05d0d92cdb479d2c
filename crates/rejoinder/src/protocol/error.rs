//! Every JSON-RPC error: its code, its HTTP status, and what a client sees of a call that was refused or failed.

use std::borrow::Cow;

use http::StatusCode;
use serde_json::{Value, json};

use super::meta::supported;
use crate::{
    argument::ArgumentErrors,
    error::{CallError, CallErrorKind, Failed},
    model::{Task, error_code},
    request::Era,
    server::{Refusal, ReplySubject, TargetKind},
};

pub(super) use crate::server::shortened;

/// A JSON-RPC error.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RpcError {
    pub(crate) code: i32,
    pub(crate) message: Cow<'static, str>,
    pub(crate) data: Option<Value>,
}

impl RpcError {
    pub(crate) fn new(code: i32, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub(crate) fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    pub(crate) fn parse() -> Self {
        Self::new(error_code::PARSE_ERROR, "the message is not valid JSON in UTF-8")
    }

    pub(crate) fn invalid_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(error_code::INVALID_REQUEST, message)
    }

    pub(crate) fn invalid_params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(error_code::INVALID_PARAMS, message)
    }

    pub(crate) fn header_mismatch(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(error_code::HEADER_MISMATCH, message)
    }

    pub(crate) fn method_not_found(method: &str) -> Self {
        Self::new(error_code::METHOD_NOT_FOUND, format!("unknown method `{}`", shortened(method)))
    }

    pub(crate) fn unsupported_version(requested: &str, sessions: bool) -> Self {
        let supported = supported(sessions);
        Self::new(
            error_code::UNSUPPORTED_VERSION,
            format!("protocol version `{}` is not supported", shortened(requested)),
        )
        .with_data(json!({ "supported": supported, "requested": requested }))
    }

    /// The reply to `initialize` of a server without sessions: it names the versions that do not need one.
    pub(crate) fn no_sessions(params: &str) -> Self {
        let params = serde_json::from_str::<Value>(params).unwrap_or_default();
        let message =
            "this server has no sessions: send requests without `initialize`, in a version of `data.supported`";
        Self::new(error_code::UNSUPPORTED_VERSION, message)
            .with_data(json!({ "supported": supported(false), "requested": params["protocolVersion"] }))
    }

    /// The id finds the failure in the log.
    pub(crate) fn internal(id: &str) -> Self {
        Self::new(error_code::INTERNAL_ERROR, format!("Internal error. See the server log, id {id}."))
            .with_data(json!({ "id": id }))
    }

    /// The code to send in the stateless era, which retired some codes and reserved others without a meaning.
    pub(crate) fn legal_code(&self) -> i32 {
        match self.code {
            error_code::RESOURCE_NOT_FOUND => error_code::INVALID_PARAMS,
            error_code::HEADER_MISMATCH | error_code::MISSING_CAPABILITY | error_code::UNSUPPORTED_VERSION => self.code,
            -32099..=-32020 => error_code::INTERNAL_ERROR,
            code => code,
        }
    }

    /// The status of an HTTP response that carries only this error.
    pub(crate) fn status(&self) -> StatusCode {
        match self.legal_code() {
            error_code::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
            error_code::PARSE_ERROR
            | error_code::INVALID_REQUEST
            | error_code::INVALID_PARAMS
            | error_code::HEADER_MISMATCH
            | error_code::MISSING_CAPABILITY
            | error_code::UNSUPPORTED_VERSION => StatusCode::BAD_REQUEST,
            _ => StatusCode::OK,
        }
    }
}

impl From<Refusal> for RpcError {
    fn from(refusal: Refusal) -> Self {
        let message = refusal.to_string();
        let (code, data) = match refusal {
            Refusal::Unknown { kind: TargetKind::Resource, name, .. } => {
                (error_code::INVALID_PARAMS, Some(json!({ "uri": &*name })))
            }
            Refusal::HeaderMismatch(_) => (error_code::HEADER_MISMATCH, None),
            // The same error for every bad state: a forger must not learn how far a forgery got.
            Refusal::InvalidState => (error_code::INVALID_PARAMS, Some(json!({ "reason": "invalid_request_state" }))),
            Refusal::InsufficientScope(scopes) => {
                (error_code::INVALID_REQUEST, Some(json!({ "reason": "insufficient_scope", "scopes": scopes })))
            }
            Refusal::Expired => (error_code::INVALID_REQUEST, None),
            Refusal::Full(full) => {
                (error_code::INTERNAL_ERROR, full.share_of.map(|_| json!({ "reason": "caller_limit" })))
            }
            Refusal::Stopping | Refusal::Keeper(_) | Refusal::SealedTask => (error_code::INTERNAL_ERROR, None),
            Refusal::NeedsTasks => {
                let required = json!({ "requiredCapabilities": { "extensions": { Task::EXTENSION: {} } } });
                (error_code::MISSING_CAPABILITY, Some(required))
            }
            Refusal::BadArguments { bad, .. } => return Self::bad_arguments(&bad),
            Refusal::Panicked(what) => return Self::panicked(what),
            Refusal::Unknown { .. }
            | Refusal::NothingToComplete(_)
            | Refusal::UnknownCursor
            | Refusal::InvalidAnswer(_)
            | Refusal::UnknownTask
            | Refusal::NotArguments(_) => (error_code::INVALID_PARAMS, None),
        };
        Self { data, ..Self::new(code, message) }
    }
}

impl RpcError {
    pub(super) fn bad_arguments(errors: &ArgumentErrors) -> Self {
        let all: Vec<Value> =
            errors.0.iter().map(|error| json!({ "field": error.field, "message": error.message })).collect();
        let mut data = all.first().cloned().unwrap_or_default();
        data["errors"] = all.into();
        Self::invalid_params(errors.to_string()).with_data(data)
    }

    /// The error of a function that panicked.
    fn panicked(function: &str) -> Self {
        let id = incident();
        tracing::error!(of = function, id, "panicked");
        Self::internal(&id)
    }
}

/// What a client sees of a call that failed.
pub(super) enum SeenFailure {
    /// A tool returns the message in a result with `isError`, so that the model reads it; elsewhere it is the error.
    Text(RpcError),
    /// The error that ends the request.
    Error(RpcError),
}

/// What a client sees of a call of this kind of item that failed.
pub(super) fn failure(subject: ReplySubject<'_>, era: Era, failed: Failed) -> SeenFailure {
    let ReplySubject { kind, name, item, .. } = subject;
    let error = match failed {
        Failed::Error(error) => error,
        // The protocol of a session has no rule for it, and a model may know what to do.
        Failed::Panicked if era == Era::Session => {
            return SeenFailure::Text(RpcError::panicked(item));
        }
        Failed::Panicked => return SeenFailure::Error(RpcError::panicked(item)),
    };
    SeenFailure::Text(match CallError::into_kind(error) {
        // A client would take -32602 for a resource that does not exist.
        CallErrorKind::Message(text) if kind == Some(TargetKind::Resource) => {
            RpcError::new(error_code::INTERNAL_ERROR, text)
        }
        CallErrorKind::NotFound(text) if kind == Some(TargetKind::Resource) => {
            let code = if era == Era::Session { error_code::RESOURCE_NOT_FOUND } else { error_code::INVALID_PARAMS };
            RpcError::new(code, text).with_data(json!({ "uri": name }))
        }
        CallErrorKind::Message(text) | CallErrorKind::NotFound(text) => RpcError::invalid_params(text),
        CallErrorKind::Declined(text) => RpcError::invalid_params(text).with_data(json!({ "reason": "declined" })),
        CallErrorKind::Cancelled(text) => RpcError::invalid_params(text).with_data(json!({ "reason": "cancelled" })),
        CallErrorKind::Unanswered(text) => RpcError::new(error_code::INTERNAL_ERROR, text),
        CallErrorKind::TimedOut(limit) => {
            let text = CallError::timed_out(limit).to_string();
            tracing::warn!(of = item, "{text}");
            RpcError::new(error_code::INTERNAL_ERROR, text).with_data(json!({ "reason": "timed_out" }))
        }
        CallErrorKind::OutcomeUnknown(limit) => {
            let text = CallError::cut_off(limit).to_string();
            RpcError::new(error_code::INTERNAL_ERROR, text).with_data(json!({ "reason": "outcome_unknown" }))
        }
        // Versions with sessions do not have this code.
        CallErrorKind::Protocol { code: error_code::MISSING_CAPABILITY, message, .. } if era == Era::Session => {
            RpcError::invalid_params(message)
        }
        CallErrorKind::Protocol { code, message, data } => {
            return SeenFailure::Error(RpcError { code, message, data });
        }
        CallErrorKind::Internal(error) => {
            let id = incident();
            tracing::error!(of = item, id, error = &*error as &dyn std::error::Error, "failed");
            RpcError::internal(&id)
        }
    })
}

/// A unique id, to find one failure in the log.
pub(super) fn incident() -> String {
    use std::hash::{BuildHasher, Hasher, RandomState};
    // Each `RandomState` has different keys: enough for an id that protects nothing.
    format!("{:016x}", RandomState::new().build_hasher().finish())
}
