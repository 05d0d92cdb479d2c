//! What the example promises, one test for each promise, on a real database file.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

mod database;
mod ends;
mod promises;
