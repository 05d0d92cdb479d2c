//! `cargo xtask python`: the Python SDK, whose behaviour the parity tests compare with.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::{process, tools};

/// What is installed, at one version so that every machine compares with the same peer.
const PACKAGE: &str = "mcp==2.3.0";

/// The interpreter that can import the SDK; makes its environment first if need be.
pub(crate) fn interpreter() -> Result<PathBuf> {
    let folder = tools::folder("python");
    let python = folder.join("bin").join("python");
    // The environment links to the system's interpreter: when that has gone, the stamp no longer tells the truth.
    if folder.exists() && !python.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("removing {}", folder.display()))?;
    }
    tools::ensure(&folder, PACKAGE, || {
        let mut venv = Command::new("python3");
        venv.args(["-m", "venv", "--clear"]).arg(&folder);
        process::run(&mut venv).context("Python 3 with its `venv` module is needed")?;
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "--quiet"])
            .args(["--disable-pip-version-check", PACKAGE])
            .stdout(Stdio::null());
        process::run(&mut pip)
    })?;
    Ok(python)
}
