//! A clock that jumps an hour, in one process and then in the other one.

use std::time::Duration;

use anyhow::Result;
use tokio::time::sleep;

use super::Effort;
use crate::{fleet::Fleet, program::Edition, verdict::Outcome, worker::Order, world::now};

const HOUR: u64 = 3600;

/// How long it takes until every process has been heard again.
const SETTLED: Duration = Duration::from_secs(3);

pub(super) async fn run(effort: Effort) -> Result<Outcome> {
    let tried = "the clock of one process jumps an hour, later that of the other one; those of both jump at once, again and again during a step".to_owned();
    let mut outcome = Outcome { tried, ..Outcome::default() };
    for _ in 0..effort.of(1, 5) {
        let fleet = Fleet::start(&[Edition::First; 2], None).await?;
        let mut held = Vec::new();
        for place in ["in reserve", "after reserve", "before the question"] {
            for slot in 0..2 {
                let order = fleet.new_name();
                fleet.close(&order, place)?;
                let seen = fleet.create(slot, "order", Some(order), 0).await?;
                let line = fleet.held(&seen.order, place, 0).await?;
                held.push((seen, place, line.process));
            }
        }
        let parked = fleet.create(1, "order", None, 0).await?;
        fleet.until_asked(1, &parked).await?;
        let jumped = now();
        fleet.order(0, Order::Advance(HOUR)).await?;
        // Its clock says that the other one is dead.
        for (seen, _, process) in &held {
            if fleet.slot_of(*process).await? == 1 {
                let run = fleet.runs_elsewhere(&seen.order, *process, jumped).await?;
                outcome.recovered("taken over from the process whose clock is behind", jumped, run.at);
            }
        }
        // A process that is taken for dead begins steps until its next beat, of which it says so.
        while !fleet.logged()?.contains("was not heard for too long") {
            sleep(Duration::from_millis(20)).await;
        }
        for (seen, place, _) in &held {
            fleet.open(&seen.order, place)?;
        }
        let mut tasks = fleet.load(effort.of(20, 200), 16, 20).await?;
        fleet.order(1, Order::Advance(HOUR)).await?;
        tasks.extend(fleet.load(effort.of(20, 200), 16, 20).await?);
        let held = held.into_iter().map(|(seen, ..)| seen).chain([parked]).collect();
        tasks.extend(fleet.follow_all(held).await);
        outcome.judge(&fleet, &tasks).await?;
        outcome.times += 2;
    }
    together(effort, &mut outcome).await?;
    Ok(outcome)
}

/// The clocks of both jump, as those of a machine do that was asleep: more often than a task may lose its process by a death.
async fn together(effort: Effort, outcome: &mut Outcome) -> Result<()> {
    let fleet = Fleet::start(&[Edition::First; 2], None).await?;
    let order = fleet.new_name();
    fleet.close(&order, "in reserve")?;
    let seen = fleet.create(0, "order", Some(order.clone()), 0).await?;
    fleet.held(&order, "in reserve", 0).await?;
    for _ in 0..effort.of(4, 10) {
        for slot in 0..2 {
            fleet.order(slot, Order::Advance(HOUR)).await?;
        }
        outcome.times += 1;
        sleep(SETTLED).await;
    }
    fleet.open(&order, "in reserve")?;
    let tasks = [fleet.follow(0, seen).await];
    outcome.judge(&fleet, &tasks).await
}
