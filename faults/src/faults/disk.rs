//! A disk without room, and with room again.
//!
//! The processes may not write beyond a size of file, which is near enough: writes of the store fail, and reads do not.

use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::json;
use tokio::time::sleep;

use super::Effort;
use crate::{
    client::Failure,
    fleet::{Fleet, Seen},
    program::Edition,
    verdict::Outcome,
    worker::Order,
    world::now,
};

/// Beyond so many bytes no file is written. The log of the world stays below.
const ROOM: u64 = 256 * 1024;

/// How long there is no room: shorter than the lease, and longer.
const FULL: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(14)];

pub(super) async fn run(effort: Effort) -> Result<Outcome> {
    let mut outcome = Outcome { tried: "no room on the disk for 2 s, and for 14 s".to_owned(), ..Outcome::default() };
    for full in FULL.into_iter().cycle().take(effort.of(2, 4)) {
        let fleet = Fleet::start(&[Edition::First; 2], None).await?;
        let mut tasks = Vec::new();
        // Tasks at every stage.
        let places = ["start", "in reserve", "after reserve", "before the question"];
        for place in places {
            let order = fleet.new_name();
            fleet.close(&order, place)?;
            tasks.push(fleet.create(tasks.len(), "order", Some(order), 0).await?);
            fleet.held(&tasks[tasks.len() - 1].order, place, 0).await?;
        }
        for _ in 0..3 {
            let seen = fleet.create(tasks.len(), "order", None, 0).await?;
            fleet.until_asked(0, &seen).await?;
            tasks.push(seen);
        }
        for slot in 0..2 {
            fleet.order(slot, Order::Room(Some(ROOM))).await?;
        }
        let refused = fill(&fleet, &mut tasks).await?;
        if !refused.contains("tasks are not available now, try again later") || refused.contains("zzz") {
            outcome.wrong(format!("a client cannot see what is wrong: {refused}"));
        }
        for (seen, place) in tasks.iter().zip(places) {
            fleet.open(&seen.order, place)?;
        }
        sleep(full).await;
        for (slot, seen) in tasks.iter().enumerate() {
            match fleet.ask(slot, "tasks/get", json!({ "taskId": seen.id })).await {
                // A slow machine may not answer in time.
                Ok(_) | Err(Failure::Broken(_)) => {}
                Err(failure) => outcome.wrong(format!("without room {} cannot be read: {failure}", seen.order)),
            }
        }
        // A task that was parked: its answer is acknowledged only if it is there.
        let mut parked = tasks[4].clone();
        match fleet.answer_once(0, &mut parked).await {
            Ok(()) => tasks[4] = parked,
            Err(failure) if failure.is_passing() => {}
            Err(failure) => outcome.wrong(format!("an answer without room: {failure}")),
        }
        let room = now();
        for slot in 0..2 {
            fleet.order(slot, Order::Room(None)).await?;
        }
        let after = format!("room again after {} s, until all tasks have ended", full.as_secs());
        let tasks = fleet.follow_all(tasks).await;
        outcome.recovered(&after, room, now());
        if !fleet.logged()?.contains("disk") {
            outcome.wrong("no process logs what is wrong with the disk");
        }
        outcome.judge(&fleet, &tasks).await?;
        outcome.times += 1;
    }
    Ok(outcome)
}

/// Makes tasks, large ones and then small ones, until none can be made; what the client is told.
async fn fill(fleet: &Fleet, tasks: &mut Vec<Seen>) -> Result<String> {
    let mut refused = 0;
    for slot in 0..200 {
        let order = fleet.new_name();
        let padding = "z".repeat(if slot < 10 { 50_000 } else { 10 });
        let arguments = json!({ "order": order, "pause": 0, "padding": padding });
        match fleet.ask(slot, "tools/call", json!({ "name": "order", "arguments": arguments })).await {
            Ok(made) => {
                tasks.push(Seen::new(made["taskId"].as_str().unwrap_or_default(), order));
                refused = 0;
            }
            Err(Failure::Error { status: 503, code: -32603, message }) => {
                refused += 1;
                if slot > 10 && refused > 4 {
                    return Ok(message);
                }
            }
            // Nobody knows: the machine is busy.
            Err(Failure::Broken(_)) => {}
            Err(failure) => ensure!(false, "an error that does not say to try again: {failure}"),
        }
    }
    anyhow::bail!("the disk does not become full")
}
