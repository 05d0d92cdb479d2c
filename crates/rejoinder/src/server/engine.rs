use std::{
    borrow::Cow,
    sync::{Arc, PoisonError, RwLock, atomic::AtomicBool},
};

use serde_json::value::RawValue;
use tokio_util::task::TaskTracker;

use super::{
    ServerHandle, ServerOptions, TargetKind,
    lifecycle::Lifecycle,
    registry::Registry,
    subscriptions::{Change, Hub},
};
use crate::{
    auth::Budgets,
    call::{Dependencies, RecordRules, ServerTasks},
    error::RefusalLog,
    graph::{Instance, below},
    model::{Implementation, ServerCapabilities},
    rounds::seal::Seal,
};

/// A built server: what all its transports share.
#[derive(Debug, Clone)]
pub(crate) struct Engine {
    pub(crate) info: Implementation,
    /// [`Engine::info`] as JSON, for the `_meta` of every result.
    pub(crate) info_json: Box<RawValue>,
    pub(crate) instructions: Option<String>,
    pub(crate) capabilities: ServerCapabilities,
    pub(crate) options: ServerOptions,
    pub(crate) hub: Hub,
    /// Whether no operation may start any more.
    pub(super) stopping: Arc<AtomicBool>,
    /// The calls that run.
    pub(crate) calls: TaskTracker,
    /// What cancelled calls have deferred.
    pub(crate) teardown: TaskTracker,
    /// What each caller uses of what all share.
    pub(crate) budgets: Budgets,
    /// Which refusals were logged: a client can cause as many as it likes.
    pub(crate) refusals: Arc<RefusalLog<Cow<'static, str>>>,
    /// What calls left for after their reply.
    pub(crate) background: Arc<ServerTasks>,
    /// What the record of a call may hold.
    pub(crate) record_rules: Arc<RecordRules>,
    /// Seals and opens a `requestState`.
    pub(crate) seal: Arc<Seal>,
    /// What it offers at this moment, which a change replaces.
    pub(super) registry: Arc<RwLock<Arc<Registry>>>,
    pub(crate) dependencies: Arc<Dependencies>,
    /// What runs when the server starts and stops.
    pub(super) lifecycle: Option<Arc<Lifecycle>>,
}

impl Engine {
    /// The server, with a handle to itself among its services.
    pub(super) fn with_handle(mut self) -> Arc<Self> {
        Arc::new_cyclic(|engine| {
            let dependencies = Arc::make_mut(&mut self.dependencies);
            dependencies.insert(Arc::new(ServerHandle(engine.clone())));
            dependencies.insert(Arc::clone(&self.background));
            dependencies.insert(Arc::new(self.budgets.bytes.clone()));
            self
        })
    }

    /// What the server offers at this moment.
    pub(super) fn registry(&self) -> Arc<Registry> {
        // Every statement under the lock leaves it valid.
        Arc::clone(&self.registry.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The item that was added under that name, for a test client.
    #[cfg(feature = "http")]
    pub(crate) fn entry(&self, kind: TargetKind, name: &str) -> Option<Arc<super::registry::Entry>> {
        self.registry().get(kind, name).cloned()
    }

    /// Whether the server declares that it has items of this kind.
    pub(crate) fn declares(&self, kind: TargetKind) -> bool {
        match kind {
            TargetKind::Tool => self.capabilities.tools.is_some(),
            TargetKind::Prompt => self.capabilities.prompts.is_some(),
            TargetKind::Resource => self.capabilities.resources.is_some(),
        }
    }

    /// Replaces the items of a kind and notifies all listeners, unless `edit` returns `false`.
    pub(super) fn change(&self, kind: TargetKind, edit: impl FnOnce(&mut Registry) -> bool) {
        let mut current = self.registry.write().unwrap_or_else(PoisonError::into_inner);
        let mut changed = Registry::clone(&current);
        if !edit(&mut changed) {
            return;
        }
        changed.index();
        let before = std::mem::replace(&mut *current, Arc::new(changed));
        // It may hold values of the author, whose `Drop` may need the lock.
        drop((current, before));
        self.hub.notify(&Change::List(kind));
    }

    /// A resolver that an item uses.
    pub(crate) fn find_resolver(&self, is: impl Fn(&Instance) -> bool) -> Option<&'static Instance> {
        self.registry().items().flat_map(|item| below(&item.function().all_edges())).find(|instance| is(instance))
    }

    /// The same server with other services or resolvers, for a test.
    pub(crate) fn with_dependencies(&self, change: impl FnOnce(&mut Dependencies)) -> Arc<Self> {
        // What one of the two offers later, the other does not.
        let registry = Arc::new(RwLock::new(self.registry()));
        let lifecycle = self.lifecycle.as_ref().map(|lifecycle| Arc::new(lifecycle.of_copy()));
        let mut engine = Self { registry, hub: Hub::default(), stopping: Arc::default(), lifecycle, ..self.clone() };
        change(Arc::make_mut(&mut engine.dependencies));
        engine.with_handle()
    }
}

/// Counts what runs, until it is dropped. Closed means that waiting may end; more may begin all the same.
pub(super) fn tracker() -> TaskTracker {
    let tracker = TaskTracker::new();
    tracker.close();
    tracker
}
