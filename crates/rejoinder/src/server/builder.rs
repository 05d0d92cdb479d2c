use std::{sync::Arc, time::Duration};

use rejoinder_core::{
    call::Dependencies,
    item::{Prompt, Resource, Tool},
    model::Implementation,
};

use super::{
    CacheHints, Limits, ServerHandle, WiringErrors, build::build, engine::Engine, handle::Cell, state::Principal,
};
use crate::rounds::seal::StateOptions;

/// An MCP server, while it is put together.
///
/// ```
/// use rejoinder::prelude::*;
///
/// /// Add two numbers.
/// #[tool]
/// async fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let server = Server::new("calculator", "1.0.0").tools(tools![add]);
/// assert!(server.check().is_ok());
/// ```
#[must_use = "a server does nothing until it is served"]
#[derive(Debug)]
pub struct Server {
    pub(crate) info: Implementation,
    pub(super) instructions: Option<String>,
    pub(super) dependencies: Dependencies,
    pub(super) tools: Option<Vec<Tool>>,
    pub(super) prompts: Option<Vec<Prompt>>,
    pub(super) resources: Option<Vec<Resource>>,
    pub(super) options: Options,
}

/// What can be set.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    pub(crate) page_size: usize,
    pub(crate) list_hints: CacheHints,
    pub(crate) contents_hints: CacheHints,
    pub(crate) sessions: bool,
    pub(crate) body_limit: usize,
    pub(crate) body_timeout: Duration,
    pub(crate) header_timeout: Duration,
    pub(crate) grace: Duration,
    pub(crate) allowed_hosts: Vec<String>,
    pub(crate) allowed_origins: Vec<String>,
    pub(crate) any_host: bool,
    pub(crate) strict_arguments: bool,
    pub(crate) state: StateOptions,
    pub(crate) principal: Principal,
    pub(crate) limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            page_size: 1000,
            list_hints: CacheHints::LISTS,
            contents_hints: CacheHints::CONTENTS,
            sessions: true,
            body_limit: 4 * 1024 * 1024,
            body_timeout: Duration::from_secs(30),
            header_timeout: Duration::from_secs(60),
            grace: Duration::from_secs(10),
            allowed_hosts: ["localhost", "127.0.0.1", "::1"].map(String::from).to_vec(),
            allowed_origins: Vec::new(),
            any_host: false,
            strict_arguments: false,
            state: StateOptions::default(),
            principal: Principal::default(),
            limits: Limits::default(),
        }
    }
}

