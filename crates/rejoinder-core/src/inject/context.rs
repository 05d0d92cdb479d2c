use std::sync::Arc;

use http::HeaderMap;
use rmcp::model::ClientCapabilities;
use serde::{Serialize, de::DeserializeOwned};
use tokio_util::sync::CancellationToken;

use super::{FromCall, Progress};
use crate::{
    ask::{Ask, Outcome},
    call::{Call, ClientInfo, Emitted, Era, Level},
    error::ToolError,
    graph::{Resolved, Resolver},
};

/// The call, as the function that serves it sees it: progress, logs, who calls, and whether they still wait.
///
/// ```
/// use rejoinder_core::inject::Context;
///
/// /// Counts to three, slowly.
/// async fn count(ctx: Context) -> String {
///     for step in 1..=3 {
///         ctx.progress(f64::from(step)).of(3.0).message("counting").await;
///         ctx.info(format!("counted {step}")).await;
///     }
///     "three".into()
/// }
///
/// // In a unit test nobody listens, and both are no-ops.
/// # futures_util::FutureExt::now_or_never(async {
/// assert_eq!(count(Context::detached()).await, "three");
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct Context {
    call: Call,
    /// What the resolvers of a tool that was made at run time have made in this round.
    resolved: Option<Arc<Resolved>>,
}

impl Context {
    /// A context of no request, for calling a tool's function in a unit test.
    pub fn detached() -> Self {
        Self { call: Call::detached(), resolved: None }
    }

    pub(crate) fn with_resolved(call: Call, resolved: Resolved) -> Self {
        Self { call, resolved: Some(Arc::new(resolved)) }
    }

    /// Reports progress; it goes out when awaited.
    ///
    /// A no-op if the client did not ask for it. Progress only rises: a value that is not greater than the last
    /// one is dropped.
    pub fn progress(&self, progress: f64) -> Progress {
        Progress::new(self.call.clone(), progress)
    }

    /// Sends a log message to the client, if the request asked for messages of that level.
    ///
    /// It goes to this caller and nobody else. For your own logs use `tracing`.
    pub async fn log(&self, level: Level, data: impl Serialize) {
        if !self.logs(level) {
            return;
        }
        match serde_json::to_value(data) {
            Ok(data) => self.call.outbox().send(Emitted::Log { level, logger: None, data }).await,
            Err(error) => tracing::warn!(%error, "a log message for the client is not JSON"),
        }
    }

