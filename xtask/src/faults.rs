//! `cargo xtask faults`: every fault on real processes, as often as there is time for.

use std::process::Command;

use anyhow::{Context, Result};

use crate::{cargo, process, tools};

/// The package whose program does it.
const PACKAGE: &str = "rejoinder-faults";

/// Runs all faults and writes the page, which also says what does not hold.
pub(crate) fn run() -> Result<()> {
    let programs = cargo::build(PACKAGE, "release")?;
    let program = programs.get(PACKAGE).with_context(|| format!("package {PACKAGE} has no binary"))?;
    process::run(Command::new(program).args(["all", "--out"]).arg(tools::root().join("bench/FAULTS.md")))
}
