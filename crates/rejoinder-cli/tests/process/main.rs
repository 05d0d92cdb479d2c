//! The `rejoinder` binary as a process: its output, signals, pipes, and hostile clients.
#![cfg(unix)]

mod child;
mod keys;
mod memory;
mod pipe;
mod pipe_ends;
mod sessions;
mod signals;
mod welcome;
