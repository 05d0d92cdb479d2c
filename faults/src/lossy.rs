//! A store whose acknowledgements are lost.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use futures_util::future::FutureExt;
use rejoinder::tasks::{
    AnsweredTask, BirthError, Claim, ClaimState, Claimant, Claimed, CreatedTask, KeeperError, KeeperFuture, NewTask,
    Parking, TaskClock, TaskEnd, TaskId, TaskOwner, TaskSnapshot, TaskStore, WorkerId,
};

/// A store that commits, and then returns an error for every so many of its operations, as when a connection breaks.
#[derive(Debug)]
pub(crate) struct Lossy<S> {
    store: S,
    every: u32,
    count: AtomicU32,
}

impl<S: TaskStore> Lossy<S> {
    pub(crate) fn new(store: S, every: u32) -> Self {
        Self { store, every, count: AtomicU32::new(0) }
    }

    /// What a write returns.
    fn lossy<'a, T: 'a, E: From<KeeperError> + 'a>(&'a self, write: KeeperFuture<'a, T, E>) -> KeeperFuture<'a, T, E> {
        async move {
            let written = write.await?;
            if self.count.fetch_add(1, Ordering::Relaxed) % self.every == self.every - 1 {
                return Err(KeeperError::new("the acknowledgement was lost").into());
            }
            Ok(written)
        }
        .boxed()
    }
}

impl<S: TaskStore> TaskStore for Lossy<S> {
    fn outlives_process(&self) -> bool {
        self.store.outlives_process()
    }

    fn clock(&self) -> &TaskClock {
        self.store.clock()
    }

    fn open(&self) -> KeeperFuture<'_, ()> {
        self.store.open()
    }

    fn join(&self, worker: WorkerId, lease: Duration) -> KeeperFuture<'_, ()> {
        self.lossy(self.store.join(worker, lease))
    }

    fn beat(&self, worker: WorkerId, lease: Duration) -> KeeperFuture<'_, Option<Vec<Claim>>> {
        self.lossy(self.store.beat(worker, lease))
    }

    fn leave(&self, worker: WorkerId) -> KeeperFuture<'_, ()> {
        self.lossy(self.store.leave(worker))
    }

    fn create<'a>(
        &'a self,
        task: &'a NewTask,
        claimant: Option<&'a Claimant>,
    ) -> KeeperFuture<'a, CreatedTask, BirthError> {
        self.lossy(self.store.create(task, claimant))
    }

    fn claim<'a>(&'a self, claimant: &'a Claimant, most: usize) -> KeeperFuture<'a, Claimed> {
        self.lossy(self.store.claim(claimant, most))
    }

    fn get<'a>(&'a self, owner: &'a TaskOwner, id: &'a TaskId) -> KeeperFuture<'a, Option<TaskSnapshot>> {
        self.store.get(owner, id)
    }

    fn answer<'a>(
        &'a self,
        owner: &'a TaskOwner,
        id: &'a TaskId,
        answers: &'a [(Arc<str>, Bytes)],
        claimant: Option<&'a Claimant>,
    ) -> KeeperFuture<'a, Option<AnsweredTask>> {
        self.lossy(self.store.answer(owner, id, answers, claimant))
    }

    fn cancel<'a>(&'a self, owner: &'a TaskOwner, id: &'a TaskId) -> KeeperFuture<'a, Option<bool>> {
        self.lossy(self.store.cancel(owner, id))
    }

    fn record<'a>(&'a self, claim: &'a Claim, key: &'a str, step: &'a Bytes) -> KeeperFuture<'a, ClaimState> {
        self.lossy(self.store.record(claim, key, step))
    }

    fn message<'a>(&'a self, claim: &'a Claim, message: &'a Bytes) -> KeeperFuture<'a, ClaimState> {
        self.lossy(self.store.message(claim, message))
    }

    fn park<'a>(&'a self, claim: &'a Claim, parking: &'a Parking) -> KeeperFuture<'a, ClaimState> {
        self.lossy(self.store.park(claim, parking))
    }

    fn finish<'a>(&'a self, claim: &'a Claim, end: &'a TaskEnd) -> KeeperFuture<'a, ClaimState> {
        self.lossy(self.store.finish(claim, end))
    }

    fn release<'a>(&'a self, claim: &'a Claim, after: Duration) -> KeeperFuture<'a, ()> {
        self.lossy(self.store.release(claim, after))
    }

    fn bury(&self, by: WorkerId, deaths: u32) -> KeeperFuture<'_, Vec<TaskId>> {
        self.lossy(self.store.bury(by, deaths))
    }

    fn sweep(&self) -> KeeperFuture<'_, Vec<TaskId>> {
        self.lossy(self.store.sweep())
    }
}
