//! The printed report: a row for each leg, then everything that is not as it should be.

use std::fmt::Write;

use super::checks::Status;
use super::leg::Outcome;

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

    #[test]
    fn rows_count_and_the_bad_is_told() {
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
