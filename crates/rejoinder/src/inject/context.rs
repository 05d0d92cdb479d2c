use std::{
    any::{Any, TypeId},
    collections::HashMap,
    future::IntoFuture,
    sync::Arc,
    time::{Duration, SystemTime},
};

use futures_util::future::BoxFuture;
use http::HeaderMap;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::FromCall;
use crate::{
    ask::{Ask, Outcome},
    auth::Principal,
    call::{Amount, Call, CallKey, Emitted, Halt, RunOfTask, Step, StepFn, StepValue},
    error::CallError,
    request::{Capabilities, ClientInfo, Era, Level},
    tasks::later,
};

/// The call that a function serves: progress, logs, questions, the client, and whether it still waits.
///
/// ```
/// use rejoinder::Context;
///
/// /// Counts to three, slowly.
/// async fn count(ctx: Context) -> String {
///     for step in 1..=3 {
///         ctx.progress(step).total(3).message("counting").await;
///         ctx.info(format!("counted {step}")).await;
///     }
///     "three".into()
/// }
///
/// // In a unit test nobody listens, and both are no-ops.
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// assert_eq!(count(Context::detached()).await, "three");
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Context {
    pub(super) call: Call,
    /// The outcomes of the resolvers of a tool that was made at run time, in this round.
    pub(crate) resolved: Option<Arc<Resolved>>,
}

/// The outcomes of resolvers, by the types of the resolvers.
pub(crate) type Resolved = HashMap<TypeId, Box<dyn Any + Send + Sync>>;

impl Context {
    /// A context without a request, for calling a tool's function in a unit test.
    pub fn detached() -> Self {
        Self { call: Call::detached(), resolved: None }
    }

    pub(crate) fn with_resolved(call: Call, resolved: Resolved) -> Self {
        Self { call, resolved: Some(Arc::new(resolved)) }
    }

    /// Reports progress, a number of any type; `.await` sends it.
    ///
    /// A no-op if the client did not ask for it. Progress only rises: a value that is not greater than the last
    /// one is dropped.
    pub fn progress(&self, progress: impl Amount) -> Progress {
        Progress { call: self.call.clone(), progress: progress.into_f64(), total: None, message: None }
    }

    /// Sends a log message to the client, if the request asked for messages of that level.
    ///
    /// Only this caller gets it. For your own logs use `tracing`.
    pub async fn log(&self, level: Level, data: impl Serialize) {
        if !self.log_enabled(level) {
            return;
        }
        match serde_json::to_value(data) {
            Ok(data) => self.call.emit(Emitted::Log { level, data }).await,
            Err(error) => tracing::warn!(%error, "a log message for the client is not JSON"),
        }
    }

    /// Whether the client wants log messages of that level, for when they are costly to make.
    pub fn log_enabled(&self, level: Level) -> bool {
        self.call.request().log_level.is_some_and(|least| level >= least)
    }

    /// [`Context::log`] at [`Level::Debug`].
    pub async fn debug(&self, data: impl Serialize) {
        self.log(Level::Debug, data).await;
    }

    /// [`Context::log`] at [`Level::Info`].
    pub async fn info(&self, data: impl Serialize) {
        self.log(Level::Info, data).await;
    }

    /// [`Context::log`] at [`Level::Warning`].
    pub async fn warning(&self, data: impl Serialize) {
        self.log(Level::Warning, data).await;
    }

    /// [`Context::log`] at [`Level::Error`].
    pub async fn error(&self, data: impl Serialize) {
        self.log(Level::Error, data).await;
    }

    /// Name and version of the client, as it declares them. Do not base decisions on them.
    pub fn client(&self) -> Option<ClientInfo> {
        self.call.request().client()
    }

    /// Returns the capabilities that the client declared.
    pub fn capabilities(&self) -> Capabilities {
        self.call.request().capabilities
    }

    /// The era of the client's protocol version.
    pub fn era(&self) -> Era {
        self.call.request().era
    }

    /// The protocol version of this request.
    pub fn protocol_version(&self) -> &str {
        &self.call.request().protocol_version
    }

    /// The caller, if the server knows it; see [`Principal`].
    pub fn principal(&self) -> Option<&Principal> {
        self.call.request().principal.as_ref()
    }

