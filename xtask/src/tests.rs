//! `cargo xtask test`: everything that can be run, from a bare checkout.

use anyhow::Result;

use crate::steps::Steps;
use crate::{cargo, conformance, process, python};

/// Names the Python interpreter that has the peer's SDK, for tests that compare with it.
const PYTHON: &str = "REJOINDER_PYTHON";

/// Sets up, then runs unit and integration tests, doc tests and the conformance suite.
///
/// Benches are only compiled, by `lint`: nextest would run each as a test.
pub(crate) fn run() -> Result<()> {
    let mut steps = Steps::default();
    let python = steps.step("python", python::interpreter)?;
    steps.step("tests", || {
        // One process for each test and a clearer report, where it is installed; the same tests where it is not.
        let nextest = ["nextest", "run", "--workspace"];
        let plain = ["test", "--workspace", "--lib", "--bins", "--tests", "--examples"];
        let mut tests = if process::exists(&mut cargo::command(&["nextest", "--version"])) {
            cargo::command(&nextest)
        } else {
            cargo::command(&plain)
        };
        process::run(tests.env(PYTHON, &python))
    })?;
    steps.step("doc tests", || {
        let mut tests = cargo::command(&["test", "--doc", "--workspace"]);
        process::run(tests.env(PYTHON, &python))
    })?;
    steps.step("conformance", || conformance::run(&conformance::Options::default()))?;
    steps.summary();
    Ok(())
}
