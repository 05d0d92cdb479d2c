//! A task that kills every process that runs it, among others.

use std::{collections::BTreeMap, time::Duration};

use anyhow::Result;
use tokio::time::sleep;

use super::Effort;
use crate::{fleet::Fleet, program::Edition, verdict::Outcome, world::Kind};

/// How many processes a task kills.
const DEATHS: usize = 3;

pub(super) async fn run(effort: Effort) -> Result<Outcome> {
    let fleet = Fleet::start(&[Edition::First; 3], None).await?;
    let tried = "a task that aborts its process, among others, in three processes that are started again".to_owned();
    let mut outcome = Outcome { tried, ..Outcome::default() };
    let watching = async {
        loop {
            for slot in 0..3 {
                if fleet.take_if_ended(slot).await.is_some() {
                    fleet.restart(slot).await?;
                }
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    let work = async {
        let (mut tasks, mut poisons) = (Vec::new(), Vec::new());
        for slot in 0..effort.of(1, 10) {
            let poisoning = async {
                let seen = fleet.create(slot, "poison", None, 1000).await?;
                anyhow::Ok(fleet.follow(slot, seen).await)
            };
            let (poison, others) = tokio::join!(poisoning, fleet.load(40, 16, 20));
            let (poison, others) = (poison?, others?);
            let end = poison.end.clone().unwrap_or_default();
            let text = "the processes that ran the task died again and again";
            if (&end["status"], &end["error"]["code"], &end["statusMessage"])
                != (&"failed".into(), &(-32603).into(), &text.into())
            {
                outcome.wrong(format!("the end of a task that kills its processes: {poison:?}"));
            }
            tasks.extend(others);
            poisons.push(poison.order);
            outcome.times += 1;
        }
        anyhow::Ok((tasks, poisons))
    };
    let (tasks, poisons) = tokio::select! {
        done = work => done?,
        stopped = watching => return stopped,
    };
    fleet.fill().await?;
    let mut runs = BTreeMap::<_, usize>::new();
    let lines = fleet.lines()?;
    for line in lines.iter().filter(|line| line.kind == Kind::Run && poisons.contains(&line.order)) {
        *runs.entry(&line.order).or_default() += 1;
    }
    for (order, runs) in runs.into_iter().filter(|(_, runs)| *runs > DEATHS) {
        outcome.wrong(format!("{order} kills its processes, and was run {runs} times"));
    }
    outcome.judge(&fleet, &tasks).await?;
    Ok(outcome)
}