    /// Whether the client wants log messages of that level, for when they are costly to make.
    pub fn logs(&self, level: Level) -> bool {
        self.call.facts().log_level.is_some_and(|least| level >= least)
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

    /// Asks the client, and gives the answer; `?` ends the call if the user declines or cancels.
    ///
    /// Clients of 2026-07-28 and later get the question with the reply, and answer it with a retry of the request,
    /// which any replica can serve. So an ask without an answer **never returns**: the function is dropped where it
    /// waits and runs again from the top in the next round, with what was answered. Whatever must not happen twice
    /// belongs into [`Context::once`]. Asks that wait side by side (`join!`) go out in one round.
    /// On a session the function simply waits.
    ///
    /// The round ends where the function next waits for something, whatever that is: in a `tokio::select!`, or within a
    /// `tokio::time::timeout`, the question goes out at once unless another branch is ready there and then. A task that
    /// the function spawned may ask too; it is not dropped, and gets an error when its round is over.
    ///
    /// The key tells the answers of one call apart. The same question under the same key has the same answer, so give
    /// each turn of a loop a key of its own; asking something else under the same key ends the call with an error.
    ///
    /// ```
    /// use rejoinder_core::{ask::Ask, error::ToolError, inject::Context};
    ///
    /// async fn rename(old: String, ctx: Context) -> Result<String, ToolError> {
    ///     let new = ctx.ask("name", Ask::text(format!("What is {old} called from now on?"))).await?;
    ///     // The second question depends on the first answer, so it goes out in a round of its own.
    ///     let sure = ctx.ask("sure", Ask::confirm(format!("Call it {new}?"))).await?;
    ///     Ok(if sure { new } else { old })
    /// }
    /// # futures_util::FutureExt::now_or_never(async {
    /// // In a unit test there is nobody to ask.
    /// assert!(rename("tea".into(), Context::detached()).await.is_err());
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// If the user declines or cancels, the client cannot be asked, or gives no usable answer.
    pub async fn ask<T>(&self, key: &str, question: Ask<T>) -> Result<T, ToolError> {
        match self.outcome(key, question).await? {
            Outcome::Accepted(value) => Ok(value),
            Outcome::Declined => Err(ToolError::declined(format_args!("to answer `{key}`"))),
            Outcome::Cancelled => Err(ToolError::left(format_args!("`{key}`"))),
        }
    }

    /// [`Context::ask`] that shows what the user did instead of ending the call.
    ///
    /// ```
    /// use rejoinder_core::{ask::{Ask, Outcome}, error::ToolError, inject::Context};
    ///
    /// async fn publish(ctx: Context) -> Result<String, ToolError> {
    ///     let note = Ask::text("A note for the readers?").or_if_unsupported("no note".to_owned());
    ///     Ok(match ctx.outcome("note", note).await? {
    ///         Outcome::Accepted(note) => format!("published: {note}"),
    ///         Outcome::Declined => "published without a note".to_owned(),
    ///         Outcome::Cancelled => "kept as a draft".to_owned(),
    ///     })
    /// }
    /// # futures_util::FutureExt::now_or_never(async {
    /// assert_eq!(publish(Context::detached()).await?, "published: no note");
    /// # Ok::<(), ToolError>(())
    /// # }).unwrap().unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// If the client cannot be asked, or gives no usable answer.
    pub async fn outcome<T>(&self, key: &str, question: Ask<T>) -> Result<Outcome<T>, ToolError> {
        match question.settle(&self.call, key).await {
            Ok(outcome) => Ok(outcome),
            Err(halt) => self.call.halt(halt).await,
        }
    }

    /// Takes a step that must not be taken twice, and records its result for the rest of the call.
    ///
    /// The result travels with the call's sealed state, so keep it small. Whoever comes to a step that is being taken
    /// waits for its result, and a round does not end meanwhile: a step must not wait for what happens only after the
    /// answer to a question beside it, nor for itself: one that comes to its own key is an error, and one that waits for a
    /// task which does waits for ever. One that asks is taken, from its beginning, in the round in which the answer is
    /// there.
    ///
    /// ```
    /// use rejoinder_core::{ask::Ask, error::ToolError, inject::Context};
    /// # async fn charge(item: &str) -> Result<u32, ToolError> { Ok(item.len() as u32) }
    ///
    /// async fn order(item: String, ctx: Context) -> Result<String, ToolError> {
    ///     // While the question below waits for its answer, this function runs again from the top.
    ///     let receipt: u32 = ctx.once("charge", || charge(&item)).await?;
    ///     let street = ctx.ask("street", Ask::text("Where to?").or_if_unsupported("the shop".to_owned())).await?;
    ///     Ok(format!("{item} to {street}, receipt {receipt}"))
    /// }
    /// # futures_util::FutureExt::now_or_never(async {
    /// assert_eq!(order("tea".into(), Context::detached()).await?, "tea to the shop, receipt 3");
    /// # Ok::<(), ToolError>(())
    /// # }).unwrap().unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// The step's own, which is not recorded; and if the step comes to itself.
    pub async fn once<T, F>(&self, key: &str, step: impl FnOnce() -> F) -> Result<T, ToolError>
    where
        T: Serialize + DeserializeOwned,
        F: Future<Output = Result<T, ToolError>>,
    {
        let _turn = self.call.turn(key).await?;
        let carrier = self.call.carrier();
        if let Some(recorded) = carrier.and_then(|carrier| carrier.recorded(key)) {
            return serde_json::from_value(recorded).map_err(|_| {
                ToolError::mistake(format!(
                    "what the step `{key}` has recorded is not of the type that it has now: use another key"
                ))
            });
        }
        let mut taking = self.call.begin_step(key).ok_or_else(ToolError::round_is_over)?;
        let result = taking.take(step()).await?;
        if let Some(carrier) = carrier {
            let result = serde_json::to_value(&result).map_err(|error| {
                ToolError::mistake(format!("what the step `{key}` gives cannot be recorded: {error}"))
            })?;
            carrier.record(key, result);
        }
        Ok(result)
    }

    /// What a resolver made, in a tool that was [given it at run time](crate::item::Tool::resolve).
    ///
    /// # Errors
    ///
    /// If the tool was not given it.
    pub fn resolved<R: Resolver>(&self) -> Result<&R::Output, ToolError> {
        self.resolved.as_ref().and_then(|resolved| resolved.get::<R>()).ok_or_else(|| {
            let name = R::instance().shown();
            ToolError::mistake(format!(
                "the tool was not given the resolver `{name}`: add `.resolve::<{name}>()` to it"
            ))
        })
    }

    /// Who the client says it is. It is free to lie: let nothing depend on it.
    pub fn client(&self) -> Option<ClientInfo> {
        self.call.facts().client()
    }

    /// What the client declared that it can do.
    pub fn capabilities(&self) -> &ClientCapabilities {
        &self.call.facts().capabilities
    }

    /// Which way of talking the client uses.
    pub fn era(&self) -> Era {
        self.call.facts().era
    }

    /// The protocol version of this request.
    pub fn protocol_version(&self) -> &'static str {
        self.call.facts().protocol_version
    }

    /// The request's JSON-RPC id, as JSON: a number, or a string in quotes.
    pub fn request_id(&self) -> &str {
        std::str::from_utf8(&self.call.facts().request_id).unwrap_or_default()
    }

    /// Cancelled when the client gave up. The function's future is dropped then, so this is for what it spawned.
    pub fn cancellation(&self) -> CancellationToken {
        self.call.cancellation().clone()
    }

    /// The request's headers; none on stdio.
    pub fn headers(&self) -> Option<&HeaderMap> {
        self.call.facts().headers()
    }

    /// One header's value, if it is there and is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.call.header(name)
    }

    /// What a layer in front of the server attached to the HTTP request: an authenticated user, say.
    pub fn extension<T: Clone + Send + Sync + 'static>(&self) -> Option<&T> {
        self.call.extension()
    }

    /// An entry of the request's `_meta`.
    pub fn meta(&self, key: &str) -> Option<serde_json::Value> {
        self.call.facts().meta(key)
    }
}

impl FromCall for Context {
    fn from_call(call: &Call, _: &'static str) -> Result<Self, ToolError> {
        Ok(Self { call: call.clone(), resolved: None })
    }
}
