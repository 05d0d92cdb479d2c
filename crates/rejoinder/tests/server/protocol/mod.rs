//! The protocol of 2026-07-28, item by item: what a server must do, in the order of the specification's pages.
//!
//! A test's name begins with the number of its item (`c04_..`), or of several (`c27_c28_..`), and `items.rs` sees to it
//! that none is missing. C22 to C39, the questions, are tested here as far as they are messages, and for the rest where
//! functions ask: in `tests/calls/asking` and `tests/calls/by_hand`. Items D and E, how resolvers ask and what becomes of the
//! answers, are in `tests/calls/asking`, `tests/calls/resolvers` and `tests/calls/forms.rs`.
//!
//! Beside them, one file for each thing a server does that the protocol leaves to it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::unused_async, reason = "tools of real servers wait for something")]
#![expect(unreachable_pub, reason = "nothing is reachable from outside a test")]

mod fixture;
pub(crate) mod wire;

mod caching;
mod cancel_progress_logs;
mod discover;
mod envelope;
mod headers;
mod http_rules;
mod items;
mod listen;
mod meta_keys;
mod questions;
mod results;
mod schema;
mod stdio;
mod traces;

mod arguments;
mod blocks;
mod changes;
mod completion;
mod constraints;
mod cors;
mod errors;
mod header_parameters;
mod lists;
mod mounting;
mod own_key;
mod prompts;
mod resources;
mod sessions;
mod suggestions;
mod wiring;
