//! What the legs found, held against what was expected.

use super::checks::Status;
use super::expected::Expected;
use super::leg::Outcome;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::checks::{Check, Scenario, Status};

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
        let told =
            ["a", "b", "c"].map(|name| format!("empty: no check of {name} succeeded in one, so it shows nothing"));
        assert_eq!(complaints, told);
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
}