    /// Returns the id of the session that the call belongs to: `None` with clients of 2026-07-28 and later, which have
    /// no session.
    ///
    /// What lives as long as the session, such as a login, is a [`SessionState`](crate::SessionState). With the id you
    /// [tell the session](crate::ServerHandle::gates_changed_for_session) that its lists have changed.
    ///
    /// ```
    /// use rejoinder::{call::Era, prelude::*, testing::Client};
    /// use serde_json::json;
    ///
    /// #[derive(Default)]
    /// struct Unlocked(bool);
    ///
    /// #[resolver]
    /// fn is_unlocked(unlocked: Option<SessionState<Unlocked>>) -> bool {
    ///     unlocked.is_some_and(|unlocked| unlocked.with(|unlocked| unlocked.0))
    /// }
    ///
    /// #[tool]
    /// async fn unlock(unlocked: SessionState<Unlocked>, ctx: Context, server: ServerHandle) -> &'static str {
    ///     unlocked.set(Unlocked(true));
    ///     server.gates_changed_for_session(ctx.session_id().unwrap_or_default());
    ///     "unlocked for this session"
    /// }
    ///
    /// #[tool(enabled = is_unlocked)]
    /// async fn open() -> &'static str {
    ///     "gold"
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("vault", "1.0.0").tools(tools![unlock, open])).era(Era::Session);
    /// assert!(client.call_tool("open", json!({})).await.is_err());
    /// client.call_tool("unlock", json!({})).await?;
    /// assert_eq!(client.call_tool("open", json!({})).await?.text(), "gold");
    /// # Ok(())
    /// # }
    /// ```
    pub fn session_id(&self) -> Option<&str> {
        self.call.request().session_id.as_deref()
    }

    /// The request's JSON-RPC id, as JSON: a number, or a string in quotes.
    pub fn request_id(&self) -> &str {
        std::str::from_utf8(&self.call.request().request_id).unwrap_or_default()
    }

    /// Returns a token that is cancelled when the call ends or the client cancels the call. Pass it to futures that the
    /// function spawns; the function itself is dropped. To run something when the call ends, use
    /// [`Scope`](crate::inject::Scope).
    pub fn cancellation(&self) -> CancellationToken {
        self.call.cancellation().clone()
    }

    /// The request's headers; none on stdio.
    pub fn headers(&self) -> Option<&HeaderMap> {
        self.call.request().headers()
    }

    /// One header's value, if it is there and is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.call.header(name)
    }

    /// A value that a layer in front of the server attached to the HTTP request, such as the authenticated user.
    pub fn extension<T: Clone + Send + Sync + 'static>(&self) -> Option<&T> {
        self.call.extension()
    }

    /// An entry of the request's `_meta`.
    pub fn meta(&self, key: &str) -> Option<serde_json::Value> {
        self.call.request().meta(key)
    }
}

/// What a function asks its client, and the steps that it takes once.
impl Context {
    /// Asks the client and returns the answer; `?` ends the call if the user declines or cancels.
    ///
    /// Clients of 2026-07-28 and later get the question with the reply, and answer it with a retry of the request,
    /// which any replica can serve. So an ask without an answer **never returns**: the function is dropped where it
    /// waits and runs again from the top in the next round, with the answers. Put work that must not happen twice into
    /// [`Context::once`]. Questions that are awaited together (`join!`) are sent in one round. On a session the
    /// function simply waits.
    ///
    /// The round ends where the function next waits for anything: in a `tokio::select!`, or within a
    /// `tokio::time::timeout`, the question goes out at once unless another branch is ready at that moment. A future that
    /// the function spawned may ask too; it is not dropped, and gets an error when its round is over.
    ///
    /// The key identifies the answer within the call. The same question under the same key has the same answer, so use a
    /// new key in each iteration of a loop. Another question under the same key ends the call with an error.
    ///
    /// ```
    /// use rejoinder::{Ask, CallError, Context};
    ///
    /// async fn rename(old: String, ctx: Context) -> Result<String, CallError> {
    ///     let new = ctx.ask("name", Ask::text(format!("What is {old} called from now on?"))).await?;
    ///     // The second question depends on the first answer, so it goes out in a round of its own.
    ///     let sure = ctx.ask("sure", Ask::confirm(format!("Call it {new}?"))).await?;
    ///     Ok(if sure { new } else { old })
    /// }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// // A unit test has no client to ask.
    /// assert!(rename("tea".into(), Context::detached()).await.is_err());
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the user declines or cancels, the client cannot be asked, or gives no usable answer.
    pub async fn ask<T>(&self, key: impl CallKey, question: Ask<T>) -> Result<T, CallError> {
        let key = key.as_ref();
        match self.try_ask(key, question).await? {
            Outcome::Accepted(value) => Ok(value),
            Outcome::Declined => Err(CallError::declined(key)),
            Outcome::Cancelled => Err(CallError::cancelled(key)),
        }
    }

