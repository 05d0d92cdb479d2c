//! Tasks on the wire, and the runs of their functions.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    sync::{Arc, Weak},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use bytes::Bytes;
use chrono::{DateTime, SecondsFormat, Utc};
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::{json, value::RawValue};
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use super::{
    Dispatched,
    dispatched::Frame,
    write::{RpcReply, RunReply, StoredReply, Writer},
};
use crate::{
    call::AfterReply,
    model::{Task, TaskStatus, error_code},
    rounds::{TaskCarrier, column, seal::KeptAt},
    server::{Engine, Exchange, StartError},
    tasks::{RunEnd, TaskEnd, TaskId, TaskJournal, TaskRun, TaskRunner, TaskSnapshot, TaskState},
};

/// The most bytes of a result.
const RESULT_BYTES: usize = 16 * 1024 * 1024;

/// After how long a client hears that nobody runs its task.
const LONG_WAIT: Duration = Duration::from_secs(60);

/// A task with what belongs to its status, as `tasks/get` and `notifications/tasks` show it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ShownTask<'a> {
    #[serde(flatten)]
    task: Task,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_requests: Option<BTreeMap<&'a str, &'a RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Cow<'a, RawValue>>,
}

impl<'a> ShownTask<'a> {
    /// The task, at that time by the clock of its keeper.
    pub(super) fn of(snapshot: &'a TaskSnapshot, now: SystemTime) -> Self {
        let mut task = task_of(snapshot, now);
        let (mut input_requests, mut result, mut error) = (None, None, None);
        match &snapshot.state {
            TaskState::Open(questions) if questions.is_empty() => {}
            TaskState::Open(questions) => {
                let asked = questions.iter().map(|question| (&*question.key, raw(&question.request)));
                input_requests = Some(asked.collect());
            }
            TaskState::Ended(TaskEnd::Completed(outcome)) => result = Some(raw(outcome)),
            TaskState::Ended(TaskEnd::Failed(outcome)) => {
                let outcome = raw(outcome);
                let text = serde_json::from_str::<serde_json::Value>(outcome.get()).ok();
                let text = text.and_then(|error| error["message"].as_str().map(str::to_owned));
                task.status_message = text.or(task.status_message);
                error = Some(Cow::Borrowed(outcome));
            }
            TaskState::Ended(TaskEnd::Cancelled) => {}
            TaskState::Ended(end) => {
                let text = match end {
                    TaskEnd::Expired => "the task did not end within its time (`ttlMs`)",
                    _ => "the processes that ran the task died again and again",
                };
                let failed = json!({ "code": error_code::INTERNAL_ERROR, "message": text });
                task.status_message = Some(text.to_owned());
                error = serde_json::value::to_raw_value(&failed).ok().map(Cow::Owned);
            }
        }
        Self { task, input_requests, result, error }
    }

    pub(super) fn to_json(&self) -> String {
        serde_json::to_string(self).expect("texts and JSON")
    }
}

/// A task as the reply to the call that made it shows it.
pub(super) fn task_of(snapshot: &TaskSnapshot, now: SystemTime) -> Task {
    let time = |time: SystemTime| {
        let since_1970 = milliseconds(time.duration_since(UNIX_EPOCH).unwrap_or_default());
        let time = DateTime::<Utc>::from_timestamp_millis(since_1970.try_into().unwrap_or(i64::MAX));
        time.unwrap_or_default().to_rfc3339_opts(SecondsFormat::Millis, true)
    };
    let status = match &snapshot.state {
        TaskState::Open(questions) if questions.is_empty() => TaskStatus::Working,
        TaskState::Open(_) => TaskStatus::InputRequired,
        TaskState::Ended(TaskEnd::Completed(_)) => TaskStatus::Completed,
        TaskState::Ended(TaskEnd::Cancelled) => TaskStatus::Cancelled,
        TaskState::Ended(_) => TaskStatus::Failed,
    };
    let mut task = Task::new(snapshot.id.to_string(), status, time(snapshot.created));
    task.last_updated_at = time(snapshot.updated);
    task.ttl_ms = Some(milliseconds(snapshot.ttl));
    task.poll_interval_ms = Some(milliseconds(snapshot.poll));
    // What the last run said is over with it.
    let message = snapshot.message.as_ref().filter(|_| !status.is_final());
    task.status_message = message.map(|message| String::from_utf8_lossy(message).into_owned());
    if snapshot.waits_since.is_some_and(|since| now.duration_since(since).is_ok_and(|waits| waits > LONG_WAIT)) {
        task.status_message = Some("the task waits: no process of the server that can run it is running".to_owned());
    }
    task
}

fn milliseconds(duration: Duration) -> u64 {
    duration.as_millis().try_into().unwrap_or(u64::MAX)
}

/// What was kept as JSON; `null` if it is none.
fn raw(kept: &[u8]) -> &RawValue {
    serde_json::from_slice(kept).unwrap_or(RawValue::NULL)
}

impl Engine {
    /// Starts the server, or waits until it has started, and has its tasks run.
    pub(crate) async fn start_up(self: &Arc<Self>) -> Result<(), StartError> {
        self.run_start().await?;
        if self.has_keeper() {
            self.begin_tasks();
        }
        Ok(())
    }