impl Server {
    /// A server of that name and version, which offers nothing yet.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            info: Implementation::new(name, version),
            instructions: None,
            dependencies: Dependencies::default(),
            tools: None,
            prompts: None,
            resources: None,
            options: Options::default(),
        }
    }

    /// The name that people read.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.info.title = Some(title.into());
        self
    }

    /// One sentence about the server.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.info.description = Some(description.into());
        self
    }

    /// How a model should use the server.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Provides a service to every `Dep<T>` parameter.
    pub fn provide<T: Send + Sync + 'static>(self, service: T) -> Self {
        self.provide_shared(Arc::new(service))
    }

    /// [`Server::provide`] for a service that others hold too.
    pub fn provide_shared<T: Send + Sync + 'static>(mut self, service: Arc<T>) -> Self {
        self.dependencies.insert(service);
        self
    }

    /// Offers tools. With an empty list it declares that there may be some later.
    pub fn tools(mut self, tools: impl IntoIterator<Item = Tool>) -> Self {
        self.tools.get_or_insert_default().extend(tools);
        self
    }

    /// Offers prompts. With an empty list it declares that there may be some later.
    pub fn prompts(mut self, prompts: impl IntoIterator<Item = Prompt>) -> Self {
        self.prompts.get_or_insert_default().extend(prompts);
        self
    }

    /// Offers resources and templates. With an empty list it declares that there may be some later.
    pub fn resources(mut self, resources: impl IntoIterator<Item = Resource>) -> Self {
        self.resources.get_or_insert_default().extend(resources);
        self
    }

    /// How many items a page of a list has; 1,000 unless set.
    pub fn page_size(mut self, items: usize) -> Self {
        self.options.page_size = items.max(1);
        self
    }

    /// For how long lists may be kept, and by whom; [`CacheHints::LISTS`] unless set.
    pub fn cache_lists(mut self, hints: CacheHints) -> Self {
        self.options.list_hints = hints;
        self
    }

    /// For how long a resource's contents may be kept, and by whom; [`CacheHints::CONTENTS`] unless set.
    /// A resource's own attributes win.
    pub fn cache_contents(mut self, hints: CacheHints) -> Self {
        self.options.contents_hints = hints;
        self
    }

    /// Serves clients of 2026-07-28 and later only: no `initialize`, no sessions.
    pub fn modern_only(mut self) -> Self {
        self.options.sessions = false;
        self
    }

    /// The largest request body or line, in bytes; 4 MiB unless set.
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.options.body_limit = bytes;
        self
    }

    /// How long a request's body may take to arrive; 30 seconds unless set.
    pub fn body_timeout(mut self, timeout: Duration) -> Self {
        self.options.body_timeout = timeout;
        self
    }

    /// How long a connection may take to send the head of its next request; 60 seconds unless set.
    ///
    /// A connection that sends none is closed: otherwise enough of them would keep everybody else out. It counts for
    /// the HTTP that the server serves itself, not for a [mounted](crate::McpService) one.
    pub fn header_timeout(mut self, timeout: Duration) -> Self {
        self.options.header_timeout = timeout;
        self
    }

    /// How long calls in flight may go on once the server is told to stop; 10 seconds unless set.
    pub fn grace_period(mut self, grace: Duration) -> Self {
        self.options.grace = grace;
        self
    }

    /// Accepts requests for this host name too; `localhost` and the loopback addresses always are.
    ///
    /// A page in a browser can make a name of its own point at your machine: the check is what stops it.
    pub fn allow_host(mut self, host: impl Into<String>) -> Self {
        self.options.allowed_hosts.push(host.into());
        self
    }

    /// Accepts requests for any host name: for a server behind a proxy that checks it.
    pub fn allow_any_host(mut self) -> Self {
        self.options.any_host = true;
        self
    }

    /// Accepts requests from pages of this origin, such as `https://app.example.com`, and lets browsers know (CORS).
    ///
    /// Pages on a loopback address and requests without an origin (not from a browser) are always accepted. No page
    /// brings its user's cookies along.
    pub fn allow_origin(mut self, origin: impl Into<String>) -> Self {
        self.options.allowed_origins.push(origin.into());
        self
    }

    /// Answers bad argument values with the JSON-RPC error -32602 instead of a result that the model reads.
    pub fn argument_errors_as_protocol_errors(mut self) -> Self {
        self.options.strict_arguments = true;
        self
    }

    /// Checks how the server is put together: one line of test for every wiring mistake.
    ///
    /// # Errors
    ///
    /// Every mistake there is.
    ///
    /// ```
    /// use rejoinder::prelude::*;
    ///
    /// struct Database;
    ///
    /// #[tool]
    /// async fn count(database: Dep<Database>) -> u64 { 0 }
    ///
    /// let mistakes = Server::new("shop", "1.0.0").tools(tools![count]).check().unwrap_err();
    /// assert!(mistakes.to_string().contains("parameter `database` needs a"));
    /// ```
    pub fn check(self) -> Result<(), WiringErrors> {
        build(self).map(|_| ())
    }

    /// Puts the server together.
    ///
    /// # Errors
    ///
    /// Every mistake there is.
    pub fn build(self) -> Result<BuiltServer, WiringErrors> {
        build(self).map(BuiltServer)
    }
}

/// A server whose wiring was found right, ready to be served or mounted.
#[derive(Debug, Clone)]
pub struct BuiltServer(pub(crate) Arc<Engine>);

impl TryFrom<Server> for BuiltServer {
    type Error = WiringErrors;

    fn try_from(server: Server) -> Result<Self, WiringErrors> {
        server.build()
    }
}

impl BuiltServer {
    /// A handle that changes what the server offers while it runs.
    pub fn handle(&self) -> ServerHandle {
        let cell = self.0.dependencies.get::<Cell>().expect("building the server put it there");
        ServerHandle::new(cell)
    }
}
