use std::{
    borrow::Cow,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use serde_json::value::RawValue;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    CacheHints, Limits, ServerHandle, ServerOptions, TargetKind, http,
    lifecycle::Lifecycle,
    registry::Registry,
    subscriptions::{Change, Hub},
    tasks::ServerTasks,
};
use crate::{
    auth::{Budget, Budgets},
    call::{Dependencies, RecordRules, ServerBackground},
    error::RefusalLog,
    graph::{Instance, below},
    model::{Implementation, ServerCapabilities},
    rounds::seal::Seal,
    tasks::Tasks,
};

/// A built server: what all its transports share.
#[derive(Debug, Clone)]
pub(crate) struct Engine {
    pub(super) offer: Offer,
    pub(super) activity: Activity,
    pub(super) settings: Settings,
}

/// What a server offers.
#[derive(Debug, Clone)]
pub(super) struct Offer {
    pub(super) info: Implementation,
    /// [`Offer::info`] as JSON, for the `_meta` of every result.
    pub(super) info_json: Box<RawValue>,
    pub(super) instructions: Option<String>,
    pub(super) capabilities: ServerCapabilities,
    /// The items at this moment, which a change replaces.
    pub(super) registry: Arc<RwLock<Arc<Registry>>>,
    /// Who hears about changes.
    pub(super) hub: Hub,
    pub(super) dependencies: Arc<Dependencies>,
}

/// What runs in a server.
#[derive(Debug, Clone)]
pub(super) struct Activity {
    /// What runs when the server starts and stops.
    pub(super) lifecycle: Option<Arc<Lifecycle>>,
    /// Cancelled when no operation may start any more, and transports finish what is in flight.
    pub(super) stopping: CancellationToken,
    /// The calls that run.
    pub(super) calls: TaskTracker,
    /// What cancelled calls have deferred.
    pub(super) teardown: TaskTracker,
    /// What calls left for after their reply.
    pub(super) background: Arc<ServerBackground>,
    /// What each caller uses of what all share.
    pub(super) budgets: Budgets,
    /// The calls that outlive their requests.
    pub(super) tasks: Arc<ServerTasks>,
    /// Which refusals were logged: a client can cause as many as it likes.
    pub(super) refusals: Arc<RefusalLog<Cow<'static, str>>>,
}

/// How a server was set up.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) options: ServerOptions,
    /// What the record of a call may hold.
    pub(super) record_rules: Arc<RecordRules>,
    /// Seals and opens a `requestState`.
    pub(super) seal: Arc<Seal>,
}

impl Engine {
    /// The server, with a handle to itself among its services.
    pub(super) fn with_handle(mut self) -> Arc<Self> {
        Arc::new_cyclic(|engine| {
            let dependencies = Arc::make_mut(&mut self.offer.dependencies);
            dependencies.insert(Arc::new(ServerHandle(engine.clone())));
            dependencies.insert(Arc::clone(&self.activity.background));
            dependencies.insert(Arc::new(self.activity.budgets.bytes.clone()));
            self
        })
    }

    /// What the server offers at this moment.
    pub(super) fn registry(&self) -> Arc<Registry> {
        // Every statement under the lock leaves it valid.
        Arc::clone(&self.offer.registry.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The item that was added under that name, for a test client.
    #[cfg(feature = "testing")]
    pub(crate) fn entry(&self, kind: TargetKind, name: &str) -> Option<Arc<super::registry::Entry>> {
        self.registry().get(kind, name).cloned()
    }

    /// Whether the server declares that it has items of this kind.
    pub(crate) fn declares(&self, kind: TargetKind) -> bool {
        match kind {
            TargetKind::Tool => self.offer.capabilities.tools.is_some(),
            TargetKind::Prompt => self.offer.capabilities.prompts.is_some(),
            TargetKind::Resource => self.offer.capabilities.resources.is_some(),
        }
    }

    /// Replaces the items of a kind and notifies all listeners, unless `edit` returns `false`.
    pub(super) fn change(&self, kind: TargetKind, edit: impl FnOnce(&mut Registry) -> bool) {
        let mut current = self.offer.registry.write().unwrap_or_else(PoisonError::into_inner);
        let mut changed = Registry::clone(&current);
        if !edit(&mut changed) {
            return;
        }
        changed.index();
        let before = std::mem::replace(&mut *current, Arc::new(changed));
        // It may hold values of the author, whose `Drop` may need the lock.
        drop((current, before));
        self.offer.hub.notify(&Change::List(kind));
    }

    /// A resolver that an item uses.
    pub(crate) fn find_resolver(&self, is: impl Fn(&Instance) -> bool) -> Option<&'static Instance> {
        self.registry().items().flat_map(|item| below(&item.function().all_edges())).find(|instance| is(instance))
    }

    /// The same server with other services or resolvers, and with its own tasks, for a test.
    pub(crate) fn with_dependencies(&self, change: impl FnOnce(&mut Dependencies), tasks: Tasks) -> Arc<Self> {
        let mut engine = self.clone();
        // What one of the two offers later, the other does not.
        engine.offer.registry = Arc::new(RwLock::new(self.registry()));
        engine.offer.hub = Hub::default();
        engine.activity.stopping = CancellationToken::new();
        engine.activity.tasks = Arc::new(self.activity.tasks.of_copy(tasks, &engine.activity.stopping, self.bytes()));
        engine.activity.lifecycle = self.activity.lifecycle.as_ref().map(|lifecycle| Arc::new(lifecycle.of_copy()));
        change(Arc::make_mut(&mut engine.offer.dependencies));
        engine.with_handle()
    }
}

/// What protocol and transports ask of a server.
impl Engine {
    pub(crate) fn info(&self) -> &Implementation {
        &self.offer.info
    }

