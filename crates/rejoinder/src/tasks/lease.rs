//! The keeper that has workers lease the right to run tasks.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    panic::AssertUnwindSafe,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use futures_util::future::{BoxFuture, FutureExt, join_all};
use tokio::{
    sync::{Notify, OwnedSemaphorePermit, Semaphore},
    task::JoinSet,
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    BirthError, Claim, Claimant, ClaimedTask, KeeperError, KeeperFuture, NewTask, RunStop, TaskClock, TaskId,
    TaskJournal, TaskKeeper, TaskOwner, TaskRun, TaskRunner, TaskSnapshot, TaskStore, WorkerId, journal::RunJournal,
};
use crate::error::lock;

/// How long a worker that is not heard of keeps what it runs.
pub(super) const LEASE: Duration = Duration::from_secs(10);

/// How often a worker is heard.
pub(super) const BEAT: Duration = Duration::from_secs(2);

/// How often a worker that looks for due tasks looks after other workers too.
const TEND: Duration = Duration::from_secs(1);

/// When something that failed is tried again, at the latest.
pub(super) const RETRY: Duration = Duration::from_millis(500);

/// How often the processes that run a task may die without a new step.
const DEATHS: u32 = 3;

/// How long a claim may take. Then its acknowledgement counts as lost, and the claim is given back.
const CLAIM: Duration = Duration::from_secs(4);

/// How long runs that are handed over may take to close what they have opened.
const TEARDOWN: Duration = Duration::from_secs(5);

/// Keeps tasks in a [`TaskStore`] and has them run in this process.
///
/// A process that works is a *worker*: it has a lease of ten seconds in the store and renews it every two. When it dies or
/// freezes, others take its tasks when the lease has ended. Every claim of a task has a new epoch, and the store refuses
/// writes of an older one. So clocks decide only when a task is taken over, and never who may write.
///
/// ```
/// use std::{sync::Arc, time::Duration};
/// use rejoinder::tasks::{LeaseKeeper, MemoryTasks, NewTask, TaskId, TaskKeeper, TaskOwner, TaskPlaces};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let keeper = LeaseKeeper::new(MemoryTasks::new());
/// keeper.open().await?;
/// let owner = TaskOwner([0; 20]);
/// let task = NewTask {
///     id: TaskId::new(),
///     tool: "render".into(),
///     owner,
///     origin: None,
///     call: "a call".into(),
///     record: "its record".into(),
///     ttl: Duration::from_secs(3600),
///     keep: Duration::from_secs(600),
///     poll: Duration::from_secs(2),
///     most: TaskPlaces { in_all: 10, of_owner: 10 },
/// };
/// let born = keeper.create(task).await?;
/// assert_eq!(keeper.get(&owner, &born.id).await?, Some(born));
/// # Ok(())
/// # }
/// ```
pub struct LeaseKeeper {
    store: Arc<dyn TaskStore>,
    /// The worker of this process.
    worker: Mutex<Option<Arc<Worker>>>,
}

impl LeaseKeeper {
    /// Keeps tasks there.
    pub fn new(store: impl TaskStore) -> Self {
        Self { store: Arc::new(store), worker: Mutex::default() }
    }

    /// The clock that leases, sleeps and time limits are measured with.
    pub fn clock(&self) -> &TaskClock {
        self.store.clock()
    }

    fn worker(&self) -> Option<Arc<Worker>> {
        lock(&self.worker).clone()
    }
}

impl TaskKeeper for LeaseKeeper {
    fn outlives_process(&self) -> bool {
        self.store.outlives_process()
    }

    fn now(&self) -> SystemTime {
        self.clock().now()
    }

