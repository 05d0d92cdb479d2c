//! What a call costs inside the process: resolvers, the seal, and the length of a state.

use std::fmt::Write;

use anyhow::{Context, Result};
use serde_json::Value;

use super::Effort;
use super::measure::Bench;

/// Times calls without a network.
const TIMES: &str = "bench-inside";

/// Counts what the same calls allocate.
const ALLOCATIONS: &str = "bench-allocations";

/// A resolver may cost this much, in nanoseconds.
const NODE_NS: f64 = 1000.0;

/// Sealing a kibibyte and opening it again may cost this much together.
const SEAL_NS: f64 = 10_000.0;

/// Four answers fit into a state of this length.
const STATE_BYTES: f64 = 1024.0;

/// What was measured.
#[derive(Debug)]
pub(super) struct Inside {
    /// `ns`, by what was timed, and `state`, the lengths by how many answers there are.
    times: Value,
    /// `allocations` and `bytes`, by what was called.
    allocations: Value,
}

impl Inside {
    /// Runs both programs.
    pub(super) fn measure(bench: &Bench, effort: Effort) -> Result<Self> {
        let times = bench.inside(TIMES, &["--rounds", &effort.turns.to_string()])?;
        Ok(Self { times, allocations: bench.inside(ALLOCATIONS, &[])? })
    }

    /// The section of the page.
    pub(super) fn section(&self) -> Result<String> {
        let mut out = "\n## Questions, inside the process\n\n\
             The cost of a resolver is the extra time of a call with that many, compared with a call without any, divided by \
             their number; times are those of the fastest turn. In a chain each resolver needs the one before it, in a fan \
             none does. Sealing and opening both include computing which call a state belongs to. The state is that of a call \
             that asks for the same form of four fields several times, with one question open.\n\n\
             | what | | target | |\n|---|---|---|---|\n"
            .to_owned();
        for (shape, most) in [("chain", 32), ("fan", 16)] {
            for count in [1, 8, most] {
                let ns = self.for_each(shape, count, |name| self.ns(name))?;
                let target = (count == most).then_some(NODE_NS);
                row(&mut out, &format!("a resolver, {shape} of {count}"), ns, "ns", target)?;
            }
            let allocations = self.for_each(shape, most, |name| number(&self.allocations[name]["allocations"]))?;
            let bytes = self.for_each(shape, most, |name| number(&self.allocations[name]["bytes"]))?;
            writeln!(out, "| allocations of a resolver, {shape} of {most} | {allocations:.1}, {bytes:.0} bytes | | |")?;
        }
        for size in [256, 1024, 16 * 1024] {
            let target = (size == 1024).then_some(SEAL_NS);
            row(&mut out, &format!("seal and open {size} bytes"), self.ns(&format!("seal {size}"))?, "ns", target)?;
        }
        let lengths = self.times["state"].as_array().context("no lengths of states")?;
        for (answers, length) in lengths.iter().enumerate() {
            let target = (answers == 4).then_some(STATE_BYTES);
            row(&mut out, &format!("`requestState` with {answers} answers"), number(length)?, "bytes", target)?;
        }
        Ok(out)
    }

    fn ns(&self, name: &str) -> Result<f64> {
        number(&self.times["ns"][name]).with_context(|| format!("{name} was not timed"))
    }

    /// What each of `count` resolvers adds to a call without any.
    fn for_each(&self, shape: &str, count: u32, figure: impl Fn(&str) -> Result<f64>) -> Result<f64> {
        let (with, without) = (figure(&format!("{shape} {count}"))?, figure(&format!("{shape} 0"))?);
        Ok((with - without) / f64::from(count))
    }
}

/// A figure, and whether it stays below its target.
fn row(out: &mut String, what: &str, figure: f64, unit: &str, below: Option<f64>) -> Result<()> {
    let (target, verdict) = match below {
        None => (String::new(), ""),
        Some(most) => (format!("< {most:.0} {unit}"), if figure < most { "met" } else { "MISSED" }),
    };
    Ok(writeln!(out, "| {what} | {figure:.0} {unit} | {target} | {verdict} |")?)
}

fn number(value: &Value) -> Result<f64> {
    value.as_f64().context("a number is missing")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn inside() -> Inside {
        let (mut ns, mut allocations) = (json!({ "seal 256": 1, "seal 1024": 10_000, "seal 16384": 3 }), json!({}));
        for name in ["chain 0", "chain 1", "chain 8", "chain 32", "fan 0", "fan 1", "fan 8", "fan 16"] {
            let count: f64 = name.split(' ').next_back().unwrap().parse().unwrap();
            ns[name] = json!(200.0 + 300.0 * count);
            allocations[name] = json!({ "allocations": 6.0 + 2.0 * count, "bytes": 1000.0 + 500.0 * count });
        }
        Inside { times: json!({ "ns": ns, "state": [300, 400, 500, 600, 1023] }), allocations }
    }

    #[test]
    fn a_resolver_costs_what_it_adds() {
        let page = inside().section().unwrap();
        assert!(page.contains("| a resolver, chain of 32 | 300 ns | < 1000 ns | met |"), "{page}");
        assert!(page.contains("| allocations of a resolver, fan of 16 | 2.0, 500 bytes | | |"), "{page}");
    }

    #[test]
    fn figures_are_compared_with_targets() {
        let page = inside().section().unwrap();
        assert!(page.contains("| seal and open 1024 bytes | 10000 ns | < 10000 ns | MISSED |"), "{page}");
        assert!(page.contains("| `requestState` with 4 answers | 1023 bytes | < 1024 bytes | met |"), "{page}");
    }

    #[test]
    fn a_missing_figure_is_named() {
        let inside = Inside { times: json!({}), allocations: json!({}) };
        assert_eq!(inside.section().unwrap_err().to_string(), "chain 1 was not timed");
    }
}
