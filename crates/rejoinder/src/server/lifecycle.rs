//! What runs once, before the first request of a server and after its last one.

use std::{
    error::Error,
    fmt,
    panic::AssertUnwindSafe,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::{
    FutureExt,
    future::{BoxFuture, Shared},
};
use tokio::{runtime::Builder, sync::Mutex, time::timeout};
use tokio_util::sync::CancellationToken;

use super::{ServerHandle, engine::Engine};
use crate::{
    call::{Dependencies, WorkOutput},
    error::{BoxError, CallError, CallErrorKind},
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

/// After how many grace periods `on_stop` runs at the latest: one for calls, one for what they deferred, one for background
/// tasks.
const UNTIL_STOPS: u32 = 3;

/// What a server runs when it starts and stops.
#[derive(Default)]
pub(super) struct Lifecycle {
    starts: Arc<Vec<StartStep>>,
    /// Locked while they run.
    stops: Arc<Mutex<Vec<Step>>>,
    /// The start, once it has begun.
    starting: OnceLock<Shared<BoxFuture<'static, Result<(), StartError>>>>,
    /// How many transports serve it until they end.
    serving: AtomicUsize,
}

pub(super) type Step = Box<dyn FnOnce(ServerHandle) -> BoxFuture<'static, Result<(), BoxError>> + Send>;

/// A step of a function of the author.
pub(super) fn step<F, R>(run: impl FnOnce(ServerHandle) -> F + Send + 'static) -> Step
where
    F: Future<Output = R> + Send + 'static,
    R: WorkOutput<Value = ()>,
{
    Box::new(move |server| {
        let run = run(server);
        Box::pin(async move { run.await.into_result().map_err(boxed) })
    })
}

struct StartStep {
    name: String,
    /// Whether there is something to do: a test may have replaced what it provides.
    is_needed: fn(&Dependencies) -> bool,
    /// Locked while it runs.
    run: Mutex<Option<Step>>,
}

impl Lifecycle {
    /// Runs a function when the server starts, if it is needed then.
    pub(super) fn on_start(&mut self, name: String, is_needed: fn(&Dependencies) -> bool, run: Step) {
        let starts = Arc::get_mut(&mut self.starts).expect("only a built server has copies");
        starts.push(StartStep { name, is_needed, run: Some(run).into() });
    }

    /// Runs a function when the server stops.
    pub(super) fn on_stop(&mut self, run: Step) {
        let stops = Arc::get_mut(&mut self.stops).expect("only a built server has copies");
        stops.get_mut().push(run);
    }

    /// Whether there is anything to run.
    pub(super) fn is_needed(&self) -> bool {
        !self.starts.is_empty() || self.count_stops() > 0
    }

    /// How many functions run when the server stops, unless they run now.
    fn count_stops(&self) -> usize {
        self.stops.try_lock().map_or(0, |stops| stops.len())
    }

    /// For a copy of the server with other services: it starts by itself, and each function still runs once.
    pub(super) fn of_copy(&self) -> Self {
        Self { starts: Arc::clone(&self.starts), stops: Arc::clone(&self.stops), ..Self::default() }
    }
}

impl fmt::Debug for Lifecycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.starts.iter().map(|step| &step.name)).finish()
    }
}

impl Engine {
    /// Whether requests can be served.
    pub(crate) fn is_started(&self) -> bool {
        let Some(lifecycle) = &self.activity.lifecycle else { return true };
        lifecycle.starting.get().is_some_and(|starting| matches!(starting.peek(), Some(Ok(()))))
    }

    /// Runs what must run before the first request, or waits until it has run. A server that has been stopped does not start.
    pub(crate) async fn run_start(self: &Arc<Self>) -> Result<(), StartError> {
        let Some(lifecycle) = &self.activity.lifecycle else { return Ok(()) };
        if self.stopping().is_cancelled() && lifecycle.starting.get().is_none() {
            return Ok(());
        }
        let starting = lifecycle.starting.get_or_init(|| {
            let engine = Arc::clone(self);
            // Spawned: a client that leaves while it waits for the start does not stop it.
            let spawned = tokio::spawn(async move { engine.run_starts().await });
            spawned
                .map(|ran| ran.unwrap_or_else(|stopped| Err(StartError::new("the runtime", stopped.into()))))
                .boxed()
                .shared()
        });
        starting.clone().await
    }

