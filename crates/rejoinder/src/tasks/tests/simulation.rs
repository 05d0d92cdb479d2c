//! Many processes on one store that is slow and fails, in paused time: what is promised holds after every operation.
//!
//! `REJOINDER_SEEDS=5000` runs the long form, and `REJOINDER_SEED=17` one seed.

use std::{
    collections::{BTreeSet, HashMap},
    panic::AssertUnwindSafe,
    sync::atomic::{AtomicBool, Ordering},
    time::SystemTime,
};

use bytes::Bytes;
use tokio::{
    task::JoinSet,
    time::{Instant, sleep},
};

use super::*;
use crate::{
    tasks::{
        AnsweredTask, Claim, ClaimState, Claimant, Claimed, ClaimedTask, CreatedTask, KeeperError, KeeperFuture,
        TaskClock, TaskStore, WorkerId,
    },
    testing::tasks::Random,
};

/// What has been seen of a task.
#[derive(Default)]
struct Seen {
    /// Its clients know its id until this time.
    known_until: Option<SystemTime>,
    claim: Option<Claim>,
    end: Option<TaskEnd>,
    /// The steps that have returned.
    returned: BTreeSet<String>,
    answers: HashMap<Arc<str>, Answers>,
    deaths: usize,
}

/// The answers to a question.
#[derive(Default)]
struct Answers {
    /// That may count: one was acknowledged when the others had not been sent.
    sent: Vec<Bytes>,
    is_acknowledged: bool,
    /// The one that a run has had.
    had: Option<Bytes>,
}

/// The world of one seed.
struct World {
    memory: MemoryTasks,
    random: Mutex<Random>,
    seen: Mutex<BTreeMap<TaskId, Seen>>,
    is_broken: AtomicBool,
    /// When the clock of the store jumped last.
    jumped: Mutex<Instant>,
}

impl World {
    fn below(&self, limit: usize) -> usize {
        lock(&self.random).below(limit)
    }

    /// Milliseconds.
    async fn wait_below(&self, limit: usize) {
        let limit = self.below(limit);
        sleep(Duration::from_millis(limit as u64)).await;
    }

    /// Notes and checks. A panic in a spawned future would not be noticed otherwise.
    fn see<T>(&self, id: TaskId, see: impl FnOnce(&mut Seen) -> T) -> T {
        let see = || see(lock(&self.seen).entry(id).or_default());
        std::panic::catch_unwind(AssertUnwindSafe(see)).unwrap_or_else(|panic| {
            self.is_broken.store(true, Ordering::SeqCst);
            std::panic::resume_unwind(panic)
        })
    }

    /// A task has been claimed.
    fn has_claimed(&self, task: &ClaimedTask) {
        let (claim, run) = (task.claim, &task.run);
        self.see(run.id, |seen| {
            assert!(seen.claim.is_none_or(|before| before.epoch < claim.epoch), "P8: a claim has a new epoch");
            assert_eq!(seen.end, None, "P4: an ended task is not claimed");
            seen.claim = Some(claim);
            let done: BTreeSet<_> = keys(run).collect();
            assert!(seen.returned.is_subset(&done), "P2: {:?} of {done:?} returned", seen.returned);
            for (key, answers) in &mut seen.answers {
                let answer = run.questions.iter().find(|question| question.key == *key);
                let answer = answer.and_then(|question| question.answer.clone());
                assert!(!answers.is_acknowledged || answer.is_some(), "P5: an answer reaches the next run");
                let Some(answer) = answer else { continue };
                assert!(answers.sent.contains(&answer), "P5: the first answer counts");
                assert!(answers.had.as_ref().is_none_or(|had| *had == answer), "P5: an answer stays the same");
                answers.had = Some(answer);
            }
        });
    }

    /// A claim has written.
    fn has_written(&self, claim: &Claim, state: ClaimState) {
        self.see(claim.id, |seen| {
            assert!(state == ClaimState::Lost || seen.claim == Some(*claim), "P8: only the last claim writes");
        });
    }

