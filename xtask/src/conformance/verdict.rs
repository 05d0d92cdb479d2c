//! What the legs found, held against what was expected.

use super::expected::Expected;
use super::leg::Outcome;

/// Everything that makes the run fail, a sentence each; empty when it passes.
pub(super) fn judge(outcomes: &[Outcome], expected: &Expected) -> Vec<String> {
    let mut complaints = Vec::new();
    for outcome in outcomes {
        for scenario in &outcome.scenarios {
            let bad = scenario.bad().count();
            if bad > 0 && !expected.contains_key(&scenario.name) {
                complaints
                    .push(format!("unexpected: {} has {bad} failures or warnings in {}", scenario.name, outcome.leg));
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
        let legs = [outcome("one", &[("a", Status::Success), ("b", Status::Skipped), ("c", Status::Info)])];
        assert!(judge(&legs, &expected(&[])).is_empty());
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
