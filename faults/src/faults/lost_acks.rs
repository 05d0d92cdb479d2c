//! Writes that fail after their commit.

use anyhow::Result;

use super::Effort;
use crate::{fleet::Fleet, program::Edition, verdict::Outcome};

/// One of so many acknowledgements is lost.
const EVERY: u32 = 5;

pub(super) async fn run(effort: Effort) -> Result<Outcome> {
    let fleet = Fleet::start(&[Edition::First; 2], Some(EVERY)).await?;
    let tried = format!("1 of {EVERY} writes returns an error after its commit, in two processes");
    let count = effort.of(60, 1000);
    let mut outcome = Outcome { tried, times: count, ..Outcome::default() };
    let tasks = fleet.load(count, 64, 0).await?;
    outcome.judge(&fleet, &tasks).await?;
    if outcome.in_flight > 0 {
        outcome.wrong(format!("{} steps ran again, and no process has died", outcome.in_flight));
    }
    Ok(outcome)
}
