//! Random operations on a store and on a model of it, which must agree.

use std::{collections::BTreeMap, sync::Arc, time::SystemTime};

use bytes::Bytes;

use super::{ADA, BOB, MINUTE, claimant, new_task};
use crate::tasks::{
    AskedQuestion, Claim, ClaimState, ClaimedTask, NewQuestion, NewTask, Parking, TaskEnd, TaskId, TaskState,
    TaskStore, WorkerId,
};

/// Time moves in steps of so many minutes, and no time that matters is a multiple of it: so the seconds that the test itself
/// takes change nothing.
const STEP: u32 = 4;

const LEASE: u32 = 10;

/// Random numbers (xorshift), the same for the same seed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Below the limit.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 11) % limit as u64).expect("the limit is a `usize`")
    }

    fn pick<T: Clone>(&mut self, of: &[T]) -> Option<T> {
        (!of.is_empty()).then(|| of[self.below(of.len())].clone())
    }
}

/// A task in minutes since the beginning.
struct ModelTask {
    new: NewTask,
    record: Bytes,
    steps: Vec<(Arc<str>, Bytes)>,
    questions: Vec<AskedQuestion>,
    message: Option<Bytes>,
    end: Option<TaskEnd>,
    updated: u32,
    expires: u32,
    due: Option<u32>,
    waits: Option<u32>,
    held: Option<Claim>,
    epoch: i64,
    deaths: u32,
    steps_at_death: usize,
}

struct Model<'a, S> {
    store: &'a S,
    began: SystemTime,
    now: u32,
    tasks: BTreeMap<TaskId, ModelTask>,
    /// Their leases.
    workers: BTreeMap<WorkerId, u32>,
    /// All that there have been.
    claims: Vec<Claim>,
}

/// Does random operations and checks what each one says, and what is read after it.
pub(super) async fn compare(store: &impl TaskStore, seed: u64) {
    let mut random = Random::new(seed);
    let began = store.clock().now();
    let mut model =
        Model { store, began, now: 0, tasks: BTreeMap::new(), workers: BTreeMap::new(), claims: Vec::new() };
    let mut said = Vec::new();
    for _ in 0..120 {
        let operation = model.operate(&mut random).await;
        said.push(operation);
        if let Some(wrong) = model.difference().await {
            panic!("seed {seed}: {wrong}, after {said:#?}");
        }
    }
}

fn open(questions: &[AskedQuestion]) -> usize {
    questions.iter().filter(|question| question.answer.is_none() && !question.is_closed).count()
}

impl ModelTask {
    fn give_up(&mut self, due: Option<u32>) {
        (self.held, self.due, self.waits) = (None, due, due);
    }

    fn end(&mut self, end: TaskEnd, now: u32) {
        self.give_up(None);
        self.end = Some(end);
        self.updated = now;
        self.expires = self.expires.max(now + 30);
        self.steps.clear();
        self.questions.clear();
    }

    /// A claim of it by that worker, which must be a new one.
    fn claimed(&mut self, claimed: &ClaimedTask, worker: WorkerId) -> Claim {
        let (claim, run) = (claimed.claim, &claimed.run);
        assert!(claim.epoch > self.epoch && claim.worker == worker, "a claim has a new epoch");
        assert_eq!((&run.record, &run.steps, &run.questions), (&self.record, &self.steps, &self.questions));
        (self.held, self.due, self.epoch) = (Some(claim), None, claim.epoch);
        claim
    }
}