    /// Reads a task as its client does.
    async fn check(&self, id: TaskId) {
        let task = self.memory.get(&ADA, &id).await.expect("it answers");
        let now = self.memory.clock().now();
        self.see(id, |seen| {
            let Some(task) = task else {
                assert!(seen.known_until.is_none_or(|until| until <= now), "P1: a task is readable until its time");
                return;
            };
            match task.state {
                TaskState::Open(open) => {
                    assert_eq!(seen.end, None, "P4: an end is for ever");
                    for question in open {
                        let is_known = seen.answers.get(&question.key).is_some_and(|answers| answers.is_acknowledged);
                        assert!(!is_known, "P6: a question is shown until its answer");
                    }
                }
                TaskState::Ended(end) => {
                    assert!(seen.end.as_ref().is_none_or(|before| *before == end), "P4: one end");
                    assert!(end != TaskEnd::Died || seen.deaths >= 3, "a task dies of deaths");
                    seen.end = Some(end);
                }
            }
        });
    }
}

/// The steps that are in the record of a run, and those since.
fn keys(run: &TaskRun) -> impl Iterator<Item = String> {
    let record = String::from_utf8(run.record.to_vec()).expect("it is text");
    let recorded: Vec<_> = record.split(',').map(str::to_owned).collect();
    recorded.into_iter().chain(run.steps.iter().map(|(key, _)| key.to_string()))
}

/// How a process reaches the store.
#[derive(Clone, Copy, PartialEq)]
enum Net {
    Fine,
    Flaky,
    /// Everything hangs, as in a process that is frozen.
    Cut,
    /// The process is dead.
    Gone,
}

/// The store as one process sees it.
#[derive(Clone)]
struct Remote {
    world: Arc<World>,
    net: Arc<Mutex<Net>>,
}

impl Remote {
    async fn reach(&self) {
        loop {
            match *lock(&self.net) {
                Net::Fine | Net::Flaky => return,
                Net::Cut => {}
                Net::Gone => break,
            }
            sleep(Duration::from_millis(50)).await;
        }
        std::future::pending::<()>().await;
    }

    /// Slow, and sometimes an error before or after the commit.
    async fn send<T, E: From<KeeperError>>(&self, commit: impl Future<Output = Result<T, E>>) -> Result<T, E> {
        let fails = || {
            let fails = *lock(&self.net) == Net::Flaky && self.world.below(5) == 0;
            if fails { Err(KeeperError::new("cut")) } else { Ok(()) }
        };
        let slowness = if self.world.below(40) == 0 { 3000 } else { 20 };
        self.reach().await;
        self.world.wait_below(slowness).await;
        fails()?;
        self.reach().await;
        let result = commit.await;
        self.world.wait_below(slowness).await;
        self.reach().await;
        fails()?;
        result
    }

    /// A write with a claim, and what is checked after it.
    fn write<'a>(
        &'a self,
        claim: &'a Claim,
        write: impl Future<Output = Result<ClaimState, KeeperError>> + Send + 'a,
    ) -> KeeperFuture<'a, ClaimState> {
        let write = async move {
            let written = write.await;
            self.world.has_written(claim, *written.as_ref().expect("memory does not fail"));
            self.world.check(claim.id).await;
            written
        };
        self.send(write).boxed()
    }
}

impl TaskStore for Remote {
    fn outlives_process(&self) -> bool {
        false
    }

    fn clock(&self) -> &TaskClock {
        self.world.memory.clock()
    }

