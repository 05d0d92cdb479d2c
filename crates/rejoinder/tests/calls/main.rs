//! One call: where its parameters come from, what it asks, how it ends, and what it sends on the way.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

mod asking;
mod background;
mod by_hand;
mod forms;
mod journal;
#[path = "../logged/mod.rs"]
mod logged;
mod middleware;
mod pitfalls;
mod resolvers;
mod state;
mod streams;
mod tasks;
mod teardown;
mod timeouts;
