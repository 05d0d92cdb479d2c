//! A server that is killed, and started again: nobody else is there.

use anyhow::Result;

use super::Effort;
use crate::{fleet::Fleet, program::Edition, verdict::Outcome, world::Kind};

pub(super) async fn run(effort: Effort) -> Result<Outcome> {
    let mut outcome =
        Outcome { tried: "kill -9 of the only process, and its restart".to_owned(), ..Outcome::default() };
    let fleet = Fleet::start(&[Edition::First], None).await?;
    let mut tasks = Vec::new();
    for _ in 0..effort.of(3, 50) {
        let mut held = Vec::new();
        for place in ["in reserve", "after reserve"] {
            let order = fleet.new_name();
            fleet.close(&order, place)?;
            let seen = fleet.create(0, "order", Some(order), 0).await?;
            let process = fleet.held(&seen.order, place, 0).await?.process;
            held.push((seen, place, process));
        }
        fleet.kill(0).await?;
        for (seen, place, _) in &held {
            fleet.open(&seen.order, place)?;
        }
        let started = fleet.restart(0).await?;
        for (seen, _, process) in held {
            let run = fleet.line(&seen.order, |line| line.kind == Kind::Run && line.process != process).await?;
            outcome.recovered("from the start of the next process", started, run.at);
            tasks.push(fleet.follow(0, seen).await);
        }
        outcome.times += 1;
    }
    outcome.judge(&fleet, &tasks).await?;
    Ok(outcome)
}