    fn open(&self) -> KeeperFuture<'_, ()> {
        self.world.memory.open()
    }

    fn join(&self, worker: WorkerId, lease: Duration) -> KeeperFuture<'_, ()> {
        self.send(self.world.memory.join(worker, lease)).boxed()
    }

    fn beat(&self, worker: WorkerId, lease: Duration) -> KeeperFuture<'_, Option<Vec<Claim>>> {
        self.send(self.world.memory.beat(worker, lease)).boxed()
    }

    fn leave(&self, worker: WorkerId) -> KeeperFuture<'_, ()> {
        self.send(self.world.memory.leave(worker)).boxed()
    }

    fn create<'a>(
        &'a self,
        task: &'a NewTask,
        claimant: Option<&'a Claimant>,
    ) -> KeeperFuture<'a, CreatedTask, BirthError> {
        let create = async move {
            let created = self.world.memory.create(task, claimant).await;
            created.inspect(|created| created.claimed.iter().for_each(|task| self.world.has_claimed(task)))
        };
        self.send(create).boxed()
    }

    fn claim<'a>(&'a self, claimant: &'a Claimant, most: usize) -> KeeperFuture<'a, Claimed> {
        let claim = async move {
            let claimed = self.world.memory.claim(claimant, most).await;
            claimed.inspect(|claimed| claimed.tasks.iter().for_each(|task| self.world.has_claimed(task)))
        };
        self.send(claim).boxed()
    }

    fn get<'a>(&'a self, owner: &'a TaskOwner, id: &'a TaskId) -> KeeperFuture<'a, Option<TaskSnapshot>> {
        self.send(self.world.memory.get(owner, id)).boxed()
    }

    fn answer<'a>(
        &'a self,
        owner: &'a TaskOwner,
        id: &'a TaskId,
        answers: &'a [(Arc<str>, Bytes)],
        claimant: Option<&'a Claimant>,
    ) -> KeeperFuture<'a, Option<AnsweredTask>> {
        let answer = async move {
            let answered = self.world.memory.answer(owner, id, answers, claimant).await;
            let claimed = answered.as_ref().ok().and_then(|answered| answered.as_ref()?.claimed.as_ref());
            claimed.into_iter().for_each(|task| self.world.has_claimed(task));
            answered
        };
        self.send(answer).boxed()
    }

    fn cancel<'a>(&'a self, owner: &'a TaskOwner, id: &'a TaskId) -> KeeperFuture<'a, Option<bool>> {
        self.send(self.world.memory.cancel(owner, id)).boxed()
    }

    fn record<'a>(&'a self, claim: &'a Claim, key: &'a str, step: &'a Bytes) -> KeeperFuture<'a, ClaimState> {
        self.write(claim, self.world.memory.record(claim, key, step))
    }

    fn message<'a>(&'a self, claim: &'a Claim, message: &'a Bytes) -> KeeperFuture<'a, ClaimState> {
        self.write(claim, self.world.memory.message(claim, message))
    }

    fn park<'a>(&'a self, claim: &'a Claim, parking: &'a Parking) -> KeeperFuture<'a, ClaimState> {
        self.write(claim, self.world.memory.park(claim, parking))
    }

    fn finish<'a>(&'a self, claim: &'a Claim, end: &'a TaskEnd) -> KeeperFuture<'a, ClaimState> {
        self.write(claim, self.world.memory.finish(claim, end))
    }

    fn release<'a>(&'a self, claim: &'a Claim, after: Duration) -> KeeperFuture<'a, ()> {
        self.send(self.world.memory.release(claim, after)).boxed()
    }

    fn bury(&self, by: WorkerId, deaths: u32) -> KeeperFuture<'_, Vec<TaskId>> {
        let bury = async move {
            // Who may have died now: more is not known from outside.
            lock(&self.world.seen).values_mut().for_each(|seen| seen.deaths += 1);
            self.world.memory.bury(by, deaths).await
        };
        self.send(bury).boxed()
    }

    fn sweep(&self) -> KeeperFuture<'_, Vec<TaskId>> {
        self.send(self.world.memory.sweep()).boxed()
    }
}

