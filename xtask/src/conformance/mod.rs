//! `cargo xtask conformance`: the official MCP conformance suite against our fixture server.
//!
//! The suite's own exit code says too little: warnings never count there, nor do failures of what it does not score.
//! So each leg writes its `checks.json` files and the verdict is ours: something that holds, no failure and no warning,
//! except in scenarios that `conformance/expected-failures.txt` lists, and each of those must still fail.

mod checks;
mod suite;
mod verdict;

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::Words;
use crate::process::Server;
use crate::{cargo, tools};

/// The package and binary of the fixture server.
const FIXTURE: &str = "rejoinder-conformance";

/// What the command line asked for.
#[derive(Debug, Default)]
pub(crate) struct Options {
    /// Where to write the suite's files.
    out: Option<PathBuf>,
}

impl Options {
    /// Reads `[--out DIR]`.
    pub(crate) fn parse(mut words: Words) -> Result<Self> {
        let out = words.value("--out")?.map(PathBuf::from);
        words.end()?;
        Ok(Self { out })
    }
}

/// Runs every leg, one after the other: some scenarios have time windows that a busy machine would miss.
pub(crate) fn run(options: &Options) -> Result<()> {
    let list = tools::root().join("conformance/expected-failures.txt");
    let expected = verdict::read_expected(&list)?;
    let suite = suite::Suite::install()?;
    // Nothing here is measured, and the tests have compiled the dependencies with this profile.
    let binary = cargo::build(FIXTURE, "dev")?
        .remove(FIXTURE)
        .with_context(|| format!("{FIXTURE} has no binary of that name"))?;
    let out = match &options.out {
        Some(folder) => folder.clone(),
        None => tools::folder("conformance-results"),
    };
    tools::make(&out)?;

    let log = std::fs::File::create(out.join("server.log"))?;
    let mut server = Server::start(|address| {
        let mut command = Command::new(&binary);
        command.args(["--http", &address.to_string()]);
        if let Ok(copy) = log.try_clone() {
            command.stdout(copy);
        }
        command.stderr(log);
        command
    })?;
    let url = format!("http://{}/mcp", server.address);
    let mut results = Vec::new();
    for leg in &suite::LEGS {
        let result = leg.run(&suite, &url, &out)?;
        server.check().with_context(|| format!("during leg {}", leg.name))?;
        results.push(result);
    }
    drop(server);

    print!("{}", verdict::table(&results));
    println!("{}", verdict::total(&results));
    let complaints = verdict::judge(&results, &expected);
    if complaints.is_empty() {
        let (known, out) = (expected.len(), out.display());
        println!("conformance holds, {known} scenarios expected to fail; the suite's files are in {out}");
        return Ok(());
    }
    for complaint in &complaints {
        println!("{complaint}");
    }
    bail!("conformance: {} complaints; the suite's files are in {}", complaints.len(), out.display())
}