    fn open(&self) -> KeeperFuture<'_, ()> {
        self.store.open()
    }

    fn create(&self, task: NewTask) -> KeeperFuture<'_, TaskSnapshot, BirthError> {
        async move {
            let worker = self.worker();
            let slot = worker.as_ref().and_then(Worker::slot);
            let claimant = slot.as_ref().map(RunSlot::claimant);
            let created = self.store.create(&task, claimant.as_ref()).await?;
            if let Some(worker) = worker {
                worker.start_or_look(created.claimed, slot);
            }
            Ok(created.snapshot)
        }
        .boxed()
    }

    fn get<'a>(&'a self, owner: &'a TaskOwner, id: &'a TaskId) -> KeeperFuture<'a, Option<TaskSnapshot>> {
        self.store.get(owner, id)
    }

    fn answer<'a>(
        &'a self,
        owner: &'a TaskOwner,
        id: &'a TaskId,
        answers: Vec<(Arc<str>, Bytes)>,
    ) -> KeeperFuture<'a, Option<()>> {
        async move {
            let worker = self.worker();
            let slot = worker.as_ref().and_then(Worker::slot);
            let claimant = slot.as_ref().map(RunSlot::claimant);
            let Some(answered) = self.store.answer(owner, id, &answers, claimant.as_ref()).await? else {
                return Ok(None);
            };
            if let Some(worker) = worker.filter(|_| answered.is_changed) {
                worker.runner.changed(id);
                worker.start_or_look(answered.claimed, slot);
            }
            Ok(Some(()))
        }
        .boxed()
    }

    fn cancel<'a>(&'a self, owner: &'a TaskOwner, id: &'a TaskId) -> KeeperFuture<'a, Option<()>> {
        async move {
            let Some(is_changed) = self.store.cancel(owner, id).await? else { return Ok(None) };
            if let Some(worker) = self.worker().filter(|_| is_changed) {
                worker.has_ended(id);
            }
            Ok(Some(()))
        }
        .boxed()
    }

    fn work(
        self: Arc<Self>,
        runner: Arc<dyn TaskRunner>,
        at_once: usize,
        stop: CancellationToken,
        grace: Duration,
    ) -> BoxFuture<'static, ()> {
        async move {
            let worker = Worker::new(Arc::clone(&self.store), runner, at_once);
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                () = worker.join() => {}
            }
            *lock(&self.worker) = Some(Arc::clone(&worker));
            let working = Working { keeper: self, worker, beating: CancellationToken::new() };
            let beat = working.beating.clone().run_until_cancelled_owned(Arc::clone(&working.worker).beat());
            if let Err(error) = in_background(beat, working.worker.store.outlives_process()) {
                tracing::error!(%error, "tasks do not run: no thread for their worker");
                return;
            }
            tokio::select! {
                biased;
                () = stop.cancelled() => {}
                () = working.worker.claim_tasks() => {}
            }
            working.worker.stop(grace).await;
            working.beating.cancel();
            working.worker.leave().await;
        }
        .boxed()
    }
}

impl fmt::Debug for LeaseKeeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeaseKeeper").field("store", &self.store).finish_non_exhaustive()
    }
}

