use std::{
    fmt,
    sync::{Arc, OnceLock, Weak},
};

use crate::{
    call::Call,
    error::CallError,
    inject::FromCall,
    item::{Prompt, Resource, Tool},
};

use super::{
    engine::Engine,
    hub::Change,
    registry::Registry,
    wiring::{BuildError, Check, hidden},
};

/// Changes what a running server offers.
///
/// Take it as a parameter, or from [`BuiltServer::handle`](super::BuiltServer::handle). Clients that listen are told.
///
/// ```
/// use rejoinder::prelude::*;
///
/// /// Unlocks the second level.
/// #[tool]
/// async fn unlock(server: ServerHandle) -> Result<&'static str, CallError> {
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

/// Why something was not added to a running server.
///
/// ```
/// use rejoinder::{AddError, prelude::*};
///
/// struct Database;
///
/// #[tool]
/// async fn count(database: Dep<Database>) -> u64 { 0 }
///
/// # fn main() -> rejoinder::Result<()> {
/// let server = Server::new("shop", "1.0.0").tools([]).build()?;
/// let error = server.handle().add_tools(tools![count]).unwrap_err();
/// assert!(matches!(error, AddError::Wiring(_)));
/// assert!(error.to_string().contains("parameter `database` needs a"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddError {
    /// The server did not offer anything of that kind when it was built.
    #[error(transparent)]
    NotOffered(#[from] NotOffered),
    /// There are mistakes in what was to be added: all of them, in the words of [`Server::check`](super::Server::check).
    #[error("nothing was added:{}", Listed(.0))]
    Wiring(#[from] BuildError),
}

struct Listed<'a>(&'a BuildError);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.list(f)
    }
}

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
    /// If the server was built without tools, or is wired wrong for one of these; then none is added.
    pub fn add_tools(&self, tools: impl IntoIterator<Item = Tool>) -> Result<(), AddError> {
        let offered = |engine: &Engine| engine.capabilities.tools.is_some();
        self.add("tools", &Change::Tools, offered, |check| tools.into_iter().for_each(|tool| check.tool(tool)))
    }

    /// Removes a tool; one that is not there is no error.
    pub fn remove_tool(&self, name: &str) {
        self.remove(&Change::Tools, |registry| registry.tools.remove(name));
    }

    /// Adds prompts, or replaces those of the same name.
    ///
    /// # Errors
    ///
    /// If the server was built without prompts, or is wired wrong for one of these; then none is added.
    pub fn add_prompts(&self, prompts: impl IntoIterator<Item = Prompt>) -> Result<(), AddError> {
        let offered = |engine: &Engine| engine.capabilities.prompts.is_some();
        self.add("prompts", &Change::Prompts, offered, |check| {
            prompts.into_iter().for_each(|prompt| check.prompt(prompt));
        })
    }

    /// Removes a prompt; one that is not there is no error.
    pub fn remove_prompt(&self, name: &str) {
        self.remove(&Change::Prompts, |registry| registry.prompts.remove(name));
    }

    /// Adds resources and templates, or replaces those at the same URI.
    ///
    /// # Errors
    ///
    /// If the server was built without resources, or is wired wrong for one of these; then none is added.
    pub fn add_resources(&self, resources: impl IntoIterator<Item = Resource>) -> Result<(), AddError> {
        let offered = |engine: &Engine| engine.capabilities.resources.is_some();
        self.add("resources", &Change::Resources, offered, |check| {
            resources.into_iter().for_each(|resource| check.resource(resource));
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

    /// Checks what is to be added by itself, and then beside what is there; only all of it together goes onto the server's
    /// own shelves.
    fn add(
        &self,
        kind: &'static str,
        change: &Change,
        offered: impl Fn(&Engine) -> bool,
        add: impl FnOnce(&mut Check<'_>),
    ) -> Result<(), AddError> {
        let Some(engine) = self.engine() else { return Ok(()) };
        if !offered(&engine) {
            return Err(NotOffered(kind).into());
        }
        let mut check = Check::new(&engine.dependencies, &engine.options);
        add(&mut check);
        let added = check.finish()?;
        let mut mistakes = Vec::new();
        engine.change(change, |registry| {
            let is_other = registry.extend(&added);
            mistakes = added.resources.iter().filter_map(|(uri, _)| hidden(registry, uri)).collect();
            is_other && mistakes.is_empty()
        });
        if mistakes.is_empty() { Ok(()) } else { Err(BuildError(mistakes).into()) }
    }

    fn remove(&self, change: &Change, remove: impl Fn(&mut Registry) -> bool) {
        if let Some(engine) = self.engine() {
            engine.change(change, remove);
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
    fn from_call(call: &Call, _: &'static str) -> Result<Self, CallError> {
        let cell = call.dependency::<Cell>();
        cell.map(Self).ok_or_else(|| CallError::internal("a call without a server has no handle to it"))
    }
}