    /// [`Context::ask`] that shows what the user did instead of ending the call.
    ///
    /// ```
    /// use rejoinder::{Ask, Outcome, CallError, Context};
    ///
    /// async fn publish(ctx: Context) -> Result<String, CallError> {
    ///     let note = Ask::text("A note for the readers?").fallback("no note".to_owned());
    ///     Ok(match ctx.try_ask("note", note).await? {
    ///         Outcome::Accepted(note) => format!("published: {note}"),
    ///         Outcome::Declined => "published without a note".to_owned(),
    ///         Outcome::Cancelled => "kept as a draft".to_owned(),
    ///     })
    /// }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), CallError> {
    /// assert_eq!(publish(Context::detached()).await?, "published: no note");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the client cannot be asked, or gives no usable answer.
    pub async fn try_ask<T>(&self, key: impl CallKey, question: Ask<T>) -> Result<Outcome<T>, CallError> {
        match self.call.settle(question, key.as_ref()).await {
            Ok(outcome) => Ok(outcome),
            Err(halt) => self.call.halt(halt).await,
        }
    }

    /// Runs a step that must not run twice, and records its result for the rest of the call.
    ///
    /// A key identifies a step: use a new key in each iteration of a loop. To use one key twice in a run of the function is
    /// an error that ends the call; where two places mean the same step, use [`Context::once_shared`].
    ///
    /// The record belongs to the call: a client that sends one request twice, because it lost the reply, runs the step
    /// twice. Where that matters, make the step idempotent, or let states be used once
    /// ([`StatePolicy::single_use`](crate::state::StatePolicy::single_use)).
    ///
    /// The result is part of the call's sealed state, so keep it small. It is returned as later rounds read it: through JSON,
    /// in this round, too.
    ///
    /// A step must not leave its effect in something that the round tears down: a transaction of the round commits by
    /// [`CallEnd::keeps_changes`](crate::call::CallEnd::keeps_changes), or the step commits by itself.
    ///
    /// A step belongs to the answers that the function used before it. If the text of one of their questions changes in a
    /// later round, the call ends with an error, because the step is not taken again.
    ///
    /// While a step runs, the round does not end. Concurrent steps that contain each other wait for each other and never end.
    /// A step nested inside itself is an error. A step that waits for a spawned future never ends if that future takes the
    /// same step or asks a question. A step that asks starts again from its beginning in the round that has the answer.
    ///
    /// ```
    /// use rejoinder::{Ask, CallError, Context};
    /// # async fn charge(item: &str) -> Result<u32, CallError> { Ok(item.len() as u32) }
    ///
    /// async fn order(item: String, ctx: Context) -> Result<String, CallError> {
    ///     // While the question below waits for its answer, this function runs again from the top.
    ///     let receipt: u32 = ctx.once("charge", || charge(&item)).await?;
    ///     let street = ctx.ask("street", Ask::text("Where to?").fallback("the shop".to_owned())).await?;
    ///     Ok(format!("{item} to {street}, receipt {receipt}"))
    /// }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), CallError> {
    /// assert_eq!(order("tea".into(), Context::detached()).await?, "tea to the shop, receipt 3");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The step's own error, which is not recorded; and if the step is nested inside itself. If the result cannot be
    /// recorded, because it is too large, nested too deeply, or cannot be written as JSON and read again, the call ends.
    pub async fn once<T, F>(&self, key: impl CallKey, step: impl StepFn<F>) -> Result<T, CallError>
    where
        T: StepValue,
        F: Step<T>,
    {
        self.call.step(key.as_ref(), false, step).await
    }