    pub(crate) fn info_json(&self) -> &RawValue {
        &self.offer.info_json
    }

    pub(crate) fn instructions(&self) -> Option<&str> {
        self.offer.instructions.as_deref()
    }

    pub(crate) fn capabilities(&self) -> &ServerCapabilities {
        &self.offer.capabilities
    }

    pub(crate) fn dependencies(&self) -> &Dependencies {
        &self.offer.dependencies
    }

    #[cfg(test)]
    pub(crate) fn hub(&self) -> &Hub {
        &self.offer.hub
    }

    /// Waits until no call runs.
    pub(crate) fn calls_ended(&self) -> impl Future<Output = ()> {
        self.activity.calls.wait()
    }

    /// Waits until what cancelled calls have deferred has run.
    pub(crate) fn teardown_ended(&self) -> impl Future<Output = ()> {
        self.activity.teardown.wait()
    }

    /// The tasks that calls left for after their reply.
    pub(crate) fn background(&self) -> &ServerBackground {
        &self.activity.background
    }

    /// The bytes that callers make the server hold.
    pub(crate) fn bytes(&self) -> &Budget {
        &self.activity.budgets.bytes
    }

    /// The sessions that callers have open.
    pub(crate) fn session_places(&self) -> &Budget {
        &self.activity.budgets.sessions
    }

    /// Whether a refusal for this reason is to be logged, and how many there were.
    pub(crate) fn refusal_due(&self, reason: Cow<'static, str>) -> Option<u64> {
        self.activity.refusals.due(reason)
    }

    pub(crate) fn seal(&self) -> &Arc<Seal> {
        &self.settings.seal
    }

    /// How long a sealed state can be used.
    pub(crate) fn state_ttl(&self) -> Duration {
        self.settings.options.state.ttl
    }

    /// The most bytes of an answer.
    pub(crate) fn answer_bytes(&self) -> usize {
        self.settings.record_rules.answer_bytes
    }

    pub(crate) fn http(&self) -> &http::Config {
        &self.settings.options.http
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.settings.options.limits
    }

    /// How long what is left may take when a call or the server ends.
    pub(crate) fn grace(&self) -> Duration {
        self.settings.options.grace
    }

    /// Whether the process ends with the server, also if threads are blocked.
    pub(crate) fn ends_process(&self) -> bool {
        self.settings.options.ends_process
    }

    /// Whether clients of 2025-11-25 and earlier are served.
    pub(crate) fn has_sessions(&self) -> bool {
        self.settings.options.sessions
    }

    /// Whether invalid arguments are an error of the protocol.
    pub(crate) fn is_strict(&self) -> bool {
        self.settings.options.strict_arguments
    }

    /// What the author says about lists.
    pub(crate) fn list_hints(&self) -> Option<&CacheHints> {
        self.settings.options.list_hints.as_ref()
    }

    /// Whether a function of the author finds out who calls.
    pub(crate) fn identifies_callers(&self) -> bool {
        self.settings.options.principal.0.is_some()
    }

    /// Whether a client can get a token with more scopes, if it is told that it needs one.
    pub(crate) fn can_step_up(&self) -> bool {
        self.settings.options.can_step_up()
    }
}

/// Counts what runs, until it is dropped. Closed means that waiting may end; more may begin all the same.
pub(super) fn tracker() -> TaskTracker {
    let tracker = TaskTracker::new();
    tracker.close();
    tracker
}