impl<S: TaskStore> Model<'_, S> {
    /// What is different when all tasks are read.
    async fn difference(&self) -> Option<String> {
        for (id, task) in &self.tasks {
            let read = self.store.get(&task.new.owner, id).await.expect("it answers");
            let Some(read) = read else { return Some(format!("{id:?} is not there")) };
            let state = match &task.end {
                Some(end) => TaskState::Ended(end.clone()),
                None => {
                    let open =
                        task.questions.iter().filter(|question| question.answer.is_none() && !question.is_closed);
                    let open = open.map(|question| crate::tasks::OpenQuestion {
                        key: Arc::clone(&question.key),
                        request: question.request.clone(),
                    });
                    TaskState::Open(open.collect())
                }
            };
            let waits = task.waits.filter(|since| task.held.is_none() && *since <= self.now);
            let minutes = |time: SystemTime| time.duration_since(self.began).unwrap_or_default().as_secs() / 60;
            let found = (&read.state, &read.message, minutes(read.updated), read.waits_since.map(minutes));
            let expected = (&state, &task.message, task.updated.into(), waits.map(u64::from));
            if found != expected {
                return Some(format!("{id:?} is {found:?} instead of {expected:?}"));
            }
        }
        None
    }

    fn task(&mut self, claim: &Claim) -> Option<&mut ModelTask> {
        self.tasks.get_mut(&claim.id).filter(|task| task.held == Some(*claim))
    }

    /// One operation; what it was. Some are repeated, as after an acknowledgement that was lost.
    async fn operate(&mut self, random: &mut Random) -> String {
        let (now, store) = (self.now, self.store);
        let repeats = random.below(3) == 0;
        let workers: Vec<_> = self.workers.keys().copied().collect();
        let ids: Vec<_> = self.tasks.keys().copied().collect();
        let (worker, id) = (random.pick(&workers), random.pick(&ids));
        // Most are late ones.
        let late = self.claims.len().saturating_sub(5);
        let claim = random.pick(&self.claims[late..]);
        match (random.below(16), worker, id, claim) {
            (0, ..) if self.workers.len() < 4 => {
                let worker = WorkerId::new();
                store.join(worker, LEASE * MINUTE).await.expect("it answers");
                self.workers.insert(worker, now + LEASE);
                "join".to_owned()
            }
            (0 | 1, Some(worker), ..) => {
                let claims = store.beat(worker, LEASE * MINUTE).await.expect("it answers").expect("it is alive");
                self.workers.insert(worker, now + LEASE);
                let mut held: Vec<_> = self.tasks.values().filter_map(|task| task.held).collect();
                held.retain(|claim| claim.worker == worker);
                assert_eq!(claims.len(), held.len(), "a beat says what is held");
                assert!(held.iter().all(|claim| claims.contains(claim)), "a beat says what is held");
                "beat".to_owned()
            }
            (2, Some(worker), ..) => {
                store.leave(worker).await.expect("it answers");
                self.workers.remove(&worker);
                for task in self.tasks.values_mut().filter(|task| task.held.is_some_and(|held| held.worker == worker)) {
                    task.give_up(Some(now));
                }
                "leave".to_owned()
            }
            (3 | 4, worker, ..) => {
                let owner = if random.below(2) == 0 { ADA } else { BOB };
                let origin = (random.below(2) == 0).then(|| Bytes::from(random.below(3).to_string()));
                let (ttl, keep) = ([2, 26][random.below(2)] * MINUTE, 30 * MINUTE);
                let new = NewTask { origin, ttl, keep, ..new_task(owner) };
                let same =
                    |task: &ModelTask| new.origin.is_some() && task.new.origin == new.origin && task.new.owner == owner;
                let same = self.tasks.values().find(|task| same(task)).map(|task| task.new.id);
                let claimant = worker.map(claimant);
                let created = store.create(&new, claimant.as_ref()).await.expect("there is room");
                assert_eq!(created.snapshot.id, same.unwrap_or(new.id), "one origin gives one task");
                if same.is_none() {
                    let mut task = ModelTask {
                        record: new.record.clone(),
                        steps: Vec::new(),
                        questions: Vec::new(),
                        message: None,
                        end: None,
                        updated: now,
                        expires: now + u32::try_from(ttl.as_secs() / 60).expect("it is small"),
                        due: Some(now),
                        waits: Some(now),
                        held: None,
                        epoch: 0,
                        deaths: 0,
                        steps_at_death: 0,
                        new: new.clone(),
                    };
                    assert_eq!(created.claimed.is_some(), worker.is_some(), "a new task is claimed");
                    self.claims
                        .extend(created.claimed.zip(worker).map(|(claimed, worker)| task.claimed(&claimed, worker)));
                    self.tasks.insert(new.id, task);
                }
                if repeats {
                    let again = store.create(&new, claimant.as_ref()).await.expect("it is there");
                    assert_eq!(again.snapshot.id, created.snapshot.id, "a repeated birth gives the same task");
                    assert!(again.claimed.is_none(), "a repeated birth claims nothing");
                }
                format!("create {:?}, claimed by {worker:?}", new.id)
            }
            (5 | 6, Some(worker), ..) => {
                let most = random.below(3) + 1;
                let claimed = store.claim(&claimant(worker), most).await.expect("it answers").tasks;
                let due = self.tasks.values().filter(|task| task.due.is_some_and(|due| due <= now)).count();
                assert_eq!(claimed.len(), due.min(most), "due tasks are claimed");
                for claimed in &claimed {
                    let task = self.tasks.get_mut(&claimed.run.id).expect("it exists");
                    assert!(task.due.is_some_and(|due| due <= now), "only due tasks are claimed");
                    self.claims.push(task.claimed(claimed, worker));
                }
                format!("claim by {worker:?}: {:?}", claimed.iter().map(|claimed| claimed.claim).collect::<Vec<_>>())
            }
            (7 | 8, worker, Some(id), _) => {
                let task = self.tasks.get_mut(&id).expect("it exists");
                let keys: Vec<_> = task.questions.iter().map(|question| Arc::clone(&question.key)).collect();
                let answers: Vec<(Arc<str>, Bytes)> = (0..=random.below(3))
                    .filter_map(|_| random.pick(&keys).map(|key| (key, random.below(100).to_string().into())))
                    .collect();
                let mut is_changed = false;
                for (key, answer) in &answers {
                    let question = task.questions.iter_mut().find(|question| question.key == *key).expect("it exists");
                    if question.answer.is_none() && !question.is_closed {
                        question.answer = Some(answer.clone());
                        (is_changed, task.updated) = (true, now);
                    }
                }
                let is_due = is_changed && task.held.is_none() && open(&task.questions) == 0;
                if is_due {
                    task.give_up(Some(now));
                }
                let claimant = worker.map(claimant);
                let answer =
                    async || store.answer(&task.new.owner, &id, &answers, claimant.as_ref()).await.expect("it answers");
                let answered = answer().await.expect("it is there");
                if repeats {
                    assert!(!answer().await.expect("it is there").is_changed, "an answer counts once");
                }
                assert_eq!(answered.is_changed, is_changed, "whether an answer counts");
                assert_eq!(answered.claimed.is_some(), is_due && worker.is_some(), "the last answer claims the task");
                let claimed = answered.claimed.zip(worker).map(|(claimed, worker)| task.claimed(&claimed, worker));
                self.claims.extend(claimed);
                format!("answer {id:?} with {answers:?}")
            }
            (9, _, Some(id), _) => {
                let task = self.tasks.get_mut(&id).expect("it exists");
                let is_open = task.end.is_none();
                if is_open {
                    task.end(TaskEnd::Cancelled, now);
                }
                for expected in [is_open, false].into_iter().take(1 + usize::from(repeats)) {
                    let cancelled = store.cancel(&task.new.owner, &id).await.expect("it answers");
                    assert_eq!(cancelled, Some(expected), "a cancel ends an open task");
                }
                format!("cancel {id:?}")
            }
            (10 | 11, _, _, Some(claim)) => {
                let (key, step) = (random.below(4).to_string(), Bytes::from("a step"));
                let task = self.task(&claim);
                let expected = expect(task.is_some());
                if let Some(task) = task.filter(|task| task.steps.iter().all(|(known, _)| **known != *key)) {
                    task.steps.push((key.as_str().into(), step.clone()));
                }
                for _ in 0..=usize::from(repeats) {
                    assert_eq!(
                        store.record(&claim, &key, &step).await.expect("it answers"),
                        expected,
                        "a step is fenced"
                    );
                }
                format!("record {key} as {claim:?}: {expected:?}")
            }
            (12, _, _, Some(claim)) if random.below(2) == 0 => {
                let message = Bytes::from(random.below(100).to_string());
                let task = self.task(&claim);
                let expected = expect(task.is_some());
                if let Some(task) = task {
                    (task.message, task.updated) = (Some(message.clone()), now);
                }
                assert_eq!(store.message(&claim, &message).await.expect("it answers"), expected, "a message is fenced");
                format!("message as {claim:?}: {expected:?}")
            }
            (12 | 13, _, _, Some(claim)) => self.park(claim, random, repeats).await,
            (14, _, _, Some(claim)) if random.below(2) == 0 => {
                store.release(&claim, 5 * MINUTE).await.expect("it answers");
                if let Some(task) = self.task(&claim) {
                    (task.held, task.due) = (None, Some(now + 5));
                }
                format!("release {claim:?}")
            }
            (14, _, _, Some(claim)) => {
                let end = TaskEnd::Completed(random.below(100).to_string().into());
                let task = self.task(&claim);
                let expected = expect(task.is_some());
                if let Some(task) = task {
                    task.end(end.clone(), now);
                }
                // The end of a claim that is given up may be a repetition.
                let is_there = self.tasks.get(&claim.id).is_some_and(|task| task.end.as_ref() == Some(&end));
                for _ in 0..=usize::from(repeats) {
                    let finished = store.finish(&claim, &end).await.expect("it answers");
                    assert!(finished == expected || is_there, "an end is fenced");
                }
                format!("finish {claim:?}: {expected:?}")
            }
            (_, worker, ..) => self.pass_time(worker).await,
        }
    }

    async fn park(&mut self, claim: Claim, random: &mut Random, repeats: bool) -> String {
        let (now, wakes) = (self.now, (random.below(3) == 0).then_some(self.now + 7));
        let known: Vec<_> = self.tasks.get(&claim.id).map_or(Vec::new(), |task| task.questions.clone());
        let asked = (0..random.below(3)).map(|n| {
            let key = format!("{}~{n}", known.len());
            NewQuestion { name: key.as_str().into(), request: format!("{key}?").into(), key: key.into() }
        });
        let asked: Vec<_> = asked.collect();
        let closed: Vec<_> =
            known.iter().filter(|_| random.below(2) == 0).map(|known| Arc::clone(&known.key)).collect();
        // No two are the same, so that the repetition of another parking is not taken for one of this.
        let record = Bytes::from(format!("parked {}", random.below(1 << 40)));
        let at = wakes.map(|wakes| self.began + wakes * MINUTE);
        let parking = Parking { record: record.clone(), asked, closed, wakes: at };
        let task = self.task(&claim);
        let expected = expect(task.is_some());
        if let Some(task) = task {
            task.record = record;
            task.steps.clear();
            (task.deaths, task.steps_at_death) = (0, 0);
            for question in task.questions.iter_mut().filter(|question| parking.closed.contains(&question.key)) {
                question.is_closed = true;
            }
            task.questions.extend(parking.asked.iter().cloned().map(|NewQuestion { key, name, request }| {
                AskedQuestion { key, name, request, answer: None, is_closed: false }
            }));
            if !parking.asked.is_empty() || !parking.closed.is_empty() {
                task.updated = now;
            }
            let came = task.questions.iter().any(|question| question.answer.is_some() && !question.is_closed);
            task.give_up(match open(&task.questions) {
                0 if came => Some(now),
                0 => Some(wakes.unwrap_or(now)),
                _ => wakes,
            });
        }
        for _ in 0..=usize::from(repeats) {
            assert_eq!(self.store.park(&claim, &parking).await.expect("it answers"), expected, "a parking is fenced");
        }
        format!("park {claim:?} with {parking:?}: {expected:?}")
    }

    /// Time passes, somebody buries the dead, and the tasks whose time is up end.
    async fn pass_time(&mut self, by: Option<WorkerId>) -> String {
        self.now += STEP;
        self.store.clock().advance(STEP * MINUTE);
        let now = self.now;
        if let Some(by) = by {
            self.workers.retain(|worker, until| *until > now || *worker == by);
            let mut died = Vec::new();
            for (id, task) in &mut self.tasks {
                if task.held.is_some_and(|held| !self.workers.contains_key(&held.worker)) {
                    task.give_up(Some(now));
                    task.deaths = if task.steps.len() > task.steps_at_death { 1 } else { task.deaths + 1 };
                    task.steps_at_death = task.steps.len();
                    if task.deaths >= 3 {
                        task.end(TaskEnd::Died, now);
                        died.push(*id);
                    }
                }
            }
            let mut found = self.store.bury(by, 3).await.expect("it answers");
            found.sort();
            assert_eq!(found, died, "a task dies at its third death");
        }
        let mut expired = Vec::new();
        for (id, task) in self.tasks.iter_mut().filter(|(_, task)| task.end.is_none() && task.expires <= now) {
            task.end(TaskEnd::Expired, now);
            expired.push(*id);
        }
        self.tasks.retain(|_, task| task.expires > now);
        let mut found = self.store.sweep().await.expect("it answers");
        found.sort();
        assert_eq!(found, expired, "a task expires at its time");
        format!("pass time, bury by {by:?}, sweep")
    }
}

fn expect(is_held: bool) -> ClaimState {
    if is_held { ClaimState::Held } else { ClaimState::Lost }
}
