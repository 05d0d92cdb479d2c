//! The `rejoinder` binary as a process: what it says, signals, pipes, and what hostile clients do to them.
#![cfg(unix)]

mod child;
mod keys;
mod pipe;
mod pipe_ends;
mod sessions;
mod signals;
mod welcome;
