//! What belongs to one call: its state, what it sends before its result, and what it leaves for after the reply.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

mod background;
#[path = "../journal/mod.rs"]
mod journal;
#[path = "../logged/mod.rs"]
mod logged;
mod state;
mod streams;
