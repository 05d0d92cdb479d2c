use std::{any::TypeId, sync::Arc};

use crate::{
    call::Dependencies,
    graph::{Instance, Resolver, find_below},
    model::{Implementation, ServerCapabilities},
};
use arc_swap::ArcSwap;
use serde_json::value::RawValue;

use super::{
    Options, Page, PromptEntry, ResourceEntry, ToolEntry,
    calls::Calls,
    door::Refusal,
    handle::Cell,
    hub::{Change, Hub},
    registry::{Candidate, List, Registry},
    similar::similar,
};
use crate::rounds::seal::Seal;

/// A built server: what all its transports share.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) info: Implementation,
    /// [`Engine::info`] as JSON, for the `_meta` of every result.
    pub(crate) info_json: Box<RawValue>,
    pub(crate) instructions: Option<String>,
    pub(crate) capabilities: ServerCapabilities,
    pub(crate) options: Options,
    pub(crate) hub: Hub,
    /// The calls that run.
    pub(crate) calls: Calls,
    /// The replies of calls in sessions that wait for their client to come back.
    pub(crate) untaken: Calls,
    /// What cancelled calls have deferred and nobody waits for.
    pub(crate) teardown: Calls,
    /// What makes a `requestState` and reads it again.
    pub(crate) seal: Arc<Seal>,
    pub(super) registry: ArcSwap<Registry>,
    pub(super) dependencies: Arc<Dependencies>,
}

impl Engine {
    pub(crate) fn tool(&self, name: &str) -> Option<Arc<ToolEntry>> {
        self.registry.load().tools.get(name).cloned()
    }

    pub(crate) fn prompt(&self, name: &str) -> Option<Arc<PromptEntry>> {
        self.registry.load().prompts.get(name).cloned()
    }

    /// The tool that was probably meant by a name that no tool has.
    pub(crate) fn similar_tool(&self, name: &str) -> Option<String> {
        similar(name, self.registry.load().tools.iter().map(|(name, _)| name)).map(str::to_owned)
    }

    /// The prompt that was probably meant by a name that no prompt has.
    pub(crate) fn similar_prompt(&self, name: &str) -> Option<String> {
        similar(name, self.registry.load().prompts.iter().map(|(name, _)| name)).map(str::to_owned)
    }

    /// The resources whose URI or template matches.
    pub(super) fn resource_candidates(&self, uri: &str) -> Vec<Candidate> {
        self.registry.load().candidates(uri)
    }

    /// The resource or template that was added under exactly that URI.
    pub(super) fn resource_named(&self, uri: &str) -> Option<Arc<ResourceEntry>> {
        self.registry.load().resources.get(uri).cloned()
    }

    /// A page of a list.
    pub(super) fn page(&self, list: List, cursor: Option<&str>) -> Result<Page, Refusal> {
        self.registry.load().page(list, cursor, self.options.page_size).ok_or(Refusal::UnknownCursor)
    }

    /// The same server with another service in the place of one that was provided; `None` if none of its type was.
    pub(crate) fn replace<T: ?Sized + Send + Sync + 'static>(&self, service: Arc<T>) -> Option<Arc<Self>> {
        let is_provided = self.dependencies.contains(TypeId::of::<T>());
        is_provided.then(|| self.changed(|dependencies| dependencies.insert(service)))
    }

    /// The same server with a stand-in for a resolver; `None` if nothing that it offers uses that one.
    pub(crate) fn replace_resolver<R: Resolver>(
        &self,
        value: impl Fn() -> R::Output + Send + Sync + 'static,
    ) -> Option<Arc<Self>> {
        self.find_resolver(|instance| (instance.type_id)() == TypeId::of::<R>())?;
        Some(self.changed(|dependencies| dependencies.doubles_mut().insert::<R>(value)))
    }

    /// The same server with a stand-in for this resolver, which makes what it does.
    pub(crate) fn replace_instance<T: 'static>(
        &self,
        instance: &Instance,
        value: impl Fn() -> T + Send + Sync + 'static,
    ) -> Arc<Self> {
        self.changed(|dependencies| dependencies.doubles_mut().insert_for((instance.type_id)(), value))
    }

    /// A resolver of what is offered.
    pub(crate) fn find_resolver(&self, is: impl Fn(&Instance) -> bool) -> Option<&'static Instance> {
        self.registry.load().edges().find_map(|edges| find_below(edges, &is))
    }

    /// The same server with other dependencies.
    fn changed(&self, change: impl FnOnce(&mut Dependencies)) -> Arc<Self> {
        let mut dependencies = Dependencies::clone(&self.dependencies);
        change(&mut dependencies);
        let cell = Arc::new(Cell::default());
        dependencies.insert(Arc::clone(&cell));
        let engine = Arc::new(Self {
            info: self.info.clone(),
            info_json: self.info_json.clone(),
            instructions: self.instructions.clone(),
            capabilities: self.capabilities.clone(),
            options: self.options.clone(),
            seal: Arc::clone(&self.seal),
            hub: Hub::default(),
            calls: Calls::default(),
            untaken: Calls::default(),
            teardown: Calls::default(),
            registry: ArcSwap::new(self.registry.load_full()),
            dependencies: Arc::new(dependencies),
        });
        cell.fill(&engine);
        engine
    }

    /// Replaces what is offered and tells everybody who wants to know, unless `edit` says that nothing has changed.
    pub(super) fn change(&self, change: &Change, mut edit: impl FnMut(&mut Registry) -> bool) {
        let mut is_other = false;
        self.registry.rcu(|registry| {
            let mut changed = Registry::clone(registry);
            is_other = edit(&mut changed);
            if !is_other {
                return Arc::clone(registry);
            }
            changed.render(self.options.page_size);
            Arc::new(changed)
        });
        if is_other {
            self.hub.tell(change);
        }
    }
}
