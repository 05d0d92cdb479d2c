//! Processes that die in a test: as kill -9, without the process.

use std::{
    fmt,
    future::pending,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use futures_util::{
    FutureExt,
    future::{BoxFuture, poll_fn},
};
use serde_json::Value;
use tokio::{
    sync::Notify,
    time::{sleep, timeout},
};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use super::{Client, ClientError, Response, Result};
use crate::{
    call::CallTrace,
    error::lock,
    model::CallToolResult,
    tasks::{
        BirthError, KeeperFuture, LeaseKeeper, MemoryTasks, NewTask, Parking, RunEnd, RunStop, TaskClock, TaskId,
        TaskJournal, TaskKeeper, TaskOwner, TaskRun, TaskRunner, TaskSnapshot, TaskStore, Tasks,
    },
};

/// After how long others go on with the tasks of a dead process.
const LEASE: Duration = Duration::from_secs(12);

/// How long a death is waited for.
const LONGEST: Duration = Duration::from_secs(10);

/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(5);

/// Where a process dies: see [`Client::kill_at`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cut {
    /// Before the step or the question is kept: its work is done, and nobody knows.
    BeforeRecord,
    /// After it is kept, before the function hears of it.
    AfterRecord,
}

impl Client {
    /// Has the process that runs tasks die, once for each time that this is called, where this step or this question is kept: as
    /// kill -9. Nothing of it goes on,
    /// no teardown runs, and nobody tells the keeper. Another process takes its place, and goes on with its tasks when the
    /// lease of the dead one has ended, after ten seconds of [the clock](Self::advance).
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use rejoinder::{prelude::*, testing::{Client, Cut}};
    /// use serde_json::json;
    ///
    /// #[tool(task)]
    /// async fn render(ctx: Context) -> Result<u32, CallError> {
    ///     ctx.once("submit", || async { Ok(7) }).await
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("studio", "1.0.0").tools(tools![render])).tasks();
    /// let client = client.kill_at("submit", Cut::AfterRecord);
    /// let task = client.start_task("render", json!({})).await?;
    /// client.advance(Duration::from_secs(12)).await;
    /// assert_eq!(task.finish().await?.text(), "7");
    /// assert_eq!((task.runs(), task.steps()), (2, vec!["submit".to_owned()]), "the step has run once");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If the client does not follow [`tasks`](Self::tasks) that are kept in memory.
    #[track_caller]
    pub fn kill_at(self, key: &str, cut: Cut) -> Self {
        self.mortal().kill_at(key, cut);
        self
    }

    /// Moves the clock of tasks, so that leases, sleeps and TTLs end without waiting. If a process is about to
    /// [die](Self::kill_at), it does so before: that is waited for, at most ten seconds.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use rejoinder::{prelude::*, testing::Client};
    /// use serde_json::json;
    ///
    /// #[tool(task(ttl = "24h"))]
    /// async fn remind(ctx: Context) -> Result<&'static str, CallError> {
    ///     ctx.status("asleep").await;
    ///     ctx.sleep("overnight", Duration::from_secs(8 * 3600)).await?;
    ///     Ok("good morning")
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("clock", "1.0.0").tools(tools![remind])).tasks();
    /// let task = client.start_task("remind", json!({})).await?;
    /// task.until(|shown| shown["statusMessage"] == "asleep").await?;
    /// client.advance(Duration::from_secs(9 * 3600)).await;
    /// assert_eq!(task.finish().await?.text(), "good morning");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If the client does not follow [`tasks`](Self::tasks) that are kept in memory.
    pub async fn advance(&self, by: Duration) {
        let keeper = self.mortal();
        let Fate { planned, deaths, deaths_before, .. } = &*keeper.fate;
        let death = async {
            while deaths.load(Ordering::SeqCst) == deaths_before.load(Ordering::SeqCst) {
                sleep(PAUSE).await;
            }
        };
        let is_near = deaths.load(Ordering::SeqCst) > deaths_before.load(Ordering::SeqCst) || !lock(planned).is_empty();
        if is_near {
            let _ = timeout(LONGEST, death).await;
            deaths_before.store(deaths.load(Ordering::SeqCst), Ordering::SeqCst);
        }
        keeper.clock().advance(by);
        // What was asleep runs.
        sleep(PAUSE).await;
    }

    #[track_caller]
    fn mortal(&self) -> &MortalKeeper {
        let keeper = self.connection.tasks.as_deref().filter(|_| !self.connection.server.0.has_keeper());
        keeper.expect(
            "`kill_at`, `advance` and `cut_everywhere` are for a client that follows tasks (`Client::tasks`) of a server that \
             keeps them in memory: leave `Server::tasks` to `main`",
        )
    }

    /// Runs tools again and again, each time with a process that dies before or after a step or a question is kept.
    ///
    /// [`EveryCut::call_tool`] fails with the name of the place if the result differs from that of a run without a death, or if
    /// something else is asked. Calls that are not tasks die as often: their client sends the round again.
    ///
    /// ```
    /// use rejoinder::{prelude::*, form::ConfirmForm, testing::Client};
    /// use serde_json::json;
    ///
    /// #[tool(task)]
    /// async fn publish(ctx: Context) -> Result<String, CallError> {
    ///     let draft: String = ctx.once("draft", || async { Ok("a draft".to_owned()) }).await?;
    ///     let sure = ctx.ask("sure", Ask::confirm(format!("Publish {draft}?"))).await?;
    ///     ctx.once("publish", || async { Ok(()) }).await?;
    ///     Ok(format!("{draft} {sure}"))
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("press", "1.0.0").tools(tools![publish])).tasks();
    /// let client = client.answer("sure", ConfirmForm { yes: true });
    /// let reply = client.cut_everywhere().call_tool("publish", json!({})).await?;
    /// assert_eq!(reply.text(), "a draft true");
    /// # Ok(())
    /// # }
    /// ```
    pub fn cut_everywhere(self) -> EveryCut {
        EveryCut(self)
    }
}

