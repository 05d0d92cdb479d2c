//! Tasks in memory.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use futures_util::future::{BoxFuture, FutureExt};
use indexmap::{IndexMap, map::Entry};

use super::{
    AnsweredTask, AskedQuestion, BirthError, Claim, ClaimState, Claimant, Claimed, ClaimedTask, CreatedTask,
    KeeperError, KeeperFuture, NewTask, OpenQuestion, Parking, TaskClock, TaskEnd, TaskId, TaskOwner, TaskRun,
    TaskSnapshot, TaskState, TaskStore, WorkerId, clock::later,
};
use crate::{
    auth::{Budget, Held},
    error::lock,
};

/// Keeps tasks in memory: they end with the process.
///
/// It is what a server has unless it is told otherwise. Its clones are one store.
///
/// ```
/// use rejoinder::tasks::{LeaseKeeper, MemoryTasks};
///
/// let keeper = LeaseKeeper::new(MemoryTasks::new());
/// ```
#[derive(Debug, Clone)]
pub struct MemoryTasks {
    clock: TaskClock,
    kept: Arc<Mutex<Kept>>,
}

#[derive(Debug, Default)]
struct Kept {
    tasks: BTreeMap<TaskId, KeptTask>,
    origins: HashMap<(TaskOwner, Bytes), TaskId>,
    /// The open tasks of each owner.
    open: HashMap<TaskOwner, usize>,
    open_in_all: usize,
    /// The tasks that may be claimed, from when on.
    due: BTreeSet<(SystemTime, TaskId)>,
    /// When open tasks expire and ended ones are removed.
    expiry: BTreeSet<(SystemTime, TaskId)>,
    workers: BTreeMap<WorkerId, KeptWorker>,
    budget: Option<Budget>,
}

#[derive(Debug)]
struct KeptWorker {
    until: SystemTime,
    held: BTreeSet<TaskId>,
}

#[derive(Debug)]
struct KeptTask {
    tool: Arc<str>,
    owner: TaskOwner,
    origin: Option<Bytes>,
    call: Bytes,
    record: Bytes,
    steps: IndexMap<Arc<str>, Bytes>,
    questions: IndexMap<Arc<str>, KeptQuestion>,
    message: Option<Bytes>,
    end: Option<TaskEnd>,
    created: SystemTime,
    updated: SystemTime,
    ttl: Duration,
    keep: Duration,
    poll: Duration,
    /// When it expires, or is removed.
    expires: SystemTime,
    due: Option<SystemTime>,
    /// Since when it could run.
    waits: Option<SystemTime>,
    worker: Option<WorkerId>,
    epoch: i64,
    deaths: u32,
    steps_at_death: usize,
    size_of_steps: usize,
    size: Held,
}

#[derive(Debug)]
struct KeptQuestion {
    name: Arc<str>,
    request: Bytes,
    answer: Option<Bytes>,
    is_closed: bool,
}

/// What a task takes beside its bytes, about: its row and its places in the indexes.
const ROW: usize = 768;

/// The same for a step or a question.
const ENTRY: usize = 128;

/// How often each of several workers looks for what another one made due.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

impl MemoryTasks {
    /// No tasks yet.
    pub fn new() -> Self {
        Self { clock: TaskClock::steady(), kept: Arc::default() }
    }

    /// Counts what tasks take from now on, ended ones too. A task has no place if its bytes have none.
    pub(crate) fn count_in(&self, budget: Budget) {
        lock(&self.kept).budget = Some(budget);
    }

    /// How many tasks have not ended.
    pub(crate) fn open_tasks(&self) -> usize {
        lock(&self.kept).open_in_all
    }

    /// One operation.
    fn run<'a, T: Send + 'a>(
        &'a self,
        operation: impl FnOnce(&mut Kept, SystemTime) -> T + Send + 'a,
    ) -> BoxFuture<'a, T> {
        async move { operation(&mut lock(&self.kept), self.clock.now()) }.boxed()
    }
}

