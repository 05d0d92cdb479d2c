//! Where things are, and what has been installed there.
//!
//! Tools of other ecosystems live in `.tools/` of the checkout, which git ignores. Each is installed by its chore the
//! first time it is needed, and again when the wanted version changes, which a stamp file records.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::process;

/// Name of the stamp file inside an installed tool's folder.
const STAMP: &str = ".installed";

/// The root of the checkout.
pub(crate) fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// The folder of the tool `name`.
pub(crate) fn folder(name: &str) -> PathBuf {
    root().join(".tools").join(name)
}

/// Runs `install` unless `folder` says that exactly `wanted` was installed there.
///
/// The stamp is written last, so that an install that broke off is done again.
pub(crate) fn ensure(folder: &Path, wanted: &str, install: impl FnOnce() -> Result<()>) -> Result<()> {
    let stamp = folder.join(STAMP);
    if std::fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    make(folder)?;
    install()?;
    std::fs::write(&stamp, wanted).with_context(|| format!("writing {}", stamp.display()))
}

/// Makes a folder and those above it.
pub(crate) fn make(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))
}

/// The Python SDK that the parity tests compare with, and what it depends on: every machine compares with the same peer.
const PYTHON_SDK: &str = include_str!("../python-requirements.txt");

/// FastMCP, whose client follows tasks, and what it depends on.
const FASTMCP: &str = include_str!("../fastmcp-requirements.txt");

/// The interpreter that can import the SDK; creates its environment if it is missing.
pub(crate) fn python() -> Result<PathBuf> {
    python_with("python", "python-requirements.txt", PYTHON_SDK)
}

/// The interpreter that can import FastMCP, which depends on other versions than the SDK's environment has.
pub(crate) fn fastmcp() -> Result<PathBuf> {
    python_with("fastmcp", "fastmcp-requirements.txt", FASTMCP)
}

/// An interpreter with an environment of its own, which has what a file of this package lists.
fn python_with(name: &str, file: &str, requirements: &str) -> Result<PathBuf> {
    let home = folder(name);
    let python = home.join("bin").join("python");
    // The environment links to the system's interpreter: if that is gone, the stamp is wrong.
    if home.exists() && !python.exists() {
        std::fs::remove_dir_all(&home).with_context(|| format!("removing {}", home.display()))?;
    }
    ensure(&home, requirements, || {
        let mut venv = Command::new("python3");
        venv.args(["-m", "venv", "--clear"]).arg(&home);
        process::run(&mut venv).context("Python 3.11 or newer with its `venv` module is needed")?;
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "--quiet"])
            .args(["--disable-pip-version-check", "--requirement"])
            .arg(root().join("xtask").join(file))
            .stdout(Stdio::null());
        process::run(&mut pip)
    })?;
    Ok(python)
}

/// What npm installs: the conformance suite, and the TypeScript SDK, which logs in to a server in the tests. Node comes along
/// because the suite needs a newer one than many machines have, and only crashes without it; its install script puts it in
/// place, so `allowScripts` names it. The suite's newest release by tag is older than this protocol, so its version is exact.
const PACKAGE: &str = include_str!("../../conformance/suite/package.json");

/// The versions of everything that these depend on, with checksums. Addresses are left out
/// (`npm install --package-lock-only --omit-lockfile-registry-resolved`): each machine has its own registry.
const LOCK: &str = include_str!("../../conformance/suite/package-lock.json");

/// The folder whose `node_modules` has these and Node; installs them if they are missing.
pub(crate) fn node_modules() -> Result<PathBuf> {
    let home = folder("conformance");
    ensure(&home, &format!("{PACKAGE}{LOCK}"), || {
        std::fs::write(home.join("package.json"), PACKAGE)?;
        std::fs::write(home.join("package-lock.json"), LOCK)?;
        let mut npm = Command::new("npm");
        npm.args(["ci", "--loglevel=error", "--no-audit", "--no-fund"]).current_dir(&home);
        process::run(&mut npm).context("npm is needed to install the conformance suite")?;
        let node = home.join("node_modules/.bin/node");
        anyhow::ensure!(node.exists(), "npm did not install {}", node.display());
        Ok(())
    })?;
    Ok(home)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;

    #[test]
    fn installs_once_for_each_version_and_again_after_a_failure() {
        let folder = std::env::temp_dir().join(format!("xtask-tools-{}", std::process::id()));
        let mut installs = 0;
        let mut wants = |wanted: &str, works: bool| {
            ensure(&folder, wanted, || {
                installs += 1;
                if works { Ok(()) } else { bail!("no") }
            })
            .is_ok()
        };
        assert!(!wants("1", false));
        assert!(wants("1", true));
        assert!(wants("1", true));
        assert!(wants("2", true));
        assert_eq!(installs, 3);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
