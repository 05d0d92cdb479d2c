//! Keeps the tasks of a [`rejoinder`] server in a SQLite file.
//!
//! Tasks outlive the process: a server that was killed goes on with them when it starts again. Several processes on one machine
//! may share a file; what a process that dies was running goes on in another one at once. The file must be on a disk of this
//! machine, because SQLite cannot lock files of a network file system.
//!
//! A process that is frozen in the middle of a write, by SIGSTOP for example, holds the lock of the file until it goes on or is
//! killed: meanwhile no other process writes, and tasks do not go on elsewhere. Nothing is lost. One that is frozen elsewhere
//! loses its tasks to others when its lease of ten seconds has ended, and writes nothing when it goes on.
//!
//! Depend on `rejoinder-sqlite` beside `rejoinder`, from the same place, and say in `main` who keeps tasks:
//!
//! ```no_run
//! use rejoinder::{prelude::*, tasks::Tasks};
//! use rejoinder_sqlite::SqliteTasks;
//!
//! /// Render a video.
//! #[tool(task)]
//! async fn render(project: String) -> String {
//!     format!("https://farm.example/{project}.mp4")
//! }
//!
//! fn server() -> Server {
//!     Server::new("studio", "1.0.0").tools(tools![render])
//! }
//!
//! #[tokio::main]
//! async fn main() -> rejoinder::Result<()> {
//!     server().tasks(Tasks::new(SqliteTasks::at("tasks.db"))).serve_from_args().await
//! }
//! ```
//!
//! The server opens the file when it starts; `check`, `graph` and `--help` do not touch it:
//!
//! ```
//! use rejoinder::tasks::{LeaseKeeper, TaskKeeper};
//! use rejoinder_sqlite::SqliteTasks;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("tasks.db");
//! let keeper = LeaseKeeper::new(SqliteTasks::at(&path)); // touches no file
//! keeper.open().await?; // what a server does when it starts
//! assert!(path.exists());
//! # Ok(())
//! # }
//! ```

mod lock;
mod rows;
mod schema;
mod thread;

use std::{collections::HashMap, path::PathBuf, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::future::FutureExt;
use rejoinder::{
    BoxError,
    tasks::{
        AnsweredTask, BirthError, Claim, ClaimState, Claimant, Claimed, CreatedTask, KeeperError, KeeperFuture,
        NewTask, Parking, TaskClock, TaskEnd, TaskId, TaskOwner, TaskSnapshot, TaskStore, WorkerId,
    },
};
use rusqlite::Connection;
use tokio::sync::OnceCell;

use crate::{
    lock::WorkerLocks,
    rows::{Time, milliseconds, to_time},
    thread::Thread,
};

/// Keeps tasks in a SQLite file.
///
/// What it acknowledges is on the disk. Its clones are one store, and so are all that have the same path.
///
/// Beside the file there are, while servers run, those of SQLite itself (`-wal`, `-shm`) and one for each server
/// (`-worker-..`), by which others notice that it has died.
#[derive(Debug, Clone)]
pub struct SqliteTasks(Arc<File>);

#[derive(Debug)]
struct File {
    clock: TaskClock,
    locks: WorkerLocks,
    threads: OnceCell<Threads>,
}

#[derive(Debug)]
struct Threads {
    writer: Thread,
    reader: Thread,
}

/// How often a worker looks for what other processes made due.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

impl SqliteTasks {
    /// Keeps tasks in the file at this path, which is made if there is none. Nothing happens before it is opened.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        let (clock, locks) = (TaskClock::system(), WorkerLocks::beside(path.into()));
        Self(Arc::new(File { clock, locks, threads: OnceCell::new() }))
    }

    fn threads(&self) -> Result<&Threads, KeeperError> {
        self.0.threads.get().ok_or_else(|| KeeperError::new("the file is not open"))
    }

    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection, Time) -> Result<T, BoxError> + Send + 'static,
    ) -> Result<T, KeeperError> {
        let clock = self.0.clock.clone();
        self.threads()?.reader.run(move |connection| read(connection, to_time(clock.now()))).await
    }

    async fn write<T: Send + 'static>(
        &self,
        write: impl FnOnce(&Connection, Time) -> Result<T, BoxError> + Send + 'static,
    ) -> Result<T, KeeperError> {
        let clock = self.0.clock.clone();
        self.threads()?.writer.run(move |connection| write(connection, to_time(clock.now()))).await
    }
}

impl File {
    fn open(&self) -> Result<Threads, BoxError> {
        let [writer, reader] = [schema::connect(self.locks.database())?, schema::connect(self.locks.database())?];
        schema::migrate(&writer)?;
        let workers: Vec<_> = rows::others(&writer, WorkerId::from_bytes([0; 16]), 0)?;
        self.locks.remove_dead(&workers.into_iter().map(|(worker, _)| worker).collect::<Vec<_>>());
        let writer = Thread::start("rejoinder-write", "begin immediate", writer)?;
        Ok(Threads { writer, reader: Thread::start("rejoinder-read", "begin", reader)? })
    }
}

impl TaskStore for SqliteTasks {
    fn outlives_process(&self) -> bool {
        true
    }

    fn clock(&self) -> &TaskClock {
        &self.0.clock
    }

