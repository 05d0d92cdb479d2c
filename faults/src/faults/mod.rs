//! The faults: each is a concept of its own, and returns what it came to.

mod clock;
mod disk;
mod editions;
mod frozen;
mod kills;
mod lost_acks;
mod many;
mod poison;
mod restart;
mod stop;

use anyhow::{Result, bail};

use crate::verdict::Outcome;

/// How much is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Every fault once, for tests.
    Short,
    /// For the report.
    Whole,
}

impl Effort {
    /// One of two counts.
    pub(crate) fn of(self, short: usize, whole: usize) -> usize {
        if self == Self::Short { short } else { whole }
    }
}

/// The names of all faults, in the order of the report.
pub(crate) const ALL: [&str; 10] =
    ["kills", "frozen", "lost_acks", "disk", "clock", "many", "poison", "stop", "editions", "restart"];

/// Runs a fault.
pub(crate) async fn run(name: &str, effort: Effort) -> Result<Outcome> {
    match name {
        "kills" => kills::run(effort).await,
        "frozen" => frozen::run(effort).await,
        "lost_acks" => lost_acks::run(effort).await,
        "disk" => disk::run(effort).await,
        "clock" => clock::run(effort).await,
        "many" => many::run(effort).await,
        "poison" => poison::run(effort).await,
        "stop" => stop::run(effort).await,
        "editions" => editions::run(effort).await,
        "restart" => restart::run(effort).await,
        _ => bail!("unknown fault `{name}`; there are {}", ALL.join(", ")),
    }
}