    /// Has tasks run, unless they do.
    pub(super) fn begin_tasks(self: &Arc<Self>) {
        self.run_tasks(|| Arc::new(TaskRuns(Arc::downgrade(self))));
    }
}

/// Runs the functions of tasks: each run is a round of a call that passes the same door.
struct TaskRuns(Weak<Engine>);

impl TaskRunner for TaskRuns {
    fn tools(&self) -> Vec<Arc<str>> {
        self.0.upgrade().map(|engine| engine.task_tools()).unwrap_or_default()
    }

    fn run(&self, run: TaskRun, journal: Arc<dyn TaskJournal>) -> BoxFuture<'static, ()> {
        let engine = self.0.upgrade();
        Box::pin(async move {
            if let Some(engine) = engine {
                run_task(&engine, run, journal).await;
            }
        })
    }

    fn changed(&self, id: &TaskId) {
        if let Some(engine) = self.0.upgrade() {
            engine.task_changed(*id);
        }
    }
}

/// One run of a task: to its end, until it parks, or until it must stop.
async fn run_task(engine: &Arc<Engine>, run: TaskRun, journal: Arc<dyn TaskJournal>) {
    let (id, tool) = (run.id, Arc::clone(&run.tool));
    let begun = engine.stored_call(&run).and_then(|(operation, request)| {
        let carrier = TaskCarrier::begin(Arc::clone(engine.seal()), run, Arc::clone(&journal))?;
        Some((operation, request, carrier))
    });
    let Some((operation, mut request, (carrier, record, stop))) = begun else {
        if let Some(times) = engine.refusal_due("a task that this build cannot read".into()) {
            tracing::warn!(
                task = ?id, tool = &*tool, times,
                "cannot read a task, because another build or a server with other keys made it: it waits for one that can"
            );
        }
        return;
    };
    // What the run leaves behind if it is dropped.
    let left = TaskTracker::new();
    request.left = Some(left.clone());
    let writer = Writer::new(engine, String::from_utf8_lossy(&request.request_id).as_ref().into(), None);
    let exchange = Exchange::Task(Box::new((carrier, record)));
    let reply = match engine.start(operation, request, exchange) {
        Ok(started) => match Dispatched::new(writer, started, None) {
            Dispatched::Stream(mut running) => {
                let reply = async {
                    loop {
                        if let Frame::Last(reply) = running.frame().await {
                            return reply;
                        }
                    }
                };
                let stopped = tokio::select! {
                    biased;
                    reply = reply => Ok(reply),
                    why = journal.stopped() => Err(why),
                };
                match stopped {
                    Ok(reply) => reply,
                    Err(why) => {
                        stop.stop(why);
                        drop(running);
                        left.close();
                        let _ = timeout(engine.grace(), left.wait()).await;
                        return;
                    }
                }
            }
            Dispatched::Reply(reply) => reply,
            Dispatched::Nothing => return,
        },
        Err(refusal) => writer.refused(refusal),
    };
    let (end, after) = ended(reply);
    let Some(end) = end else { return };
    let seal = |kept: &[u8]| engine.seal().seal_at_rest(KeptAt(id, column::OUTCOME, ""), kept);
    let end = match end {
        RunEnd::Completed(result) => RunEnd::Completed(seal(&result)),
        RunEnd::Failed(error) => RunEnd::Failed(seal(&error)),
        parked @ RunEnd::Parked(_) => parked,
    };
    let mut after = Unrecorded(after);
    tokio::select! {
        biased;
        () = journal.end(end) => drop(after.0.take()),
        _ = journal.stopped() => {}
    }
}

/// The background tasks of a run whose end is not recorded. If it is dropped before, whoever has the task then starts them.
struct Unrecorded(Option<AfterReply>);

impl Drop for Unrecorded {
    fn drop(&mut self) {
        AfterReply::cancel(self.0.take());
    }
}

/// How a run ends that would have replied so, if it has run; and what follows when that is recorded.
fn ended(mut reply: RpcReply) -> (Option<RunEnd>, Option<AfterReply>) {
    let to_run = std::mem::take(&mut reply.to_run);
    let (body, after) = reply.into_parts();
    let end = match to_run {
        RunReply::NotRun => None,
        RunReply::Parked(parking) => Some(RunEnd::Parked(*parking)),
        RunReply::Replied => Some(match serde_json::from_slice::<StoredReply>(&body.whole()) {
            Ok(StoredReply { result: Some(result), .. }) if result.get().len() > RESULT_BYTES => failed(&format!(
                "the result takes {} bytes, and the limit is {RESULT_BYTES}: return a link",
                result.get().len()
            )),
            Ok(StoredReply { result: Some(result), .. }) => RunEnd::Completed(text(result)),
            Ok(StoredReply { error: Some(error), .. }) => RunEnd::Failed(text(error)),
            _ => failed("the result could not be written"),
        }),
    };
    (end, after)
}

fn failed(message: &str) -> RunEnd {
    RunEnd::Failed(json!({ "code": error_code::INTERNAL_ERROR, "message": message }).to_string().into())
}

fn text(json: Box<RawValue>) -> Bytes {
    Bytes::from(String::from(Box::<str>::from(json)))
}
