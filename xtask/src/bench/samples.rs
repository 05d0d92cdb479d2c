//! What was measured, and its medians.

use std::fmt;

use anyhow::{Context, Result};
use serde_json::Value;

use super::plan::Load;

/// One server under one load in one round.
#[derive(Debug, Clone)]
pub(super) struct Sample {
    pub(super) subject: &'static str,
    pub(super) load: Load,
    pub(super) round: usize,
    pub(super) figures: Figures,
}

/// The figures of a sample, or the medians of several.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Figures {
    /// Requests in a second.
    pub(super) rate: f64,
    /// Processor time of the server for each request, microseconds.
    pub(super) cpu_us: f64,
    /// Median time to the reply.
    pub(super) p50_us: f64,
    /// What one reply of a hundred exceeds.
    pub(super) p99_us: f64,
    /// Size of the reply's body.
    pub(super) bytes: f64,
}

/// How one server compares with another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ratios {
    /// How many times less processor time it needs for a request.
    pub(super) cpu: Estimate,
    /// How many times more requests it answers in a second.
    pub(super) rate: Estimate,
}

/// The median of the rounds, and the 95 % bootstrap interval around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Estimate {
    pub(super) median: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// How many times the rounds are drawn again for an interval.
const RESAMPLES: usize = 4000;

impl Estimate {
    /// Draws as many values as there are, with replacement, again and again: 95 % of the medians are in the interval.
    fn of(values: &[f64]) -> Option<Self> {
        let mut random = 0x9E37_79B9_7F4A_7C15_u64;
        let mut draw = || {
            // xorshift: good enough to draw with, and the same figures give the same interval.
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            values[usize::try_from(random >> 33).unwrap_or_default() % values.len()]
        };
        let median_of_all = median(values.iter().copied())?;
        let mut medians: Vec<f64> = (0..RESAMPLES).filter_map(|_| median((0..values.len()).map(|_| draw()))).collect();
        medians.sort_by(f64::total_cmp);
        let cut = RESAMPLES / 40;
        Some(Self { median: median_of_all, low: medians[cut], high: medians[RESAMPLES - 1 - cut] })
    }
}

/// As two cells of a table.
impl fmt::Display for Estimate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:.2} | {:.2} to {:.2}", self.median, self.low, self.high)
    }
}

impl Sample {
    /// Reads what the loader printed.
    pub(super) fn read(subject: &'static str, load: Load, round: usize, report: &Value) -> Result<Self> {
        let number = |key: &str| report[key].as_f64().with_context(|| format!("the loader did not report `{key}`"));
        let figures = Figures {
            rate: number("requests")? / number("seconds")?,
            cpu_us: number("cpu_us")?,
            p50_us: number("p50_us")?,
            p99_us: number("p99_us")?,
            bytes: number("body_bytes")?,
        };
        Ok(Self { subject, load, round, figures })
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Figures { rate, cpu_us, .. } = self.figures;
        write!(out, "{:<32} {:<36} {rate:>9.0}/s {cpu_us:>8.2} us", self.subject, self.load.to_string())
    }
}

/// All samples of a run.
#[derive(Debug, Default)]
pub(super) struct Samples(Vec<Sample>);

impl Samples {
    /// Adds one.
    pub(super) fn push(&mut self, sample: Sample) {
        self.0.push(sample);
    }

