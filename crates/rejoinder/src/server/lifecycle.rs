//! What runs once, before the first request of a server and after its last one.

use std::{
    error::Error,
    fmt,
    panic::AssertUnwindSafe,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use futures_util::{FutureExt, future::Shared};
use tokio::time::timeout;

use super::{ServerHandle, engine::Engine};
use crate::{
    BoxError, BoxFuture,
    call::Dependencies,
    error::{CallError, CallErrorKind},
    lock,
};

/// Why a server did not start: which function failed, and its error.
///
/// ```
/// use rejoinder::{Error, prelude::*};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> rejoinder::Result<()> {
/// struct Pool;
///
/// async fn connect(_: ServerHandle) -> Result<Pool, String> {
///     Err("no route to the database".to_owned())
/// }
///
/// let server = Server::new("shop", "1.0.0").provide_async(connect).build()?;
/// let error = server.start().await.unwrap_err();
/// assert!(error.to_string().ends_with("no route to the database"), "{error}");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, thiserror::Error)]
#[error("the server did not start: {step}: {source}")]
pub struct StartError {
    /// Which step of the start failed.
    step: String,
    source: Arc<dyn Error + Send + Sync>,
}

/// What a server runs when it starts and stops, as it is put together.
#[derive(Default)]
pub(super) struct LifecycleSteps {
    starts: Vec<StartStep>,
    stops: Vec<Stop>,
}

type Start = Box<dyn FnOnce(ServerHandle) -> BoxFuture<'static, Result<(), BoxError>> + Send>;
type Stop = Box<dyn FnOnce(ServerHandle) -> BoxFuture<'static, Result<(), CallError>> + Send>;

struct StartStep {
    name: String,
    /// Whether there is something to do: a test may have replaced what it provides.
    is_needed: fn(&Dependencies) -> bool,
    /// Locked while it runs.
    run: tokio::sync::Mutex<Option<Start>>,
}

impl LifecycleSteps {
    /// Runs a function when the server starts.
    pub(super) fn on_start(&mut self, run: Start) {
        let is_needed = |_: &Dependencies| true;
        self.starts.push(StartStep { name: "`on_start`".to_owned(), is_needed, run: Some(run).into() });
    }

    /// Runs a function when the server starts, whose result is the `T` of these services.
    pub(super) fn provide<T: ?Sized + Send + Sync + 'static>(
        &mut self,
        dependencies: &mut Dependencies,
        make: impl FnOnce(ServerHandle) -> BoxFuture<'static, Result<Arc<T>, BoxError>> + Send + 'static,
    ) {
        let place = dependencies.insert_later::<T>();
        let run: Start = Box::new(move |server| {
            let made = make(server);
            Box::pin(async move { made.await.map(|service| drop(place.set(service))) })
        });
        let name = format!("providing `{}`", std::any::type_name::<T>());
        self.starts.push(StartStep { name, is_needed: Dependencies::is_later::<T>, run: Some(run).into() });
    }

    /// Runs a function when the server stops.
    pub(super) fn on_stop(&mut self, run: Stop) {
        self.stops.push(run);
    }

    /// `None` if there is nothing to run.
    pub(super) fn finish(self) -> Option<Lifecycle> {
        let Self { starts, stops } = self;
        let is_empty = starts.is_empty() && stops.is_empty();
        (!is_empty).then(|| Lifecycle::new(starts.into(), Arc::new(Mutex::new(stops))))
    }
}

impl fmt::Debug for LifecycleSteps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.starts.iter().map(|step| &step.name)).finish()
    }
}

/// What a server runs when it starts and stops.
pub(super) struct Lifecycle {
    starts: Arc<[StartStep]>,
    /// Taken when they run.
    stops: Arc<Mutex<Vec<Stop>>>,
    /// The start, once it has begun.
    starting: OnceLock<Shared<BoxFuture<'static, Result<(), StartError>>>>,
    /// How many transports serve it until they end.
    serving: AtomicUsize,
}

