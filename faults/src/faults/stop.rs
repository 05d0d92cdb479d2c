//! SIGTERM under load: what runs is handed over.

use anyhow::Result;

use super::Effort;
use crate::{fleet::Fleet, program::Edition, verdict::Outcome, world::now};

pub(super) async fn run(effort: Effort) -> Result<Outcome> {
    let fleet = Fleet::start(&[Edition::First; 2], None).await?;
    let tried =
        "SIGTERM to each of two processes in turn under load, with a grace period of 1 s and tasks that take longer";
    let mut outcome = Outcome { tried: tried.to_owned(), ..Outcome::default() };
    let mut held = Vec::new();
    for place in ["start", "in reserve", "after reserve"] {
        for slot in 0..2 {
            let order = fleet.new_name();
            fleet.close(&order, place)?;
            let seen = fleet.create(slot, "order", Some(order), 0).await?;
            let line = fleet.held(&seen.order, place, 0).await?;
            held.push((seen, place, line.process));
        }
    }
    // More often than a task may lose its process by a death.
    let stops = effort.of(4, 20);
    let stopping = async {
        for stop in 0..stops {
            let slot = stop % 2;
            let mut process = fleet.take(slot).await?;
            let told = now();
            process.stop()?;
            let status = process.ended().await?;
            let ended = now();
            if !status.success() {
                outcome.wrong(format!("a process that was told to stop ends with {status}"));
            }
            outcome.recovered("SIGTERM, until the process has ended", told, ended);
            for (seen, place, here) in &mut held {
                if *here == process.id {
                    let line = fleet.runs_elsewhere(&seen.order, process.id, told).await?;
                    outcome.recovered("SIGTERM, until its tasks run elsewhere", told, line.at);
                    *here = fleet.held(&seen.order, place, line.at).await?.process;
                }
            }
            fleet.restart(slot).await?;
        }
        anyhow::Ok(())
    };
    let (stopped, tasks) = tokio::join!(stopping, fleet.load(effort.of(200, 2000), 16, 20));
    stopped?;
    let mut tasks = tasks?;
    for (seen, place, _) in &held {
        fleet.open(&seen.order, place)?;
    }
    tasks.extend(fleet.follow_all(held.into_iter().map(|(seen, ..)| seen).collect()).await);
    outcome.times = stops;
    outcome.judge(&fleet, &tasks).await?;
    Ok(outcome)
}