/// Runs a beat. On a thread of its own it goes on while functions block the threads of the runtime.
fn in_background(beat: impl Future<Output = Option<()>> + Send + 'static, on_thread: bool) -> std::io::Result<()> {
    if !on_thread {
        tokio::spawn(beat);
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let beat = move || {
        runtime.block_on(beat);
    };
    std::thread::Builder::new().name("rejoinder-tasks".to_owned()).spawn(beat).map(drop)
}

/// A worker at work. When it is dropped its runs are dropped too, and nothing is said to the store: as if the process died.
struct Working {
    keeper: Arc<LeaseKeeper>,
    worker: Arc<Worker>,
    beating: CancellationToken,
}

impl Drop for Working {
    fn drop(&mut self) {
        self.beating.cancel();
        lock(&self.keeper.worker).take_if(|worker| Arc::ptr_eq(worker, &self.worker));
        let runs = lock(&self.worker.runs).take();
        drop(runs);
    }
}

/// What runs tasks in this process.
pub(super) struct Worker {
    pub(super) store: Arc<dyn TaskStore>,
    pub(super) runner: Arc<dyn TaskRunner>,
    lease: Mutex<WorkerLease>,
    at_once: u32,
    slots: Arc<Semaphore>,
    /// More tasks may be due than there are slots.
    is_behind: AtomicBool,
    is_stopping: AtomicBool,
    hands_over: AtomicBool,
    /// Whether it is time to look after other workers and times.
    tends: AtomicBool,
    /// Whether the store has failed and this is in the log.
    is_failing: AtomicBool,
    pub(super) wake: Notify,
    /// `None` when it is over.
    runs: Mutex<Option<JoinSet<()>>>,
    journals: Mutex<BTreeMap<Claim, Arc<RunJournal>>>,
}

struct WorkerLease {
    worker: WorkerId,
    /// By the clock of this process, which nobody sets.
    until: Instant,
}

/// Room for one run. What is waiting takes it when it is dropped.
struct RunSlot {
    worker: Arc<Worker>,
    permit: Option<OwnedSemaphorePermit>,
    /// When the claim of its task was sent.
    since: Instant,
}

impl Drop for RunSlot {
    fn drop(&mut self) {
        self.permit = None;
        if self.worker.is_behind.load(Ordering::SeqCst) {
            self.worker.wake.notify_one();
        }
    }
}

impl RunSlot {
    fn claimant(&self) -> Claimant {
        self.worker.claimant()
    }
}

impl Worker {
    fn new(store: Arc<dyn TaskStore>, runner: Arc<dyn TaskRunner>, at_once: usize) -> Arc<Self> {
        let at_once = u32::try_from(at_once.min(Semaphore::MAX_PERMITS)).unwrap_or(u32::MAX);
        Arc::new(Self {
            store,
            runner,
            lease: Mutex::new(WorkerLease { worker: WorkerId::new(), until: Instant::now() }),
            at_once,
            slots: Arc::new(Semaphore::new(at_once as usize)),
            is_behind: AtomicBool::new(false),
            is_stopping: AtomicBool::new(false),
            hands_over: AtomicBool::new(false),
            tends: AtomicBool::new(true),
            is_failing: AtomicBool::new(false),
            wake: Notify::new(),
            runs: Mutex::new(Some(JoinSet::new())),
            journals: Mutex::default(),
        })
    }

    /// What the store returned, unless it failed. The log says so once.
    pub(super) fn ok<T>(&self, result: Result<T, KeeperError>) -> Option<T> {
        match result {
            Ok(value) => {
                if self.is_failing.swap(false, Ordering::Relaxed) {
                    tracing::info!("the store of tasks is back");
                }
                Some(value)
            }
            Err(error) => {
                if !self.is_failing.swap(true, Ordering::Relaxed) {
                    tracing::warn!(%error, "the store of tasks failed, trying again");
                }
                None
            }
        }
    }

    /// Begins a lease, under a new id.
    async fn join(&self) {
        loop {
            let (worker, now) = (WorkerId::new(), Instant::now());
            if self.ok(self.store.join(worker, LEASE).await).is_some() {
                *lock(&self.lease) = WorkerLease { worker, until: now + LEASE };
                return;
            }
            sleep(RETRY).await;
        }
    }

    fn has_lease(&self) -> bool {
        Instant::now() < lock(&self.lease).until
    }

    pub(super) fn has_lease_as(&self, worker: WorkerId) -> bool {
        let lease = lock(&self.lease);
        lease.worker == worker && Instant::now() < lease.until
    }

    fn claimant(&self) -> Claimant {
        let (worker, of_owner) = (lock(&self.lease).worker, self.at_once.div_ceil(2) as usize);
        Claimant { worker, tools: self.runner.tools(), of_owner }
    }

    fn journals(&self) -> Vec<Arc<RunJournal>> {
        lock(&self.journals).values().cloned().collect()
    }

    /// Tells the runs of a task that it has ended.
    fn has_ended(&self, id: &TaskId) {
        for journal in self.journals().iter().filter(|journal| journal.claim().id == *id) {
            journal.stop(RunStop::Ended);
        }
        self.runner.changed(id);
    }

    /// A slot for a task that is about to be due, if no other waits for it.
    fn slot(self: &Arc<Self>) -> Option<RunSlot> {
        let [is_behind, is_stopping] = [&self.is_behind, &self.is_stopping].map(|is| is.load(Ordering::SeqCst));
        if is_behind || is_stopping || !self.has_lease() {
            return None;
        }
        let permit = Arc::clone(&self.slots).try_acquire_owned().ok();
        if permit.is_none() {
            self.is_behind.store(true, Ordering::SeqCst);
        }
        permit.map(|permit| RunSlot { worker: Arc::clone(self), permit: Some(permit), since: Instant::now() })
    }

    /// Starts what was claimed. If nothing was, a task may be due all the same.
    fn start_or_look(self: &Arc<Self>, claimed: Option<ClaimedTask>, slot: Option<RunSlot>) {
        match claimed.zip(slot) {
            Some((task, slot)) => self.start(task, slot),
            None => self.wake.notify_one(),
        }
    }

    fn start(self: &Arc<Self>, task: ClaimedTask, slot: RunSlot) {
        if let Some(runs) = &mut *lock(&self.runs) {
            while runs.try_join_next().is_some() {}
            if slot.since.elapsed() < CLAIM {
                // From now on, because functions may block all threads for a while before it is polled.
                let listed = Listed::new(task.claim, task.run.owner, slot);
                runs.spawn(Arc::clone(self).run(task.run, listed));
            }
        }
    }

    /// Claims due tasks for ever.
    async fn claim_tasks(self: &Arc<Self>) {
        let mut tended = Instant::now();
        loop {
            if self.tends.swap(false, Ordering::Relaxed) || tended.elapsed() >= TEND {
                self.tend().await;
                tended = Instant::now();
            }
            let look_again = match self.claim_due().await {
                Some(look_again) => look_again.unwrap_or(Duration::MAX),
                None => RETRY,
            };
            tokio::select! {
                biased;
                () = self.wake.notified() => {}
                () = self.clock().sleep(look_again) => {}
            }
        }
    }

    pub(super) fn clock(&self) -> &TaskClock {
        self.store.clock()
    }

    /// Looks after dead workers and the times of tasks.
    async fn tend(&self) {
        let worker = lock(&self.lease).worker;
        for id in self.ok(self.store.bury(worker, DEATHS).await).into_iter().flatten() {
            self.has_ended(&id);
        }
        for id in self.ok(self.store.sweep().await).into_iter().flatten() {
            self.has_ended(&id);
        }
    }

    /// Fills the slots; when to do that again, unless the store fails.
    async fn claim_due(self: &Arc<Self>) -> Option<Option<Duration>> {
        while self.has_lease() {
            // Before it looks for slots: one that becomes free afterwards wakes it.
            self.is_behind.store(self.at_once > 0, Ordering::SeqCst);
            let free = self.slots.available_permits();
            let permits = u32::try_from(free).ok().filter(|free| *free > 0);
            let permits = permits.and_then(|free| Arc::clone(&self.slots).try_acquire_many_owned(free).ok());
            let Some(mut permits) = permits else { return Some(None) };
            let since = Instant::now();
            let claimed = self.ok(self.store.claim(&self.claimant(), free).await)?;
            let is_full = claimed.tasks.len() >= free;
            self.is_behind.store(is_full, Ordering::SeqCst);
            for task in claimed.tasks {
                let permit = permits.split(1);
                self.start(task, RunSlot { worker: Arc::clone(self), permit, since });
            }
            if !is_full {
                return Some(claimed.look_again);
            }
        }
        None
    }

    /// Renews the lease for ever.
    async fn beat(self: Arc<Self>) {
        let mut unknown = BTreeMap::new();
        let mut pause = BEAT;
        loop {
            let (worker, until) = {
                let lease = lock(&self.lease);
                (lease.worker, lease.until)
            };
            self.clock().sleep(pause.min(until.saturating_duration_since(Instant::now()))).await;
            let (journals, sent) = (self.journals(), Instant::now());
            let left = until.saturating_duration_since(sent);
            let beaten = timeout(left, self.store.beat(worker, LEASE)).await;
            let held = match beaten.unwrap_or_else(|_| Err(KeeperError::new("no answer"))) {
                Ok(Some(held)) if Instant::now() < until => held,
                Err(error) if Instant::now() < until => {
                    self.ok::<()>(Err(error));
                    pause = RETRY;
                    continue;
                }
                // Its lease has ended, here or there.
                _ => {
                    lock(&self.lease).until = sent;
                    tracing::warn!("the worker of tasks was not heard for too long: others run its tasks");
                    for journal in self.journals() {
                        journal.stop(RunStop::Lost);
                    }
                    // Nobody has died: what it still holds is due at once, and others need not wait for its end.
                    let _ = timeout(BEAT, self.store.leave(worker)).await;
                    self.join().await;
                    self.look_after();
                    continue;
                }
            };
            pause = BEAT;
            lock(&self.lease).until = sent + LEASE;
            let held = BTreeSet::from_iter(held);
            let lost = journals.iter().filter(|journal| !held.contains(journal.claim()) && journal.is_running());
            join_all(lost.map(|journal| journal.is_fenced_off())).await;
            // Claims whose acknowledgement was lost: nobody runs them.
            let known = lock(&self.journals).keys().copied().collect();
            let not_known = &held - &known;
            unknown.retain(|claim, _| not_known.contains(claim));
            for claim in not_known {
                unknown.entry(claim).or_insert_with(Instant::now);
            }
            let orphans = unknown.iter().filter(|(_, since)| since.elapsed() >= CLAIM);
            let given_back = orphans.map(|(claim, _)| self.store.release(claim, Duration::ZERO));
            let _ = timeout(BEAT, join_all(given_back)).await;
            self.look_after();
        }
    }

    fn look_after(&self) {
        self.tends.store(true, Ordering::Relaxed);
        self.wake.notify_one();
    }

    /// Takes no more tasks, waits for those that run, and hands over the others.
    async fn stop(&self, grace: Duration) {
        self.is_stopping.store(true, Ordering::SeqCst);
        let all = || self.slots.acquire_many(self.at_once);
        if timeout(grace, all()).await.is_err() {
            self.hands_over.store(true, Ordering::SeqCst);
            // What is about to be written is not cut off: its outcome would not be known.
            for journal in self.journals().iter().filter(|journal| journal.is_running()) {
                journal.stop(RunStop::HandedOver);
            }
            let _ = timeout(TEARDOWN, all()).await;
        }
        // Functions that still block a thread are not waited for.
        let runs = lock(&self.runs).take();
        drop(runs);
    }

    /// Gives up all claims, those too whose acknowledgement was lost.
    async fn leave(&self) {
        let worker = lock(&self.lease).worker;
        let left = timeout(TEARDOWN, self.store.leave(worker)).await;
        if left.is_ok_and(|left| self.ok(left).is_some()) {
            return;
        }
        tracing::warn!("the worker of tasks could not leave the store: others run its tasks when its lease has ended");
    }

    async fn run(self: Arc<Self>, run: TaskRun, listed: Listed) {
        let journal = &listed.journal;
        let run = async { self.runner.run(run, Arc::clone(journal) as Arc<dyn TaskJournal>).await };
        let ended = tokio::select! {
            biased;
            ended = AssertUnwindSafe(run).catch_unwind() => ended,
            () = journal.say_for_ever() => Ok(()),
        };
        if ended.is_err() {
            tracing::error!("a run of a task panicked outside of its function");
        }
        if !journal.has_ended() {
            journal.hand_back().await;
        }
        drop(listed);
    }
}

/// A run in the list of its worker. Its slot is free when it is off the list.
struct Listed {
    journal: Arc<RunJournal>,
    slot: RunSlot,
}

impl Listed {
    fn new(claim: Claim, owner: TaskOwner, slot: RunSlot) -> Self {
        let worker = Arc::clone(&slot.worker);
        let journal = RunJournal::new(Arc::clone(&worker), claim, owner);
        lock(&worker.journals).insert(claim, Arc::clone(&journal));
        if worker.hands_over.load(Ordering::SeqCst) {
            journal.stop(RunStop::HandedOver);
        }
        Self { journal, slot }
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        lock(&self.slot.worker.journals).remove(self.journal.claim());
    }
}
