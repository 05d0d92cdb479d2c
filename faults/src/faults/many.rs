//! Many tasks, and a process that is killed each second.

use std::{sync::Arc, time::Duration};

use anyhow::Result;
use tokio::time::sleep;

use super::Effort;
use crate::{
    fleet::{Fleet, Seen},
    program::Edition,
    verdict::Outcome,
    world::Kind,
};

/// How often a process is killed.
const EVERY: Duration = Duration::from_secs(1);

pub(super) async fn run(effort: Effort) -> Result<Outcome> {
    let fleet = Fleet::start(&[Edition::First; 2], None).await?;
    let count = effort.of(500, 10_000);
    let (at_once, pause) = if effort == Effort::Short { (16, 40) } else { (64, 200) };
    let tried = format!("{count} tasks, {at_once} at a time in two processes, one of which is killed each second");
    let mut outcome = Outcome { tried, ..Outcome::default() };
    let (tasks, kills) = under_kills(&fleet, fleet.load(count, at_once, pause)).await?;
    let lines = fleet.lines()?;
    for (process, killed) in &kills {
        // The first of its tasks that another process goes on with.
        let was_there = |order: &str| lines.iter().rfind(|line| line.order == order && line.at <= *killed);
        let next = lines.iter().filter(|line| line.kind == Kind::Run && line.at > *killed && line.process != *process);
        let mut next = next.filter(|line| {
            // One that has parked was not running.
            let runs = |kind| matches!(kind, Kind::Run | Kind::Did | Kind::Answer);
            was_there(&line.order).is_some_and(|last| last.process == *process && runs(last.kind))
        });
        if let Some(run) = next.next() {
            outcome.recovered("the first task of a process that was killed", *killed, run.at);
        }
    }
    outcome.times = kills.len();
    outcome.judge(&fleet, &tasks).await?;
    Ok(outcome)
}

/// Kills the processes in turn, one each second, while something is done; which was killed when.
pub(super) async fn under_kills(
    fleet: &Arc<Fleet>,
    load: impl Future<Output = Result<Vec<Seen>>>,
) -> Result<(Vec<Seen>, Vec<(u32, u64)>)> {
    let mut kills = Vec::new();
    let killing = async {
        let mut slot = 0;
        loop {
            sleep(EVERY).await;
            let mut process = fleet.take(slot).await?;
            kills.push((process.id, crate::world::now()));
            process.kill().await?;
            fleet.restart(slot).await?;
            slot = 1 - slot;
        }
    };
    let tasks = tokio::select! {
        tasks = load => tasks?,
        stopped = killing => return stopped,
    };
    // The last one may have been killed and not started again.
    fleet.fill().await?;
    Ok((tasks, kills))
}
