//! The contract on the memory store, and on stores that break it.

use std::{panic::AssertUnwindSafe, sync::Mutex};

use futures_util::future::FutureExt;

use super::*;
use crate::{
    error::lock,
    tasks::{AnsweredTask, BirthError, Claimed, KeeperFuture, MemoryTasks, TaskClock, TaskEnd},
};

#[tokio::test]
async fn memory_keeps_the_contract() {
    contract(async || MemoryTasks::new()).await;
}

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    ForgetsTheEpoch,
    AcknowledgesEarly,
    ReusesKeys,
}

/// Memory with a fault.
struct Broken {
    memory: MemoryTasks,
    fault: Fault,
    /// The last claim of each task.
    claims: Mutex<Vec<Claim>>,
}

impl Broken {
    fn new(fault: Fault) -> Self {
        Self { memory: MemoryTasks::new(), fault, claims: Mutex::default() }
    }

    fn note<'a>(&self, claimed: impl IntoIterator<Item = &'a ClaimedTask>) {
        lock(&self.claims).extend(claimed.into_iter().map(|task| task.claim));
    }

    /// The claim that the write is made with.
    fn claim(&self, claim: &Claim) -> Claim {
        let is_newer = |newer: &&Claim| newer.id == claim.id && newer.worker == claim.worker;
        let forgets = self.fault == Fault::ForgetsTheEpoch;
        lock(&self.claims).iter().rev().find(is_newer).copied().filter(|_| forgets).unwrap_or(*claim)
    }
}

impl TaskStore for Broken {
    fn outlives_process(&self) -> bool {
        false
    }

    fn clock(&self) -> &TaskClock {
        self.memory.clock()
    }

    fn open(&self) -> KeeperFuture<'_, ()> {
        self.memory.open()
    }

    fn join(&self, worker: WorkerId, lease: Duration) -> KeeperFuture<'_, ()> {
        self.memory.join(worker, lease)
    }

    fn beat(&self, worker: WorkerId, lease: Duration) -> KeeperFuture<'_, Option<Vec<Claim>>> {
        self.memory.beat(worker, lease)
    }

    fn leave(&self, worker: WorkerId) -> KeeperFuture<'_, ()> {
        self.memory.leave(worker)
    }

    fn create<'a>(
        &'a self,
        task: &'a NewTask,
        claimant: Option<&'a Claimant>,
    ) -> KeeperFuture<'a, CreatedTask, BirthError> {
        async move { self.memory.create(task, claimant).await.inspect(|created| self.note(&created.claimed)) }.boxed()
    }

    fn claim<'a>(&'a self, claimant: &'a Claimant, most: usize) -> KeeperFuture<'a, Claimed> {
        async move { self.memory.claim(claimant, most).await.inspect(|claimed| self.note(&claimed.tasks)) }.boxed()
    }

    fn get<'a>(&'a self, owner: &'a TaskOwner, id: &'a TaskId) -> KeeperFuture<'a, Option<TaskSnapshot>> {
        self.memory.get(owner, id)
    }

    fn answer<'a>(
        &'a self,
        owner: &'a TaskOwner,
        id: &'a TaskId,
        answers: &'a [(Arc<str>, Bytes)],
        claimant: Option<&'a Claimant>,
    ) -> KeeperFuture<'a, Option<AnsweredTask>> {
        if self.fault != Fault::AcknowledgesEarly {
            return self.memory.answer(owner, id, answers, claimant);
        }
        let (memory, owner, id, answers) = (self.memory.clone(), *owner, *id, answers.to_vec());
        let later = async move {
            tokio::task::yield_now().await;
            memory.answer(&owner, &id, &answers, None).await
        };
        tokio::spawn(later);
        async move { Ok(Some(AnsweredTask { is_changed: true, claimed: None })) }.boxed()
    }

    fn cancel<'a>(&'a self, owner: &'a TaskOwner, id: &'a TaskId) -> KeeperFuture<'a, Option<bool>> {
        self.memory.cancel(owner, id)
    }

    fn record<'a>(&'a self, claim: &'a Claim, key: &'a str, step: &'a Bytes) -> KeeperFuture<'a, ClaimState> {
        async move { self.memory.record(&self.claim(claim), key, step).await }.boxed()
    }

    fn message<'a>(&'a self, claim: &'a Claim, message: &'a Bytes) -> KeeperFuture<'a, ClaimState> {
        async move { self.memory.message(&self.claim(claim), message).await }.boxed()
    }

    fn park<'a>(&'a self, claim: &'a Claim, parking: &'a Parking) -> KeeperFuture<'a, ClaimState> {
        async move {
            let parked = self.memory.park(&self.claim(claim), parking).await;
            if self.fault != Fault::ReusesKeys || parked.is_ok() {
                return parked;
            }
            // The question is the one that was asked before.
            let parking = Parking { asked: Vec::new(), ..parking.clone() };
            self.memory.park(claim, &parking).await
        }
        .boxed()
    }

    fn finish<'a>(&'a self, claim: &'a Claim, end: &'a TaskEnd) -> KeeperFuture<'a, ClaimState> {
        async move { self.memory.finish(&self.claim(claim), end).await }.boxed()
    }

    fn release<'a>(&'a self, claim: &'a Claim, after: Duration) -> KeeperFuture<'a, ()> {
        async move { self.memory.release(&self.claim(claim), after).await }.boxed()
    }

    fn bury(&self, by: WorkerId, deaths: u32) -> KeeperFuture<'_, Vec<TaskId>> {
        self.memory.bury(by, deaths)
    }

    fn sweep(&self) -> KeeperFuture<'_, Vec<TaskId>> {
        self.memory.sweep()
    }
}

#[tokio::test]
async fn broken_stores_do_not_keep_it() {
    for (fault, part) in [
        (Fault::ForgetsTheEpoch, "with an earlier epoch"),
        (Fault::AcknowledgesEarly, "an answer is read"),
        (Fault::ReusesKeys, "a key is used once"),
    ] {
        let checked = AssertUnwindSafe(contract(async || Broken::new(fault))).catch_unwind().await;
        let panic = checked.expect_err("it is broken");
        let said = panic.downcast_ref::<String>().cloned();
        let said = said.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default();
        assert!(said.contains(part), "{said}");
    }
}
