//! The tasks of a server: how they are made, read, answered and cancelled, and who runs them.

use std::{
    collections::BTreeSet,
    fmt,
    sync::{Arc, OnceLock},
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::HeaderName;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::time::{Instant, timeout_at};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

use super::{
    Operation, Refusal, Started, Target, TargetKind,
    engine::{Engine, Settings, tracker},
};
use crate::{
    auth::{Budget, BudgetFull, Principal},
    call::{InputResponses, RecordRules, Utf8Bytes},
    error::BoxError,
    item::ItemFunction,
    request::{RequestInfo, StoredRequest},
    rounds::{
        BirthCarrier, StatelessCarrier, column,
        seal::{KeptAt, Opened, Seal},
    },
    tasks::{
        BirthError, KeeperError, MemoryTasks, NewTask, TaskEnd, TaskId, TaskOptions, TaskPlaces, TaskRun, TaskRunner,
        TaskSnapshot, TaskState, Tasks,
    },
};

/// How long an ended task can be read at least.
const LEAST_KEEP: Duration = Duration::from_secs(10 * 60);

/// The entries of `_meta` that a task keeps: those that continue a trace.
const KEPT_META: [&str; 3] = ["traceparent", "tracestate", "baggage"];

/// How errors name tasks.
const TASKS: &str = "tasks";

/// The tasks of a server.
pub(super) struct ServerTasks {
    settings: Tasks,
    /// Whether the author says who keeps them.
    pub(super) is_set: bool,
    /// What the record of a task may hold.
    pub(super) record_rules: Arc<RecordRules>,
    /// Set when tasks are run.
    begun: OnceLock<()>,
    /// Set when the log says what is lost.
    ended: OnceLock<()>,
    /// Cancelled when the server stops, or is dropped.
    stop: CancellationToken,
    _stops: DropGuard,
    /// When the server began to stop.
    stops_since: OnceLock<Instant>,
    /// The runs, and who has them run.
    pub(super) runs: TaskTracker,
}

/// What a client does with a task.
#[derive(Debug)]
pub(crate) enum TaskOperation {
    /// `tasks/get`.
    Get,
    /// `tasks/update`.
    Update {
        answers: InputResponses,
        /// What answers no kind of question.
        others: InputResponses,
    },
    /// `tasks/cancel`.
    Cancel,
}

impl TaskOperation {
    pub(super) fn method(&self) -> &'static str {
        match self {
            Self::Get => "tasks/get",
            Self::Update { .. } => "tasks/update",
            Self::Cancel => "tasks/cancel",
        }
    }
}

/// A call as it is kept with its task.
#[derive(Serialize, Deserialize)]
struct StoredCall {
    request: StoredRequest,
    tool: String,
    /// As JSON text, as the middleware left them.
    arguments: Option<Box<RawValue>>,
}

impl ServerTasks {
    pub(super) fn new(
        settings: Tasks,
        is_set: bool,
        record_rules: RecordRules,
        (stopping, bytes): (&CancellationToken, &Budget),
    ) -> Self {
        if let Some(memory) = &settings.memory {
            memory.count_in(bytes.clone());
        }
        let stop = stopping.child_token();
        let _stops = stop.clone().drop_guard();
        let (record_rules, runs) = (Arc::new(record_rules), tracker());
        let (begun, ended, stops_since) = Default::default();
        Self { settings, is_set, record_rules, begun, ended, stop, _stops, stops_since, runs }
    }

    /// Those of a copy of the server with other services.
    pub(super) fn of_copy(&self, tasks: Tasks, stopping: &CancellationToken, bytes: &Budget) -> Self {
        let Tasks { at_once, ttl, poll, .. } = self.settings;
        let rules = RecordRules { version: Arc::clone(&self.record_rules.version), ..*self.record_rules };
        Self::new(Tasks { at_once, ttl, poll, ..tasks }, false, rules, (stopping, bytes))
    }

    /// Whether what a task keeps can be read by whoever reads the store.
    pub(super) fn is_readable(settings: &Tasks, seal: &Seal) -> bool {
        settings.keeper.outlives_process() && !seal.has_own_keys()
    }

