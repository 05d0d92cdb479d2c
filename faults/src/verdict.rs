//! What must hold after every fault, and what was counted.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::Ordering,
    time::Duration,
};

use anyhow::Result;
use futures_util::{StreamExt, stream};
use serde_json::Value;

use crate::{
    fleet::{Fleet, Seen},
    program::Ordered,
    world::{Kind, Line},
};

/// What a fault came to.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// What was done, in a few words.
    pub(crate) tried: String,
    /// How often.
    pub(crate) times: usize,
    /// The tasks that clients have seen.
    pub(crate) tasks: usize,
    /// Requests that clients had to repeat.
    pub(crate) repeated: usize,
    /// Effects of steps.
    pub(crate) effects: usize,
    /// Effects of steps that were under way when their process died, and ran again. That is allowed.
    pub(crate) in_flight: usize,
    /// Tasks that did not reach the right end.
    pub(crate) lost: Vec<String>,
    /// Recorded steps that ran again.
    pub(crate) twice: Vec<String>,
    /// Tasks with another end later.
    pub(crate) ends: Vec<String>,
    /// Answers that were acknowledged and not used.
    pub(crate) unused: Vec<String>,
    /// What else does not hold.
    pub(crate) others: Vec<String>,
    /// How long it took until tasks went on, by what had happened.
    pub(crate) recoveries: BTreeMap<String, Vec<Duration>>,
}

impl Outcome {
    /// What does not hold.
    pub(crate) fn problems(&self) -> Vec<String> {
        let kinds = [
            ("lost", &self.lost),
            ("a recorded step ran twice", &self.twice),
            ("another end", &self.ends),
            ("an answer was not used", &self.unused),
            ("wrong", &self.others),
        ];
        kinds.into_iter().flat_map(|(kind, all)| all.iter().map(move |one| format!("{kind}: {one}"))).collect()
    }

    /// Adds what another part of the fault came to.
    pub(crate) fn add(&mut self, other: Self) {
        self.times += other.times;
        self.tasks += other.tasks;
        self.repeated += other.repeated;
        self.effects += other.effects;
        self.in_flight += other.in_flight;
        self.lost.extend(other.lost);
        self.twice.extend(other.twice);
        self.ends.extend(other.ends);
        self.unused.extend(other.unused);
        self.others.extend(other.others);
        self.recoveries.extend(other.recoveries);
    }

    /// Notes how long it took until something went on.
    pub(crate) fn recovered(&mut self, after: &str, from: u64, to: u64) {
        let took = Duration::from_millis(to.saturating_sub(from));
        self.recoveries.entry(after.to_owned()).or_default().push(took);
    }

    pub(crate) fn wrong(&mut self, what: impl Into<String>) {
        self.others.push(what.into());
    }

    /// Judges the tasks that clients have followed to their ends, and everything in the log.
    pub(crate) async fn judge(&mut self, fleet: &Fleet, tasks: &[Seen]) -> Result<()> {
        let lines = fleet.lines()?;
        let recorded = self.judge_steps(&lines);
        self.tasks += tasks.len();
        self.repeated += fleet.repeated.load(Ordering::Relaxed);
        let ids: BTreeSet<_> = tasks.iter().map(|seen| &seen.id).collect();
        if ids.len() < tasks.len() {
            self.wrong("two tasks have the same id");
        }
        for seen in tasks {
            match (&seen.end, &seen.trouble) {
                (Some(end), None) => self.judge_end(seen, end, &recorded),
                (_, trouble) => self.lost.push(format!("{} ({}): {trouble:?}", seen.order, seen.id)),
            }
        }
        self.judge_ends(fleet, tasks).await;
        Ok(())
    }

