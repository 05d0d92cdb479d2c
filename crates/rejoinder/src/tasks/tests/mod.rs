//! The lease keeper on the memory store, in paused time.

mod lease;
// Its random numbers are those of the contract of stores.
#[cfg(feature = "testing")]
mod simulation;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures_util::future::{BoxFuture, FutureExt};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{
    BirthError, LeaseKeeper, MemoryTasks, NewQuestion, NewTask, Parking, RunEnd, RunStop, TaskEnd, TaskId, TaskJournal,
    TaskKeeper, TaskOwner, TaskPlaces, TaskRun, TaskRunner, TaskSnapshot, TaskState,
};
use crate::error::lock;

const ADA: TaskOwner = TaskOwner([1; 20]);
const BOB: TaskOwner = TaskOwner([2; 20]);

fn new_task(owner: TaskOwner) -> NewTask {
    NewTask {
        id: TaskId::new(),
        tool: "render".into(),
        owner,
        origin: None,
        call: "call".into(),
        record: "birth".into(),
        ttl: Duration::from_secs(3600),
        keep: Duration::from_secs(600),
        poll: Duration::from_secs(2),
        most: TaskPlaces { in_all: 100, of_owner: 100 },
    }
}

/// Parks with a question.
fn asks(record: &'static str, key: &str) -> RunEnd {
    let asked = vec![NewQuestion { key: key.into(), name: key.into(), request: "which?".into() }];
    RunEnd::Parked(Parking { record: record.into(), asked, ..Parking::default() })
}

type Body = dyn Fn(TaskRun, Arc<dyn TaskJournal>) -> BoxFuture<'static, ()> + Send + Sync;

/// Runs a function, which is dropped when the run must stop.
struct Script {
    body: Box<Body>,
    /// Why runs stopped.
    stops: Arc<Mutex<Vec<RunStop>>>,
    changes: Mutex<BTreeMap<TaskId, usize>>,
}

impl Script {
    fn new<F>(body: impl Fn(TaskRun, Arc<dyn TaskJournal>) -> F + Send + Sync + 'static) -> Arc<Self>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let body = Box::new(move |run, journal| body(run, journal).boxed());
        Arc::new(Self { body, stops: Arc::default(), changes: Mutex::default() })
    }

    fn stops(&self) -> Vec<RunStop> {
        lock(&self.stops).clone()
    }
}

impl TaskRunner for Script {
    fn tools(&self) -> Vec<Arc<str>> {
        vec!["render".into()]
    }

    fn run(&self, run: TaskRun, journal: Arc<dyn TaskJournal>) -> BoxFuture<'static, ()> {
        let (body, stops) = ((self.body)(run, Arc::clone(&journal)), Arc::clone(&self.stops));
        async move {
            tokio::select! {
                biased;
                stop = journal.stopped() => lock(&stops).push(stop),
                () = body => {}
            }
        }
        .boxed()
    }

    fn changed(&self, id: &TaskId) {
        *lock(&self.changes).entry(*id).or_default() += 1;
    }
}

/// A keeper on a store, and the worker that it has in the background.
struct Process {
    keeper: Arc<LeaseKeeper>,
    working: JoinHandle<()>,
    stop: CancellationToken,
}

impl Process {
    async fn start(keeper: &Arc<LeaseKeeper>, script: &Arc<Script>, at_once: usize) -> Self {
        let (keeper, stop) = (Arc::clone(keeper), CancellationToken::new());
        let runner = Arc::clone(script) as Arc<dyn TaskRunner>;
        let grace = Duration::from_secs(3);
        let working = tokio::spawn(Arc::clone(&keeper).work(runner, at_once, stop.clone(), grace));
        let this = Self { keeper, working, stop };
        this.settle().await;
        this
    }

    /// Lets everything run that need not wait.
    async fn settle(&self) {
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
    }

    /// As kill -9.
    async fn kill(self) {
        self.working.abort();
        self.settle().await;
    }

    async fn stop(self) {
        self.stop.cancel();
        self.working.await.expect("it ends");
    }

    async fn create(&self, owner: TaskOwner) -> TaskId {
        let task = self.keeper.create(new_task(owner)).await.expect("there is room");
        self.settle().await;
        task.id
    }

    async fn get(&self, id: TaskId) -> TaskSnapshot {
        self.keeper.get(&ADA, &id).await.expect("the store answers").expect("it is there")
    }

    async fn answer(&self, id: TaskId, key: &str, answer: &'static str) {
        let answers = vec![(key.into(), answer.into())];
        assert_eq!(self.keeper.answer(&ADA, &id, answers).await.expect("the store answers"), Some(()));
        self.settle().await;
    }
}

fn memory() -> (MemoryTasks, Arc<LeaseKeeper>) {
    let store = MemoryTasks::new();
    (store.clone(), Arc::new(LeaseKeeper::new(store)))
}

/// After a while of the tokio clock.
async fn after(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

fn completed(result: &'static str) -> TaskState {
    TaskState::Ended(TaskEnd::Completed(result.into()))
}
