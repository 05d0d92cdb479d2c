//! Worker processes on one keeper, and clients that follow tasks in them.

use std::{
    net::SocketAddr,
    path::Path,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::sleep;

use crate::{
    client::{Client, Failure},
    keeper::Keeper,
    process::Process,
    program::{Edition, QUESTION},
    worker::{Order, Setup},
    world::{Kind, Line, Watch, now},
};

/// How long anything is waited for. Nothing of this suite takes that long; it ends what hangs.
const LONGEST: Duration = Duration::from_secs(90);

/// The pause between two looks.
const LOOK: Duration = Duration::from_millis(20);

/// A task that a client follows.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) id: String,
    /// Its name in the log.
    pub(crate) order: String,
    /// Whether the answer was acknowledged.
    pub(crate) is_acked: bool,
    /// The task as it was when the client saw its end.
    pub(crate) end: Option<Value>,
    /// What went wrong, other than by a fault.
    pub(crate) trouble: Option<String>,
}

impl Seen {
    pub(crate) fn new(id: &str, order: String) -> Self {
        Self { id: id.to_owned(), order, is_acked: false, end: None, trouble: None }
    }

    /// What its client answers.
    pub(crate) fn count(&self) -> u32 {
        self.id.bytes().fold(7_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into())) % 1_000_000
    }
}

/// Processes, and where they are.
pub(crate) struct Fleet {
    folder: TempDir,
    setups: Vec<Setup>,
    slots: Vec<tokio::sync::Mutex<Option<Process>>>,
    /// Where clients reach them.
    addresses: Mutex<Vec<Option<SocketAddr>>>,
    client: Client,
    watch: Mutex<Watch>,
    names: AtomicUsize,
    /// How many requests had to be repeated.
    pub(crate) repeated: AtomicUsize,
}

impl Fleet {
    /// Starts a process for each edition.
    pub(crate) async fn start(editions: &[Edition], lossy: Option<u32>) -> Result<Arc<Self>> {
        let folder = tempfile::Builder::new().prefix("rejoinder-faults-").tempdir()?;
        let setup = |edition: &Edition| Setup {
            keeper: Keeper::new(folder.path()),
            folder: folder.path().to_owned(),
            edition: *edition,
            lossy,
        };
        let fleet = Self {
            setups: editions.iter().map(setup).collect(),
            slots: editions.iter().map(|_| tokio::sync::Mutex::default()).collect(),
            addresses: Mutex::new(vec![None; editions.len()]),
            client: Client::new()?,
            watch: Mutex::new(Watch::new(folder.path())),
            names: AtomicUsize::default(),
            repeated: AtomicUsize::default(),
            folder,
        };
        fleet.fill().await?;
        for slot in 0..editions.len() {
            fleet.until_it_runs_tasks(slot).await?;
        }
        Ok(Arc::new(fleet))
    }