    /// The servers that were put under `load`, in the order in which they came.
    pub(super) fn under(&self, load: Load) -> Vec<&'static str> {
        let mut names = Vec::new();
        for sample in self.0.iter().filter(|one| one.load == load) {
            if !names.contains(&sample.subject) {
                names.push(sample.subject);
            }
        }
        names
    }

    /// Medians over the rounds.
    pub(super) fn medians(&self, subject: &str, load: Load) -> Option<Figures> {
        let all: Vec<&Figures> = self.of(subject, load).map(|one| &one.figures).collect();
        let middle = |figure: fn(&Figures) -> f64| median(all.iter().map(|one| figure(one)));
        Some(Figures {
            rate: middle(|one| one.rate)?,
            cpu_us: middle(|one| one.cpu_us)?,
            p50_us: middle(|one| one.p50_us)?,
            p99_us: middle(|one| one.p99_us)?,
            bytes: middle(|one| one.bytes)?,
        })
    }

    /// How `subject` compares with `peer`, the two paired within each round.
    pub(super) fn ratios(&self, subject: &str, peer: &str, load: Load) -> Option<Ratios> {
        let mut cpu = Vec::new();
        let mut rate = Vec::new();
        for one in self.of(subject, load) {
            let other = self.of(peer, load).find(|other| other.round == one.round)?;
            cpu.push(other.figures.cpu_us / one.figures.cpu_us);
            rate.push(one.figures.rate / other.figures.rate);
        }
        Some(Ratios { cpu: Estimate::of(&cpu)?, rate: Estimate::of(&rate)? })
    }

    /// How many times as large a figure of `subject` is under one load as under another, the two paired within each round.
    pub(super) fn times(&self, subject: &str, load: Load, other: Load, figure: fn(&Figures) -> f64) -> Option<f64> {
        let mut times = Vec::new();
        for one in self.of(subject, load) {
            let other = self.of(subject, other).find(|other| other.round == one.round)?;
            times.push(figure(&one.figures) / figure(&other.figures));
        }
        median(times.into_iter())
    }

    fn of(&self, subject: &str, load: Load) -> impl Iterator<Item = &Sample> {
        let wanted = move |one: &&Sample| one.subject == subject && one.load == load;
        self.0.iter().filter(wanted)
    }
}

/// The middle value, or the mean of the two in the middle.
pub(super) fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    if values.len().is_multiple_of(2) {
        return Some(f64::midpoint(values[values.len() / 2 - 1], upper));
    }
    Some(upper)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(subject: &'static str, round: usize, cpu: f64) -> Sample {
        let report = serde_json::json!({
            "requests": 100, "seconds": cpu, "cpu_us": cpu, "p50_us": 1, "p99_us": 2, "body_bytes": 114
        });
        Sample::read(subject, Load::Call(16), round, &report).unwrap()
    }

    #[test]
    fn medians_of_odd_even_and_none() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), Some(2.0));
        assert_eq!(median([4.0, 1.0, 2.0, 3.0].into_iter()), Some(2.5));
        assert_eq!(median(std::iter::empty()), None);
    }

    #[test]
    fn ratios_are_paired_within_a_round() {
        let mut samples = Samples::default();
        // Round 1 is twice as slow for both: paired, that does not show.
        for (round, slow) in [(0, 1.0), (1, 2.0), (2, 1.0)] {
            samples.push(sample("ours", round, 10.0 * slow));
            samples.push(sample("theirs", round, 40.0 * slow));
        }
        let load = Load::Call(16);
        let even = Estimate { median: 4.0, low: 4.0, high: 4.0 };
        assert_eq!(samples.ratios("ours", "theirs", load), Some(Ratios { cpu: even, rate: even }));
        assert_eq!(samples.ratios("ours", "nobody", load), None);
        assert_eq!(samples.medians("ours", load).unwrap().cpu_us, 10.0);
        assert_eq!(samples.under(load), ["ours", "theirs"]);
    }

    #[test]
    fn the_interval_is_around_the_median_and_leaves_out_stray_rounds() {
        let mut values: Vec<f64> = (0..25).map(|round| 4.0 + f64::from(round) / 100.0).collect();
        values[24] = 9.0;
        let found = Estimate::of(&values).unwrap();
        assert_eq!(found.median, 4.12);
        assert!(4.0 < found.low && found.low < 4.12, "{found:?}");
        assert!(4.12 < found.high && found.high < 4.24, "{found:?}");
        assert_eq!(Estimate::of(&values), Some(found));
        assert_eq!(Estimate::of(&[]), None);
    }

    #[test]
    fn a_report_without_processor_time_is_an_error() {
        let report = serde_json::json!({"requests": 1, "seconds": 1, "cpu_us": null});
        let error = Sample::read("ours", Load::Call(1), 0, &report).unwrap_err();
        assert_eq!(error.to_string(), "the loader did not report `cpu_us`");
    }
}