impl Default for MemoryTasks {
    fn default() -> Self {
        Self::new()
    }
}

impl TaskStore for MemoryTasks {
    fn outlives_process(&self) -> bool {
        false
    }

    fn clock(&self) -> &TaskClock {
        &self.clock
    }

    fn open(&self) -> KeeperFuture<'_, ()> {
        async { Ok(()) }.boxed()
    }

    fn join(&self, worker: WorkerId, lease: Duration) -> KeeperFuture<'_, ()> {
        self.run(move |kept, now| {
            let held = BTreeSet::new();
            kept.workers.entry(worker).or_insert(KeptWorker { until: now, held }).until = later(now, lease);
            Ok(())
        })
    }

    fn beat(&self, worker: WorkerId, lease: Duration) -> KeeperFuture<'_, Option<Vec<Claim>>> {
        self.run(move |kept, now| {
            let Some(found) = kept.workers.get_mut(&worker) else { return Ok(None) };
            found.until = later(now, lease);
            let claim = |id: &TaskId| Claim { id: *id, worker, epoch: kept.tasks[id].epoch };
            Ok(Some(found.held.iter().map(claim).collect()))
        })
    }

    fn leave(&self, worker: WorkerId) -> KeeperFuture<'_, ()> {
        self.run(move |kept, now| {
            let held = kept.workers.remove(&worker).map(|worker| worker.held).unwrap_or_default();
            for id in held {
                kept.take_away(id, Some(now));
            }
            Ok(())
        })
    }

    fn create<'a>(
        &'a self,
        task: &'a NewTask,
        claimant: Option<&'a Claimant>,
    ) -> KeeperFuture<'a, CreatedTask, BirthError> {
        self.run(move |kept, now| {
            let of_origin = task.origin.as_ref().and_then(|origin| kept.origins.get(&(task.owner, origin.clone())));
            if let Some(id) = of_origin.or_else(|| kept.tasks.get_key_value(&task.id).map(|(id, _)| id)) {
                return Ok(CreatedTask { snapshot: kept.tasks[id].snapshot(*id, now), claimed: None });
            }
            kept.insert(task, now)?;
            let claimed = claimant.filter(|claimant| claimant.runs(&task.tool));
            let claimed = claimed.and_then(|claimant| kept.claim(task.id, claimant.worker));
            Ok(CreatedTask { snapshot: kept.tasks[&task.id].snapshot(task.id, now), claimed })
        })
    }

    fn claim<'a>(&'a self, claimant: &'a Claimant, most: usize) -> KeeperFuture<'a, Claimed> {
        self.run(move |kept, now| {
            let held = kept.workers.get(&claimant.worker).map(|worker| &worker.held);
            let held = held.into_iter().flatten().map(|id| kept.tasks[id].owner);
            let due = kept.due.iter().take_while(|(time, _)| *time <= now).filter_map(|(_, id)| {
                let task = &kept.tasks[id];
                claimant.runs(&task.tool).then_some((*id, task.owner))
            });
            let chosen = claimant.choose(most, held, due);
            let tasks = chosen.into_iter().filter_map(|id| kept.claim(id, claimant.worker)).collect();
            // What was due before is not for this worker, or it has no slot for it: time changes neither.
            let after = (std::ops::Bound::Excluded((now, TaskId::from_bytes([255; 16]))), std::ops::Bound::Unbounded);
            let next = kept.due.range(after).next().map(|(time, _)| time.duration_since(now).unwrap_or_default());
            let shared = (kept.workers.len() > 1).then_some(LOOK_AGAIN);
            Ok(Claimed { tasks, look_again: next.into_iter().chain(shared).min() })
        })
    }

    fn get<'a>(&'a self, owner: &'a TaskOwner, id: &'a TaskId) -> KeeperFuture<'a, Option<TaskSnapshot>> {
        self.run(move |kept, now| Ok(kept.of_owner(owner, id).map(|task| task.snapshot(*id, now))))
    }

    fn answer<'a>(
        &'a self,
        owner: &'a TaskOwner,
        id: &'a TaskId,
        answers: &'a [(Arc<str>, Bytes)],
        claimant: Option<&'a Claimant>,
    ) -> KeeperFuture<'a, Option<AnsweredTask>> {
        self.run(move |kept, now| {
            let Some(task) = kept.of_owner(owner, id) else { return Ok(None) };
            let mut taken: BTreeMap<&Arc<str>, &Bytes> = BTreeMap::new();
            for (key, answer) in answers {
                if task.questions.get(key).is_some_and(KeptQuestion::is_open) {
                    taken.entry(key).or_insert(answer);
                }
            }
            if taken.is_empty() {
                return Ok(Some(AnsweredTask::default()));
            }
            let size = task.size.amount() + taken.values().map(|answer| answer.len()).sum::<usize>();
            // The task ends sooner with its answers, and then gives back what it holds.
            resize(&mut task.size, size);
            for (key, answer) in taken {
                task.questions[key].answer = Some(answer.clone());
            }
            task.updated = now;
            let mut claimed = None;
            if task.worker.is_none() && !task.questions.values().any(KeptQuestion::is_open) {
                let claimant = claimant.filter(|claimant| claimant.runs(&task.tool));
                kept.schedule(*id, Some(now), true);
                claimed = claimant.and_then(|claimant| kept.claim(*id, claimant.worker));
            }
            Ok(Some(AnsweredTask { is_changed: true, claimed }))
        })
    }

    fn cancel<'a>(&'a self, owner: &'a TaskOwner, id: &'a TaskId) -> KeeperFuture<'a, Option<bool>> {
        self.run(move |kept, now| {
            let is_open = kept.of_owner(owner, id).map(|task| task.end.is_none());
            if is_open == Some(true) {
                kept.end(*id, TaskEnd::Cancelled, now);
            }
            Ok(is_open)
        })
    }

    fn record<'a>(&'a self, claim: &'a Claim, key: &'a str, step: &'a Bytes) -> KeeperFuture<'a, ClaimState> {
        self.run(move |kept, _| {
            let Some(task) = kept.held_by(claim) else { return Ok(ClaimState::Lost) };
            match task.steps.entry(Arc::from(key)) {
                Entry::Occupied(found) if found.get() == step => {}
                Entry::Occupied(_) => return Err(KeeperError::new("another step has this key")),
                Entry::Vacant(place) => {
                    let size = key.len() + step.len() + ENTRY;
                    let amount = task.size.amount();
                    resize(&mut task.size, amount + size);
                    task.size_of_steps += size;
                    place.insert(step.clone());
                }
            }
            Ok(ClaimState::Held)
        })
    }

    fn message<'a>(&'a self, claim: &'a Claim, message: &'a Bytes) -> KeeperFuture<'a, ClaimState> {
        self.run(move |kept, now| {
            let Some(task) = kept.held_by(claim) else { return Ok(ClaimState::Lost) };
            let size = task.size.amount() - task.message.as_ref().map_or(0, Bytes::len) + message.len();
            resize(&mut task.size, size);
            (task.message, task.updated) = (Some(message.clone()), now);
            Ok(ClaimState::Held)
        })
    }

    fn park<'a>(&'a self, claim: &'a Claim, parking: &'a Parking) -> KeeperFuture<'a, ClaimState> {
        self.run(move |kept, now| {
            let Some(task) = kept.held_by(claim) else {
                let parked =
                    kept.given_up_by(claim).is_some_and(|task| task.end.is_none() && task.record == parking.record);
                return Ok(if parked { ClaimState::Held } else { ClaimState::Lost });
            };
            let mut keys = BTreeSet::new();
            if parking.asked.iter().any(|asked| task.questions.contains_key(&asked.key) || !keys.insert(&asked.key)) {
                return Err(KeeperError::new("another question of the task has this key"));
            }
            let asked =
                parking.asked.iter().map(|asked| asked.key.len() + asked.name.len() + asked.request.len() + ENTRY);
            let gone = task.record.len() + task.size_of_steps;
            let size = task.size.amount() - gone + parking.record.len() + asked.sum::<usize>();
            resize(&mut task.size, size);
            task.record = parking.record.clone();
            task.steps = IndexMap::new();
            (task.size_of_steps, task.deaths, task.steps_at_death) = (0, 0, 0);
            for key in &parking.closed {
                if let Some(question) = task.questions.get_mut(key) {
                    question.is_closed = true;
                }
            }
            for asked in &parking.asked {
                let (name, request) = (Arc::clone(&asked.name), asked.request.clone());
                let question = KeptQuestion { name, request, answer: None, is_closed: false };
                task.questions.insert(Arc::clone(&asked.key), question);
            }
            if !parking.asked.is_empty() || !parking.closed.is_empty() {
                task.updated = now;
            }
            let due = if task.questions.values().any(KeptQuestion::is_open) {
                parking.wakes
            } else if task.questions.values().any(|question| !question.is_closed) {
                Some(now)
            } else {
                Some(parking.wakes.unwrap_or(now))
            };
            kept.give_up(claim.id, due);
            Ok(ClaimState::Held)
        })
    }

    fn finish<'a>(&'a self, claim: &'a Claim, end: &'a TaskEnd) -> KeeperFuture<'a, ClaimState> {
        self.run(move |kept, now| {
            let Some(task) = kept.held_by(claim) else {
                let ended = kept.given_up_by(claim).is_some_and(|task| task.end.as_ref() == Some(end));
                return Ok(if ended { ClaimState::Held } else { ClaimState::Lost });
            };
            let size = task.size_of_end(end);
            resize(&mut task.size, size);
            kept.end(claim.id, end.clone(), now);
            // So that a repetition is known.
            kept.tasks.get_mut(&claim.id).expect("it has just ended").epoch = claim.epoch;
            Ok(ClaimState::Held)
        })
    }

    fn release<'a>(&'a self, claim: &'a Claim, after: Duration) -> KeeperFuture<'a, ()> {
        self.run(move |kept, now| {
            if let Some(task) = kept.held_by(claim) {
                let waits = task.waits;
                let task = kept.take_away(claim.id, Some(later(now, after)));
                task.waits = waits;
            }
            Ok(())
        })
    }

    fn bury(&self, by: WorkerId, deaths: u32) -> KeeperFuture<'_, Vec<TaskId>> {
        self.run(move |kept, now| {
            let dead = kept.workers.extract_if(.., |id, worker| *id != by && worker.until <= now);
            let orphans: Vec<_> = dead.flat_map(|(_, worker)| worker.held).collect();
            let mut died = Vec::new();
            for id in orphans {
                let task = kept.take_away(id, Some(now));
                task.deaths = if task.steps.len() > task.steps_at_death { 1 } else { task.deaths + 1 };
                task.steps_at_death = task.steps.len();
                if task.deaths >= deaths {
                    kept.end(id, TaskEnd::Died, now);
                    died.push(id);
                }
            }
            Ok(died)
        })
    }

    fn sweep(&self) -> KeeperFuture<'_, Vec<TaskId>> {
        self.run(move |kept, now| {
            let mut expired = Vec::new();
            while let Some(&(time, id)) = kept.expiry.first().filter(|(time, _)| *time <= now) {
                if kept.tasks[&id].end.is_none() {
                    kept.end(id, TaskEnd::Expired, now);
                    expired.push(id);
                    continue;
                }
                kept.expiry.remove(&(time, id));
                let task = kept.tasks.remove(&id).expect("it expires");
                if let Some(origin) = task.origin {
                    kept.origins.remove(&(task.owner, origin));
                }
            }
            Ok(expired)
        })
    }

    fn as_memory(&self) -> Option<&MemoryTasks> {
        Some(self)
    }
}

