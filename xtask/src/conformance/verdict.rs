//! What the legs found, held against the list of scenarios that are still expected to fail.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::checks::Status;
use super::suite::Outcome;

/// Scenario names and why they are expected to fail: a line for each, `tasks-lifecycle  # tasks are not built yet`.
pub(super) type Expected = BTreeMap<String, String>;

/// Reads the list; a missing file lists nothing.
pub(super) fn read_expected(file: &Path) -> Result<Expected> {
    if !file.exists() {
        return Ok(Expected::new());
    }
    let text = std::fs::read_to_string(file)?;
    parse(&text).with_context(|| format!("reading {}", file.display()))
}

/// Reads the lines. An entry without a reason is an error: nobody would know later whether it can be removed.
fn parse(text: &str) -> Result<Expected> {
    let mut expected = Expected::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, reason) = line.split_once('#').unwrap_or((line, ""));
        let (name, reason) = (name.trim(), reason.trim());
        if reason.is_empty() {
            bail!("line {number}: `{name}` needs a reason: `{name}  # why`");
        }
        if expected.insert(name.to_owned(), reason.to_owned()).is_some() {
            bail!("line {number}: `{name}` is listed twice");
        }
    }
    Ok(expected)
}

/// The one scenario of the suite that has nothing to check: it skips itself, whatever the server is.
const CHECKS_NOTHING: &str = "tasks-status-notifications";

/// Everything that makes the run fail, a sentence each; empty when it passes.
pub(super) fn judge(outcomes: &[Outcome], expected: &Expected) -> Vec<String> {
    let mut complaints = Vec::new();
    for outcome in outcomes {
        for scenario in &outcome.scenarios {
            if expected.contains_key(&scenario.name) {
                continue;
            }
            let (bad, name, leg) = (scenario.bad().count(), &scenario.name, outcome.leg);
            let held = scenario.checks.iter().any(|check| check.status == Status::Success);
            if bad > 0 {
                complaints.push(format!("unexpected: {name} has {bad} failures or warnings in {leg}"));
            } else if !held && name != CHECKS_NOTHING {
                complaints.push(format!("empty: no check of {name} succeeded in {leg}, so it shows nothing"));
            }
        }
    }
    for name in expected.keys() {
        let mut runs =
            outcomes.iter().flat_map(|outcome| &outcome.scenarios).filter(|scenario| scenario.name == *name).peekable();
        if runs.peek().is_none() {
            complaints.push(format!("unknown entry: no leg ran {name}; remove it"));
        } else if runs.all(|scenario| scenario.bad().next().is_none()) {
            complaints.push(format!("stale entry: {name} passes in every leg; remove it"));
        }
    }
    complaints
}

/// How much of a message is shown; the suite's file has the rest.
const SHOWN: usize = 300;

/// The report of all legs.
pub(super) fn table(outcomes: &[Outcome]) -> String {
    let mut out = String::new();
    row(&mut out, "leg", "scenarios", Status::ALL.map(Status::word), "rmcp's own");
    for outcome in outcomes {
        let count = |status: Status| {
            let checks = outcome.scenarios.iter().flat_map(|one| &one.checks);
            checks.filter(|check| check.status == status).count()
        };
        row(&mut out, outcome.leg, outcome.scenarios.len(), Status::ALL.map(count), outcome.peer);
    }
    for outcome in outcomes {
        for scenario in &outcome.scenarios {
            for check in scenario.bad() {
                let message = first(&check.message);
                let word = check.status.word();
                let (leg, name, id) = (outcome.leg, &scenario.name, &check.id);
                // Writing to a String cannot fail.
                let _ = writeln!(out, "{word} {leg} {name} {id}: {message}");
            }
        }
    }
    out
}

/// One line on how it went.
pub(super) fn total(outcomes: &[Outcome]) -> String {
    let scenarios = || outcomes.iter().flat_map(|outcome| &outcome.scenarios);
    let failed = scenarios().filter(|scenario| scenario.bad().next().is_some()).count();
    let passed = scenarios().count() - failed;
    format!("conformance: {passed} runs of scenarios hold, {failed} do not")
}

/// One row of the table.
fn row<T: std::fmt::Display>(
    out: &mut String,
    leg: &str,
    scenarios: impl std::fmt::Display,
    counts: [T; 5],
    peer: impl std::fmt::Display,
) {
    let _ = write!(out, "{leg:<10}{scenarios:>10}");
    for count in counts {
        let _ = write!(out, "{count:>9}");
    }
    let _ = writeln!(out, "{peer:>12}");
}