    /// Makes tasks in a process until it runs one itself.
    async fn until_it_runs_tasks(&self, slot: usize) -> Result<()> {
        loop {
            let seen = self.create(slot, "order", None, 0).await?;
            let run = self.line(&seen.order, |line| line.kind == Kind::Run).await?;
            if self.slot_of(run.process).await? == slot {
                return Ok(());
            }
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Starts the process of a slot, which has none; when it was started.
    pub(crate) async fn restart(&self, slot: usize) -> Result<u64> {
        let started = now();
        let mut place = self.slots[slot].lock().await;
        let process = Process::start(&self.setups[slot]).await?;
        self.addresses()[slot] = Some(process.address);
        *place = Some(process);
        Ok(started)
    }

    /// Starts a process in every slot that has none.
    pub(crate) async fn fill(&self) -> Result<()> {
        for slot in 0..self.slots.len() {
            if self.slots[slot].lock().await.is_none() {
                self.restart(slot).await?;
            }
        }
        Ok(())
    }

    /// Kills the process of a slot; when.
    pub(crate) async fn kill(&self, slot: usize) -> Result<u64> {
        let mut process = self.take(slot).await?;
        let killed = now();
        process.kill().await?;
        Ok(killed)
    }

    /// Takes the process of a slot, so that no client reaches it any more.
    pub(crate) async fn take(&self, slot: usize) -> Result<Process> {
        self.addresses()[slot] = None;
        self.slots[slot].lock().await.take().context("there is a process")
    }

    /// Takes the process of a slot if it has ended by itself.
    pub(crate) async fn take_if_ended(&self, slot: usize) -> Option<Process> {
        let mut place = self.slots[slot].lock().await;
        let ended = place.take_if(Process::has_ended);
        if ended.is_some() {
            self.addresses()[slot] = None;
        }
        ended
    }

    /// Tells the process of a slot something.
    pub(crate) async fn order(&self, slot: usize, order: Order) -> Result<()> {
        self.slots[slot].lock().await.as_mut().context("there is a process")?.order(order).await
    }

    /// Puts a process back.
    pub(crate) async fn put(&self, slot: usize, process: Process) {
        self.addresses()[slot] = Some(process.address);
        *self.slots[slot].lock().await = Some(process);
    }

    /// The slot of a process.
    pub(crate) async fn slot_of(&self, process: u32) -> Result<usize> {
        for (slot, place) in self.slots.iter().enumerate() {
            if place.lock().await.as_ref().is_some_and(|here| here.id == process) {
                return Ok(slot);
            }
        }
        bail!("process {process} is gone")
    }

    fn addresses(&self) -> MutexGuard<'_, Vec<Option<SocketAddr>>> {
        self.addresses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where a process is: that of the slot, or any other.
    fn address(&self, slot: usize) -> Option<SocketAddr> {
        let addresses = self.addresses();
        let count = addresses.len();
        (0..count).find_map(|next| addresses[(slot + next) % count])
    }

    /// A name that no other task has.
    pub(crate) fn new_name(&self) -> String {
        format!("order-{}", self.names.fetch_add(1, Ordering::Relaxed))
    }

    pub(crate) fn close(&self, order: &str, place: &str) -> Result<()> {
        Watch::close(self.folder(), order, place)
    }

    pub(crate) fn open(&self, order: &str, place: &str) -> Result<()> {
        Watch::open(self.folder(), order, place)
    }

    /// What the processes have logged about themselves.
    pub(crate) fn logged(&self) -> Result<String> {
        std::fs::read_to_string(self.folder().join("workers.log")).context("reading what workers log")
    }

    /// All lines of the log.
    pub(crate) fn lines(&self) -> Result<Vec<Line>> {
        Ok(self.watch.lock().unwrap_or_else(PoisonError::into_inner).update()?.to_vec())
    }

    /// Waits for a line of a task.
    pub(crate) async fn line(&self, order: &str, is_wanted: impl Fn(&Line) -> bool) -> Result<Line> {
        let began = Instant::now();
        loop {
            let found = {
                let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
                watch.update()?.iter().find(|line| line.order == order && is_wanted(line)).cloned()
            };
            match found {
                Some(line) => return Ok(line),
                None => ensure!(began.elapsed() < LONGEST, "`{order}` does not come to where the test waits for it"),
            }
            sleep(LOOK / 4).await;
        }
    }

    /// Waits until a task waits at a gate.
    pub(crate) async fn held(&self, order: &str, place: &str, since: u64) -> Result<Line> {
        self.line(order, |line| line.kind == Kind::At && line.place == place && line.at >= since).await
    }

    /// Waits until a task runs in another process.
    pub(crate) async fn runs_elsewhere(&self, order: &str, than: u32, since: u64) -> Result<Line> {
        self.line(order, |line| line.kind == Kind::Run && line.process != than && line.at >= since).await
    }

    /// Sends a request to the process of a slot, once.
    pub(crate) async fn ask(&self, slot: usize, method: &str, params: Value) -> Result<Value, Failure> {
        match self.address(slot) {
            Some(address) => self.client.request(address, method, params).await,
            None => Err(Failure::Broken("no process is reachable".to_owned())),
        }
    }

    /// Sends a request until a process replies.
    pub(crate) async fn insist(&self, slot: usize, method: &str, params: Value) -> Result<Value, Failure> {
        let began = Instant::now();
        let mut tries = slot;
        loop {
            match self.ask(tries, method, params.clone()).await {
                Err(failure) if failure.is_passing() && began.elapsed() < LONGEST => {
                    self.repeated.fetch_add(1, Ordering::Relaxed);
                }
                done => return done,
            }
            tries += 1;
            sleep(LOOK).await;
        }
    }

    /// Makes a task in the process of a slot, or elsewhere if that cannot. A creation of which nobody knows whether it
    /// succeeded is repeated under another name.
    pub(crate) async fn create(&self, slot: usize, tool: &str, order: Option<String>, pause: u32) -> Result<Seen> {
        let began = Instant::now();
        let (mut tries, mut name) = (slot, order.unwrap_or_else(|| self.new_name()));
        loop {
            let params = json!({ "name": tool, "arguments": { "order": name, "pause": pause } });
            match self.ask(tries, "tools/call", params).await {
                Ok(made) => {
                    let id = made["taskId"].as_str().with_context(|| format!("not a task: {made}"))?;
                    return Ok(Seen::new(id, name));
                }
                Err(failure) => {
                    let is_over = began.elapsed() > LONGEST || !failure.is_passing();
                    ensure!(!is_over, "no task can be made: {failure}");
                    self.repeated.fetch_add(1, Ordering::Relaxed);
                }
            }
            (tries, name) = (tries + 1, self.new_name());
            sleep(LOOK).await;
        }
    }

    /// The task as it is now.
    pub(crate) async fn show(&self, slot: usize, seen: &Seen) -> Result<Value, Failure> {
        self.insist(slot, "tasks/get", json!({ "taskId": seen.id })).await
    }

    /// Waits until the task asks.
    pub(crate) async fn until_asked(&self, slot: usize, seen: &Seen) -> Result<()> {
        let began = Instant::now();
        loop {
            let shown = self.show(slot, seen).await.map_err(|failure| anyhow::anyhow!("{failure}"))?;
            if shown["inputRequests"].get(QUESTION).is_some() {
                return Ok(());
            }
            ensure!(began.elapsed() < LONGEST, "`{}` does not ask: {shown}", seen.order);
            sleep(LOOK).await;
        }
    }

    /// Answers the question, once, in the process of a slot.
    pub(crate) async fn answer_once(&self, slot: usize, seen: &mut Seen) -> Result<(), Failure> {
        self.answer_with(slot, seen, seen.count()).await?;
        seen.is_acked = true;
        Ok(())
    }

    async fn answer_with(&self, slot: usize, seen: &Seen, count: u32) -> Result<(), Failure> {
        let answer = json!({ QUESTION: { "action": "accept", "content": { "count": count } } });
        self.ask(slot, "tasks/update", json!({ "taskId": seen.id, "inputResponses": answer })).await.map(drop)
    }

    /// Follows a task to its end, and answers what it asks. What goes wrong is in what it returns.
    pub(crate) async fn follow(&self, slot: usize, mut seen: Seen) -> Seen {
        let began = Instant::now();
        loop {
            match self.show(slot, &seen).await {
                Err(failure) => {
                    seen.trouble = Some(format!("{failure}"));
                    return seen;
                }
                Ok(shown) if !matches!(shown["status"].as_str(), Some("working" | "input_required")) => {
                    seen.end = Some(shown);
                    return seen;
                }
                // What is acknowledged is never asked again.
                Ok(shown) if shown["inputRequests"].get(QUESTION).is_some() && seen.is_acked => {
                    seen.trouble = Some(format!("it asks again: {shown}"));
                    return seen;
                }
                Ok(shown) if shown["inputRequests"].get(QUESTION).is_some() => {
                    match self.answer_once(slot, &mut seen).await {
                        // The first answer counts.
                        Ok(()) => drop(self.answer_with(slot, &seen, seen.count() + 1).await),
                        // An answer without an acknowledgement may have been taken: the same one is sent again.
                        Err(failure) if failure.is_passing() => {
                            self.repeated.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(failure) => {
                            seen.trouble = Some(failure.to_string());
                            return seen;
                        }
                    }
                }
                Ok(shown) => {
                    if began.elapsed() > LONGEST {
                        seen.trouble = Some(format!("it does not end: {shown}"));
                        return seen;
                    }
                }
            }
            sleep(LOOK).await;
        }
    }

    /// Follows tasks to their ends.
    pub(crate) async fn follow_all(&self, tasks: Vec<Seen>) -> Vec<Seen> {
        let all = tasks.into_iter().enumerate().map(|(slot, seen)| self.follow(slot, seen));
        stream::iter(all).buffer_unordered(64).collect().await
    }

    /// Makes so many tasks, so many at a time, and follows them to their ends.
    pub(crate) async fn load(&self, tasks: usize, at_once: usize, pause: u32) -> Result<Vec<Seen>> {
        let one = async |slot| Ok(self.follow(slot, self.create(slot, "order", None, pause).await?).await);
        let all: Vec<Result<Seen>> = stream::iter((0..tasks).map(one)).buffer_unordered(at_once).collect().await;
        all.into_iter().collect()
    }
}