/// A client whose server dies everywhere: see [`Client::cut_everywhere`].
#[derive(Debug)]
pub struct EveryCut(Client);

impl EveryCut {
    /// Calls a tool without a death, and then twice for each step and each question. Returns the first response.
    ///
    /// # Errors
    ///
    /// As [`Client::call_tool`], and if a call with a death differs.
    ///
    /// # Panics
    ///
    /// If the client follows tasks that are not kept in memory.
    pub async fn call_tool(&self, tool: &str, arguments: Value) -> Result<Response<CallToolResult>> {
        let (whole, places) = self.call(tool, &arguments, None).await?;
        for (key, cut) in places.iter().flat_map(|key| [(key, Cut::BeforeRecord), (key, Cut::AfterRecord)]) {
            let died = format!("with a process that dies {cut} `{key}` is kept");
            let differs = |reason: String| ClientError::unexpected("tools/call", format!("{died}, {reason}"));
            let (reply, _) =
                self.call(tool, &arguments, Some((key, cut))).await.map_err(|error| differs(error.to_string()))?;
            if reply.result != whole.result {
                return Err(differs(format!("the result is `{}`, and otherwise `{}`", reply.text(), whole.text())));
            }
            if reply.asked != whole.asked {
                return Err(differs(format!("it asks {:?}, and otherwise {:?}", reply.asked, whole.asked)));
            }
        }
        Ok(whole)
    }

    /// A call in which a process may die, and the places where one can.
    async fn call(
        &self,
        tool: &str,
        arguments: &Value,
        place: Option<(&str, Cut)>,
    ) -> Result<(Response<CallToolResult>, Vec<String>)> {
        let mut client = self.0.clone();
        if client.connection.tasks.is_none() {
            let trace = CallTrace::default();
            if let Some((key, cut)) = place {
                trace.cut_at(key, cut == Cut::AfterRecord);
            }
            let reply = client.call_traced(tool, arguments.clone(), trace.clone()).await?;
            return Ok((reply, std::mem::take(&mut trace.lock().steps)));
        }
        // Its own processes, and none of another call.
        client = client.tasks();
        let keeper = client.mortal();
        keeper.fate.is_short.store(true, Ordering::SeqCst);
        if let Some((key, cut)) = place {
            keeper.kill_at(key, cut);
        }
        let reply = client.call_tool(tool, arguments.clone()).await?;
        let kept = lock(&keeper.fate.kept).iter().map(|kept| kept.key.clone()).collect();
        Ok((reply, kept))
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BeforeRecord => "before",
            Self::AfterRecord => "after",
        })
    }
}

/// Keeps the tasks of a test in memory. The process that runs them dies where the test wants it, and another one takes its
/// place.
#[derive(Debug)]
pub(super) struct MortalKeeper {
    store: MemoryTasks,
    /// Who keeps tasks for the process that lives.
    alive: Mutex<Arc<LeaseKeeper>>,
    fate: Arc<Fate>,
}

/// The tasks of a test, and who keeps them.
pub(super) fn mortal_tasks() -> (Tasks, Arc<MortalKeeper>) {
    let store = MemoryTasks::new();
    let keeper = Arc::new(MortalKeeper::new(store.clone()));
    let tasks = Tasks::default();
    (Tasks { keeper: Arc::clone(&keeper) as Arc<dyn TaskKeeper>, memory: Some(store), ..tasks }, keeper)
}

