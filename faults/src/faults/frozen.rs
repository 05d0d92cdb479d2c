//! SIGSTOP of the process that runs tasks, for longer than its lease, and SIGCONT.

use anyhow::Result;
use tokio::time::{Duration, sleep};

use super::Effort;
use crate::{
    fleet::Fleet,
    process::Process,
    program::Edition,
    verdict::Outcome,
    world::{Kind, now},
};

/// Where tasks are frozen.
const PLACES: [&str; 3] = ["in reserve", "after reserve", "before the question"];

/// How long the process that was frozen is watched before its tasks may go on.
const WATCHED: Duration = Duration::from_secs(3);

/// How long a process is frozen at any moment: longer than its lease.
const FROZEN: Duration = Duration::from_secs(12);

pub(super) async fn run(effort: Effort) -> Result<Outcome> {
    let tried = "SIGSTOP in a step, before a question, and at any moment under load, of one process and of both, for longer than the lease; \
         then SIGCONT";
    let mut outcome = Outcome { tried: tried.to_owned(), ..Outcome::default() };
    let [mut at_any, mut all] = [(); 2].map(|()| Outcome::default());
    let done =
        tokio::join!(at_places(effort, &mut outcome), at_any_moment(effort, &mut at_any), asleep(effort, &mut all));
    done.0.and(done.1).and(done.2)?;
    outcome.add(at_any);
    outcome.add(all);
    Ok(outcome)
}

/// Freezes a process that writes all the time. If it holds the lock of the file then, nobody writes until it goes on.
async fn at_any_moment(effort: Effort, outcome: &mut Outcome) -> Result<()> {
    let fleet = Fleet::start(&[Edition::First; 2], None).await?;
    let mut tasks = Vec::new();
    for round in 0..effort.of(1, 5) {
        let slot = round % 2;
        let freezing = async {
            sleep(Duration::from_millis(500 + 37 * round as u64)).await;
            let frozen = fleet.take(slot).await?;
            let (id, stopped) = (frozen.id, now());
            frozen.freeze()?;
            sleep(FROZEN).await;
            frozen.thaw()?;
            let thawed = now();
            fleet.put(slot, frozen).await;
            anyhow::Ok((id, stopped, thawed))
        };
        let (froze, followed) = tokio::join!(freezing, fleet.load(effort.of(300, 3000), 32, 0));
        let (process, stopped, thawed) = froze?;
        tasks.extend(followed?);
        let lines = fleet.lines()?;
        let mut others = lines.iter().filter(|line| line.process != process && line.at > stopped + 200);
        let next = others.find(|line| line.kind == Kind::Has).map_or(thawed, |line| line.at);
        outcome.recovered("frozen under load, until another process writes", stopped, next);
        outcome.times += 1;
    }
    outcome.judge(&fleet, &tasks).await
}

/// Freezes all processes, as a machine does that goes to sleep, more often than a task may lose its process by a death.
async fn asleep(effort: Effort, outcome: &mut Outcome) -> Result<()> {
    let fleet = Fleet::start(&[Edition::First; 2], None).await?;
    let mut held = Vec::new();
    for slot in 0..2 {
        for place in PLACES {
            let order = fleet.new_name();
            fleet.close(&order, place)?;
            held.push((fleet.create(slot, "order", Some(order), 0).await?, place));
        }
    }
    for (seen, place) in &held {
        fleet.held(&seen.order, place, 0).await?;
    }
    for round in 0..effort.of(1, 5) {
        let frozen = [fleet.take(0).await?, fleet.take(1).await?];
        frozen.iter().try_for_each(Process::freeze)?;
        sleep(FROZEN).await;
        // The one that wakes first finds that the other one has not been heard for long.
        let first = round % 2;
        frozen[first].thaw()?;
        sleep(Duration::from_millis(20)).await;
        frozen[1 - first].thaw()?;
        for (slot, process) in frozen.into_iter().enumerate() {
            fleet.put(slot, process).await;
        }
        sleep(WATCHED).await;
        outcome.times += 1;
    }
    for (seen, place) in &held {
        fleet.open(&seen.order, place)?;
    }
    let tasks = fleet.follow_all(held.into_iter().map(|(seen, _)| seen).collect()).await;
    outcome.judge(&fleet, &tasks).await
}

/// Freezes a process that holds tasks at certain places.
async fn at_places(effort: Effort, outcome: &mut Outcome) -> Result<()> {
    let fleet = Fleet::start(&[Edition::First; 2], None).await?;
    let mut tasks = Vec::new();
    for round in 0..effort.of(1, 5) {
        // The last one of each place is held until both processes go on with it at once.
        let mut held = Vec::new();
        for place in PLACES {
            for at_once in 0..effort.of(2, 10) {
                let order = fleet.new_name();
                fleet.close(&order, place)?;
                held.push((fleet.create(round % 2, "order", Some(order), 0).await?, place, at_once == 0));
            }
        }
        let mut process = 0;
        for (seen, place, _) in &held {
            process = fleet.held(&seen.order, place, 0).await?.process;
        }
        let slot = fleet.slot_of(process).await?;
        let frozen = fleet.take(slot).await?;
        let stopped = now();
        frozen.freeze()?;
        for (seen, place, _) in held.iter().filter(|(_, _, at_once)| !at_once) {
            fleet.open(&seen.order, place)?;
        }
        for (seen, ..) in &held {
            if fleet.line(&seen.order, |line| line.kind == Kind::Run).await?.process != process {
                // The other process was faster.
                continue;
            }
            let run = fleet.runs_elsewhere(&seen.order, process, stopped).await?;
            outcome.recovered("frozen", stopped, run.at);
        }
        for (seen, ..) in held.iter().filter(|(_, _, at_once)| !at_once) {
            fleet.until_asked(1 - slot, seen).await?;
        }
        let thawed = now();
        frozen.thaw()?;
        fleet.put(slot, frozen).await;
        for (seen, place, _) in held.iter().filter(|(_, _, at_once)| *at_once) {
            fleet.open(&seen.order, place)?;
        }
        sleep(WATCHED).await;
        for (seen, ..) in &held {
            fleet.until_asked(slot, seen).await?;
        }
        let followed = fleet.follow_all(held.iter().map(|(seen, ..)| seen.clone()).collect()).await;
        // Later it may run them again, from their beginning.
        let lines = fleet.lines()?;
        for (seen, ..) in &held {
            let mut late =
                lines.iter().filter(|line| line.order == seen.order && line.process == process && line.at >= thawed);
            if let Some(line) = late.next().filter(|line| line.kind != Kind::Run) {
                outcome.wrong(format!("the process that was frozen went on: {line:?}"));
            }
        }
        tasks.extend(followed);
        outcome.times += 1;
    }
    outcome.judge(&fleet, &tasks).await
}
