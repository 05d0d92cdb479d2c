use std::sync::Arc;

use tokio::{sync::oneshot, task::spawn_blocking};
use tracing::{Instrument, Span};

use super::FromCall;
use crate::{
    call::{BackgroundState, BackgroundStatus, Call},
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
        F: TaskFuture<R> + Send + 'static,
        R: TaskOutput,
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
        F: FnOnce() -> R + Send + 'static,
        R: TaskOutput,
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
    async fn from_call(call: &Call, _: &'static str) -> Result<Self, CallError> {
        call.round_tasks();
        Ok(Self::of(call))
    }
}

/// A task that was [added](BackgroundTasks::add). Dropping it changes nothing: the task runs.
///
/// ```
/// use rejoinder::{BackgroundTasks, CallError, call::BackgroundStatus};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), CallError> {
/// let background = BackgroundTasks::detached();
/// let count = background.add(async { Ok::<_, CallError>(3) })?;
/// let never = background.add(std::future::pending::<()>())?;
/// never.cancel();
/// assert_eq!((count.status(), never.status()), (BackgroundStatus::Waiting, BackgroundStatus::Cancelled));
///
/// background.finish().await;
/// assert_eq!(count.status(), BackgroundStatus::Succeeded);
/// assert_eq!(count.result().await?, 3);
/// assert_eq!(never.result().await.unwrap_err().to_string(), "the background task was cancelled");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct BackgroundTask<T = ()> {
    pub(crate) call: Call,
    pub(crate) state: Arc<BackgroundState>,
    pub(crate) result: oneshot::Receiver<Result<T, CallError>>,
}

impl<T> BackgroundTask<T> {
    /// Its number, which the log shows and no other task of this process has.
    pub fn id(&self) -> u64 {
        self.state.id
    }

    /// Returns the status of the task.
    pub fn status(&self) -> BackgroundStatus {
        self.state.status()
    }

    /// Cancels it: it does not start, or is dropped where it next waits. A blocking function that runs is not stopped.
    pub fn cancel(&self) {
        self.state.cancelled.cancel();
    }

    /// Waits for its result: in another task of the call, for example.
    ///
    /// # Errors
    ///
    /// Its own error, or that it was cancelled or panicked. A function that waits for its own task gets an error at once: the
    /// task starts after the function has returned.
    pub async fn result(self) -> Result<T, CallError> {
        if self.status() == BackgroundStatus::Waiting && !self.call.runs_background() {
            return Err(CallError::mistake(
                "a background task starts after the reply, so the call cannot wait for its result",
            ));
        }
        self.result.await.unwrap_or_else(|_| Err(CallError::new("the background task was cancelled")))
    }
}

/// A [background task](BackgroundTasks::add): a future that ends with an `R`.
#[diagnostic::on_unimplemented(
    message = "a background task is a future: pass `async move {{ .. }}`, or a call of an `async fn`",
    label = "not a future",
    note = "write `add(async move {{ .. }})` without `||`; a function that blocks its thread is for `add_blocking`"
)]
pub trait TaskFuture<R>: Future<Output = R> {}

#[diagnostic::do_not_recommend]
impl<F: Future<Output = R>, R> TaskFuture<R> for F {}

/// What a [background task](BackgroundTasks::add), a [deferred](crate::Scope::defer) function and a function of
/// [`Server::on_stop`](crate::Server::on_stop) may return: nothing, or a `Result`.
#[diagnostic::on_unimplemented(
    message = "a task cannot return `{Self}`",
    label = "neither `()` nor a `Result`",
    note = "return nothing, or a `Result` whose error `?` could turn into a `CallError`"
)]
pub trait TaskOutput: Send + 'static {
    /// What it is if nothing failed.
    type Value: Send + 'static;

    /// Whether it can be an error.
    #[doc(hidden)]
    const CAN_FAIL: bool = true;

    /// The value, or why there is none.
    ///
    /// # Errors
    ///
    /// Its own.
    fn into_result(self) -> Result<Self::Value, CallError>;
}

impl TaskOutput for () {
    type Value = ();

    const CAN_FAIL: bool = false;

    fn into_result(self) -> Result<(), CallError> {
        Ok(())
    }
}

impl<T: Send + 'static, E: Into<CallError> + Send + 'static> TaskOutput for Result<T, E> {
    type Value = T;

    fn into_result(self) -> Result<T, CallError> {
        self.map_err(Into::into)
    }
}