/// A function of steps (`s`), questions (`q`) and sleeps (`z`), as the call says.
async fn function(world: Arc<World>, remote: Remote, run: TaskRun, journal: Arc<dyn TaskJournal>) {
    let mut done: Vec<_> = keys(&run).collect();
    let answered: Vec<_> = run.questions.iter().filter(|asked| asked.answer.is_some()).collect();
    let closed: Vec<_> = answered.iter().map(|asked| Arc::clone(&asked.key)).collect();
    for (place, kind) in run.call.iter().enumerate() {
        let key = format!("{}{place}", char::from(*kind));
        let is_answered = answered.iter().any(|asked| *asked.key == *key);
        if done.contains(&key) || is_answered {
            continue;
        }
        match kind {
            b's' => {
                // After a jump of the clock a run may be taken over before it hears of that, at the next beat. What it
                // begins then is never recorded.
                let has_jumped = lock(&world.jumped).elapsed() < Duration::from_secs(12);
                world.see(run.id, |seen| {
                    let is_again = seen.returned.contains(&key);
                    assert!(has_jumped || !is_again, "P2: a step that returned does not run again");
                });
                world.wait_below(1500).await;
                // A frozen process does nothing.
                remote.reach().await;
                journal.say(key.clone().into());
                journal.record(&key, "done".into()).await;
                world.see(run.id, |seen| seen.returned.insert(key.clone()));
                done.push(key);
            }
            kind => {
                let is_question = *kind == b'q';
                let is_asked = run.questions.iter().any(|asked| *asked.key == *key);
                let asked = (is_question && !is_asked).then(|| NewQuestion {
                    key: key.as_str().into(),
                    name: "question".into(),
                    request: "which?".into(),
                });
                let naps = !is_question || world.below(3) == 0;
                let wakes = naps.then(|| journal.now() + Duration::from_secs(7));
                if !is_question {
                    done.push(key);
                }
                let record = done.join(",").into();
                journal
                    .end(RunEnd::Parked(Parking { record, asked: asked.into_iter().collect(), closed, wakes }))
                    .await;
                return;
            }
        }
    }
    if world.below(10) > 0 {
        journal.end(RunEnd::Completed(run.call.clone())).await;
    }
}

/// A process: a keeper and its worker.
struct Machine {
    remote: Remote,
    keeper: Arc<LeaseKeeper>,
    stop: CancellationToken,
    working: JoinHandle<()>,
}

impl Machine {
    fn start(world: &Arc<World>, at_once: usize) -> Self {
        let remote = Remote { world: Arc::clone(world), net: Arc::new(Mutex::new(Net::Fine)) };
        let keeper = Arc::new(LeaseKeeper::new(remote.clone()));
        let script = Script::new({
            let (world, remote) = (Arc::clone(world), remote.clone());
            move |run, journal| function(Arc::clone(&world), remote.clone(), run, journal)
        });
        let stop = CancellationToken::new();
        let work = Arc::clone(&keeper).work(script, at_once, stop.clone(), Duration::from_secs(2));
        Self { remote, keeper, stop, working: tokio::spawn(work) }
    }

    fn set(&self, net: Net) {
        *lock(&self.remote.net) = net;
    }

    /// As kill -9.
    fn kill(&self) {
        self.set(Net::Gone);
        self.working.abort();
    }
}

/// Makes a task.
async fn create(world: Arc<World>, keeper: Arc<LeaseKeeper>, id: TaskId) {
    let plans = ["s", "ss", "sqs", "qqs", "szs", "sqzqs", "zq"];
    let (call, ttl) = (plans[world.below(plans.len())].into(), [40, 3600][world.below(2)]);
    let (ttl, origin) = (Duration::from_secs(ttl), Some(id.to_string().into()));
    let task = NewTask { id, call, ttl, origin, record: Bytes::new(), ..new_task(ADA) };
    // A client that gets an error sends the round again.
    for _ in 0..3 {
        if let Ok(task) = keeper.create(task.clone()).await {
            world.see(id, |seen| seen.known_until = Some(task.created + ttl));
            return;
        }
    }
}

/// Answers an open question of the task.
async fn answer(world: Arc<World>, keeper: Arc<LeaseKeeper>, id: TaskId, answer: usize) {
    let Ok(Some(task)) = keeper.get(&ADA, &id).await else { return };
    let TaskState::Open(open) = task.state else { return };
    let Some(question) = open.first() else { return };
    let (key, answer) = (Arc::clone(&question.key), Bytes::from(answer.to_string()));
    world.see(id, |seen| {
        let answers = seen.answers.entry(Arc::clone(&key)).or_default();
        if !answers.is_acknowledged {
            answers.sent.push(answer.clone());
        }
    });
    let acknowledged = keeper.answer(&ADA, &id, vec![(Arc::clone(&key), answer)]).await;
    // It may have ended before.
    if matches!(acknowledged, Ok(Some(()))) {
        world.see(id, |seen| seen.answers.get_mut(&key).expect("it was sent").is_acknowledged = true);
    }
}

