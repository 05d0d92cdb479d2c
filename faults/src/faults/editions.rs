//! Processes of two programs whose tools differ by a step, which take turns with the same tasks.

use anyhow::Result;

use super::{Effort, many};
use crate::{fleet::Fleet, program::Edition, verdict::Outcome};

/// Where the processes take turns. Not every edition has all of these places.
const PLACES: [&str; 5] = ["start", "in reserve", "after reserve", "answered", "in ship"];

pub(super) async fn run(effort: Effort) -> Result<Outcome> {
    let tried = "two programs whose tool has steps added, removed or in another order take turns with tasks: at five places, and with \
                 a kill each second";
    let mut outcome = Outcome { tried: tried.to_owned(), ..Outcome::default() };
    let pairs =
        [(Edition::First, Edition::Added), (Edition::First, Edition::Removed), (Edition::Added, Edition::Removed)];
    for (one, other) in pairs {
        let fleet = Fleet::start(&[one, other], None).await?;
        let mut tasks = Vec::new();
        for round in 0..effort.of(1, 3) {
            for (first, place) in PLACES.iter().enumerate() {
                let order = fleet.new_name();
                fleet.close(&order, place)?;
                let mut seen = fleet.create(first + round, "order", Some(order), 0).await?;
                if matches!(*place, "answered" | "in ship") {
                    fleet.until_asked(0, &seen).await?;
                    if let Err(failure) = fleet.answer_once(first + round, &mut seen).await {
                        outcome.wrong(format!("an answer is not taken: {failure}"));
                    }
                }
                // There, and back.
                let mut since = 0;
                for _ in 0..2 {
                    let held = fleet.held(&seen.order, place, since).await?;
                    let slot = fleet.slot_of(held.process).await?;
                    let killed = fleet.kill(slot).await?;
                    let run = fleet.runs_elsewhere(&seen.order, held.process, killed).await?;
                    outcome.recovered("killed, until the other program runs the task", killed, run.at);
                    fleet.restart(slot).await?;
                    since = run.at;
                    outcome.times += 1;
                }
                fleet.open(&seen.order, place)?;
                tasks.push(fleet.follow(first, seen).await);
            }
        }
        let (followed, kills) = many::under_kills(&fleet, fleet.load(effort.of(60, 600), 16, 20)).await?;
        outcome.times += kills.len();
        tasks.extend(followed);
        outcome.judge(&fleet, &tasks).await?;
    }
    Ok(outcome)
}
