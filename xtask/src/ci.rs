//! `cargo xtask lint` and `cargo xtask test`: what must hold for every change.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::{cargo, conformance, process, public_types, tools};

/// Formatting, clippy and rustdoc over the whole workspace, clippy over the library with fewer features, and the crates whose
/// types are public; a warning is an error.
pub(crate) fn lint() -> Result<()> {
    let mut steps = Steps::default();
    steps.step("fmt", || process::run(&mut cargo::command(&["fmt", "--all", "--check"])))?;
    steps.step("clippy", || {
        process::run(&mut cargo::command(&[
            "clippy",
            "--locked",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ]))
    })?;
    steps.step("features", || {
        // The workspace is checked with all of them. Here each is off once, and each transport is the only one once.
        for features in ["", "stdio", "auth", "ws", "sse"] {
            let words =
                ["clippy", "--locked", "--package", "rejoinder", "--no-default-features", "--features", features];
            process::run(cargo::command(&words).args(["--", "-D", "warnings"]))?;
        }
        Ok(())
    })?;
    steps.step("doc", || {
        let mut doc = cargo::command(&["doc", "--locked", "--workspace", "--no-deps"]);
        process::run(doc.env("RUSTDOCFLAGS", "-D warnings"))
    })?;
    steps.step("public types", public_types::check)?;
    steps.summary();
    Ok(())
}

/// Names the Python interpreter that has the peer's SDK, for tests that compare with it.
const PYTHON: &str = "REJOINDER_PYTHON";

/// Names the Python interpreter that has FastMCP, for tests that use it as a client.
const FASTMCP: &str = "REJOINDER_FASTMCP";

/// Names the folder whose `node_modules` has the TypeScript SDK and Node, for tests that use it as a client.
const NODE_MODULES: &str = "REJOINDER_NODE_MODULES";

/// Chooses the random cases of property tests. They are the same in every run, so that a failure comes from the change;
/// `cargo nextest run` without it finds other cases.
const RANDOM_CASES: (&str, &str) = ("PROPTEST_RNG_SEED", "20260728");

/// For how many seconds each property of `tests/fuzz.rs` runs, unless the environment says more.
const FUZZ_SECONDS: (&str, &str) = ("FUZZ_SECONDS", "15");

/// Sets up, then runs unit and integration tests, doc tests, the program beside rmcp and the conformance suite; with filters only the unit and
/// integration tests whose names contain one of them.
///
/// Benches are only compiled, by `lint`: nextest would run each as a test.
pub(crate) fn test(filters: &[String]) -> Result<()> {
    let mut steps = Steps::default();
    let python = steps.step("python", tools::python)?;
    let fastmcp = steps.step("fastmcp", tools::fastmcp)?;
    let node = steps.step("node", tools::node_modules)?;
    steps.step("tests", || {
        // nextest runs each test in its own process and reports more clearly; without it, the same tests run.
        let nextest = ["nextest", "run", "--locked", "--workspace"];
        let plain = ["test", "--locked", "--workspace", "--lib", "--bins", "--tests", "--examples", "--"];
        let mut tests = if process::exists(&mut cargo::command(&["nextest", "--version"])) {
            cargo::with_usual_limit(&nextest)
        } else {
            cargo::with_usual_limit(&plain)
        };
        let places = [(PYTHON, &python), (FASTMCP, &fastmcp), (NODE_MODULES, &node)];
        let fuzz = std::env::var_os(FUZZ_SECONDS.0).unwrap_or(FUZZ_SECONDS.1.into());
        process::run(tests.args(filters).envs(places).envs([RANDOM_CASES]).env(FUZZ_SECONDS.0, fuzz))
    })?;
    if !filters.is_empty() {
        return Ok(());
    }
    steps.step("doc tests", || {
        let mut tests = cargo::command(&["test", "--locked", "--doc", "--workspace"]);
        process::run(tests.env(PYTHON, &python))
    })?;
    // No rmcp may stand in the way of the one that a program chooses.
    steps.step("beside rmcp", || {
        let manifest = "crates/rejoinder/tests/beside_rmcp/Cargo.toml";
        process::run(&mut cargo::command(&["run", "--manifest-path", manifest, "--target-dir", "target/beside_rmcp"]))
    })?;
    steps.step("conformance", || conformance::run(&conformance::Options::default()))?;
    steps.summary();
    Ok(())
}

/// The steps done so far. Each gets one line that says how it ended and how long it took.
#[derive(Debug, Default)]
struct Steps {
    done: Vec<(&'static str, Duration)>,
}

impl Steps {
    /// Does one step; its error ends the chore.
    fn step<T>(&mut self, name: &'static str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        println!("==> {name}");
        let begin = Instant::now();
        let result = work();
        let took = begin.elapsed();
        if result.is_err() {
            self.summary();
            println!("{}", line("FAILED", name, took));
        }
        self.done.push((name, took));
        result.with_context(|| format!("step `{name}`"))
    }

    /// Prints the line of every step done.
    fn summary(&self) {
        println!();
        for (name, took) in &self.done {
            println!("{}", line("ok", name, *took));
        }
    }
}

/// One step's line.
fn line(how: &str, name: &str, took: Duration) -> String {
    format!("{how:>6}  {:>7.1} s  {name}", took.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;

    #[test]
    fn a_failed_step_is_named_in_the_error() {
        let mut steps = Steps::default();
        assert_eq!(steps.step("one", || Ok(1)).unwrap(), 1);
        let error = steps.step::<()>("two", || bail!("broken")).unwrap_err();
        assert_eq!(format!("{error:#}"), "step `two`: broken");
    }

    #[test]
    fn a_line_says_how_long() {
        let line = line("ok", "clippy", Duration::from_millis(1250));
        assert_eq!(line, "    ok      1.2 s  clippy");
    }
}