async fn simulate(seed: u64) {
    let (memory, random) = (MemoryTasks::new(), Mutex::new(Random::new(seed)));
    let (is_broken, jumped) = (AtomicBool::new(false), Mutex::new(Instant::now()));
    let world = Arc::new(World { memory, random, seen: Mutex::default(), is_broken, jumped });
    let mut machines: Vec<_> = (0..2 + world.below(5)).map(|_| Machine::start(&world, world.below(4))).collect();
    let (mut clients, mut ids) = (JoinSet::new(), Vec::new());
    for step in 0..60 {
        world.wait_below(1500).await;
        let at = world.below(machines.len());
        let (machine, keeper) = (&machines[at], Arc::clone(&machines[at].keeper));
        let id = (!ids.is_empty()).then(|| ids[world.below(ids.len())]);
        match (world.below(14), id) {
            (0..3, _) | (_, None) => {
                let id = TaskId::from_bytes([step; 16]);
                ids.push(id);
                clients.spawn(create(Arc::clone(&world), keeper, id));
            }
            (3..7, Some(id)) => drop(clients.spawn(answer(Arc::clone(&world), keeper, id, step.into()))),
            (7, Some(id)) if world.below(3) == 0 => {
                clients.spawn(async move { drop(keeper.cancel(&ADA, &id).await) });
            }
            (7 | 8, _) => machine.set(Net::Flaky),
            (9, _) => machine.set(Net::Cut),
            (10, _) => machine.set(Net::Fine),
            (11, _) => {
                machine.kill();
                machines[at] = Machine::start(&world, world.below(4));
            }
            (12, _) => {
                // It stops in the background.
                machine.stop.cancel();
                machines[at] = Machine::start(&world, world.below(4));
            }
            _ => {
                *lock(&world.jumped) = Instant::now();
                world.memory.clock().advance(Duration::from_secs(world.below(13) as u64));
            }
        }
        for id in &ids {
            world.check(*id).await;
        }
        assert!(!world.is_broken.load(Ordering::SeqCst), "a promise is broken");
    }
    // All is well again.
    machines.iter().for_each(|machine| machine.set(Net::Fine));
    machines.push(Machine::start(&world, 2));
    let works = Arc::clone(&machines.last().expect("it was pushed").keeper);
    for round in 0..100 {
        sleep(Duration::from_secs(2)).await;
        assert!(!world.is_broken.load(Ordering::SeqCst), "a promise is broken");
        let mut open = 0;
        for id in &ids {
            world.check(*id).await;
            let task = world.memory.get(&ADA, id).await.expect("it answers");
            open += usize::from(task.is_some_and(|task| matches!(task.state, TaskState::Open(_))));
            clients.spawn(answer(Arc::clone(&world), Arc::clone(&works), *id, 100 + round));
        }
        if open == 0 && round > 10 {
            return machines.iter().for_each(Machine::kill);
        }
    }
    panic!("P7: all tasks end when all is well");
}

#[test]
fn promises_hold_whatever_fails() {
    let number = |name| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let (first, seeds) = match number("REJOINDER_SEED") {
        Some(seed) => (seed, 1),
        None => (1, number("REJOINDER_SEEDS").unwrap_or(500)),
    };
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get() as u64);
    std::thread::scope(|scope| {
        for thread in 0..threads.min(seeds) {
            scope.spawn(move || {
                for seed in (first + thread..first + seeds).step_by(usize::try_from(threads).expect("there are few")) {
                    let simulated = std::panic::catch_unwind(|| {
                        let runtime =
                            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
                        runtime.expect("a runtime").block_on(simulate(seed));
                    });
                    assert!(simulated.is_ok(), "REJOINDER_SEED={seed} fails");
                }
            });
        }
    });
}