    /// [`Context::once`] that may be called several times under one key in one run: all callers get the result of one step.
    ///
    /// While the step runs, the other callers wait. It cannot ask: a question under one key has one answer anyway, so ask
    /// before it.
    ///
    /// ```
    /// use rejoinder::{CallError, Context};
    ///
    /// async fn order(items: Vec<String>, ctx: Context) -> Result<Vec<String>, CallError> {
    ///     let mut orders = Vec::new();
    ///     for item in items {
    ///         // One customer number for all items.
    ///         let customer: u32 = ctx.once_shared("customer", || async { Ok(7) }).await?;
    ///         orders.push(format!("{item} for {customer}"));
    ///     }
    ///     Ok(orders)
    /// }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), CallError> {
    /// assert_eq!(order(vec!["tea".into(), "cup".into()], Context::detached()).await?, ["tea for 7", "cup for 7"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Context::once`].
    pub async fn once_shared<T, F>(&self, key: impl CallKey, step: impl StepFn<F>) -> Result<T, CallError>
    where
        T: StepValue,
        F: Step<T>,
    {
        self.call.step(key.as_ref(), true, step).await
    }

    /// Waits that long, once in the call: a run of the function that comes later waits for what is left.
    ///
    /// In a [task](crate::guide::tasks) a long sleep parks: nothing runs until it is over, and any process goes on. Elsewhere
    /// the function simply waits. The key is that of a step: use a new one in each iteration of a loop.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use rejoinder::{CallError, Context};
    ///
    /// async fn remind(ctx: Context) -> Result<&'static str, CallError> {
    ///     ctx.sleep("a moment", Duration::from_millis(1)).await?;
    ///     Ok("it is time")
    /// }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), CallError> {
    /// assert_eq!(remind(Context::detached()).await?, "it is time");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Context::once`].
    pub async fn sleep(&self, key: impl CallKey, duration: Duration) -> Result<(), CallError> {
        let now = || self.call.run_of_task().map_or_else(SystemTime::now, RunOfTask::now);
        let until = async { Ok(later(now(), duration)) };
        let until: SystemTime = self.call.step(key.as_ref(), false, || until).await?;
        let left = until.duration_since(now()).unwrap_or_default();
        if left.is_zero() {
            // At once: beside a question, a `select!` goes on here.
            return Ok(());
        }
        let run = self.call.run_of_task();
        // A question beside it parks the task before.
        let _waits = run.map(|run| WaitsFor::new(run, until));
        if run.is_some() && left > SHORT_SLEEP {
            return self.call.halt(Halt::Pending).await;
        }
        match run {
            Some(run) => run.sleep(left).await,
            None => tokio::time::sleep(left).await,
        }
        Ok(())
    }

    /// Says what a [task](crate::guide::tasks) does, in the words that its client shows. A no-op elsewhere.
    ///
    /// It is written at most once a second; the last one counts. [Progress](Self::progress) says the same in a task.
    ///
    /// ```
    /// use rejoinder::Context;
    ///
    /// async fn render(ctx: Context) -> &'static str {
    ///     ctx.status("the first frames are done").await;
    ///     "https://.."
    /// }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// assert_eq!(render(Context::detached()).await, "https://..");
    /// # }
    /// ```
    #[expect(clippy::unused_async, reason = "it reads as `progress` and `info` do, and may wait one day")]
    pub async fn status(&self, message: impl Into<String>) {
        if let Some(run) = self.call.run_of_task() {
            run.say(&message.into());
        }
    }

    /// Returns a text that is the same in every run and attempt of this call, and in no other call: what a service outside
    /// knows a request by, so that it does the same thing once.
    ///
    /// A [step](Self::once) runs again if the process dies before its result is kept. Give the service this key, and it knows
    /// that it has seen the request. Each step needs a key of its own.
    ///
    /// ```
    /// use rejoinder::Context;
    ///
    /// let ctx = Context::detached();
    /// assert_eq!(ctx.idempotency_key("charge"), ctx.idempotency_key("charge"));
    /// assert_ne!(ctx.idempotency_key("charge"), ctx.idempotency_key("refund"));
    /// assert_ne!(ctx.idempotency_key("charge"), Context::detached().idempotency_key("charge"));
    /// ```
    pub fn idempotency_key(&self, step: impl CallKey) -> String {
        self.call.idempotency_key(step.as_ref())
    }
}

/// How long a task sleeps without parking.
const SHORT_SLEEP: Duration = Duration::from_secs(5);

/// A time that a run of a task waits for, until it is dropped.
struct WaitsFor<'a>(&'a dyn RunOfTask, SystemTime);

impl<'a> WaitsFor<'a> {
    fn new(run: &'a dyn RunOfTask, time: SystemTime) -> Self {
        run.wait_for(time);
        Self(run, time)
    }
}

