use std::fmt::{self, Display};

use http::StatusCode;
use serde_json::Value;

/// What a [`Client`](super::Client)'s methods return.
pub type Result<T, E = ClientError> = std::result::Result<T, E>;

/// Why a request has no result.
///
/// ```
/// use rejoinder::{prelude::*, testing::Client};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let client = Client::new(Server::new("empty", "1.0.0").tools([]));
/// let error = client.call_tool("add", json!({})).await.unwrap_err();
/// assert_eq!(error.code(), Some(-32602));
/// assert_eq!(error.to_string(), "tools/call: error -32602 (HTTP 400): there is no tool `add`");
/// # }
/// ```
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The server returned a JSON-RPC error.
    #[error(transparent)]
    Rpc(#[from] Box<JsonRpcError>),
    /// Something else went wrong: a message does not follow the protocol, the test has no answer to a question, or the last
    /// run of the function took another path than the runs before it.
    #[error("{method}: {reason}")]
    Unexpected {
        /// The method that was requested.
        method: String,
        /// What is wrong.
        reason: String,
    },
}

/// The same text as `Display`, because `unwrap()` shows this.
impl fmt::Debug for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

impl ClientError {
    /// The JSON-RPC error, if it is one.
    ///
    /// ```
    /// # use rejoinder::{prelude::*, testing::Client};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let client = Client::new(Server::new("empty", "1.0.0"));
    /// let error = client.list_tools().await.unwrap_err();
    /// assert_eq!(error.rpc().unwrap().status, 404);
    /// # }
    /// ```
    pub fn rpc(&self) -> Option<&JsonRpcError> {
        match self {
            Self::Rpc(error) => Some(error),
            _ => None,
        }
    }

    /// The code of the JSON-RPC error, if it is one.
    pub fn code(&self) -> Option<i32> {
        self.rpc().map(|error| error.code)
    }

    /// A response that is not a JSON-RPC message.
    pub(super) fn without_message(method: &str, status: StatusCode, body: &str) -> Self {
        Self::unexpected(method, format_args!("HTTP {status} without a JSON-RPC message: {body}"))
    }

    /// A result that is text only.
    pub(super) fn no_structured_content(is_error: bool, text: &str) -> Self {
        let reason =
            if is_error { "the tool failed" } else { "return `Json<T>`, a number, a `bool` or a list from it" };
        Self::unexpected(
            "tools/call",
            format_args!("the result has no structured content: {reason}; its text is `{text}`"),
        )
    }

    /// The last run of the function did not reach the answers and steps that earlier runs recorded.
    pub(super) fn other_path(method: &str, unreached: &[String]) -> Self {
        let reason = format_args!(
            "the last run of the function did not reach {}, which an earlier run recorded: the function took another path; \
             read what decides its path, such as what it loops over, in `ctx.once` (`Client::allow_other_paths` accepts it)",
            unreached.join(" and ")
        );
        Self::unexpected(method, reason)
    }

    /// A round recorded steps and asked, and a transaction may have lost what the steps wrote.
    pub(super) fn forgets_steps(method: &str) -> Self {
        Self::unexpected(
            method,
            "a round recorded a step and then asked, and a deferred function that returns a `Result` did not call \
             `CallEnd::keeps_changes`: if it rolls back what the step wrote, the step does not run again; commit if \
             `end.keeps_changes()`, or return nothing from a function that does not write",
        )
    }

    pub(super) fn unexpected(method: &str, reason: impl Display) -> Self {
        Self::Unexpected { method: method.to_owned(), reason: reason.to_string() }
    }
}

/// A JSON-RPC error.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{method}: error {code} (HTTP {}): {message}{}{}", .status.as_u16(), shown(.data), hinted(.remedy))]
pub struct JsonRpcError {
    /// The method that was requested.
    pub method: String,
    /// The HTTP status of the response; 200 if the error came in a stream.
    pub status: StatusCode,
    /// The code.
    pub code: i32,
    /// The message.
    pub message: String,
    /// The data.
    pub data: Option<Value>,
    /// The line that the test must add, if the server could not ask because the test has no answers at all.
    pub remedy: Option<String>,
}

fn hinted(remedy: &Option<String>) -> String {
    remedy.as_ref().map(|remedy| format!("; the test has no answer: add `{remedy}`")).unwrap_or_default()
}

fn shown(data: &Option<Value>) -> String {
    data.as_ref().map(|data| format!(" {data}")).unwrap_or_default()
}