/// The message on one line, cut where it gets long.
fn first(message: &str) -> String {
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}...", &line[..at]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::checks::{Check, Scenario};

    fn outcome(leg: &'static str, scenarios: &[(&str, Status)]) -> Outcome {
        let scenarios = scenarios.iter().map(|(name, status)| Scenario {
            name: (*name).to_owned(),
            checks: vec![Check { id: "check".to_owned(), status: *status, message: String::new() }],
        });
        Outcome { leg, peer: 0, scenarios: scenarios.collect() }
    }

    fn expected(names: &[&str]) -> Expected {
        let entry = |name: &&str| ((*name).to_owned(), "why".to_owned());
        names.iter().map(entry).collect()
    }

    #[test]
    fn all_well() {
        let mut leg = outcome("one", &[("a", Status::Success), ("b", Status::Success)]);
        // Beside what holds, there may be what does not apply.
        for status in [Status::Skipped, Status::Info] {
            leg.scenarios[0].checks.push(Check { id: "more".to_owned(), status, message: String::new() });
        }
        assert!(judge(&[leg], &expected(&[])).is_empty());
    }

    #[test]
    fn a_scenario_that_checked_nothing_does_not_hold() {
        let mut leg = outcome("one", &[("a", Status::Skipped), ("b", Status::Info), ("c", Status::Success)]);
        leg.scenarios[2].checks.clear();
        let complaints = judge(&[leg], &expected(&[]));
        let expected =
            ["a", "b", "c"].map(|name| format!("empty: no check of {name} succeeded in one, so it shows nothing"));
        assert_eq!(complaints, expected);
    }

    #[test]
    fn what_holds_in_one_leg_may_not_be_empty_in_another() {
        let legs = [outcome("one", &[("a", Status::Success)]), outcome("two", &[("a", Status::Skipped)])];
        assert_eq!(judge(&legs, &expected(&[])).len(), 1);
    }

    #[test]
    fn the_scenario_that_skips_itself_may_and_still_may_not_fail() {
        assert!(judge(&[outcome("one", &[(CHECKS_NOTHING, Status::Skipped)])], &expected(&[])).is_empty());
        let complaints = judge(&[outcome("one", &[(CHECKS_NOTHING, Status::Failure)])], &expected(&[]));
        assert!(complaints[0].starts_with("unexpected: "), "{complaints:?}");
    }

    #[test]
    fn a_warning_counts_like_a_failure_in_each_leg() {
        let legs = [outcome("one", &[("a", Status::Warning)]), outcome("two", &[("a", Status::Failure)])];
        let complaints = judge(&legs, &expected(&[]));
        assert_eq!(complaints.len(), 2);
        assert!(complaints[0].starts_with("unexpected: a has 1"), "{complaints:?}");
        assert!(complaints[1].ends_with("in two"), "{complaints:?}");
    }

    #[test]
    fn a_listed_scenario_may_fail_in_one_leg_and_pass_in_another() {
        let legs = [outcome("one", &[("a", Status::Success)]), outcome("two", &[("a", Status::Failure)])];
        assert!(judge(&legs, &expected(&["a"])).is_empty());
    }

    #[test]
    fn a_listed_scenario_that_passes_is_stale() {
        let legs = [outcome("one", &[("a", Status::Success)]), outcome("two", &[("a", Status::Success)])];
        let complaints = judge(&legs, &expected(&["a"]));
        assert_eq!(complaints, ["stale entry: a passes in every leg; remove it"]);
    }

    #[test]
    fn a_listed_scenario_that_nobody_ran_is_unknown() {
        let legs = [outcome("one", &[("a", Status::Success)])];
        let complaints = judge(&legs, &expected(&["b"]));
        assert_eq!(complaints, ["unknown entry: no leg ran b; remove it"]);
    }

    #[test]
    fn entries_carry_their_reasons() {
        let expected = parse("# head\n\ntasks-lifecycle  # no tasks yet\nping # odd\n").unwrap();
        assert_eq!(expected.len(), 2);
        assert_eq!(expected["tasks-lifecycle"], "no tasks yet");
    }

    #[test]
    fn an_entry_without_a_reason_is_refused() {
        let error = parse("ping # odd\npong\n").unwrap_err().to_string();
        assert_eq!(error, "line 2: `pong` needs a reason: `pong  # why`");
    }

    #[test]
    fn an_entry_stands_once() {
        assert!(parse("ping # odd\nping # even\n").is_err());
    }

    #[test]
    fn no_file_lists_nothing() {
        assert!(read_expected(Path::new("no/such/file")).unwrap().is_empty());
    }

    #[test]
    fn the_table_counts_checks_and_lists_failures() {
        let check = |id: &str, status| Check { id: id.to_owned(), status, message: "two\n  lines".to_owned() };
        let outcome = Outcome {
            leg: "req-2026",
            peer: 197,
            scenarios: vec![Scenario {
                name: "ping".to_owned(),
                checks: vec![
                    check("fine", Status::Success),
                    check("also", Status::Success),
                    check("not", Status::Failure),
                ],
            }],
        };
        let outcomes = [outcome];
        assert_eq!(total(&outcomes), "conformance: 0 runs of scenarios hold, 1 do not");
        let table = table(&outcomes);
        let lines: Vec<_> = table.lines().collect();
        let cells: Vec<_> = lines[1].split_whitespace().collect();
        assert_eq!(cells, ["req-2026", "1", "2", "1", "0", "0", "0", "197"]);
        assert_eq!(lines[2], "FAILURE req-2026 ping not: two lines");
        assert_eq!(lines.len(), 3);
    }

    #[test]
    fn a_long_message_is_cut_between_characters() {
        let long = "é".repeat(SHOWN + 1);
        assert_eq!(first(&long).chars().count(), SHOWN + 3);
    }
}