/// What happens to processes.
#[derive(Debug, Default)]
struct Fate {
    /// Where processes will die, in any order.
    planned: Mutex<Vec<(String, Cut)>>,
    dies: Notify,
    deaths: AtomicUsize,
    /// How many there had been when the clock was last moved.
    deaths_before: AtomicUsize,
    /// Whether leases end with their processes.
    is_short: AtomicBool,
    /// How many clients follow tasks to their ends: they do not wait for sleeps.
    followers: AtomicUsize,
    /// The steps and questions that were kept, in order.
    kept: Mutex<Vec<KeptEntry>>,
}

/// A step or a question that was kept.
#[derive(Debug, Clone)]
struct KeptEntry {
    task: TaskId,
    key: String,
    is_step: bool,
}

impl Fate {
    /// Dies if it is time to.
    async fn meets(&self, cut: Cut, kept: KeptEntry) {
        let dies = {
            let mut planned = lock(&self.planned);
            let here = planned.iter().position(|(at, when)| *at == kept.key && *when == cut);
            here.map(|here| planned.remove(here)).is_some()
        };
        if cut == Cut::AfterRecord {
            lock(&self.kept).push(kept);
        }
        if dies {
            self.dies.notify_one();
            pending::<()>().await;
        }
    }
}

impl MortalKeeper {
    fn new(store: MemoryTasks) -> Self {
        let alive = Mutex::new(Arc::new(LeaseKeeper::new(store.clone())));
        Self { store, alive, fate: Arc::default() }
    }

    fn clock(&self) -> &TaskClock {
        self.store.clock()
    }

    /// Has the process die there, once.
    fn kill_at(&self, key: &str, cut: Cut) {
        lock(&self.fate.planned).push((key.to_owned(), cut));
    }

    /// The steps of a task that were kept, in order.
    pub(super) fn steps(&self, task: &str) -> Vec<String> {
        let kept = lock(&self.fate.kept);
        let steps = kept.iter().filter(|kept| kept.is_step && kept.task.to_string() == task);
        steps.map(|kept| kept.key.clone()).collect()
    }

    /// Where no process has died yet, of those that were to.
    pub(super) fn missed(&self) -> Option<String> {
        lock(&self.fate.planned).first().map(|(key, _)| key.clone())
    }

    /// Sleeps of tasks end at once until this is dropped.
    pub(super) fn skip_sleeps(self: &Arc<Self>) -> SkippedSleeps {
        self.fate.followers.fetch_add(1, Ordering::SeqCst);
        SkippedSleeps(Arc::clone(&self.fate))
    }

    fn alive(&self) -> Arc<LeaseKeeper> {
        Arc::clone(&lock(&self.alive))
    }
}

/// Somebody follows a task to its end.
pub(super) struct SkippedSleeps(Arc<Fate>);

impl Drop for SkippedSleeps {
    fn drop(&mut self) {
        self.0.followers.fetch_sub(1, Ordering::SeqCst);
    }
}

impl TaskKeeper for MortalKeeper {
    fn outlives_process(&self) -> bool {
        false
    }

    fn now(&self) -> SystemTime {
        self.clock().now()
    }

    fn open(&self) -> KeeperFuture<'_, ()> {
        self.store.open()
    }

    fn create(&self, task: NewTask) -> KeeperFuture<'_, TaskSnapshot, BirthError> {
        async move { self.alive().create(task).await }.boxed()
    }

    fn get<'a>(&'a self, owner: &'a TaskOwner, id: &'a TaskId) -> KeeperFuture<'a, Option<TaskSnapshot>> {
        async move { self.alive().get(owner, id).await }.boxed()
    }

    fn answer<'a>(
        &'a self,
        owner: &'a TaskOwner,
        id: &'a TaskId,
        answers: Vec<(Arc<str>, Bytes)>,
    ) -> KeeperFuture<'a, Option<()>> {
        async move { self.alive().answer(owner, id, answers).await }.boxed()
    }

    fn cancel<'a>(&'a self, owner: &'a TaskOwner, id: &'a TaskId) -> KeeperFuture<'a, Option<()>> {
        async move { self.alive().cancel(owner, id).await }.boxed()
    }

    fn work(
        self: Arc<Self>,
        runner: Arc<dyn TaskRunner>,
        at_once: usize,
        stop: CancellationToken,
        grace: Duration,
    ) -> BoxFuture<'static, ()> {
        async move {
            loop {
                let (fate, is_dead) = (Arc::clone(&self.fate), CancellationToken::new());
                let clock = self.clock().clone();
                let mortal =
                    Arc::new(MortalRunner { runner: Arc::clone(&runner), fate, clock, is_dead: is_dead.clone() });
                let work = self.alive().work(mortal, at_once, stop.clone(), grace);
                let mut working = AbortOnDropHandle::new(tokio::spawn(work));
                tokio::select! {
                    _ = &mut working => return,
                    () = self.fate.dies.notified() => {}
                }
                is_dead.cancel();
                working.abort();
                // From then on nobody renews its lease.
                let _ = working.await;
                self.fate.deaths.fetch_add(1, Ordering::SeqCst);
                if self.fate.is_short.load(Ordering::SeqCst) {
                    self.clock().advance(LEASE);
                }
                *lock(&self.alive) = Arc::new(LeaseKeeper::new(self.store.clone()));
            }
        }
        .boxed()
    }
}

