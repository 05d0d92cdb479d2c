//! A copy, in Rust, of a server that was written with the Python SDK: one tool for each behaviour of resolvers.
//!
//! `README.md` describes how the two are compared.

#![expect(unreachable_pub, reason = "a program exports nothing, and `pub` reads better than `pub(crate)`")]

mod resolvers;
mod script;
mod tools;

use rejoinder::{
    prelude::*,
    state::{StateKeys, StatePolicy},
};
use script::Script;

/// A public key, so that two processes of a test can continue each other's calls. Never use it for anything else.
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
        .tools(tools![script::ran, script::reword])
        .serve_from_args()
        .await
}
