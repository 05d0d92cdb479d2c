//! The Rust twin of a server that was written with the Python SDK, one tool for each behaviour of resolvers.
//!
//! `README.md` says what it is held to.

#![expect(unreachable_pub, reason = "a program exports nothing, and `pub` reads better than `pub(crate)`")]

mod control;
mod forms;
mod resolvers;
mod said;
mod script;
mod tools;

use rejoinder::{
    prelude::*,
    state::{StateKeys, StatePolicy},
};
use script::Script;

/// Known to everybody, so that two processes of a test can take over each other's calls. Never use it for anything else.
const TEST_KEY: &[u8] = b"0123456789abcdef0123456789abcdef";

#[tokio::main]
async fn main() -> rejoinder::Result<()> {
    Server::new("ref", env!("CARGO_PKG_VERSION"))
        .state(StatePolicy::new().keys(StateKeys::new([TEST_KEY])?))
        .provide(Script::default())
        .tools(tools![
            tools::quote,
            tools::quote2,
            tools::whoami,
            tools::whoami_union,
            tools::both,
            tools::chain,
            tools::nested,
            tools::rm,
            tools::ship,
            tools::fill,
            tools::complete,
            tools::complete_tools,
            tools::complete_keep,
            tools::ls,
            tools::mixed,
            tools::err,
            tools::err_tool,
            tools::err_mcp,
            tools::factory,
            tools::spin,
            tools::anonymous,
            tools::sneaky,
        ])
        .tools(tools![control::ran, control::reword])
        .serve_from_args()
        .await
}
