use std::sync::{Arc, Weak};

use super::{
    TargetKind,
    engine::Engine,
    registry::AnyItem,
    subscriptions::Change,
    tool_filter::admits,
    wiring::{BuildError, WiringCheck, hidden},
};
use crate::{
    auth::Principal,
    call::Call,
    error::CallError,
    inject::FromCall,
    item::{Prompt, Resource, Tool},
    request::RequestInfo,
};

/// Changes what a running server offers.
///
/// Take it as a parameter, or from [`BuiltServer::handle`](super::BuiltServer::handle). Clients that listen for changes
/// are notified.
///
/// ```
/// use rejoinder::prelude::*;
///
/// /// Unlocks the second level.
/// #[tool]
/// async fn unlock(server: ServerHandle) -> Result<&'static str, CallError> {
///     server.add_tools(tools![second_level])?;
///     Ok("list the tools again")
/// }
///
/// #[tool]
/// async fn second_level() -> &'static str { "well done" }
/// ```
// Weak: a tool that keeps its handle must not keep the server alive.
#[derive(Debug, Clone)]
pub struct ServerHandle(pub(super) Weak<Engine>);

/// Why nothing was added to a running server: all problems, as [`Server::check`](super::Server::check) reports them.
///
/// ```
/// use rejoinder::prelude::*;
///
/// struct Database;
///
/// #[tool]
/// async fn count(database: Dep<Database>) -> u64 { 0 }
///
/// # fn main() -> rejoinder::Result<()> {
/// let server = Server::new("shop", "1.0.0").tools([]).build()?;
/// let error = server.handle().add_tools(tools![count]).unwrap_err();
/// assert!(error.to_string().contains("parameter `database` needs a"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("nothing was added:{}", .0.list())]
pub struct AddError(#[from] pub BuildError);

impl ServerHandle {
    /// Adds tools, or replaces those of the same name.
    ///
    /// # Errors
    ///
    /// If the server was built without tools, or one of these has a problem; then none is added.
    pub fn add_tools(&self, tools: impl IntoIterator<Item = Tool>) -> Result<(), AddError> {
        self.add(TargetKind::Tool, tools.into_iter().map(AnyItem::Tool))
    }

    /// Removes a tool, if there is one of that name.
    pub fn remove_tool(&self, name: &str) {
        self.remove(TargetKind::Tool, name);
    }

    /// Adds prompts, or replaces those of the same name.
    ///
    /// # Errors
    ///
    /// If the server was built without prompts, or one of these has a problem; then none is added.
    pub fn add_prompts(&self, prompts: impl IntoIterator<Item = Prompt>) -> Result<(), AddError> {
        self.add(TargetKind::Prompt, prompts.into_iter().map(AnyItem::Prompt))
    }

    /// Removes a prompt, if there is one of that name.
    pub fn remove_prompt(&self, name: &str) {
        self.remove(TargetKind::Prompt, name);
    }

    /// Adds resources and templates, or replaces those of the same URI.
    ///
    /// # Errors
    ///
    /// If the server was built without resources, or one of these has a problem; then none is added.
    pub fn add_resources(&self, resources: impl IntoIterator<Item = Resource>) -> Result<(), AddError> {
        self.add(TargetKind::Resource, resources.into_iter().map(AnyItem::Resource))
    }

    /// Removes the resource or template of that URI, if there is one.
    pub fn remove_resource(&self, uri: &str) {
        self.remove(TargetKind::Resource, uri);
    }

    /// Notifies the subscribers of a resource that its contents have changed.
    pub fn resource_updated(&self, uri: impl Into<String>) {
        if let Some(engine) = self.engine() {
            engine.offer.hub.notify(&Change::Updated(uri.into()));
        }
    }

    /// Notifies clients that their lists may have changed, because the result of a gate has changed: for example, a
    /// user has logged in or changed plans.
    ///
    /// Gates run for every list and every call, so no other call is necessary. Only lists with gates are announced.
    ///
    /// ```
    /// use rejoinder::prelude::*;
    ///
    /// #[tool]
    /// async fn upgrade(server: ServerHandle) -> &'static str {
    ///     // .. store the new plan, and then:
    ///     server.gates_changed();
    ///     "you have more tools now"
    /// }
    /// ```
    pub fn gates_changed(&self) {
        self.announce(|_| true);
    }

    /// [`gates_changed`](Self::gates_changed) for one caller, by issuer and subject: only the clients of this caller are
    /// notified.
    pub fn gates_changed_for(&self, caller: &Principal) {
        self.announce(|listening| listening.principal.as_ref() == Some(caller));
    }

    /// [`gates_changed`](Self::gates_changed) for one session, by [its id](crate::Context::session_id): only its client is
    /// notified. For a gate that reads a [`SessionState`](crate::SessionState).
    ///
    /// ```
    /// use rejoinder::prelude::*;
    ///
    /// #[derive(Default)]
    /// struct Login(bool);
    ///
    /// #[tool]
    /// async fn log_in(login: SessionState<Login>, ctx: Context, server: ServerHandle) -> &'static str {
    ///     login.set(Login(true));
    ///     server.gates_changed_for_session(ctx.session_id().unwrap_or_default());
    ///     "you have more tools now"
    /// }
    /// ```
    pub fn gates_changed_for_session(&self, session_id: &str) {
        self.announce(|listening| listening.session_id.as_deref() == Some(session_id));
    }

    fn announce(&self, is_meant: impl Fn(&RequestInfo) -> bool) {
        let Some(engine) = self.engine() else { return };
        let registry = engine.registry();
        for kind in TargetKind::ALL {
            if !registry.gates(kind).is_empty() {
                engine.offer.hub.notify_some(&Change::List(kind), &is_meant);
            }
        }
    }

    /// A provided service; for functions of the [start](crate::Server::on_start) and the stop. Functions of a call take a
    /// `Dep<T>`.
    pub fn dependency<T: ?Sized + Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.engine()?.dependencies().get::<T>()
    }

    /// Ends every subscription, also those that begin later, and reports it to their clients.
    ///
    /// A server that is served over HTTP or stdio does this when it shuts down. If you mount the server in an
    /// application, call it when the application shuts down: open subscriptions would keep it waiting.
    pub fn end_subscriptions(&self) {
        if let Some(engine) = self.engine() {
            engine.offer.hub.close();
        }
    }

    /// The server, unless it is gone.
    pub(super) fn engine(&self) -> Option<Arc<Engine>> {
        self.0.upgrade()
    }

    /// Checks the new items by themselves and then beside those that are there; adds all of them or none.
    fn add(&self, kind: TargetKind, items: impl Iterator<Item = AnyItem>) -> Result<(), AddError> {
        let Some(engine) = self.engine() else { return Ok(()) };
        let mut check = WiringCheck::new(&engine.offer.dependencies, &engine.settings.options);
        if !engine.declares(kind) {
            let plural = kind.plural();
            let mistake = format!("the server was built without them; call `Server::{plural}([])` before `build()`");
            check.report(plural, mistake);
        }
        items.filter(|item| admits(&engine.settings.options.tool_filters, item)).for_each(|item| check.add(item));
        let (added, _) = check.finish()?;
        let mut problems = Vec::new();
        engine.change(kind, |registry| {
            let is_changed = registry.extend(&added);
            problems = hidden(registry);
            is_changed && problems.is_empty()
        });
        if problems.is_empty() { Ok(()) } else { Err(BuildError(problems).into()) }
    }

    fn remove(&self, kind: TargetKind, name: &str) {
        if let Some(engine) = self.engine() {
            engine.change(kind, |registry| registry.remove(kind, name));
        }
    }
}

impl FromCall for ServerHandle {
    const IS_OURS: bool = true;

    async fn from_call(call: &Call, _: &'static str) -> Result<Self, CallError> {
        let handle = call.dependency::<Self>().map(|handle| Self::clone(&handle));
        handle.ok_or_else(|| CallError::internal("a call without a server has no `ServerHandle`"))
    }
}
