//! A client that drives a server in process, without a port, for tests.
//!
//! It needs the cargo feature `testing`, in `[dev-dependencies]`: `cargo add rejoinder --dev --features testing`.
//!
//! A [`Client`] sends HTTP requests to the server's tower service, so headers, extensions and status codes are those that
//! a real client gets; only the socket is missing. [`Client::transport`] chooses another transport.
//!
//! ```
//! use rejoinder::{prelude::*, testing::Client};
//! use serde_json::json;
//!
//! /// Add two numbers.
//! #[tool]
//! async fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), rejoinder::testing::ClientError> {
//! let client = Client::new(Server::new("calculator", "1.0.0").tools(tools![add]));
//! assert_eq!(client.list_tools().await?[0].name, "add");
//! assert_eq!(client.call_tool("add", json!({ "a": 1, "b": 2 })).await?.text(), "3");
//! # Ok(())
//! # }
//! ```

mod answer;
mod calls;
mod client;
mod client_task;
mod connection;
mod doubles;
mod error;
mod exchange;
mod kills;
#[cfg_attr(
    not(any(feature = "stdio", feature = "ws", feature = "sse")),
    expect(dead_code, reason = "over HTTP each request has its own connection")
)]
mod link;
mod lists;
mod response;
mod subscription;
pub mod tasks;
mod transport;

pub use answer::ClientAnswer;
pub use client::{Client, in_both_eras};
pub use client_task::ClientTask;
pub use error::{ClientError, JsonRpcError, Result};
pub use kills::{Cut, EveryCut};
pub use response::{Background, Log, ProgressReport, Response};
pub use subscription::{Filter, Notification, Subscription};
pub use transport::Transport;