    fn open(&self) -> KeeperFuture<'_, ()> {
        let open = async || self.0.open().map_err(KeeperError::new);
        async move { self.0.threads.get_or_try_init(open).await.map(drop) }.boxed()
    }

    fn join(&self, worker: WorkerId, lease: Duration) -> KeeperFuture<'_, ()> {
        async move {
            self.0.locks.lock(worker).map_err(KeeperError::new)?;
            let joined = self.write(move |rows, now| rows::join(rows, worker, now + milliseconds(lease))).await;
            joined.inspect_err(|_| self.0.locks.remove(worker))
        }
        .boxed()
    }

    fn beat(&self, worker: WorkerId, lease: Duration) -> KeeperFuture<'_, Option<Vec<Claim>>> {
        async move {
            let held = self.write(move |rows, now| rows::beat(rows, worker, now + milliseconds(lease))).await?;
            if held.is_none() {
                self.0.locks.remove(worker);
            }
            Ok(held)
        }
        .boxed()
    }

    fn leave(&self, worker: WorkerId) -> KeeperFuture<'_, ()> {
        async move {
            self.write(move |rows, now| rows::leave(rows, worker, now)).await?;
            self.0.locks.remove(worker);
            Ok(())
        }
        .boxed()
    }

    fn create<'a>(
        &'a self,
        task: &'a NewTask,
        claimant: Option<&'a Claimant>,
    ) -> KeeperFuture<'a, CreatedTask, BirthError> {
        let (task, claimant) = (task.clone(), claimant.cloned());
        async move { self.write(move |rows, now| rows::create(rows, &task, claimant.as_ref(), now)).await? }.boxed()
    }

    fn claim<'a>(&'a self, claimant: &'a Claimant, most: usize) -> KeeperFuture<'a, Claimed> {
        let (looks, claims) = (claimant.clone(), claimant.clone());
        async move {
            let mut claimed = Claimed { look_again: Some(LOOK_AGAIN), ..Claimed::default() };
            // A writer would wait for the disk.
            if self.read(move |rows, now| rows::has_due(rows, &looks, now)).await? {
                claimed.tasks = self.write(move |rows, now| rows::claim_due(rows, &claims, most, now)).await?;
            }
            Ok(claimed)
        }
        .boxed()
    }

    fn get<'a>(&'a self, owner: &'a TaskOwner, id: &'a TaskId) -> KeeperFuture<'a, Option<TaskSnapshot>> {
        let (owner, id) = (*owner, *id);
        async move { self.read(move |rows, now| rows::get(rows, &owner, &id, now)).await }.boxed()
    }

    fn answer<'a>(
        &'a self,
        owner: &'a TaskOwner,
        id: &'a TaskId,
        answers: &'a [(Arc<str>, Bytes)],
        claimant: Option<&'a Claimant>,
    ) -> KeeperFuture<'a, Option<AnsweredTask>> {
        let (owner, id, answers, claimant) = (*owner, *id, answers.to_vec(), claimant.cloned());
        let answer = move |rows: &Connection, now| rows::answer(rows, &owner, &id, &answers, claimant.as_ref(), now);
        async move { self.write(answer).await }.boxed()
    }

    fn cancel<'a>(&'a self, owner: &'a TaskOwner, id: &'a TaskId) -> KeeperFuture<'a, Option<bool>> {
        let (owner, id) = (*owner, *id);
        async move { self.write(move |rows, now| rows::cancel(rows, &owner, &id, now)).await }.boxed()
    }

    fn record<'a>(&'a self, claim: &'a Claim, key: &'a str, step: &'a Bytes) -> KeeperFuture<'a, ClaimState> {
        let (claim, key, step) = (*claim, key.to_owned(), step.clone());
        async move { self.write(move |rows, _| rows::record(rows, &claim, &key, &step)).await }.boxed()
    }

    fn message<'a>(&'a self, claim: &'a Claim, message: &'a Bytes) -> KeeperFuture<'a, ClaimState> {
        let (claim, message) = (*claim, message.clone());
        async move { self.write(move |rows, now| rows::message(rows, &claim, &message, now)).await }.boxed()
    }

    fn park<'a>(&'a self, claim: &'a Claim, parking: &'a Parking) -> KeeperFuture<'a, ClaimState> {
        let (claim, parking) = (*claim, parking.clone());
        async move { self.write(move |rows, now| rows::park(rows, &claim, &parking, now)).await }.boxed()
    }

    fn finish<'a>(&'a self, claim: &'a Claim, end: &'a TaskEnd) -> KeeperFuture<'a, ClaimState> {
        let (claim, end) = (*claim, end.clone());
        async move { self.write(move |rows, now| rows::finish(rows, &claim, &end, now)).await }.boxed()
    }

    fn release<'a>(&'a self, claim: &'a Claim, after: Duration) -> KeeperFuture<'a, ()> {
        let (claim, after) = (*claim, milliseconds(after));
        async move { self.write(move |rows, now| rows::release(rows, &claim, now + after)).await }.boxed()
    }

    fn bury(&self, by: WorkerId, deaths: u32) -> KeeperFuture<'_, Vec<TaskId>> {
        async move {
            let others = self.read(move |rows, now| rows::others(rows, by, now)).await?;
            let lives: HashMap<_, _> =
                others.iter().map(|(worker, _)| (*worker, self.0.locks.lives(*worker))).collect();
            if !others.iter().any(|(worker, has_ended)| *has_ended || lives[worker] == Some(false)) {
                return Ok(Vec::new());
            }
            let (died, buried) = self.write(move |rows, now| rows::bury(rows, by, &lives, deaths, now)).await?;
            for worker in buried.into_iter().filter(|worker| self.0.locks.is_dead(*worker)) {
                self.0.locks.remove(worker);
            }
            Ok(died)
        }
        .boxed()
    }

    fn sweep(&self) -> KeeperFuture<'_, Vec<TaskId>> {
        async move {
            let mut all = Vec::new();
            let mut has_more = self.read(rows::has_expired).await?;
            while has_more {
                let swept;
                (swept, has_more) = self.write(rows::sweep).await?;
                all.extend(swept);
            }
            Ok(all)
        }
        .boxed()
    }
}
