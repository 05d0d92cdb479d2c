//! The page of results, printed and kept as `bench/RESULTS.md`.

use std::fmt::Write;
use std::process::Command;

use anyhow::{Context, Result};

use super::Effort;
use super::inside::Inside;
use super::plan::{COMPARISONS, Comparison, Load, SLOW, loads, name};
use super::samples::{Figures, Ratios, Samples};
use crate::process;

/// Writes the page. The machine is described by what matters to a ratio; not by its name.
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
         Absolute figures depend on the machine; compare the ratios.\n",
        rustc.trim()
    );
    page.push_str(&ratios(samples)?);
    page.push_str(&beside(samples)?);
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
         it answers per second: medians of the rounds, with their 95 % bootstrap intervals. A target is met when the lower \
         ends of both intervals reach it. When only the medians reach it, the result is at the line.\n\n\
         Over HTTP the targets apply at 16 and 64 connections. With one connection a server must be woken for every \
         request, which costs far more processor time than at 16 (compare the tables below) and says nothing about the \
         server, so that ratio is shown without a target. On stdio with one request in flight the target is not to be \
         slower than the faster peer.\n\n\
         The bare handlers send the same bytes as rejoinder: on axum, which is what an author would use without a \
         framework, and on hyper without a router, which is about the least that an HTTP server costs.\n\n\
         In a call of two rounds the bare handler creates no question and opens no state, it only receives and sends: its \
         ratio is about the most that is possible.\n\n\
         On a session (2025-11-25) every connection has its own session, and each call its own id.\n\n\
         | | against | load | CPU ratio | interval | rate ratio | interval | target | |\n\
         |---|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for one in COMPARISONS {
        let found = samples
            .ratios(one.subject, one.peer, one.load)
            .with_context(|| format!("{} and {} were not both measured", one.subject, one.peer))?;
        let target = match one.at_least {
            Some(least) => format!(">= {least:.2}"),
            None => String::new(),
        };
        let Comparison { subject, peer, load, .. } = one;
        let Ratios { cpu, rate } = &found;
        let verdict = one.verdict(&found);
        writeln!(out, "| {subject} | {peer} | {load} | {cpu} | {rate} | {target} | {verdict} |")?;
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

/// Picks one figure.
type Figure = fn(&Figures) -> f64;

/// Whether fast calls stay fast while many slow ones are open.
fn beside(samples: &Samples) -> Result<String> {
    let (subject, alone, beside) = (name::REJOINDER_SLOW, Load::Call(16), Load::CallBeside(16));
    let medians = |load| samples.medians(subject, load).with_context(|| format!("{subject} was not measured: {load}"));
    let (without, with) = (medians(alone)?, medians(beside)?);
    let mut out = format!(
        "\n## Fast calls beside slow ones\n\n\
         How long a call of `add` takes over 16 connections, alone and while {SLOW} calls of a tool that waits are open on \
         other connections. The ratio is the median over the rounds; it has no target.\n\n\
         | | alone | beside {SLOW} slow calls | ratio |\n|---|---|---|---|\n"
    );
    let figures: [(&str, Figure); 3] =
        [("p50 us", |one| one.p50_us), ("p99 us", |one| one.p99_us), ("CPU us/request", |one| one.cpu_us)];
    for (what, figure) in figures {
        let ratio = samples.times(subject, beside, alone, figure).context("the two were not measured in one round")?;
        writeln!(out, "| {what} | {:.1} | {:.1} | {ratio:.2} |", figure(&without), figure(&with))?;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::bench::samples::Sample;

    fn sample(load: Load, round: usize, p50: f64, p99: f64) -> Sample {
        let report = json!({
            "requests": 100, "seconds": 1, "cpu_us": 10, "p50_us": p50, "p99_us": p99, "body_bytes": 114
        });
        Sample::read(name::REJOINDER_SLOW, load, round, &report).unwrap()
    }

    #[test]
    fn ratios_are_paired_within_a_round() {
        let mut samples = Samples::default();
        // The second round is slow for both.
        for (round, slow) in [(0, 1.0), (1, 3.0), (2, 1.0)] {
            samples.push(sample(Load::Call(16), round, 100.0 * slow, 200.0 * slow));
            samples.push(sample(Load::CallBeside(16), round, 110.0 * slow, 300.0 * slow));
        }
        let page = beside(&samples).unwrap();
        assert!(page.contains("| p50 us | 100.0 | 110.0 | 1.10 |"), "{page}");
        assert!(page.contains("| p99 us | 200.0 | 300.0 | 1.50 |"), "{page}");
        assert!(page.contains("| CPU us/request | 10.0 | 10.0 | 1.00 |"), "{page}");
    }

    #[test]
    fn a_missing_measurement_is_named() {
        let error = beside(&Samples::default()).unwrap_err().to_string();
        assert_eq!(error, "rejoinder, with a slow tool was not measured: tools/call, 16 connections");
    }
}