impl Kept {
    fn of_owner(&mut self, owner: &TaskOwner, id: &TaskId) -> Option<&mut KeptTask> {
        self.tasks.get_mut(id).filter(|task| task.owner == *owner)
    }

    /// The task, if the claim holds.
    fn held_by(&mut self, claim: &Claim) -> Option<&mut KeptTask> {
        let task = self.tasks.get_mut(&claim.id)?;
        (task.worker == Some(claim.worker) && task.epoch == claim.epoch).then_some(task)
    }

    /// The task, if the claim was the last one, and was given up by a write of its own: all else adds to the epoch.
    fn given_up_by(&self, claim: &Claim) -> Option<&KeptTask> {
        self.tasks.get(&claim.id).filter(|task| task.worker.is_none() && task.epoch == claim.epoch)
    }

    fn insert(&mut self, task: &NewTask, now: SystemTime) -> Result<(), BirthError> {
        if self.open_in_all >= task.most.in_all {
            return Err(BirthError::Full);
        }
        if self.open.get(&task.owner).is_some_and(|open| *open >= task.most.of_owner) || task.most.of_owner == 0 {
            return Err(BirthError::CallerFull);
        }
        let mut size = self.budget.as_ref().map(|budget| budget.hold_for(task.owner)).unwrap_or_default();
        let bytes = task.call.len() + task.record.len() + size_of_row(&task.tool, task.origin.as_ref());
        let full = |full: crate::auth::BudgetFull| match full.share_of {
            Some(_) => BirthError::CallerFull,
            None => BirthError::Full,
        };
        size.grow(bytes).map_err(full)?;
        let expires = later(now, task.ttl);
        let kept = KeptTask {
            tool: Arc::clone(&task.tool),
            owner: task.owner,
            origin: task.origin.clone(),
            call: task.call.clone(),
            record: task.record.clone(),
            steps: IndexMap::new(),
            questions: IndexMap::new(),
            message: None,
            end: None,
            created: now,
            updated: now,
            ttl: task.ttl,
            keep: task.keep,
            poll: task.poll,
            expires,
            due: None,
            waits: None,
            worker: None,
            epoch: 0,
            deaths: 0,
            steps_at_death: 0,
            size_of_steps: 0,
            size,
        };
        self.tasks.insert(task.id, kept);
        self.expiry.insert((expires, task.id));
        if let Some(origin) = &task.origin {
            self.origins.insert((task.owner, origin.clone()), task.id);
        }
        *self.open.entry(task.owner).or_default() += 1;
        self.open_in_all += 1;
        self.schedule(task.id, Some(now), true);
        Ok(())
    }

