//! The world outside of the processes: what they did to it, and gates that hold them at a place.

use std::{
    fs::{File, OpenOptions},
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

/// How often a gate is looked at.
const LOOK: Duration = Duration::from_millis(10);

/// What a process has noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kind {
    /// A function of a task has begun to run.
    Run,
    /// It waits at a gate, which `place` names.
    At,
    /// The effect of a step, which `place` names.
    Did,
    /// The step is recorded, with this value.
    Has,
    /// The function has an answer.
    Answer,
    /// The function is about to return.
    Returns,
}

/// One line of the log.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Line {
    /// Milliseconds since 1970.
    pub(crate) at: u64,
    pub(crate) process: u32,
    pub(crate) kind: Kind,
    /// The task, by the name that its client gave it.
    pub(crate) order: String,
    pub(crate) place: String,
    /// The idempotency key of a step.
    pub(crate) key: String,
    pub(crate) value: String,
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_millis().try_into().unwrap_or(u64::MAX)
}

/// The world as a process sees it.
#[derive(Debug)]
pub(crate) struct World {
    folder: PathBuf,
    log: File,
}

fn log_in(folder: &Path) -> PathBuf {
    folder.join("world.log")
}

fn gate(folder: &Path, order: &str, place: &str) -> PathBuf {
    folder.join(format!("gate {order} {place}"))
}

impl World {
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let log = OpenOptions::new().create(true).append(true).open(log_in(folder)).context("opening the log")?;
        Ok(Self { folder: folder.to_owned(), log })
    }

    /// Appends a line, in one write.
    pub(crate) fn note(&self, kind: Kind, order: &str, place: &str, (key, value): (&str, &str)) {
        let [order, place, key, value] = [order, place, key, value].map(str::to_owned);
        let line = Line { at: now(), process: std::process::id(), kind, order, place, key, value };
        let mut line = serde_json::to_vec(&line).expect("a line is JSON");
        line.push(b'\n');
        if let Err(error) = (&self.log).write_all(&line) {
            eprintln!("cannot write to the log: {error}");
            std::process::exit(4);
        }
    }

    /// Waits while the gate is closed.
    pub(crate) async fn pass(&self, order: &str, place: &str) {
        let gate = gate(&self.folder, order, place);
        if gate.exists() {
            self.note(Kind::At, order, place, ("", ""));
        }
        while gate.exists() {
            sleep(LOOK).await;
        }
    }

    /// A value that no other step has.
    pub(crate) fn new_value() -> String {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        format!("{}-{}-{}", now(), std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The world as the driver sees it.
#[derive(Debug)]
pub(crate) struct Watch {
    folder: PathBuf,
    read: u64,
    pub(crate) lines: Vec<Line>,
}

impl Watch {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), read: 0, lines: Vec::new() }
    }

    /// Closes a gate for a task.
    pub(crate) fn close(folder: &Path, order: &str, place: &str) -> Result<()> {
        std::fs::write(gate(folder, order, place), "").context("closing a gate")
    }

    pub(crate) fn open(folder: &Path, order: &str, place: &str) -> Result<()> {
        std::fs::remove_file(gate(folder, order, place)).context("opening a gate")
    }

    /// Reads what has been added.
    pub(crate) fn update(&mut self) -> Result<&[Line]> {
        let Ok(mut file) = File::open(log_in(&self.folder)) else { return Ok(&self.lines) };
        file.seek(SeekFrom::Start(self.read))?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        // A line without its end is not all there.
        for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            self.read += line.len() as u64;
            self.lines.push(serde_json::from_str(line).with_context(|| format!("a line of the log: {line}"))?);
        }
        Ok(&self.lines)
    }
}
