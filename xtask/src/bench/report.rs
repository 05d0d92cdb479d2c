//! The page of results, printed and kept as `bench/RESULTS.md`.

use std::fmt::Write;
use std::process::Command;

use anyhow::{Context, Result};

use super::Effort;
use super::beside;
use super::inside::Inside;
use super::plan::{Load, loads};
use super::samples::Samples;
use super::targets::COMPARISONS;
use crate::process;

/// Writes the page. The machine is described by what matters to a ratio; its name is nobody's business.
pub(super) fn page(samples: &Samples, inside: &Inside, effort: Effort, pinned: bool) -> Result<String> {
    let rustc = process::output(Command::new("rustc").arg("--version"))?;
    let rustc = String::from_utf8_lossy(&rustc);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let cores = if pinned {
        format!("{cores} cores, the server on one and the loader on another")
    } else {
        format!("{cores} cores, nothing pinned")
    };
    let Effort { rounds, seconds, .. } = effort;
    let mut page = format!(
        "# Side by side\n\n\
         Written by `cargo xtask bench`. {cores}; {}; {rounds} rounds of {seconds} s, interleaved, medians.\n\
         Absolute figures are those of one machine; the ratios are what to look at.\n",
        rustc.trim()
    );
    page.push_str(&ratios(samples)?);
    page.push_str(&beside::section(samples)?);
    page.push_str(&inside.section()?);
    for load in loads() {
        page.push_str(&table(samples, load)?);
    }
    Ok(page)
}

/// The comparisons and their targets.
fn ratios(samples: &Samples) -> Result<String> {
    let mut out = "\n## Ratios\n\n\
         How many times less processor time the first server needs for a request, and how many times more requests \
         it answers in a second. A target is met when both reach it.\n\n\
         The targets name no number of connections; over HTTP they are judged at 16 and 64. With one connection a server \
         has to be woken for every request, which then costs each of them far more processor time than at 16 (compare \
         the tables below); what is added is not the work that the ratio is about, so it is shown there and not judged. \
         On stdio the target with one in flight is to be no slower than the faster peer.\n\n\
         In a call of two rounds the bare handler makes no question and opens no state, it only receives and sends: what it \
         reaches is what there is to gain, about.\n\n\
         | | against | load | CPU ratio | worst to best round | rate ratio | target | |\n|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for one in COMPARISONS {
        let found = samples
            .ratios(one.subject, one.peer, one.load)
            .with_context(|| format!("{} and {} were not both measured", one.subject, one.peer))?;
        let target = match one.at_least {
            Some(least) => format!(">= {least:.2}"),
            None => String::new(),
        };
        writeln!(
            out,
            "| {} | {} | {} | {:.2} | {:.2} to {:.2} | {:.2} | {target} | {} |",
            one.subject,
            one.peer,
            one.load,
            found.cpu,
            found.least,
            found.most,
            found.rate,
            one.verdict(found.cpu, found.rate)
        )?;
    }
    Ok(out)
}

/// The figures of every server under one load.
fn table(samples: &Samples, load: Load) -> Result<String> {
    let unit = load.unit();
    let mut out = format!(
        "\n## {load}\n\n\
         | server | {unit}s/s | CPU us/{unit} | p50 us | p99 us | reply bytes |\n|---|---|---|---|---|---|\n"
    );
    for subject in samples.under(load) {
        let found = samples.medians(subject, load).with_context(|| format!("{subject} was not measured"))?;
        writeln!(
            out,
            "| {subject} | {:.0} | {:.2} | {:.0} | {:.0} | {:.0} |",
            found.rate, found.cpu_us, found.p50_us, found.p99_us, found.bytes
        )?;
    }
    Ok(out)
}