    /// When the task may be claimed, and whether it waits for that from then on.
    fn schedule(&mut self, id: TaskId, due: Option<SystemTime>, waits: bool) {
        let task = self.tasks.get_mut(&id).expect("it is there");
        if waits {
            task.waits = due;
        }
        if let Some(before) = std::mem::replace(&mut task.due, due) {
            self.due.remove(&(before, id));
        }
        self.due.extend(due.map(|due| (due, id)));
    }

    fn claim(&mut self, id: TaskId, worker: WorkerId) -> Option<ClaimedTask> {
        self.workers.get_mut(&worker)?.held.insert(id);
        self.schedule(id, None, false);
        let task = self.tasks.get_mut(&id).expect("it is due");
        task.worker = Some(worker);
        task.epoch += 1;
        let claim = Claim { id, worker, epoch: task.epoch };
        let run = TaskRun {
            id,
            tool: Arc::clone(&task.tool),
            owner: task.owner,
            call: task.call.clone(),
            record: task.record.clone(),
            steps: task.steps.iter().map(|(key, step)| (Arc::clone(key), step.clone())).collect(),
            questions: task.questions.iter().map(|(key, question)| question.asked(key)).collect(),
        };
        Some(ClaimedTask { claim, run })
    }

    /// No worker holds the task any more.
    fn give_up(&mut self, id: TaskId, due: Option<SystemTime>) {
        let worker = self.tasks.get_mut(&id).expect("it is held").worker.take();
        if let Some(worker) = worker.and_then(|worker| self.workers.get_mut(&worker)) {
            worker.held.remove(&id);
        }
        self.schedule(id, due, true);
    }

