//! The suite itself: a package of the npm registry, and the Node it needs beside it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::{process, tools};

/// What npm installs. Node comes along because the suite needs a newer one than many machines have, and says so only
/// by crashing; it is laid out by an install script, hence `allowScripts`. Both versions are exact: the suite's
/// newest release by tag is older than this protocol.
const PACKAGE: &str = r#"{
  "private": true,
  "dependencies": {
    "node": "24.21.0",
    "@modelcontextprotocol/conformance": "0.2.0-alpha.12"
  },
  "allowScripts": { "node": true }
}
"#;

/// The installed suite.
#[derive(Debug)]
pub(super) struct Suite {
    node: PathBuf,
    script: PathBuf,
}

impl Suite {
    /// Installs it into `.tools/conformance` unless it is there.
    pub(super) fn install() -> Result<Self> {
        let folder = tools::folder("conformance");
        let modules = folder.join("node_modules");
        let suite = Self {
            node: modules.join(".bin/node"),
            script: modules.join("@modelcontextprotocol/conformance/dist/index.js"),
        };
        tools::ensure(&folder, PACKAGE, || {
            std::fs::write(folder.join("package.json"), PACKAGE)?;
            let mut npm = Command::new("npm");
            npm.args(["install", "--loglevel=error", "--no-audit", "--no-fund", "--no-package-lock"])
                .current_dir(&folder);
            process::run(&mut npm).context("npm is needed to install the conformance suite")?;
            for file in [&suite.node, &suite.script] {
                ensure!(file.exists(), "npm did not install {}", file.display());
            }
            Ok(())
        })?;
        Ok(suite)
    }

    /// The command that judges the server at `url` and writes below `out`; what to judge is yet to be added.
    pub(super) fn judge(&self, url: &str, out: &Path) -> Command {
        let mut command = Command::new(&self.node);
        command.arg(&self.script).args(["server", "--url", url, "-o"]).arg(out);
        command
    }
}
