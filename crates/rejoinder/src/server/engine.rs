use std::{any::TypeId, sync::Arc};

use arc_swap::ArcSwap;
use serde_json::value::RawValue;
use tokio_util::task::{TaskTracker, task_tracker::TaskTrackerToken};

use super::{
    ServerHandle, ServerOptions, TargetKind,
    registry::{Entry, List, Page, Registry},
    subscriptions::{Change, Hub},
};
use crate::{
    call::Dependencies,
    graph::{Instance, Resolver, below},
    model::{Implementation, ServerCapabilities},
    rounds::seal::Seal,
};

/// A built server: what all its transports share.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) info: Implementation,
    /// [`Engine::info`] as JSON, for the `_meta` of every result.
    pub(crate) info_json: Box<RawValue>,
    pub(crate) instructions: Option<String>,
    pub(crate) capabilities: ServerCapabilities,
    pub(crate) options: ServerOptions,
    pub(crate) hub: Hub,
    /// The calls that run.
    pub(crate) calls: Calls,
    /// What cancelled calls have deferred.
    pub(crate) teardown: Calls,
    /// Seals and opens a `requestState`.
    pub(crate) seal: Arc<Seal>,
    pub(super) registry: ArcSwap<Registry>,
    pub(super) dependencies: Arc<Dependencies>,
}

impl Engine {
    pub(super) fn new(
        info: Implementation,
        instructions: Option<String>,
        capabilities: ServerCapabilities,
        options: ServerOptions,
        seal: Arc<Seal>,
        registry: Arc<Registry>,
        mut dependencies: Dependencies,
    ) -> Arc<Self> {
        Arc::new_cyclic(|engine| {
            dependencies.insert(Arc::new(ServerHandle::new(engine.clone())));
            Self {
                info_json: serde_json::value::to_raw_value(&info).expect("plain strings serialise"),
                info,
                instructions,
                capabilities,
                options,
                hub: Hub::default(),
                calls: Calls::default(),
                teardown: Calls::default(),
                seal,
                registry: ArcSwap::new(registry),
                dependencies: Arc::new(dependencies),
            }
        })
    }

    /// The item that was added under that name.
    pub(crate) fn entry(&self, kind: TargetKind, name: &str) -> Option<Arc<Entry>> {
        self.registry.load().get(kind, name).cloned()
    }

    /// A page of a list; `None` if there is no such cursor.
    pub(super) fn page(&self, list: List, cursor: Option<&str>) -> Option<Page> {
        self.registry.load().page(list, cursor, self.options.page_size)
    }

    /// Replaces what is offered and notifies everybody who listens, unless `edit` returns `false`.
    pub(super) fn change(&self, change: &Change, mut edit: impl FnMut(&mut Registry) -> bool) {
        let mut is_changed = false;
        self.registry.rcu(|registry| {
            let mut changed = Registry::clone(registry);
            is_changed = edit(&mut changed);
            if !is_changed {
                return Arc::clone(registry);
            }
            changed.render(self.options.page_size);
            Arc::new(changed)
        });
        if is_changed {
            self.hub.notify(change);
        }
    }

    /// The same server with another service of a type that was provided; `None` if none was.
    pub(crate) fn replace<T: ?Sized + Send + Sync + 'static>(&self, service: Arc<T>) -> Option<Arc<Self>> {
        let is_provided = self.dependencies.contains(TypeId::of::<T>());
        is_provided.then(|| self.with_dependencies(|dependencies| dependencies.insert(service)))
    }

    /// The same server with a stand-in for a resolver; `None` if no item uses that one.
    pub(crate) fn replace_resolver<R: Resolver>(
        &self,
        value: impl Fn() -> R::Output + Send + Sync + 'static,
    ) -> Option<Arc<Self>> {
        self.find_resolver(|instance| instance.type_id() == TypeId::of::<R>())?;
        Some(self.with_dependencies(|dependencies| dependencies.doubles_mut().insert_for(TypeId::of::<R>(), value)))
    }

    /// The same server with a stand-in for this resolver, which returns a `T`.
    pub(crate) fn replace_instance<T: 'static>(
        &self,
        instance: &Instance,
        value: impl Fn() -> T + Send + Sync + 'static,
    ) -> Arc<Self> {
        self.with_dependencies(|dependencies| dependencies.doubles_mut().insert_for(instance.type_id(), value))
    }

    /// A resolver that an item uses.
    pub(crate) fn find_resolver(&self, is: impl Fn(&Instance) -> bool) -> Option<&'static Instance> {
        self.registry.load().items().flat_map(|item| below(&item.function().edges)).find(|instance| is(instance))
    }

    fn with_dependencies(&self, change: impl FnOnce(&mut Dependencies)) -> Arc<Self> {
        let mut dependencies = Dependencies::clone(&self.dependencies);
        change(&mut dependencies);
        Self::new(
            self.info.clone(),
            self.instructions.clone(),
            self.capabilities.clone(),
            self.options.clone(),
            Arc::clone(&self.seal),
            self.registry.load_full(),
            dependencies,
        )
    }
}

/// How many calls run, and when the last one has ended.
#[derive(Debug, Clone)]
pub(crate) struct Calls(TaskTracker);

/// One running call; it ends when this is dropped.
pub(crate) type RunningCall = TaskTrackerToken;

impl Default for Calls {
    fn default() -> Self {
        let tracker = TaskTracker::new();
        // Closed means that waiting may end; more may begin all the same.
        tracker.close();
        Self(tracker)
    }
}

impl Calls {
    pub(crate) fn begin(&self) -> RunningCall {
        self.0.token()
    }

    /// Begins one more, unless that many are running.
    pub(crate) fn begin_below(&self, most: usize) -> Option<RunningCall> {
        let begun = self.begin();
        (self.0.len() <= most).then_some(begun)
    }

    /// Waits until no call is running.
    pub(crate) async fn idle(&self) {
        self.0.wait().await;
    }
}
