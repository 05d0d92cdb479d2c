//! Whether a store of tasks keeps its contract, for those who write one.

mod cases;
mod model;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;

#[cfg(test)]
pub(crate) use model::Random;

use crate::tasks::{
    Claim, ClaimState, Claimant, ClaimedTask, CreatedTask, NewQuestion, NewTask, Parking, TaskId, TaskOwner,
    TaskPlaces, TaskSnapshot, TaskState, TaskStore, WorkerId,
};

/// Checks that a store keeps the contract of [`TaskStore`]: named cases, operations that race, and random operations that are
/// compared with a model. The function opens a store without tasks each time.
///
/// The store must follow its [`TaskStore::clock`], which is advanced by hours.
///
/// ```
/// use rejoinder::{tasks::MemoryTasks, testing::tasks::contract};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// contract(async || MemoryTasks::new()).await;
/// # }
/// ```
///
/// # Panics
///
/// Panics if the store does not keep it, with the name of what it does not do.
pub async fn contract<S: TaskStore>(open: impl AsyncFn() -> S) {
    let check = async || StoreCheck::new(open().await).await;
    cases::all(&check).await;
    for seed in 1..=20 {
        model::compare(&open().await, seed).await;
    }
}

const ADA: TaskOwner = TaskOwner([1; 20]);
const BOB: TaskOwner = TaskOwner([2; 20]);

const MINUTE: Duration = Duration::from_secs(60);

/// A store, and what is done to it in the cases.
struct StoreCheck<S> {
    store: S,
    worker: WorkerId,
}

impl<S: TaskStore> StoreCheck<S> {
    async fn new(store: S) -> Self {
        let this = Self { store, worker: WorkerId::new() };
        this.join(this.worker).await;
        this
    }

    async fn join(&self, worker: WorkerId) {
        self.store.join(worker, 10 * MINUTE).await.expect("a worker joins");
    }

    async fn create(&self, task: &NewTask) -> TaskSnapshot {
        self.store.create(task, None).await.expect("there is room").snapshot
    }

    /// A new task of Ada that is claimed at its creation.
    async fn begin(&self) -> ClaimedTask {
        let task = new_task(ADA);
        let created: CreatedTask = self.store.create(&task, Some(&claimant(self.worker))).await.expect("there is room");
        created.claimed.expect("a task is claimed at its creation")
    }

    async fn claim_as(&self, worker: WorkerId, most: usize) -> Vec<ClaimedTask> {
        self.store.claim(&claimant(worker), most).await.expect("tasks can be claimed").tasks
    }

    async fn claim(&self) -> Option<ClaimedTask> {
        self.claim_as(self.worker, 1).await.pop()
    }

    async fn get(&self, id: TaskId) -> Option<TaskSnapshot> {
        self.store.get(&ADA, &id).await.expect("tasks can be read")
    }

    async fn state(&self, id: TaskId) -> TaskState {
        self.get(id).await.expect("the task is there").state
    }

    async fn open_keys(&self, id: TaskId) -> Vec<Arc<str>> {
        let TaskState::Open(questions) = self.state(id).await else { panic!("the task is open") };
        questions.into_iter().map(|question| question.key).collect()
    }

    async fn record(&self, claim: &Claim, key: &str) -> ClaimState {
        self.store.record(claim, key, &Bytes::from(format!("step {key}"))).await.expect("a step can be recorded")
    }

    async fn park(&self, claim: &Claim, parking: &Parking) -> ClaimState {
        self.store.park(claim, parking).await.expect("a task can be parked")
    }

    async fn answer(&self, id: TaskId, key: &str, answer: &'static str) -> bool {
        let answers = [(key.into(), answer.into())];
        let answered = self.store.answer(&ADA, &id, &answers, None).await.expect("answers are taken");
        answered.expect("the task is there").is_changed
    }

    fn advance(&self, minutes: u32) {
        self.store.clock().advance(minutes * MINUTE);
    }
}

fn claimant(worker: WorkerId) -> Claimant {
    Claimant { worker, tools: vec!["other".into(), "render".into()], of_owner: 100 }
}

fn new_task(owner: TaskOwner) -> NewTask {
    NewTask {
        id: TaskId::new(),
        tool: "render".into(),
        owner,
        origin: None,
        call: "the call".into(),
        record: "the birth".into(),
        ttl: 100 * MINUTE,
        keep: 30 * MINUTE,
        poll: Duration::from_millis(2500),
        most: TaskPlaces { in_all: 1000, of_owner: 1000 },
    }
}

fn asking(keys: &[&str]) -> Parking {
    let question =
        |key: &&str| NewQuestion { key: (*key).into(), name: "name".into(), request: format!("{key}?").into() };
    Parking { record: "asked".into(), asked: keys.iter().map(question).collect(), ..Parking::default() }
}

#[cfg(test)]
mod tests;
