use std::{future::IntoFuture, sync::Arc};

use http::HeaderMap;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::FromCall;
use crate::{
    BoxFuture,
    auth::Principal,
    call::{Call, Capabilities, ClientInfo, Emitted, Era, Level},
    error::CallError,
    graph::{Resolved, Resolver},
};

/// The call that a function serves: progress, logs, questions, the client, and whether it still waits.
///
/// ```
/// use rejoinder::Context;
///
/// /// Counts to three, slowly.
/// async fn count(ctx: Context) -> String {
///     for step in 1..=3 {
///         ctx.progress(f64::from(step)).total(3.0).message("counting").await;
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
    resolved: Option<Arc<Resolved>>,
}

impl Context {
    /// A context without a request, for calling a tool's function in a unit test.
    pub fn detached() -> Self {
        Self { call: Call::detached(), resolved: None }
    }

    pub(crate) fn with_resolved(call: Call, resolved: Resolved) -> Self {
        Self { call, resolved: Some(Arc::new(resolved)) }
    }

    /// Reports progress; `.await` sends it.
    ///
    /// A no-op if the client did not ask for it. Progress only rises: a value that is not greater than the last
    /// one is dropped.
    pub fn progress(&self, progress: f64) -> Progress {
        Progress { call: self.call.clone(), progress, total: None, message: None }
    }

    /// Sends a log message to the client, if the request asked for messages of that level.
    ///
    /// Only this caller gets it. For your own logs use `tracing`.
    pub async fn log(&self, level: Level, data: impl Serialize) {
        if !self.log_enabled(level) {
            return;
        }
        match serde_json::to_value(data) {
            Ok(data) => self.call.outbox().send(Emitted::Log { level, data }).await,
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

    /// The value of a resolver, in a tool that was [given it at run time](crate::item::Tool::resolve).
    ///
    /// # Errors
    ///
    /// If the tool was not given it.
    pub fn resolved<R: Resolver>(&self) -> Result<&R::Output, CallError> {
        self.resolved.as_ref().and_then(|resolved| resolved.get::<R>()).ok_or_else(|| {
            let name = R::instance().shown();
            CallError::mistake(format!(
                "the tool was not given the resolver `{name}`: add `.resolve::<{name}>()` to it"
            ))
        })
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
    /// Use it as a key for data that lives as long as the session, such as a login. Without a session, use the
    /// [caller](Self::principal) as the key.
    ///
    /// ```
    /// use std::{collections::HashSet, sync::Mutex};
    ///
    /// use rejoinder::{Era, prelude::*, testing::Client};
    /// use serde_json::json;
    ///
    /// #[derive(Default)]
    /// struct Unlocked(Mutex<HashSet<String>>);
    ///
    /// #[tool]
    /// async fn unlock(ctx: Context, unlocked: Dep<Unlocked>) -> Result<&'static str, CallError> {
    ///     let session = ctx.session_id().ok_or_else(|| CallError::new("this needs a session"))?;
    ///     unlocked.0.lock().unwrap().insert(session.to_owned());
    ///     Ok("unlocked for this session")
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("vault", "1.0.0").provide(Unlocked::default()).tools(tools![unlock]));
    /// assert_eq!(client.call_tool("unlock", json!({})).await?.text(), "this needs a session");
    /// assert_eq!(client.era(Era::Session).call_tool("unlock", json!({})).await?.text(), "unlocked for this session");
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

    /// Returns a token that is cancelled when the call ends or the client cancels the call. Pass it to tasks that the
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

impl FromCall for Context {
    async fn from_call(call: &Call, _: &'static str) -> Result<Self, CallError> {
        Ok(Self { call: call.clone(), resolved: None })
    }
}

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
    pub fn total(mut self, total: f64) -> Self {
        self.total = Some(total);
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
            if call.request().progress_token.is_some() {
                call.outbox().send(Emitted::Progress { progress, total, message }).await;
            }
        })
    }
}

/// The context of the value that a pipe converts: its field, its source and the call. A parameter of functions marked
/// [`#[pipe]`](crate::pipe).
///
/// ```
/// use rejoinder::{FieldError, PipeContext, prelude::*};
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
