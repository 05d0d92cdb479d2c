use std::sync::{Arc, OnceLock, Weak};

use rejoinder_core::{
    call::Call,
    error::ToolError,
    inject::FromCall,
    item::{Prompt, Resource, Tool},
};

use super::{engine::Engine, hub::Change, registry::Registry};

/// Changes what a running server offers.
///
/// Take it as a parameter, or from [`BuiltServer::handle`](super::BuiltServer::handle). Clients that listen are told.
///
/// ```
/// use rejoinder::prelude::*;
///
/// /// Unlocks the second level.
/// #[tool]
/// async fn unlock(server: ServerHandle) -> Result<&'static str, ToolError> {
///     server.add_tools(tools![second_level])?;
///     Ok("look at the list of tools again")
/// }
///
/// #[tool]
/// async fn second_level() -> &'static str { "well done" }
/// ```
#[derive(Debug, Clone)]
pub struct ServerHandle(Arc<Cell>);

/// Filled when the server is built. Weak: a tool that keeps its handle must not keep the server alive.
#[derive(Debug, Default)]
pub(super) struct Cell(OnceLock<Weak<Engine>>);

/// What was to be added is of a kind that the server did not offer when it was built, so no client looks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this server declared no {0}; call `Server::{0}([])` before it is built, and {0} can be added later")]
pub struct NotOffered(&'static str);

impl ServerHandle {
    pub(super) fn new(cell: Arc<Cell>) -> Self {
        Self(cell)
    }

    /// Adds tools, or replaces those of the same name.
    ///
    /// # Errors
    ///
    /// If the server was built without tools.
    pub fn add_tools(&self, tools: impl IntoIterator<Item = Tool>) -> Result<(), NotOffered> {
        let tools: Vec<_> = tools.into_iter().collect();
        self.edit(
            "tools",
            &Change::Tools,
            |engine| engine.capabilities.tools.is_some(),
            |registry, mistakes| {
                tools.iter().for_each(|tool| registry.add_tool(tool.clone(), mistakes));
            },
        )
    }

    /// Removes a tool; one that is not there is no error.
    pub fn remove_tool(&self, name: &str) {
        self.remove(&Change::Tools, |registry| registry.tools.remove(name));
    }

    /// Adds prompts, or replaces those of the same name.
    ///
    /// # Errors
    ///
    /// If the server was built without prompts.
    pub fn add_prompts(&self, prompts: impl IntoIterator<Item = Prompt>) -> Result<(), NotOffered> {
        let prompts: Vec<_> = prompts.into_iter().collect();
        self.edit(
            "prompts",
            &Change::Prompts,
            |engine| engine.capabilities.prompts.is_some(),
            |registry, _| {
                prompts.iter().for_each(|prompt| registry.add_prompt(prompt.clone()));
            },
        )
    }

    /// Removes a prompt; one that is not there is no error.
    pub fn remove_prompt(&self, name: &str) {
        self.remove(&Change::Prompts, |registry| registry.prompts.remove(name));
    }

    /// Adds resources and templates, or replaces those at the same URI.
    ///
    /// # Errors
    ///
    /// If the server was built without resources.
    pub fn add_resources(&self, resources: impl IntoIterator<Item = Resource>) -> Result<(), NotOffered> {
        let resources: Vec<_> = resources.into_iter().collect();
        let offered = |engine: &Engine| engine.capabilities.resources.is_some();
        self.edit("resources", &Change::Resources, offered, |registry, mistakes| {
            resources.iter().for_each(|resource| registry.add_resource(resource.clone(), mistakes));
        })
    }

    /// Removes the resource or template at that URI; one that is not there is no error.
    pub fn remove_resource(&self, uri: &str) {
        self.remove(&Change::Resources, |registry| registry.resources.remove(uri));
    }

    /// Tells whoever subscribed to the resource that it has other contents now.
    pub fn resource_updated(&self, uri: impl Into<String>) {
        if let Some(engine) = self.engine() {
            engine.hub.tell(&Change::Updated(uri.into()));
        }
    }

    /// Ends every subscription, now and from now on, with a last word to its client.
    ///
    /// Serving over HTTP or stdio does it when the process is told to stop. Where the server is mounted in an
    /// application of yours, call it when that stops: open subscriptions would keep it waiting.
    pub fn end_subscriptions(&self) {
        if let Some(engine) = self.engine() {
            engine.hub.close();
        }
    }

    fn engine(&self) -> Option<Arc<Engine>> {
        self.0.engine()
    }

    fn edit(
        &self,
        kind: &'static str,
        change: &Change,
        offered: impl Fn(&Engine) -> bool,
        edit: impl Fn(&mut Registry, &mut Vec<String>),
    ) -> Result<(), NotOffered> {
        let Some(engine) = self.engine() else { return Ok(()) };
        if !offered(&engine) {
            return Err(NotOffered(kind));
        }
        engine.change(change, |registry| {
            let mut mistakes = Vec::new();
            edit(registry, &mut mistakes);
            mistakes.iter().for_each(|mistake| tracing::error!(kind, "not as it should be: {mistake}"));
        });
        Ok(())
    }

    fn remove(&self, change: &Change, remove: impl Fn(&mut Registry) -> bool) {
        if let Some(engine) = self.engine() {
            engine.change(change, |registry| {
                remove(registry);
            });
        }
    }
}

impl Cell {
    /// The server, unless it is gone.
    pub(super) fn engine(&self) -> Option<Arc<Engine>> {
        self.0.get()?.upgrade()
    }

    pub(super) fn fill(&self, engine: &Arc<Engine>) {
        // A server is built once, so the cell is empty.
        let _ = self.0.set(Arc::downgrade(engine));
    }
}

impl FromCall for ServerHandle {
    fn from_call(call: &Call, _: &'static str) -> Result<Self, ToolError> {
        let cell = call.dependency::<Cell>();
        cell.map(Self).ok_or_else(|| ToolError::hidden("a call without a server has no handle to it"))
    }
}
