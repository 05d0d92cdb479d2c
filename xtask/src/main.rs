//! The project's chores: `cargo xtask test`.
fn main() {}
