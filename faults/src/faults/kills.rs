//! kill -9 of the process that runs a task, at five stages, while another process lives.

use anyhow::Result;

use super::Effort;
use crate::{
    fleet::Fleet,
    program::Edition,
    verdict::Outcome,
    world::{Kind, now},
};

/// Where the process dies.
#[derive(Debug, Clone, Copy)]
enum Stage {
    /// At a place of the function.
    Place(&'static str, &'static str),
    /// While the task waits for its answer.
    Parked,
    /// When it has acknowledged the answer.
    Answered,
}

const STAGES: [Stage; 5] = [
    Stage::Place("start", "killed before the first step"),
    Stage::Place("in reserve", "killed in a step"),
    Stage::Place("after reserve", "killed after a step was recorded"),
    Stage::Parked,
    Stage::Answered,
];

pub(super) async fn run(effort: Effort) -> Result<Outcome> {
    let fleet = Fleet::start(&[Edition::First; 2], None).await?;
    let tried = "kill -9 at five stages, with two processes".to_owned();
    let mut outcome = Outcome { tried, ..Outcome::default() };
    let mut tasks = Vec::new();
    for round in 0..effort.of(1, 12) {
        for stage in STAGES {
            let order = fleet.new_name();
            let gate = match stage {
                Stage::Place(place, _) => Some(place),
                Stage::Parked => None,
                Stage::Answered => Some("answered"),
            };
            if let Some(place) = gate {
                fleet.close(&order, place)?;
            }
            let mut seen = fleet.create(round % 2, "order", Some(order.clone()), 0).await?;
            let (after, slot, killed) = match stage {
                Stage::Place(place, after) => {
                    let held = fleet.held(&order, place, 0).await?;
                    let slot = fleet.slot_of(held.process).await?;
                    (after, slot, (held.process, fleet.kill(slot).await?))
                }
                Stage::Parked => {
                    fleet.until_asked(round, &seen).await?;
                    let run = fleet.line(&order, |line| line.kind == Kind::Run).await?;
                    let slot = fleet.slot_of(run.process).await?;
                    fleet.kill(slot).await?;
                    let answered = (run.process, now());
                    if let Err(failure) = fleet.answer_once(1 - slot, &mut seen).await {
                        outcome.wrong(format!("the other process does not take the answer: {failure}"));
                    }
                    ("killed while parked, from the answer", slot, answered)
                }
                Stage::Answered => {
                    fleet.until_asked(round, &seen).await?;
                    let slot = round % 2;
                    let process = fleet.take(slot).await?;
                    let (id, address) = (process.id, process.address);
                    fleet.put(slot, process).await;
                    let answered = fleet.answer_once(slot, &mut seen).await;
                    let killed = fleet.kill(slot).await?;
                    if let Err(failure) = answered {
                        outcome.wrong(format!("{address} does not take the answer: {failure}"));
                    }
                    ("killed when it had acknowledged the answer", slot, (id, killed))
                }
            };
            let (process, at) = killed;
            if let Some(place) = gate {
                fleet.open(&order, place)?;
            }
            let run = fleet.runs_elsewhere(&order, process, at).await?;
            outcome.recovered(after, at, run.at);
            fleet.restart(slot).await?;
            tasks.push(fleet.follow(1 - slot, seen).await);
            outcome.times += 1;
        }
    }
    outcome.judge(&fleet, &tasks).await?;
    Ok(outcome)
}