/// Runs tasks until its process is dead.
struct MortalRunner {
    runner: Arc<dyn TaskRunner>,
    fate: Arc<Fate>,
    clock: TaskClock,
    is_dead: CancellationToken,
}

impl TaskRunner for MortalRunner {
    fn tools(&self) -> Vec<Arc<str>> {
        self.runner.tools()
    }

    fn run(&self, run: TaskRun, journal: Arc<dyn TaskJournal>) -> BoxFuture<'static, ()> {
        let (fate, clock, is_dead) = (Arc::clone(&self.fate), self.clock.clone(), self.is_dead.clone());
        let journal = Arc::new(MortalJournal { task: run.id, journal, fate, clock, is_dead: is_dead.clone() });
        let mut run = MortalRun { run: Some(self.runner.run(run, journal)), is_dead };
        poll_fn(move |cx| run.poll(cx)).boxed()
    }

    fn changed(&self, id: &TaskId) {
        self.runner.changed(id);
    }
}

/// A run. What it holds is not dropped when its process dies: nothing of a dead process runs.
struct MortalRun {
    run: Option<BoxFuture<'static, ()>>,
    is_dead: CancellationToken,
}

impl MortalRun {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.run {
            Some(run) if !self.is_dead.is_cancelled() => run.poll_unpin(cx),
            _ => Poll::Pending,
        }
    }
}

impl Drop for MortalRun {
    fn drop(&mut self) {
        if self.is_dead.is_cancelled() {
            std::mem::forget(self.run.take());
        }
    }
}

/// The journal of a run, whose process may die between two writes.
struct MortalJournal {
    task: TaskId,
    journal: Arc<dyn TaskJournal>,
    fate: Arc<Fate>,
    clock: TaskClock,
    is_dead: CancellationToken,
}

impl MortalJournal {
    /// Dies where a step or a question is kept, if it is time to.
    async fn meets(&self, key: &str, cut: Cut, is_step: bool) {
        self.fate.meets(cut, KeptEntry { task: self.task, key: key.to_owned(), is_step }).await;
    }

    /// Moves the clock over a sleep, if nobody wants to wait for it.
    fn skip(&self, sleep: Duration) {
        if self.fate.followers.load(Ordering::SeqCst) > 0 {
            self.clock.advance(sleep);
        }
    }

    async fn lives(&self) {
        if self.is_dead.is_cancelled() {
            pending::<()>().await;
        }
    }
}

impl TaskJournal for MortalJournal {
    fn record<'a>(&'a self, key: &'a str, step: Bytes) -> BoxFuture<'a, ()> {
        async move {
            self.meets(key, Cut::BeforeRecord, true).await;
            self.lives().await;
            self.journal.record(key, step).await;
            self.meets(key, Cut::AfterRecord, true).await;
        }
        .boxed()
    }

    fn end(&self, end: RunEnd) -> BoxFuture<'_, ()> {
        async move {
            let keys: Vec<_> = match &end {
                RunEnd::Parked(parking) => parking.asked.iter().map(|asked| Arc::clone(&asked.key)).collect(),
                RunEnd::Completed(_) | RunEnd::Failed(_) => Vec::new(),
            };
            let sleeps_until = match &end {
                RunEnd::Parked(Parking { asked, wakes, .. }) if asked.is_empty() => *wakes,
                _ => None,
            };
            for key in &keys {
                self.meets(key, Cut::BeforeRecord, false).await;
            }
            self.lives().await;
            self.journal.end(end).await;
            for key in &keys {
                self.meets(key, Cut::AfterRecord, false).await;
            }
            if let Some(left) = sleeps_until.and_then(|until| until.duration_since(self.clock.now()).ok()) {
                self.skip(left);
            }
        }
        .boxed()
    }

    fn say(&self, message: Bytes) {
        if !self.is_dead.is_cancelled() {
            self.journal.say(message);
        }
    }

    fn now(&self) -> SystemTime {
        self.journal.now()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'_, ()> {
        async move {
            let mut slept = self.journal.sleep(duration);
            // It begins before the clock moves over it.
            if (&mut slept).now_or_never().is_none() {
                self.skip(duration);
                slept.await;
            }
        }
        .boxed()
    }

    fn holds(&self) -> bool {
        self.journal.holds()
    }

    fn stopped(&self) -> BoxFuture<'_, RunStop> {
        self.journal.stopped()
    }
}
