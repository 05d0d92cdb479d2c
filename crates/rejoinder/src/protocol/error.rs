use std::borrow::Cow;

use http::StatusCode;
use serde_json::{Value, json};

use super::version::supported;
use crate::server::{BadCursor, Engine, Reference};

/// A JSON-RPC error.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RpcError {
    pub(crate) code: i32,
    pub(crate) message: Cow<'static, str>,
    pub(crate) data: Option<Value>,
}

impl RpcError {
    pub(crate) const PARSE: i32 = -32700;
    pub(crate) const INVALID_REQUEST: i32 = -32600;
    pub(crate) const METHOD_NOT_FOUND: i32 = -32601;
    pub(crate) const INVALID_PARAMS: i32 = -32602;
    pub(crate) const INTERNAL: i32 = -32603;
    pub(crate) const HEADER_MISMATCH: i32 = -32020;
    pub(crate) const MISSING_CAPABILITY: i32 = -32021;
    pub(crate) const UNSUPPORTED_VERSION: i32 = -32022;

    pub(crate) fn new(code: i32, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub(crate) fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    pub(crate) fn invalid_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Self::INVALID_REQUEST, message)
    }

    pub(crate) fn invalid_params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Self::INVALID_PARAMS, message)
    }

    pub(crate) fn header_mismatch(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Self::HEADER_MISMATCH, message)
    }

    pub(crate) fn method_not_found(method: &str) -> Self {
        Self::new(Self::METHOD_NOT_FOUND, format!("there is no method `{}` here", shortened(method)))
    }

    pub(crate) fn unsupported_version(requested: &str, sessions: bool) -> Self {
        let supported = supported(sessions);
        Self::new(Self::UNSUPPORTED_VERSION, format!("protocol version `{}` is not supported", shortened(requested)))
            .with_data(json!({ "supported": supported, "requested": requested }))
    }

    /// The answer to `initialize` where there are no sessions: it names the versions that can be had without.
    pub(crate) fn no_sessions(params: Option<&str>) -> Self {
        let params = params.and_then(|params| serde_json::from_str::<Value>(params).ok()).unwrap_or_default();
        let message =
            "this server has no sessions: send requests of a version in `data.supported`, without `initialize`";
        Self::new(Self::UNSUPPORTED_VERSION, message)
            .with_data(json!({ "supported": supported(false), "requested": params["protocolVersion"] }))
    }

    fn unknown(kind: &str, name: &str, similar: Option<&str>) -> Self {
        let meant = similar.map(|similar| format!("; did you mean `{similar}`?")).unwrap_or_default();
        Self::invalid_params(format!("there is no {kind} `{}`{meant}", shortened(name)))
    }

    pub(crate) fn unknown_tool(engine: &Engine, name: &str) -> Self {
        Self::unknown("tool", name, engine.similar_tool(name).as_deref())
    }

    pub(crate) fn unknown_prompt(engine: &Engine, name: &str) -> Self {
        Self::unknown("prompt", name, engine.similar_prompt(name).as_deref())
    }

    pub(crate) fn unknown_resource(uri: &str) -> Self {
        Self::unknown("resource", uri, None).with_data(json!({ "uri": uri }))
    }

    /// The same whether it is the item or its argument that is not there.
    pub(crate) fn nothing_to_complete(of: &Reference, argument: &str) -> Self {
        let (item, name, part) = match of {
            Reference::Prompt(name) => ("prompt", name, "argument"),
            Reference::Resource(uri) => ("resource template", uri, "variable"),
        };
        let (name, argument) = (shortened(name), shortened(argument));
        Self::invalid_params(format!("there is no {item} `{name}` with the {part} `{argument}`"))
    }

    /// As many calls are running as may.
    pub(crate) fn busy(calls: usize) -> Self {
        Self::new(
            Self::INTERNAL,
            format!("the server is busy with {calls} calls, which is as many as it takes: try again"),
        )
    }

    /// As many subscriptions are open as may.
    pub(crate) fn too_many_subscriptions(subscriptions: usize) -> Self {
        Self::new(
            Self::INTERNAL,
            format!("the server has {subscriptions} subscriptions, which is as many as it takes: try again later"),
        )
    }

    /// Something went wrong inside; the id finds it in the log.
    pub(crate) fn internal(id: &str) -> Self {
        Self::new(Self::INTERNAL, "the server failed; its log has the detail under the id in `data`")
            .with_data(json!({ "id": id }))
    }

    /// The code to send: this revision has retired some codes, and reserved others that it has not given a meaning.
    pub(crate) fn legal_code(&self) -> i32 {
        match self.code {
            // Once "resource not found".
            -32002 => Self::INVALID_PARAMS,
            Self::HEADER_MISMATCH | Self::MISSING_CAPABILITY | Self::UNSUPPORTED_VERSION => self.code,
            -32099..=-32020 => Self::INTERNAL,
            code => code,
        }
    }

    /// The status of an HTTP response that carries only this error.
    pub(crate) fn status(&self) -> StatusCode {
        match self.legal_code() {
            Self::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
            Self::PARSE
            | Self::INVALID_REQUEST
            | Self::INVALID_PARAMS
            | Self::HEADER_MISMATCH
            | Self::MISSING_CAPABILITY
            | Self::UNSUPPORTED_VERSION => StatusCode::BAD_REQUEST,
            _ => StatusCode::OK,
        }
    }
}

impl From<BadCursor> for RpcError {
    fn from(_: BadCursor) -> Self {
        Self::invalid_params("`params.cursor` is not one of this list: start again without")
    }
}

/// What a client sent, short enough to send back.
pub(crate) fn shortened(text: &str) -> String {
    const LONGEST: usize = 100;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
