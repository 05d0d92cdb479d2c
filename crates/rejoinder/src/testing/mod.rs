//! Drives a server in process, without a port: for the tests of your server, and for our own.
//!
//! A [`Client`] speaks HTTP to the server's tower service, so headers, extensions and status codes are what a real
//! client would meet; only the socket is missing.
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
//! # async fn main() -> Result<(), rejoinder::testing::Error> {
//! let client = Client::new(Server::new("calculator", "1.0.0").tools(tools![add]));
//! assert_eq!(client.list_tools().await?[0].name, "add");
//! assert_eq!(client.call_tool("add", json!({ "a": 1, "b": 2 })).await?.text(), "3");
//! # Ok(())
//! # }
//! ```

mod answer;
mod answers;
mod calls;
mod client;
mod error;
mod events;
mod exchange;
mod lists;
mod remedy;
mod replacing;
mod reply;
mod session;
mod stateless;
mod subscription;
mod taking_back;

pub use answer::Answer;
pub use client::Client;
pub use error::{Error, Result, RpcError};
pub use reply::{Log, Progress, Reply};
pub use subscription::{Filter, Notification, Subscription};
