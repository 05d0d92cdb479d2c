use tokio::task::spawn_blocking;
use tracing::{Instrument, Span};

use super::FromCall;
use crate::{
    call::{BackgroundTask, Call, WorkFuture, WorkOutput},
    error::CallError,
};

/// Adds work that runs after the reply is sent, such as a mail, a log entry or a cache to fill.
///
/// Tasks start when the transport has the last byte of the reply, so the client does not wait for them. They run one after
/// the other, in the order in which they were added; see [`concurrent`](Self::concurrent). A task that another task adds
/// starts at once.
///
/// ```
/// use rejoinder::{call::BackgroundStatus, prelude::*, testing::Client};
/// use serde_json::json;
///
/// struct Mailer;
///
/// impl Mailer {
///     async fn send(&self, to: &str) -> Result<(), std::io::Error> {
///         // ..
/// #         let _ = to;
///         Ok(())
///     }
/// }
///
/// #[tool]
/// async fn sign_up(mail: String, mailer: Dep<Mailer>, background: BackgroundTasks) -> Result<&'static str, CallError> {
///     background.add(async move { mailer.send(&mail).await })?;
///     Ok("welcome") // the client has this before the mail is sent
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
/// let client = Client::new(Server::new("club", "1.0.0").provide(Mailer).tools(tools![sign_up]));
/// let reply = client.call_tool("sign_up", json!({ "mail": "ada@example.com" })).await?;
/// assert_eq!(reply.text(), "welcome");
/// assert_eq!(reply.background.finished().await, [BackgroundStatus::Succeeded]);
/// # Ok(())
/// # }
/// ```
///
/// They also run if the function fails, panics or is cancelled after it has added them, and if the client is gone; tasks of
/// [`on_success`](Self::on_success) run only if the call succeeds. A round
/// that ends in a question drops its tasks: the function runs again from the start and adds them again. Errors and panics are
/// logged with the name of the tool, the id of the request and the id of the task.
///
/// Deferred functions ([`Scope::defer`](crate::Scope::defer)) run before the reply, and so before the tasks: the
/// transaction of the call is already closed. A server that shuts down waits for tasks for the
/// [grace period](crate::Server::grace_period), and then cancels them.
#[derive(Debug, Clone)]
pub struct BackgroundTasks {
    call: Call,
    is_concurrent: bool,
    only_on_success: bool,
}

impl BackgroundTasks {
    /// Tasks without a call, for calling a function in a unit test.
    ///
    /// ```
    /// use rejoinder::{BackgroundTasks, CallError, State};
    ///
    /// async fn greet(background: BackgroundTasks, sent: State<bool>) -> Result<&'static str, CallError> {
    ///     background.add(async move { sent.set(true) })?;
    ///     Ok("hello")
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), CallError> {
    /// let (background, sent) = (BackgroundTasks::detached(), State::new(false));
    /// assert_eq!(greet(background.clone(), sent.clone()).await?, "hello");
    /// assert!(!sent.get(), "nothing runs before the reply");
    /// background.finish().await;
    /// assert!(sent.get());
    /// # Ok(())
    /// # }
    /// ```
    pub fn detached() -> Self {
        Self::of(&Call::detached())
    }

    fn of(call: &Call) -> Self {
        Self { call: call.clone(), is_concurrent: false, only_on_success: false }
    }

    /// Adds a future, which may return nothing or a `Result`. It is not polled before the reply has left.
    ///
    /// If the reply has left already, because the future that adds it outlives the call, it starts at once.
    ///
    /// # Errors
    ///
    /// If the call has added 100 tasks, if the server has too many
    /// ([`Limits::background_tasks`](crate::server::Limits::background_tasks)), if the round has ended in a question, or
    /// outside a tokio runtime. Inside a step ([`Context::once`](crate::Context::once)) it is a mistake that ends the call,
    /// because a later round does not run the step and would not add the task: add it after the step.
    pub fn add<F, R>(&self, task: F) -> Result<BackgroundTask<R::Value>, CallError>
    where
        F: WorkFuture<R> + Send + 'static,
        R: WorkOutput,
    {
        let task = async move { task.await.into_result() }.in_current_span();
        self.call.add_background(self.is_concurrent, self.only_on_success, move || tokio::spawn(task))
    }

    /// Adds a function that blocks its thread. It runs on a thread for such functions, and cannot be cancelled once it runs.
    ///
    /// # Errors
    ///
    /// As [`add`](Self::add).
    pub fn add_blocking<F, R>(&self, task: F) -> Result<BackgroundTask<R::Value>, CallError>
    where
        F: BlockingWork<R> + Send + 'static,
        R: WorkOutput,
    {
        let span = Span::current();
        let start = move || spawn_blocking(move || span.in_scope(|| task().into_result()));
        self.call.add_background(self.is_concurrent, self.only_on_success, start)
    }

    /// Returns a handle whose tasks run concurrently with the other tasks of the call.
    ///
    /// ```
    /// use rejoinder::prelude::*;
    ///
    /// #[tool]
    /// async fn publish(background: BackgroundTasks) -> Result<&'static str, CallError> {
    ///     for mirror in ["a", "b"] {
    ///         background.concurrent().add(async move { /* copy to the mirror */ let _ = mirror; })?;
    ///     }
    ///     Ok("published")
    /// }
    /// ```
    #[must_use]
    pub fn concurrent(&self) -> Self {
        Self { is_concurrent: true, ..self.clone() }
    }

    /// Returns a handle whose tasks run only if the call and all that it [deferred](crate::Scope::defer) succeed: a mail that
    /// confirms an order waits for the commit. Otherwise they are cancelled.
    ///
    /// ```
    /// use rejoinder::{call::BackgroundStatus, prelude::*, testing::Client};
    /// use serde_json::json;
    ///
    /// #[tool]
    /// async fn order(item: String, background: BackgroundTasks) -> Result<&'static str, CallError> {
    ///     background.on_success().add(async { /* send a mail */ })?;
    ///     if item.is_empty() {
    ///         return Err(CallError::new("name an item"));
    ///     }
    ///     Ok("ordered")
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("shop", "1.0.0").tools(tools![order]));
    /// for (item, status) in [("tea", BackgroundStatus::Succeeded), ("", BackgroundStatus::Cancelled)] {
    ///     let reply = client.call_tool("order", json!({ "item": item })).await?;
    ///     assert_eq!(reply.background.finished().await, [status]);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn on_success(&self) -> Self {
        Self { only_on_success: true, ..self.clone() }
    }

    /// Runs the added tasks and waits for them. The framework runs the tasks of a call after the reply; a unit test
    /// calls this for [detached](Self::detached) tasks.
    pub async fn finish(&self) {
        self.call.finish_background().await;
    }
}

impl FromCall for BackgroundTasks {
    const IS_OURS: bool = true;

    async fn from_call(call: &Call, _: &'static str) -> Result<Self, CallError> {
        call.round_tasks();
        Ok(Self::of(call))
    }
}

instead!(
    TaskSpawner for BackgroundTasks,
    "a background task is added with `add`: `background.add(async move {{ .. }})?`",
    "`add_blocking` is for a function that blocks its thread": spawn add_task push spawn_blocking
);

/// A function that blocks its thread.
#[diagnostic::on_unimplemented(
    message = "a task that blocks is a closure, `add_blocking(move || ..)`; a future is for `add(async move {{ .. }})`",
    label = "not a closure without parameters"
)]
pub trait BlockingWork<R>: FnOnce() -> R {}

#[diagnostic::do_not_recommend]
impl<R, F: FnOnce() -> R> BlockingWork<R> for F {}