    async fn run_starts(self: Arc<Self>) -> Result<(), StartError> {
        let server = ServerHandle(Arc::downgrade(&self));
        for step in self.activity.lifecycle.iter().flat_map(|lifecycle| &**lifecycle.starts) {
            let mut run = step.run.lock().await;
            let Some(run) = run.take_if(|_| (step.is_needed)(&self.offer.dependencies)) else { continue };
            // The function itself may panic before it returns a future.
            let ran = AssertUnwindSafe(async { run(server.clone()).await }).catch_unwind().await;
            let failed =
                ran.unwrap_or_else(|_| Err("panicked".into())).map_err(|error| StartError::new(&step.name, error));
            if let Err(error) = failed {
                tracing::error!("{error}");
                return Err(error);
            }
        }
        if self.has_keeper() {
            self.open_tasks().await.map_err(|error| StartError::new("`Server::tasks`", error))?;
        }
        Ok(())
    }

    /// Waits for a start that has begun, at most for the grace period.
    pub(crate) async fn start_ended(&self) {
        let lifecycle = self.activity.lifecycle.as_ref();
        if let Some(starting) = lifecycle.and_then(|lifecycle| lifecycle.starting.get()).cloned() {
            // The one who has begun it gets its error.
            let _ = timeout(self.settings.options.grace, starting).await;
        }
    }

    /// Notes that a transport serves the server until [`Engine::served`].
    pub(crate) fn serve(&self) {
        if let Some(lifecycle) = &self.activity.lifecycle {
            lifecycle.serving.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Notes that a transport does not serve the server any more. The last one stops it.
    pub(crate) async fn served(self: &Arc<Self>) {
        if self
            .activity
            .lifecycle
            .as_ref()
            .is_some_and(|lifecycle| lifecycle.serving.fetch_sub(1, Ordering::SeqCst) == 1)
        {
            self.shut_down().await;
        }
    }

    /// Whether operations are refused, because the server stops.
    pub(crate) fn is_stopping(&self) -> bool {
        self.activity.stopping.is_cancelled()
    }

    /// Cancelled when the server stops.
    pub(crate) fn stopping(&self) -> &CancellationToken {
        &self.activity.stopping
    }

    /// Refuses operations from now on, and ends subscriptions.
    pub(crate) fn stop_accepting(&self) {
        self.activity.tasks.begin_stop();
        self.activity.stopping.cancel();
        self.offer.hub.close();
        // Wakes a thread that is free. It drives timers from then on: the thread that does may be blocked.
        drop(tokio::spawn(async {}));
    }

    /// How long a stop takes at most: three grace periods, and one for each function that runs then.
    pub(crate) fn longest_stop(&self) -> Duration {
        let stops = self.activity.lifecycle.as_ref().map_or(0, |lifecycle| lifecycle.count_stops());
        self.settings
            .options
            .grace
            .saturating_mul(UNTIL_STOPS + u32::try_from(stops.max(1)).unwrap_or(u32::MAX - UNTIL_STOPS))
    }

    /// Sees to it that the stop does not take longer: runs what must run after the last request, unless that has run by
    /// then. In a thread with a runtime of its own, because functions may block every thread of the server's runtime.
    pub(crate) fn shut_down_in_time(self: &Arc<Self>) {
        self.activity.tasks.begin_stop();
        let (engine, longest) = (Arc::downgrade(self), self.settings.options.grace.saturating_mul(UNTIL_STOPS));
        if self.activity.lifecycle.as_ref().is_none_or(|lifecycle| lifecycle.starting.get().is_none()) {
            return;
        }
        let spawned = std::thread::Builder::new().spawn(move || {
            std::thread::sleep(longest);
            let Some(engine) = engine.upgrade() else { return };
            match Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => runtime.block_on(engine.shut_down()),
                Err(error) => tracing::error!(%error, "`on_stop` cannot run: there is no runtime for it"),
            }
        });
        if let Err(error) = spawned {
            tracing::error!(%error, "there is no thread to run `on_stop` in time: it runs when the others are done");
        }
    }

    /// Runs what must run after the last request, the latest first, if the server has been started. If another caller runs it
    /// already, it waits for that.
    pub(crate) async fn shut_down(self: &Arc<Self>) {
        self.activity.tasks.stop(self.settings.options.grace).await;
        let Some(lifecycle) = self.activity.lifecycle.as_ref().filter(|lifecycle| lifecycle.starting.get().is_some())
        else {
            return;
        };
        let mut stops = lifecycle.stops.lock().await;
        while let Some(stop) = stops.pop() {
            let server = ServerHandle(Arc::downgrade(self));
            let run = AssertUnwindSafe(async { stop(server).await }).catch_unwind();
            match timeout(self.settings.options.grace, run).await {
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