    /// The same, and no write of the worker is a repetition.
    fn take_away(&mut self, id: TaskId, due: Option<SystemTime>) -> &mut KeptTask {
        self.give_up(id, due);
        let task = self.tasks.get_mut(&id).expect("it is held");
        task.epoch += 1;
        task
    }

    fn end(&mut self, id: TaskId, end: TaskEnd, now: SystemTime) {
        self.take_away(id, None);
        let task = self.tasks.get_mut(&id).expect("it is open");
        task.updated = now;
        let size = task.size_of_end(&end);
        task.size.shrink(task.size.amount().saturating_sub(size));
        (task.call, task.record) = (Bytes::new(), Bytes::new());
        (task.steps, task.questions, task.size_of_steps) = (IndexMap::new(), IndexMap::new(), 0);
        task.end = Some(end);
        self.expiry.remove(&(task.expires, id));
        task.expires = task.expires.max(later(now, task.keep));
        self.expiry.insert((task.expires, id));
        self.open_in_all -= 1;
        let open = self.open.get_mut(&task.owner).expect("the task was open");
        *open -= 1;
        if *open == 0 {
            self.open.remove(&task.owner);
        }
    }
}

impl KeptTask {
    fn snapshot(&self, id: TaskId, now: SystemTime) -> TaskSnapshot {
        let questions = self.questions.iter().filter(|(_, question)| question.is_open());
        let open = |(key, question): (&Arc<str>, &KeptQuestion)| OpenQuestion {
            key: Arc::clone(key),
            request: question.request.clone(),
        };
        TaskSnapshot {
            id,
            created: self.created,
            updated: self.updated,
            ttl: self.ttl,
            poll: self.poll,
            message: self.message.clone(),
            waits_since: self.waits.filter(|since| self.worker.is_none() && *since <= now),
            state: match &self.end {
                None => TaskState::Open(questions.map(open).collect()),
                Some(end) => TaskState::Ended(end.clone()),
            },
        }
    }