impl Lifecycle {
    fn new(starts: Arc<[StartStep]>, stops: Arc<Mutex<Vec<Stop>>>) -> Self {
        Self { starts, stops, starting: OnceLock::new(), serving: AtomicUsize::new(0) }
    }

    /// For a copy of the server with other services: it starts by itself, and each function still runs once.
    pub(super) fn of_copy(&self) -> Self {
        Self::new(Arc::clone(&self.starts), Arc::clone(&self.stops))
    }
}

impl fmt::Debug for Lifecycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lifecycle").finish_non_exhaustive()
    }
}

impl Engine {
    /// Whether requests can be served.
    pub(crate) fn is_started(&self) -> bool {
        let Some(lifecycle) = &self.lifecycle else { return true };
        lifecycle.starting.get().is_some_and(|starting| matches!(starting.peek(), Some(Ok(()))))
    }

    /// Runs what must run before the first request, or waits until it has run.
    pub(crate) async fn start_up(self: &Arc<Self>) -> Result<(), StartError> {
        let Some(lifecycle) = &self.lifecycle else { return Ok(()) };
        let starting = lifecycle.starting.get_or_init(|| {
            let engine = Arc::clone(self);
            // In a task: a client that leaves while it waits for the start does not stop it.
            let task = tokio::spawn(async move { engine.run_starts().await });
            task.map(|ran| ran.unwrap_or_else(|stopped| Err(StartError::new("the runtime", stopped.into()))))
                .boxed()
                .shared()
        });
        starting.clone().await
    }

    async fn run_starts(self: Arc<Self>) -> Result<(), StartError> {
        let server = ServerHandle::new(Arc::downgrade(&self));
        for step in self.lifecycle.iter().flat_map(|lifecycle| &*lifecycle.starts) {
            let mut run = step.run.lock().await;
            let Some(run) = run.take_if(|_| (step.is_needed)(&self.dependencies)) else { continue };
            // The function itself may panic before it returns a future.
            let ran = AssertUnwindSafe(async { run(server.clone()).await }).catch_unwind().await;
            let failed =
                ran.unwrap_or_else(|_| Err("panicked".into())).map_err(|error| StartError::new(&step.name, error));
            if let Err(error) = failed {
                tracing::error!("{error}");
                return Err(error);
            }
        }
        Ok(())
    }

    /// Notes that a transport serves the server until [`Engine::served`].
    pub(crate) fn serve(&self) {
        if let Some(lifecycle) = &self.lifecycle {
            lifecycle.serving.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Notes that a transport does not serve the server any more. The last one stops it.
    pub(crate) async fn served(self: &Arc<Self>) {
        if self.lifecycle.as_ref().is_some_and(|lifecycle| lifecycle.serving.fetch_sub(1, Ordering::SeqCst) == 1) {
            self.shut_down().await;
        }
    }

    /// Runs what must run after the last request, the latest first, if the server has been started.
    pub(crate) async fn shut_down(self: &Arc<Self>) {
        let Some(lifecycle) = self.lifecycle.as_ref().filter(|lifecycle| lifecycle.starting.get().is_some()) else {
            return;
        };
        let stops = std::mem::take(&mut *lock(&lifecycle.stops));
        for stop in stops.into_iter().rev() {
            let server = ServerHandle::new(Arc::downgrade(self));
            let run = AssertUnwindSafe(async { stop(server).await }).catch_unwind();
            match timeout(self.options.grace, run).await {
                Ok(Ok(Ok(()))) => {}
                Ok(Ok(Err(error))) => tracing::error!(%error, "`on_stop` failed"),
                Ok(Err(_)) => tracing::error!("`on_stop` panicked"),
                Err(_) => tracing::error!("`on_stop` was dropped: it took longer than the grace period"),
            }
        }
    }
}

impl StartError {
    fn new(step: &str, error: BoxError) -> Self {
        Self { step: step.to_owned(), source: error.into() }
    }
}

/// The error of a function that may return a [`CallError`].
pub(super) fn boxed(error: CallError) -> BoxError {
    match error.kind() {
        CallErrorKind::Internal(error) => Box::new(Arc::clone(error)),
        _ => error.to_string().into(),
    }
}
