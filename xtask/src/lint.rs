//! `cargo xtask lint`: what must hold before anything is read or run.

use anyhow::Result;

use crate::steps::Steps;
use crate::{cargo, process};

/// Formatting, clippy and rustdoc over the whole workspace; a warning is an error.
pub(crate) fn run() -> Result<()> {
    let mut steps = Steps::default();
    steps.step("fmt", || process::run(&mut cargo::command(&["fmt", "--all", "--check"])))?;
    steps.step("clippy", || {
        process::run(&mut cargo::command(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
    })?;
    steps.step("doc", || {
        let mut doc = cargo::command(&["doc", "--workspace", "--no-deps"]);
        process::run(doc.env("RUSTDOCFLAGS", "-D warnings"))
    })?;
    steps.summary();
    Ok(())
}
