//! Whether fast calls stay fast while many slow ones are open.

use std::fmt::Write;

use anyhow::{Context, Result};

use super::plan::{Load, SLOW, name};
use super::samples::{Figures, Samples};

type Figure = fn(&Figures) -> f64;

/// The section of the page.
pub(super) fn section(samples: &Samples) -> Result<String> {
    let (subject, alone, beside) = (name::REJOINDER_SLOW, Load::Call(16), Load::CallBeside(16));
    let medians = |load| samples.medians(subject, load).with_context(|| format!("{subject} was not measured: {load}"));
    let (without, with) = (medians(alone)?, medians(beside)?);
    let mut out = format!(
        "\n## Fast calls beside slow ones\n\n\
         How long a call of `add` takes over 16 connections, alone and while {SLOW} calls of a tool that waits are open on \
         connections of their own. The ratio is the median of the rounds'; it has no target.\n\n\
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
    fn the_ratio_is_that_of_a_round_with_itself() {
        let mut samples = Samples::default();
        // The second round is slow for both.
        for (round, slow) in [(0, 1.0), (1, 3.0), (2, 1.0)] {
            samples.push(sample(Load::Call(16), round, 100.0 * slow, 200.0 * slow));
            samples.push(sample(Load::CallBeside(16), round, 110.0 * slow, 300.0 * slow));
        }
        let page = section(&samples).unwrap();
        assert!(page.contains("| p50 us | 100.0 | 110.0 | 1.10 |"), "{page}");
        assert!(page.contains("| p99 us | 200.0 | 300.0 | 1.50 |"), "{page}");
        assert!(page.contains("| CPU us/request | 10.0 | 10.0 | 1.00 |"), "{page}");
    }

    #[test]
    fn what_was_not_measured_is_named() {
        let told = section(&Samples::default()).unwrap_err().to_string();
        assert_eq!(told, "rejoinder, with a slow tool was not measured: tools/call, 16 connections");
    }
}
