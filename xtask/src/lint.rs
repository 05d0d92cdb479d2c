//! `cargo xtask lint`: what must hold before anything is read or run.

use std::fs;

use anyhow::{Context, Result};

use crate::steps::Steps;
use crate::{cargo, process, tools};

/// Formatting, clippy and rustdoc over the whole workspace, and a look at the fuzz target; a warning is an error.
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
    steps.step("fuzz target", fuzz_target)?;
    steps.summary();
    Ok(())
}

/// Type-checks the fuzz target, which is outside the workspace: to run it needs a nightly compiler, to check it does not.
fn fuzz_target() -> Result<()> {
    let (root, fuzz) = (tools::root(), tools::root().join("fuzz"));
    // With the versions of the workspace: another one is no reason to fail here, and these are built already.
    fs::copy(root.join("Cargo.lock"), fuzz.join("Cargo.lock")).context("copying Cargo.lock")?;
    let mut check = cargo::command(&["check", "--manifest-path", "fuzz/Cargo.toml"]);
    if std::env::var_os("CARGO_TARGET_DIR").is_none() {
        check.env("CARGO_TARGET_DIR", root.join("target"));
    }
    // Nothing is linked, so libFuzzer need not be built: any file in its place will do.
    process::run(check.env("CUSTOM_LIBFUZZER_PATH", fuzz.join("Cargo.toml")))
}