    /// What is left of it after that end.
    fn size_of_end(&self, end: &TaskEnd) -> usize {
        let outcome = match end {
            TaskEnd::Completed(outcome) | TaskEnd::Failed(outcome) => outcome.len(),
            TaskEnd::Cancelled | TaskEnd::Expired | TaskEnd::Died => 0,
        };
        size_of_row(&self.tool, self.origin.as_ref()) + self.message.as_ref().map_or(0, Bytes::len) + outcome
    }
}

impl KeptQuestion {
    fn is_open(&self) -> bool {
        self.answer.is_none() && !self.is_closed
    }

    fn asked(&self, key: &Arc<str>) -> AskedQuestion {
        let (name, request, answer) = (Arc::clone(&self.name), self.request.clone(), self.answer.clone());
        AskedQuestion { key: Arc::clone(key), name, request, answer, is_closed: self.is_closed }
    }
}

fn size_of_row(tool: &str, origin: Option<&Bytes>) -> usize {
    // The origin is in an index too.
    ROW + tool.len() + origin.map_or(0, |origin| origin.len() + ENTRY)
}

/// Makes a task hold so much, whether or not there is room: its function has done the work already, and would do it again.
fn resize(held: &mut Held, size: usize) {
    match size.checked_sub(held.amount()) {
        Some(more) => held.grow_anyway(more),
        None => held.shrink(held.amount() - size),
    }
}
