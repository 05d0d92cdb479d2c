//! `cargo xtask bench`: our server beside its peers, in one run on one machine.
//!
//! Every round puts each load on all servers that get it, one right after the other, in new processes; every other round
//! goes backwards, so that a slow spell of the machine does not hit one server more than another. The server has one core
//! and the loader the other. What is compared is the processor time for each request, paired within a round: it depends
//! least on what else the machine does.

mod building;
mod inside;
mod measure;
mod plan;
mod report;
mod samples;

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::Words;
use crate::{cargo, tools};

/// The package that has the servers and the loader.
const PACKAGE: &str = "rejoinder-bench";

/// What the command line asked for.
#[derive(Debug)]
pub(crate) struct Options {
    /// A short run, good for seeing that it works: writes no results.
    quick: bool,
    /// Only what a server costs to build.
    build: bool,
}

impl Options {
    /// Reads `[--quick] [--build]`.
    pub(crate) fn parse(mut words: Words) -> Result<Self> {
        let (quick, build) = (words.flag("--quick"), words.flag("--build"));
        words.end()?;
        Ok(Self { quick, build })
    }
}

/// How long and how often to measure.
#[derive(Debug, Clone, Copy)]
struct Effort {
    rounds: usize,
    seconds: f64,
    warmup: f64,
    /// How many turns things that are timed inside one process take.
    turns: usize,
    /// How many times each server is built after a change.
    builds: usize,
}

impl Effort {
    /// About fifteen minutes. Many short rounds: the two of a pair then meet the same machine, and the median of many pairs
    /// withstands more disturbances.
    const FULL: Self = Self { rounds: 25, seconds: 0.35, warmup: 0.1, turns: 1000, builds: 3 };

    /// Half a minute.
    const QUICK: Self = Self { rounds: 2, seconds: 0.5, warmup: 0.1, turns: 100, builds: 1 };
}

/// The programs of the bench, by name.
#[derive(Debug)]
struct Binaries(BTreeMap<String, PathBuf>);

impl Binaries {
    /// Where the program `name` is.
    fn path(&self, name: &str) -> Result<&PathBuf> {
        self.0.get(name).with_context(|| format!("package {PACKAGE} has no binary {name}"))
    }
}

/// Measures everything and reports. A quick run builds no servers unless that is all it is asked for.
pub(crate) fn run(options: &Options) -> Result<()> {
    let effort = if options.quick { Effort::QUICK } else { Effort::FULL };
    let file = tools::root().join("bench/RESULTS.md");
    let page = if options.build {
        let page = std::fs::read_to_string(&file).unwrap_or_default();
        building::replace_section(&page, &building::Building::measure(effort.builds)?.section()?)
    } else {
        let mut page = load(effort)?;
        if !options.quick {
            page += &building::Building::measure(effort.builds)?.section()?;
        }
        page
    };
    println!("\n{page}");
    if !options.quick {
        std::fs::write(&file, page).with_context(|| format!("writing {}", file.display()))?;
    }
    Ok(())
}

/// Puts every load on every server, and returns the page.
fn load(effort: Effort) -> Result<String> {
    let bench = measure::Bench::new(Binaries(cargo::build(PACKAGE, "release")?), effort);
    let subjects = plan::subjects(&bench.prepare()?);
    let mut samples = samples::Samples::default();
    for round in 0..effort.rounds {
        for load in plan::loads() {
            let mut order: Vec<_> = subjects.iter().filter(|one| one.loads.contains(&load)).collect();
            if !round.is_multiple_of(2) {
                order.reverse();
            }
            for subject in order {
                let sample = bench.measure(subject, load, round)?;
                println!("round {} {sample}", round + 1);
                samples.push(sample);
            }
        }
    }
    report::page(&samples, &inside::Inside::measure(&bench, effort)?, effort, bench.pinned())
}