impl Drop for WaitsFor<'_> {
    fn drop(&mut self) {
        self.0.waited(self.1);
    }
}

impl FromCall for Context {
    const IS_OURS: bool = true;

    async fn from_call(call: &Call, _: &'static str) -> Result<Self, CallError> {
        Ok(Self { call: call.clone(), resolved: None })
    }
}

instead!(
    ServicesOfContext for Context,
    "a `Context` has no services: take them as parameters, `database: Dep<Database>`",
    "not a method of `Context`": dependency service state
);

instead!(
    QuestionsOfContext for Context,
    "a question is an `Ask` with a key: `ctx.ask(\"key\", Ask::confirm(\"..\")).await?`",
    "not a method of `Context`; see also `Ask::text`, `Ask::user` for a form, and `Ask::sample`": elicit confirm sample prompt
);

instead!(
    MessagesOfContext for Context,
    "a client hears of progress and logs while a call runs, `ctx.progress(1).message(\"..\").await` and `ctx.info(\"..\").await`",
    "not a method of `Context`; a tool that returns a `ToolStream` sends items": send emit notify
);

/// A progress report; `.await` sends it. See [`Context::progress`].
#[must_use = "progress is sent when it is awaited"]
#[derive(Debug)]
pub struct Progress {
    call: Call,
    progress: f64,
    total: Option<f64>,
    message: Option<String>,
}

impl Progress {
    /// The value at which the call is done.
    pub fn total(mut self, total: impl Amount) -> Self {
        self.total = Some(total.into_f64());
        self
    }

    /// A text for the user.
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }
}

impl IntoFuture for Progress {
    type Output = ();
    type IntoFuture = BoxFuture<'static, ()>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let Self { call, progress, total, message } = self;
            if call.reports_progress() {
                call.report(progress, total, message).await;
            }
        })
    }
}

/// The context of the value that a pipe converts: its field, its source and the call. A parameter of functions marked
/// [`#[pipe]`](crate::pipe).
///
/// ```
/// use rejoinder::{call::FieldError, inject::PipeContext, prelude::*};
///
/// #[pipe]
/// fn not_blank(text: String, context: PipeContext) -> Result<String, FieldError> {
///     if text.trim().is_empty() {
///         return Err(FieldError::new(format!("say what the {} is", context.field)));
///     }
///     Ok(text)
/// }
///
/// // In a unit test the function is called as it is.
/// assert!(not_blank(" ".to_owned(), PipeContext::detached("title")).is_err());
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PipeContext {
    /// The name of the argument or of the header.
    pub field: &'static str,
    /// Where the value comes from.
    pub source: PipeSource,
    /// The call.
    pub call: Call,
}

impl PipeContext {
    /// The context of an argument of that name without a request, for calling a pipe's function in a unit test.
    pub fn detached(field: &'static str) -> Self {
        Self { field, source: PipeSource::Argument, call: Call::detached() }
    }
}

/// Where the value that a pipe gets comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PipeSource {
    /// The model's arguments.
    Argument,
    /// A header of the request.
    Header,
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures_util::FutureExt;

    use super::*;
    use crate::{
        call::{Call, RecordRules},
        inject::FromCall,
        request::{Capabilities, RequestInfo},
        rounds::StatelessCarrier,
    };

    #[test]
    fn a_round_cannot_end_before_the_mistake_of_a_step_is_noted() {
        let capabilities = Capabilities { forms: true, ..Capabilities::default() };
        let info = RequestInfo { capabilities, ..RequestInfo::default() };
        let carrier = Box::new(StatelessCarrier::for_tests());
        let call = Call::new(info, Arc::default(), Arc::default());
        call.carry(
            carrier,
            Arc::new(RecordRules { bytes: 1024, limit: "", answer_bytes: 1024, rounds: 1, version: "1".into() }),
            None,
        );
        let ctx = Context::from_call(&call, "ctx")
            .now_or_never()
            .expect("nothing is awaited")
            .expect("a context of any call");
        assert!(ctx.ask("sure", Ask::confirm("Sure?")).now_or_never().is_none());
        assert!(call.can_end(), "the question waits for another round");
        assert!(ctx.once("share", || async { Ok(f64::NAN) }).now_or_never().is_none());
        assert!(call.mistake().is_some());
    }
}
