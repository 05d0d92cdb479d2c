use std::fmt;

use http::StatusCode;
use serde_json::Value;

/// What a [`Client`](super::Client)'s methods return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a request of a [`Client`](super::Client) has no result.
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
pub enum Error {
    /// The server answered with a JSON-RPC error.
    #[error(transparent)]
    Rpc(#[from] Box<RpcError>),
    /// The server answered with something that is no JSON-RPC message.
    #[error("{method}: HTTP {status} without a JSON-RPC message: {body}")]
    Http {
        /// The method that was requested.
        method: String,
        /// The status of the response.
        status: StatusCode,
        /// Its body, as far as it is text.
        body: String,
    },
    /// The server answered with something that is not what the protocol says.
    #[error("{method}: {reason}: {message}")]
    Unexpected {
        /// The method that was requested.
        method: String,
        /// What is wrong with it.
        reason: String,
        /// What came, as JSON.
        message: String,
    },
    /// The stream of events ended before the reply had come.
    #[error("{method}: the stream ended without a reply")]
    NoReply {
        /// The method that was requested.
        method: String,
    },
}

/// The sentence too: `unwrap()` shows this, and a test reads best what it says.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error {
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
    pub fn rpc(&self) -> Option<&RpcError> {
        match self {
            Self::Rpc(error) => Some(error),
            _ => None,
        }
    }

    /// The code of the JSON-RPC error, if it is one.
    pub fn code(&self) -> Option<i32> {
        self.rpc().map(|error| error.code)
    }

    pub(super) fn unexpected(method: &str, reason: impl Into<String>, message: &Value) -> Self {
        Self::Unexpected { method: method.to_owned(), reason: reason.into(), message: message.to_string() }
    }
}

/// A JSON-RPC error, as it came.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{method}: error {code} (HTTP {}): {message}{}{}", .status.as_u16(), shown(.data), hinted(.remedy))]
pub struct RpcError {
    /// The method that was requested.
    pub method: String,
    /// The status of the response that it came with; 200 if it came in a stream.
    pub status: StatusCode,
    /// Its code.
    pub code: i32,
    /// Its sentence.
    pub message: String,
    /// What the server added for programs.
    pub data: Option<Value>,
    /// The key of what the server would have asked, if it could not because the test has no answers at all.
    pub unanswered: Option<String>,
    /// What would answer that, as it is written in the test.
    pub remedy: Option<String>,
}

fn hinted(remedy: &Option<String>) -> String {
    remedy.as_ref().map(|remedy| format!("; the test has no answer: add `{remedy}`")).unwrap_or_default()
}

fn shown(data: &Option<Value>) -> String {
    data.as_ref().map(|data| format!(" {data}")).unwrap_or_default()
}
