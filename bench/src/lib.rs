//! What the binaries of the side-by-side load bench share.
//!
//! `cargo xtask bench` runs them: it starts one server at a time (`bench-rejoinder`, `bench-rmcp`, `bench-floor`) on
//! one core, and `bench-load` on the other. What needs no network is measured in one process, by `bench-inside` and
//! `bench-allocations`. Nothing has to be installed by hand.

pub mod caller;
pub mod flags;
pub mod floor;
pub mod inside;
pub mod load;
pub mod serve;
pub mod session;
pub mod stream;
pub mod task;
pub mod two_rounds;
pub mod wire;
