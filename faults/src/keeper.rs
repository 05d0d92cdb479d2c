//! Who keeps the tasks.

use std::path::{Path, PathBuf};

use rejoinder::tasks::{TaskClock, TaskStore, Tasks};
use rejoinder_sqlite::SqliteTasks;
use serde::{Deserialize, Serialize};

use crate::lossy::Lossy;

/// What keeps the tasks of all processes of a fault.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Keeper {
    /// A SQLite file.
    Sqlite(PathBuf),
}

impl Keeper {
    /// A new one, with what it needs in that folder.
    pub(crate) fn new(folder: &Path) -> Self {
        Self::Sqlite(folder.join("tasks.db"))
    }

    /// How the report calls it.
    pub(crate) const NAME: &'static str = "SQLite";

    /// The tasks of a server, and their clock. Every `lossy`th acknowledgement is lost.
    pub(crate) fn open(&self, lossy: Option<u32>) -> (Tasks, TaskClock) {
        match self {
            Self::Sqlite(path) => tasks(SqliteTasks::at(path), lossy),
        }
    }
}

fn tasks(store: impl TaskStore, lossy: Option<u32>) -> (Tasks, TaskClock) {
    let clock = store.clock().clone();
    let tasks = match lossy {
        Some(every) => Tasks::new(Lossy::new(store, every)),
        None => Tasks::new(store),
    };
    (tasks, clock)
}