    /// Notes that the server begins to stop.
    pub(super) fn begin_stop(&self) -> Instant {
        *self.stops_since.get_or_init(Instant::now)
    }

    /// Waits until no run is left, at most for two grace periods since the server began to stop.
    pub(super) async fn stop(&self, grace: Duration) {
        let since = self.begin_stop();
        self.stop.cancel();
        // The keeper gives runs the grace period, and then what they deferred.
        let longest = since.checked_add(grace.saturating_mul(2)).unwrap_or(since);
        if timeout_at(longest, self.runs.wait()).await.is_err() {
            tracing::warn!("tasks are still running after the grace period");
        }
        let lost = self.settings.memory.as_ref().map_or(0, MemoryTasks::open_tasks);
        if lost > 0 && self.ended.set(()).is_ok() {
            tracing::warn!(tasks = lost, "tasks that have not ended are lost: they were kept in memory");
        }
    }
}

impl fmt::Debug for ServerTasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerTasks").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Engine {
    /// Has tasks run from now on, by what `runner` makes, unless they do.
    pub(crate) fn run_tasks(&self, runner: impl FnOnce() -> Arc<dyn TaskRunner>) {
        let tasks = &self.activity.tasks;
        if tasks.begun.set(()).is_ok() {
            if !tasks.is_set {
                tracing::info!(
                    "tasks are kept in memory, and end with the process: `Server::tasks` keeps them elsewhere"
                );
            }
            let Tasks { keeper, at_once, .. } = tasks.settings.clone();
            let work = keeper.work(runner(), at_once, tasks.stop.clone(), self.grace());
            drop(tokio::spawn(tasks.runs.track_future(work)));
        }
    }

    /// Whether the author says who keeps tasks: then they run as soon as the server has started.
    pub(crate) fn has_keeper(&self) -> bool {
        self.activity.tasks.is_set
    }

    /// Whether clients can make tasks.
    pub(crate) fn offers_tasks(&self) -> bool {
        self.offer.capabilities.extensions.is_some()
    }

    /// Connects to the keeper of tasks.
    pub(super) async fn open_tasks(&self) -> Result<(), BoxError> {
        let Tasks { keeper, .. } = &self.activity.tasks.settings;
        if ServerTasks::is_readable(&self.activity.tasks.settings, &self.settings.seal) {
            let registry = self.registry();
            let exposed = registry.items().find_map(|item| exposed_header(item.name(), item.function()));
            if let Some(exposed) = exposed {
                return Err(exposed.into());
            }
            tracing::warn!(
                "tasks are written down in plain text: set REJOINDER_STATE_KEYS, or call `StatePolicy::keys`, to have them \
                 sealed"
            );
        }
        Ok(keeper.open().await?)
    }

    /// The tools that run as tasks.
    pub(crate) fn task_tools(&self) -> Vec<Arc<str>> {
        let registry = self.registry();
        let tools = registry.items().filter(|item| item.function().task.is_some());
        tools.map(|item| self.task_name(item.name())).collect()
    }

    /// What runs a task: a tool of this server, because servers with other tools of that name may share the store.
    fn task_name(&self, tool: &str) -> Arc<str> {
        let Settings { options, .. } = &self.settings;
        format!("{}/{tool}", options.state.audience.as_deref().unwrap_or(&self.offer.info.name)).into()
    }

    /// The carrier of a call that becomes a task.
    pub(super) fn birth(
        &self,
        target: &Target,
        request: &RequestInfo,
        (headers, options): (&[&'static str], TaskOptions),
        (rounds, opened): (StatelessCarrier, Option<&Opened>),
    ) -> BirthCarrier {
        // Those of a tool that was added later.
        let is_exposed = ServerTasks::is_readable(&self.activity.tasks.settings, &self.settings.seal);
        let headers = if is_exposed { &[] } else { headers };
        let headers: Vec<_> = headers.iter().filter_map(|name| HeaderName::try_from(*name).ok()).collect();
        let arguments = target.arguments.as_deref().and_then(|json| RawValue::from_string(json.to_owned()).ok());
        let tool = target.name.to_string();
        let call = StoredCall { request: request.to_stored(&headers, &KEPT_META), tool, arguments };
        let call = serde_json::to_vec(&call).expect("a call is JSON");
        let (seal, Tasks { keeper, ttl, poll, .. }) =
            (Arc::clone(&self.settings.seal), self.activity.tasks.settings.clone());
        let (tool, owner) = (self.task_name(&target.name), seal.owner(request.principal.as_ref()));
        let origin = opened.map(|opened| Bytes::copy_from_slice(&opened.id));
        let (ttl, poll) = (options.ttl.unwrap_or(ttl), options.poll.unwrap_or(poll));
        let (keep, most) = (LEAST_KEEP.max(self.state_ttl()), self.task_places(request.principal.is_some()));
        let sealing = Arc::clone(&seal);
        let birth = Box::new(move |id, record| -> BoxFuture<'static, _> {
            let (keeper, call) = (Arc::clone(&keeper), sealing.seal_at_rest(KeptAt(id, column::CALL, ""), &call));
            let (tool, origin) = (Arc::clone(&tool), origin.clone());
            let task = NewTask { id, tool, owner, origin, call, record, ttl, keep, poll, most };
            Box::pin(async move { whole(async move { keeper.create(task).await }).await })
        });
        BirthCarrier::new(rounds, seal, birth)
    }

    /// What a run of a task calls, and the request that made the task; `None` if this build cannot read it.
    pub(crate) fn stored_call(&self, run: &TaskRun) -> Option<(Operation, RequestInfo)> {
        let call = self.settings.seal.open_at_rest(KeptAt(run.id, column::CALL, ""), &run.call)?;
        let StoredCall { request, tool, arguments } = serde_json::from_slice(&call).ok()?;
        let arguments = arguments.map(|json| Utf8Bytes::from(json.get()));
        let target = Target { kind: TargetKind::Tool, name: Utf8Bytes::from(&*tool), arguments, sent: None };
        Some((Operation::Call(target), RequestInfo::from(request)))
    }

    /// Does something with a task, for its owner. The request is kept until then, because it holds the room for what was sent.
    pub(super) async fn task(
        self: Arc<Self>,
        id: Option<TaskId>,
        operation: TaskOperation,
        request: RequestInfo,
    ) -> Result<Started, Refusal> {
        let (tasks, seal, caller) = (&self.activity.tasks, &self.settings.seal, request.principal.as_ref());
        let keeper = &tasks.settings.keeper;
        // What is not an id is looked for all the same, so that the time says nothing.
        let (id, owner) = (id.unwrap_or_else(TaskId::new), seal.owner(caller));
        let done = match operation {
            TaskOperation::Get => return Ok(Started::Task(Box::new(self.read_task(&id, caller).await?))),
            TaskOperation::Update { answers, others } => {
                // Who cannot read the questions would seal the answers with keys that nobody else has.
                if let TaskState::Open(open) = self.read_task(&id, caller).await?.state
                    && let Some(open) = open.into_iter().find(|open| others.contains_key(&open.key))
                {
                    return Err(Refusal::InvalidAnswer(open.key));
                }
                let sealed = answers.into_iter().map(|(key, answer)| {
                    let answer = seal.seal_at_rest(KeptAt(id, column::ANSWER, &key), answer.get().as_bytes());
                    (key, answer)
                });
                let (keeper, sealed) = (Arc::clone(keeper), sealed.collect());
                whole(async move {
                    let answered = keeper.answer(&owner, &id, sealed).await;
                    // It holds the room for what was sent.
                    drop(request);
                    answered
                })
                .await
            }
            TaskOperation::Cancel => {
                let keeper = Arc::clone(keeper);
                whole(async move { keeper.cancel(&owner, &id).await }).await
            }
        };
        done?.map(|()| Started::Acknowledged).ok_or(Refusal::UnknownTask)
    }

    /// A task of that caller, with everything in it as it was before it was sealed.
    pub(super) async fn read_task(&self, id: &TaskId, caller: Option<&Principal>) -> Result<TaskSnapshot, Refusal> {
        let seal = &self.settings.seal;
        let task = self.activity.tasks.settings.keeper.get(&seal.owner(caller), id).await?;
        self.opened(task.ok_or(Refusal::UnknownTask)?)
    }

    /// A task with everything in it as it was before it was sealed.
    pub(crate) fn opened(&self, mut task: TaskSnapshot) -> Result<TaskSnapshot, Refusal> {
        let (id, seal) = (task.id, &self.settings.seal);
        let open = |column, key: &str, kept: &mut Bytes| match seal.open_at_rest(KeptAt(id, column, key), kept) {
            Some(opened) => {
                *kept = opened;
                Ok(())
            }
            None => Err(Refusal::SealedTask),
        };
        if let Some(message) = &mut task.message {
            open(column::MESSAGE, "", message)?;
        }
        match &mut task.state {
            TaskState::Open(questions) => {
                for question in questions {
                    open(column::REQUEST, &question.key, &mut question.request)?;
                }
            }
            TaskState::Ended(TaskEnd::Completed(outcome) | TaskEnd::Failed(outcome)) => {
                open(column::OUTCOME, "", outcome)?;
            }
            TaskState::Ended(_) => {}
        }
        Ok(task)
    }

    /// The time, as the keeper of tasks has it.
    pub(crate) fn tasks_now(&self) -> SystemTime {
        self.activity.tasks.settings.keeper.now()
    }

    /// Whether other processes may run tasks of this server.
    pub(super) fn tasks_outlive_process(&self) -> bool {
        self.activity.tasks.settings.keeper.outlives_process()
    }

    /// Those of these tasks that are the caller's.
    pub(super) async fn own_tasks(
        &self,
        ids: BTreeSet<TaskId>,
        caller: Option<&Principal>,
    ) -> Result<BTreeSet<TaskId>, Refusal> {
        let owner = self.settings.seal.owner(caller);
        let mut own = BTreeSet::new();
        for id in ids {
            if self.activity.tasks.settings.keeper.get(&owner, &id).await?.is_some() {
                own.insert(id);
            }
        }
        Ok(own)
    }

    fn task_places(&self, is_known: bool) -> TaskPlaces {
        self.limits().task_places(is_known, self.settings.options.can_identify())
    }

    /// Why a call of that caller did not become a task.
    pub(super) fn not_born(&self, error: BirthError, caller: Option<&Principal>) -> Refusal {
        let TaskPlaces { in_all, of_owner } = self.task_places(caller.is_some());
        match error {
            BirthError::CallerFull => {
                let share_of = if caller.is_some() { " of this caller" } else { " of anonymous callers" };
                BudgetFull { what: TASKS, limit: of_owner, share_of: Some(share_of) }.into()
            }
            BirthError::Keeper(error) => error.into(),
            _ => BudgetFull { what: TASKS, limit: in_all, share_of: None }.into(),
        }
    }
}

/// Does something in a spawned future: a client that leaves meanwhile does not cut it in half.
async fn whole<T, E>(keeping: impl Future<Output = Result<T, E>> + Send + 'static) -> Result<T, E>
where
    T: Send + 'static,
    E: From<KeeperError> + Send + 'static,
{
    tokio::spawn(keeping).await.unwrap_or_else(|stopped| Err(KeeperError::new(stopped).into()))
}

/// What is wrong with a tool whose tasks would be written down in plain text, if anything.
pub(super) fn exposed_header(name: &str, function: &ItemFunction) -> Option<String> {
    let headers = function.task.map(|_| function.headers()).unwrap_or_default();
    let header = headers.first()?;
    Some(format!(
        "tool `{name}` keeps the header `{header}` with its tasks, in plain text, because the server has no keys: set \
         REJOINDER_STATE_KEYS, or call `StatePolicy::keys`"
    ))
}

impl From<KeeperError> for Refusal {
    fn from(error: KeeperError) -> Self {
        Self::Keeper(error)
    }
}
