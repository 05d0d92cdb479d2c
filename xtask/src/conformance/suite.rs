//! The suite itself, a package of the npm registry, and its legs: the ways in which it is run. Together they cover both eras
//! and the extensions.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::checks::{self, Scenario};
use crate::tools;

/// The installed suite.
#[derive(Debug)]
pub(super) struct Suite {
    node: PathBuf,
    script: PathBuf,
}

impl Suite {
    /// Installs it unless it is there.
    pub(super) fn install() -> Result<Self> {
        let modules = tools::node_modules()?.join("node_modules");
        let script = modules.join("@modelcontextprotocol/conformance/dist/index.js");
        ensure!(script.exists(), "npm did not install {}", script.display());
        Ok(Self { node: modules.join(".bin/node"), script })
    }

    /// The command that judges the server at `url` and writes below `out`, without the arguments that select scenarios.
    fn judge(&self, url: &str, out: &Path) -> Command {
        let mut command = Command::new(&self.node);
        command.arg(&self.script).args(["server", "--url", url, "-o"]).arg(out);
        command
    }
}

/// One run of the suite.
#[derive(Debug)]
pub(super) struct Leg {
    /// Its name, and that of its folder.
    pub(super) name: &'static str,
    /// What tells the suite which scenarios to run, and over which wire.
    selection: &'static [&'static str],
    /// How many scenarios that is at the pinned version: fewer means that the suite broke off.
    scenarios: usize,
    /// How many checks rmcp's own fixture server passes, to compare with. Not a bar: a server that answers
    /// `tools/list` as JSON has one check less to pass.
    pub(super) peer: usize,
}

/// Every leg, in the order in which they run.
pub(super) const LEGS: [Leg; 5] = [
    Leg { name: "req-2025", selection: &["--requirements", "2025-11-25"], scenarios: 33, peer: 83 },
    Leg { name: "req-2026", selection: &["--requirements", "2026-07-28"], scenarios: 50, peer: 197 },
    Leg { name: "all-2025", selection: &["--suite", "all", "--spec-version", "2025-11-25"], scenarios: 33, peer: 83 },
    Leg { name: "all-2026", selection: &["--suite", "all", "--spec-version", "2026-07-28"], scenarios: 40, peer: 153 },
    Leg { name: "all-bare", selection: &["--suite", "all"], scenarios: 65, peer: 233 },
];

/// What a leg found.
#[derive(Debug)]
pub(super) struct Outcome {
    /// The leg's name.
    pub(super) leg: &'static str,
    /// What it is compared with.
    pub(super) peer: usize,
    /// Its scenarios.
    pub(super) scenarios: Vec<Scenario>,
}

impl Leg {
    /// Runs the suite and reads what it wrote.
    pub(super) fn run(&self, suite: &Suite, url: &str, out: &Path) -> Result<Outcome> {
        let folder = out.join(self.name);
        if folder.exists() {
            std::fs::remove_dir_all(&folder)
                .with_context(|| format!("removing the last run's {}", folder.display()))?;
        }
        tools::make(&folder)?;
        let log = folder.join("suite.log");
        let file = std::fs::File::create(&log)?;
        let begin = Instant::now();
        // Its exit code is ignored: see the documentation of `conformance`.
        suite
            .judge(url, &folder)
            .args(self.selection)
            .stdout(file.try_clone()?)
            .stderr(file)
            .status()
            .context("the conformance suite cannot be started")?;
        let scenarios = checks::read_leg(&folder)?;
        println!("{}: {:.1} s", self.name, begin.elapsed().as_secs_f64());
        ensure!(
            scenarios.len() == self.scenarios,
            "leg {} ran {} scenarios, expected {}; see {}",
            self.name,
            scenarios.len(),
            self.scenarios,
            log.display()
        );
        Ok(Outcome { leg: self.name, peer: self.peer, scenarios })
    }
}
