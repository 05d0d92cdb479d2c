//! What a run tells the store that keeps its task.

use std::{
    future::pending,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use futures_util::future::{BoxFuture, FutureExt};
use tokio::{
    sync::Notify,
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    Claim, ClaimState, KeeperFuture, RunEnd, RunStop, TaskEnd, TaskJournal, TaskOwner, TaskState, TaskStore,
    lease::{BEAT, LEASE, RETRY, Worker},
};
use crate::error::lock;

/// When a task that could not run here is due again.
const HANDED_BACK: Duration = Duration::from_secs(5);

/// How often a message is written.
const SAY: Duration = Duration::from_secs(1);

/// What a run tells the store.
pub(super) struct RunJournal {
    worker: Arc<Worker>,
    claim: Claim,
    owner: TaskOwner,
    stop: CancellationToken,
    why: OnceLock<RunStop>,
    /// Its last write is on the way.
    is_ending: AtomicBool,
    has_ended: AtomicBool,
    /// What is to be said next.
    message: Mutex<Option<Bytes>>,
    has_message: Notify,
    /// Messages are written one after the other.
    saying: tokio::sync::Mutex<()>,
}

impl RunJournal {
    pub(super) fn new(worker: Arc<Worker>, claim: Claim, owner: TaskOwner) -> Arc<Self> {
        Arc::new(Self {
            worker,
            claim,
            owner,
            stop: CancellationToken::new(),
            why: OnceLock::new(),
            is_ending: AtomicBool::new(false),
            has_ended: AtomicBool::new(false),
            message: Mutex::default(),
            has_message: Notify::new(),
            saying: tokio::sync::Mutex::default(),
        })
    }

    /// The task, and the right to write to it.
    pub(super) fn claim(&self) -> &Claim {
        &self.claim
    }

    /// Whether its last write is durable.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::SeqCst)
    }

    fn store(&self) -> &dyn TaskStore {
        &*self.worker.store
    }

    pub(super) fn stop(&self, why: RunStop) {
        let _ = self.why.set(why);
        self.stop.cancel();
    }

    /// Whether it holds its claim as far as it knows, and is not about to give it up.
    pub(super) fn is_running(&self) -> bool {
        !self.stop.is_cancelled() && !self.is_ending.load(Ordering::SeqCst)
    }

    /// The store says that the claim is lost: because the task has ended, or somebody else has it.
    pub(super) async fn is_fenced_off(&self) {
        let task = timeout(BEAT, self.store().get(&self.owner, &self.claim.id)).await;
        let has_ended = match task {
            Ok(Ok(Some(task))) => matches!(task.state, TaskState::Ended(_)),
            Ok(Ok(None)) => true,
            Ok(Err(_)) | Err(_) => false,
        };
        self.stop(if has_ended { RunStop::Ended } else { RunStop::Lost });
    }

    /// Writes, again and again, until the store has it. Never ready once the run must stop.
    async fn write<'a>(&'a self, write: impl Fn() -> KeeperFuture<'a, ClaimState>) {
        let is_written = tokio::select! {
           biased;
            () = self.stop.cancelled() => false,
            is_written = self.try_write(write) => is_written,
        };
        if !is_written || self.stop.is_cancelled() {
            pending::<()>().await;
        }
    }

    async fn try_write<'a>(&'a self, write: impl Fn() -> KeeperFuture<'a, ClaimState>) -> bool {
        let (began, mut pause) = (Instant::now(), RETRY / 16);
        while self.worker.has_lease_as(self.claim.worker) && began.elapsed() < LEASE {
            match self.worker.ok(write().await) {
                Some(ClaimState::Held) => return true,
                Some(ClaimState::Lost) => {
                    self.is_fenced_off().await;
                    return false;
                }
                None => sleep(pause).await,
            }
            pause = RETRY.min(pause * 2);
        }
        self.stop(RunStop::Lost);
        false
    }

    /// Writes what is to be said.
    async fn say_now(&self) {
        let _saying = self.saying.lock().await;
        let message = lock(&self.message).take();
        if let Some(message) = message {
            self.write(|| self.store().message(&self.claim, &message)).await;
            self.worker.runner.changed(&self.claim.id);
        }
    }

    pub(super) async fn say_for_ever(&self) {
        loop {
            self.has_message.notified().await;
            // A run that catches up with an earlier one says again what that one has said.
            sleep(SAY / 8).await;
            self.say_now().await;
            sleep(SAY).await;
        }
    }

    /// The run told nothing: it cannot run here.
    pub(super) async fn hand_back(&self) {
        match self.why.get() {
            // The worker leaves, which says the same of all its tasks.
            Some(RunStop::Ended | RunStop::HandedOver) => {}
            // One attempt, for the case that the claim still holds.
            Some(RunStop::Lost) => {
                let _ = timeout(BEAT, self.store().release(&self.claim, HANDED_BACK)).await;
            }
            None => {
                let release = async || self.store().release(&self.claim, HANDED_BACK).await.map(|()| ClaimState::Held);
                tokio::select! {
                    biased;
                    () = self.stop.cancelled() => {}
                    _ = self.try_write(|| release().boxed()) => {}
                }
            }
        }
    }
}

impl TaskJournal for RunJournal {
    fn record<'a>(&'a self, key: &'a str, step: Bytes) -> BoxFuture<'a, ()> {
        async move { self.write(|| self.store().record(&self.claim, key, &step)).await }.boxed()
    }

    fn end(&self, end: RunEnd) -> BoxFuture<'_, ()> {
        async move {
            self.say_now().await;
            self.is_ending.store(true, Ordering::SeqCst);
            let finish = async |end| self.write(|| self.store().finish(&self.claim, &end)).await;
            match end {
                RunEnd::Completed(result) => finish(TaskEnd::Completed(result)).await,
                RunEnd::Failed(error) => finish(TaskEnd::Failed(error)).await,
                RunEnd::Parked(parking) => self.write(|| self.store().park(&self.claim, &parking)).await,
            }
            self.has_ended.store(true, Ordering::SeqCst);
            self.worker.runner.changed(&self.claim.id);
            self.worker.wake.notify_one();
        }
        .boxed()
    }

    fn say(&self, message: Bytes) {
        *lock(&self.message) = Some(message);
        self.has_message.notify_one();
    }

    fn holds(&self) -> bool {
        let holds = !self.stop.is_cancelled() && self.worker.has_lease_as(self.claim.worker);
        if !holds {
            // The lease may be renewed at this very moment, and then nobody else would stop the run.
            self.stop(RunStop::Lost);
        }
        holds
    }

    fn now(&self) -> SystemTime {
        self.worker.clock().now()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'_, ()> {
        self.worker.clock().sleep(duration).boxed()
    }

    fn stopped(&self) -> BoxFuture<'_, RunStop> {
        async move {
            self.stop.cancelled().await;
            *self.why.get().expect("it is set before")
        }
        .boxed()
    }
}