    /// What the log says about steps; their values by task and name.
    fn judge_steps<'a>(&mut self, lines: &'a [Line]) -> BTreeMap<(&'a str, &'a str), &'a str> {
        let mut recorded: BTreeMap<(&str, &str), &str> = BTreeMap::new();
        let mut keys: BTreeMap<(&str, &str), &str> = BTreeMap::new();
        let mut began: BTreeMap<&str, usize> = BTreeMap::new();
        for line in lines.iter().filter(|line| matches!(line.kind, Kind::Did | Kind::Has)) {
            let step = (&*line.order, &*line.place);
            if *keys.entry(step).or_insert(&line.key) != line.key {
                self.wrong(format!("step {step:?} has another idempotency key in another run"));
            }
            if line.kind == Kind::Has {
                if *recorded.entry(step).or_insert(&line.value) != line.value {
                    self.twice.push(format!("{step:?} has another value: {line:?}"));
                }
                continue;
            }
            if recorded.contains_key(&step) {
                self.twice.push(format!("{step:?}: {line:?}"));
            }
            self.effects += 1;
            let times = began.entry(&line.key).or_default();
            *times += 1;
            self.in_flight += usize::from(*times > 1);
        }
        let distinct: BTreeSet<_> = keys.values().collect();
        if distinct.len() < keys.len() {
            self.wrong("two steps have the same idempotency key");
        }
        recorded
    }

    fn judge_end(&mut self, seen: &Seen, end: &Value, recorded: &BTreeMap<(&str, &str), &str>) {
        let is_right = end["status"] == "completed" && end["result"]["isError"] != true;
        let result = serde_json::from_value::<Ordered>(end["result"]["structuredContent"].clone());
        let Some(result) = result.ok().filter(|_| is_right) else {
            return self.lost.push(format!("{} has the wrong end: {end}", seen.order));
        };
        if result.count != seen.count() {
            let (order, sent) = (&seen.order, seen.count());
            self.unused.push(format!("{order}: {sent} was sent first, and the result has {}", result.count));
        }
        for (step, value) in &result.steps {
            if recorded.get(&(&*seen.order, &**step)) != Some(&&**value) {
                self.twice.push(format!("step {step} of {} has another value in the result", seen.order));
            }
        }
    }

    /// Whether the ends are still what clients have seen.
    async fn judge_ends(&mut self, fleet: &Fleet, tasks: &[Seen]) {
        let tasks = tasks.iter().filter(|seen| seen.end.is_some()).enumerate();
        let again = tasks.map(|(slot, seen)| async move { (seen, fleet.show(slot, seen).await) });
        let again: Vec<_> = stream::iter(again).buffer_unordered(64).collect().await;
        for (seen, shown) in again {
            match shown {
                Ok(shown) if Some(&shown) == seen.end.as_ref() => {}
                other => self.ends.push(format!("{}: {:?}, then {other:?}", seen.order, seen.end)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(kind: Kind, order: &str, key: &str, value: &str) -> Line {
        let [order, place, key, value] = [order, "pay", key, value].map(str::to_owned);
        Line { at: 1, process: 1, kind, order, place, key, value }
    }

    fn judged(lines: &[Line]) -> Outcome {
        let mut outcome = Outcome::default();
        outcome.judge_steps(lines);
        outcome
    }

    #[test]
    fn a_step_in_flight_may_run_again_and_a_recorded_one_may_not() {
        let [first, again] = ["1", "2"].map(|value| line(Kind::Did, "a", "k", value));
        let has = line(Kind::Has, "a", "k", "2");
        let fine = judged(&[first.clone(), again.clone(), has.clone(), has.clone()]);
        assert_eq!((fine.problems(), fine.effects, fine.in_flight), (vec![], 2, 1));
        assert_eq!(judged(&[first.clone(), has.clone(), again]).twice.len(), 1);
        assert_eq!(judged(&[first, has, line(Kind::Has, "a", "k", "1")]).twice.len(), 1, "another value");
    }

    #[test]
    fn a_step_has_a_key_of_its_own() {
        let [one, other] = ["a", "b"].map(|order| line(Kind::Did, order, "k", "1"));
        assert_eq!(judged(&[one.clone(), other]).others.len(), 1);
        assert_eq!(judged(&[one, line(Kind::Did, "a", "l", "1")]).others.len(), 1);
    }
}
