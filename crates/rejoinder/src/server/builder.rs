use std::{
    sync::{Arc, RwLock},
    time::Duration,
};

use futures_util::future::BoxFuture;
use serde_json::{json, value::to_raw_value};
use tokio_util::sync::CancellationToken;

use super::{
    BuildError, BuildProblem, CacheHints, Limits, ServerHandle, TargetKind,
    engine::{Activity, Engine, Offer, Settings, tracker},
    http,
    lifecycle::{Lifecycle, boxed, step},
    middleware::{Next, OperationFuture, OperationRequest, OperationResult},
    options::{Callback, ServerOptions},
    registry::AnyItem,
    subscriptions::Hub,
    tasks::ServerTasks,
    tool_filter::{FilterRule, ToolFilter, admits},
    wiring::WiringCheck,
};
use crate::{
    argument::UnknownArguments,
    auth::Principal,
    call::{Dependencies, RecordRules, ServerBackground, WorkFuture, WorkOutput},
    error::{BoxError, CallError},
    inject::SharedService,
    item::{Prompt, Resource, Tool},
    model::{Implementation, ServerCapabilities, Task},
    request::RequestInfo,
    rounds::{
        RECORD_BYTES,
        seal::{Seal, StatePolicy},
    },
    tasks::Tasks,
};

instead!(
    GatesOfServer for Server,
    "a gate is of items: `#[tool(enabled = gate)]`, or `.tools(tools![name].enabled::<gate>())`",
    "not a method of `Server`": enabled
);

instead!(
    LayersOfServer for Server,
    "a `Server` takes functions around its operations, `.middleware(..)`; tower layers are for `.build()?.into_service()`",
    "not a method of `Server`": layer route with_state
);

instead!(
    HandleOfServer for Server,
    "a server that is built has a handle, `.build()?.handle()`, and a function takes one as a parameter, `server: ServerHandle`",
    "not a method of `Server`": handle add_tools gates_changed
);

/// A function that the server calls when it starts or stops.
#[diagnostic::on_unimplemented(
    message = "this must be a function of the `ServerHandle`, not a future: write `async |_| Pool::connect(url).await`",
    label = "not a function that takes a `ServerHandle`"
)]
pub trait StartFn<F>: FnOnce(ServerHandle) -> F {}

#[diagnostic::do_not_recommend]
impl<F, C: FnOnce(ServerHandle) -> F> StartFn<F> for C {}

/// The future of a service.
#[diagnostic::on_unimplemented(
    message = "a service is made with a `Result`: write `async |_| Pool::connect(url).await`, or \
               `async |_| Ok::<_, CallError>(service)`",
    label = "not a future of a `Result` of a service",
    note = "its error is one that `?` could turn into a `CallError`"
)]
pub trait MakesService<T>: Future {
    /// The service, or why there is none.
    ///
    /// # Errors
    ///
    /// Its own.
    fn into_result(output: Self::Output) -> Result<T, CallError>;
}

#[diagnostic::do_not_recommend]
impl<T, E: Into<CallError>, F: Future<Output = Result<T, E>>> MakesService<T> for F {
    fn into_result(output: Result<T, E>) -> Result<T, CallError> {
        output.map_err(Into::into)
    }
}

/// A list of tools, prompts or resources.
#[diagnostic::on_unimplemented(
    message = "this is not a list of `{I}`s",
    label = "write `.tools(tools![name])`, `.prompts(prompts![name])` or `.resources(resources![name])`"
)]
pub trait ItemList<I> {
    /// Each of them.
    fn into_items(self) -> impl Iterator<Item = I>;
}

#[diagnostic::do_not_recommend]
impl<I, L: IntoIterator<Item = I>> ItemList<I> for L {
    fn into_items(self) -> impl Iterator<Item = I> {
        self.into_iter()
    }
}

/// Names, such as `["read", "write"]`.
#[diagnostic::on_unimplemented(
    message = "these are several names: write a list, `[\"name\"]`",
    label = "not a list of names"
)]
pub trait Names<N>: IntoIterator<Item = N> {}

#[diagnostic::do_not_recommend]
impl<N, L: IntoIterator<Item = N>> Names<N> for L {}

/// Describes an MCP server: what it offers, and its settings.
///
/// * Who it is: [`new`](Self::new), [`title`](Self::title), [`description`](Self::description),
///   [`instructions`](Self::instructions).
/// * What it offers: [`tools`](Self::tools), [`nest`](Self::nest), [`prompts`](Self::prompts),
///   [`resources`](Self::resources), of these a part: [`allow_tools`](Self::allow_tools),
///   [`deny_tools`](Self::deny_tools), [`only_tagged`](Self::only_tagged), [`only_read_only`](Self::only_read_only), and the services that these need: [`provide`](Self::provide),
///   [`provide_arc`](Self::provide_arc), [`provide_async`](Self::provide_async).
/// * When it starts and stops: [`on_start`](Self::on_start), [`on_stop`](Self::on_stop).
/// * What outlives a request: [`tasks`](Self::tasks).
/// * How it answers: [`strict_arguments`](Self::strict_arguments),
///   [`ignore_unknown_arguments`](Self::ignore_unknown_arguments), [`page_size`](Self::page_size),
///   [`cache_lists`](Self::cache_lists), [`cache_contents`](Self::cache_contents),
///   [`stateless_only`](Self::stateless_only).
/// * Who may call, and how much: [`principal`](Self::principal), [`stdio_principal`](Self::stdio_principal),
///   [`middleware`](Self::middleware), [`limits`](Self::limits), [`timeout`](Self::timeout),
///   [`grace_period`](Self::grace_period), [`http`](Self::http), [`state`](Self::state).
/// * In a test: [`check`](Self::check), [`graph`](Self::graph).
/// * To serve it: [`serve_from_args`](Self::serve_from_args), [`serve_http`](Self::serve_http),
///   [`serve_stdio`](Self::serve_stdio), or [`build`](Self::build) to mount it in an application.
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
    /// The items of each [`TargetKind`]; `None` if the server does not offer the kind.
    pub(super) items: [Option<Vec<AnyItem>>; 3],
    /// The settings that must be made once.
    made: Vec<&'static str>,
    /// The problems that its methods found.
    problems: Vec<BuildProblem>,
    pub(super) lifecycle: Lifecycle,
    tasks: Option<Tasks>,
    pub(crate) options: ServerOptions,
}

impl Server {
    /// A server with that name and version, which offers nothing yet.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            info: Implementation::new(name, version),
            instructions: None,
            dependencies: Dependencies::default(),
            items: Default::default(),
            made: Vec::new(),
            problems: Vec::new(),
            lifecycle: Lifecycle::default(),
            tasks: None,
            options: ServerOptions::default(),
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

    /// Provides a service to every `Dep<T>` parameter, in place of an earlier one of its type.
    ///
    /// A parameter for an optional service is an `Option<Dep<T>>`:
    ///
    /// ```
    /// use rejoinder::{prelude::*, testing::Client};
    /// use serde_json::json;
    ///
    /// struct Mailer;
    ///
    /// #[tool]
    /// async fn close(mailer: Option<Dep<Mailer>>) -> &'static str {
    ///     if mailer.is_some() { "closed, and everybody notified" } else { "closed" }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let server = || Server::new("tickets", "1.0.0").tools(tools![close]);
    /// assert_eq!(Client::new(server()).call_tool("close", json!({})).await?.text(), "closed");
    /// let client = Client::new(server().provide(Mailer));
    /// assert_eq!(client.call_tool("close", json!({})).await?.text(), "closed, and everybody notified");
    /// # Ok(())
    /// # }
    /// ```
    pub fn provide<T: SharedService>(self, service: T) -> Self {
        self.provide_arc(Arc::new(service))
    }

    /// [`Server::provide`] for a service that others hold too, or that is known by a trait.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use rejoinder::{prelude::*, testing::Client};
    /// use serde_json::json;
    ///
    /// trait Store: Send + Sync {
    ///     fn count(&self) -> usize;
    /// }
    ///
    /// struct Memory(Vec<String>);
    ///
    /// impl Store for Memory {
    ///     fn count(&self) -> usize { self.0.len() }
    /// }
    ///
    /// #[tool]
    /// async fn count(store: Dep<dyn Store>) -> usize { store.count() }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let store: Arc<dyn Store> = Arc::new(Memory(vec!["tea".into()]));
    /// let client = Client::new(Server::new("shop", "1.0.0").provide_arc(store).tools(tools![count]));
    /// assert_eq!(client.call_tool("count", json!({})).await?.text(), "1");
    /// # Ok(())
    /// # }
    /// ```
    pub fn provide_arc<T: ?Sized + SharedService>(mut self, service: Arc<T>) -> Self {
        self.dependencies.insert(service);
        self
    }

    /// [`Server::provide`] for a service that is made when the server starts, because making it needs `await`.
    ///
    /// [`check`](Self::check) and [`build`](Self::build) know the service and do not make it; see
    /// [`on_start`](Self::on_start) for when it is made. If that fails, the server does not start. Nothing is made in a test
    /// that replaces the service.
    ///
    /// ```
    /// use rejoinder::{prelude::*, testing::Client};
    /// use serde_json::json;
    ///
    /// struct Pool { connections: usize }
    ///
    /// impl Pool {
    ///     async fn connect(url: &str) -> Result<Self, std::io::Error> {
    ///         Ok(Self { connections: url.len() })
    ///     }
    /// }
    ///
    /// #[tool]
    /// async fn connections(pool: Dep<Pool>) -> usize { pool.connections }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let server = Server::new("shop", "1.0.0")
    ///     .provide_async(async |_| Pool::connect("db://").await)
    ///     .tools(tools![connections]);
    /// assert_eq!(Client::new(server).call_tool("connections", json!({})).await?.text(), "5");
    /// # Ok(())
    /// # }
    /// ```
    pub fn provide_async<T, F>(self, make: impl StartFn<F> + Send + 'static) -> Self
    where
        T: Send + Sync + 'static,
        F: MakesService<T> + Send + 'static,
    {
        self.provide_arc_async(move |server| {
            let made = make(server);
            async move { F::into_result(made.await).map(Arc::new) }
        })
    }

    /// [`Server::provide_async`] for a service that others hold too, or that is known by a trait.
    pub fn provide_arc_async<T, F>(mut self, make: impl StartFn<F> + Send + 'static) -> Self
    where
        T: ?Sized + Send + Sync + 'static,
        F: MakesService<Arc<T>> + Send + 'static,
    {
        let place = self.dependencies.insert_later::<T>();
        let provide = move |server| -> BoxFuture<'static, Result<(), BoxError>> {
            let made = make(server);
            Box::pin(async move { F::into_result(made.await).map(|service| drop(place.set(service))).map_err(boxed) })
        };
        let name = format!("providing `{}`", std::any::type_name::<T>());
        self.lifecycle.on_start(name, Dependencies::is_later::<T>, Box::new(provide));
        self
    }

    /// Runs a function once, before the server takes its first request; together with those of
    /// [`provide_async`](Self::provide_async), in the order of adding.
    ///
    /// `serve_from_args`, `serve_http` and `serve_stdio` wait for it, and return its error. A server that is mounted in an
    /// application, and a test client, start with the first request, or when you call
    /// [`BuiltServer::start`](crate::BuiltServer::start). [`ServerHandle::dependency`] has the services.
    ///
    /// ```
    /// use rejoinder::{prelude::*, testing::Client};
    ///
    /// async fn offer_reports(server: ServerHandle) -> Result<(), CallError> {
    ///     server.add_tools(tools![report])?;
    ///     Ok(())
    /// }
    ///
    /// #[tool]
    /// async fn report() {}
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("reports", "1.0.0").tools([]).on_start(offer_reports));
    /// assert_eq!(client.list_tools().await?.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_start<F, R>(mut self, run: impl StartFn<F> + Send + 'static) -> Self
    where
        F: WorkFuture<R> + Send + 'static,
        R: WorkOutput<Value = ()>,
    {
        self.lifecycle.on_start("`on_start`".to_owned(), |_| true, step(run));
        self
    }

    /// Runs a function once, when serving has ended: after calls, what they deferred, and background tasks. The one that was
    /// added last runs first.
    ///
    /// It runs also if serving failed, or if a function of the start did; then a service may be missing. It may take as
    /// long as the [grace period](Self::grace_period). Errors are logged. Where you mount the server in an application, and
    /// in a test, call [`BuiltServer::stop`](crate::BuiltServer::stop).
    ///
    /// ```
    /// use rejoinder::prelude::*;
    ///
    /// struct Pool;
    ///
    /// impl Pool {
    ///     async fn close(&self) {}
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> rejoinder::Result<()> {
    /// let server = Server::new("shop", "1.0.0").provide(Pool).on_stop(async |server| {
    ///     if let Some(pool) = server.dependency::<Pool>() {
    ///         pool.close().await;
    ///     }
    /// });
    /// let server = server.build()?;
    /// server.start().await?;
    /// server.stop().await;
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_stop<F, R>(mut self, run: impl StartFn<F> + Send + 'static) -> Self
    where
        F: WorkFuture<R> + Send + 'static,
        R: WorkOutput<Value = ()>,
    {
        self.lifecycle.on_stop(step(run));
        self
    }

    /// Offers tools. With an empty list it declares that there may be some later.
    pub fn tools(self, tools: impl ItemList<Tool>) -> Self {
        self.offer(TargetKind::Tool, tools.into_items().map(AnyItem::Tool))
    }

    fn offer(mut self, kind: TargetKind, items: impl Iterator<Item = AnyItem>) -> Self {
        self.items[kind as usize].get_or_insert_default().extend(items);
        self
    }

    /// Offers tools under a prefix: `buy` of `shop` becomes `shop_buy`.
    ///
    /// For tools that are written separately, or offered twice. The separator is `_`, because some clients refuse `.` and
    /// `/` in the name of a tool. An empty prefix is an error.
    ///
    /// ```
    /// use rejoinder::{prelude::*, testing::Client};
    /// use serde_json::json;
    ///
    /// mod shop {
    ///     use rejoinder::prelude::*;
    ///
    ///     #[tool]
    ///     async fn buy(item: String) -> String {
    ///         format!("one {item}")
    ///     }
    ///
    ///     pub fn tools() -> Vec<rejoinder::Tool> {
    ///         tools![buy]
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("town", "1.0.0").nest("shop", shop::tools()));
    /// assert_eq!(client.call_tool("shop_buy", json!({ "item": "tea" })).await?.text(), "one tea");
    /// # Ok(())
    /// # }
    /// ```
    pub fn nest(mut self, name: &str, tools: impl ItemList<Tool>) -> Self {
        if name.is_empty() {
            let message = "the name is empty: give it one, or use `.tools(..)`".to_owned();
            self.problems.push(BuildProblem { subject: "`nest`".to_owned(), message });
            // Other problems are reported under the names that the author wrote.
            return self.tools(tools);
        }
        let nested = tools.into_items().map(|tool| {
            let full_name = format!("{name}_{}", tool.name());
            tool.renamed(full_name)
        });
        self.tools(nested)
    }

    /// Offers only the tools with these names. For clients, all other tools do not exist. A second call keeps only the
    /// tools that both calls name.
    ///
    /// Use it for a deployment that needs only some of the tools. `serve_from_args` has the flag `--tools a,b` for the
    /// same purpose. An unknown name is an error. To hide a tool from some *callers*, use a gate:
    /// `#[tool(enabled = ..)]`.
    ///
    /// ```
    /// use rejoinder::{prelude::*, testing::Client};
    /// use serde_json::json;
    ///
    /// #[tool]
    /// async fn read() -> &'static str { "text" }
    ///
    /// #[tool]
    /// async fn write() {}
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let server = || Server::new("files", "1.0.0").tools(tools![read, write]);
    /// let client = Client::new(server().allow_tools(["read"]));
    /// assert_eq!(client.list_tools().await?.len(), 1);
    /// assert!(client.call_tool("write", json!({})).await.is_err());
    ///
    /// let error = server().allow_tools(["raed"]).check().unwrap_err();
    /// assert_eq!(error.0[0].to_string(), "`Server::allow_tools`: there is no tool `raed`; did you mean `read`?");
    /// # Ok(())
    /// # }
    /// ```
    pub fn allow_tools<N: Into<String>>(self, names: impl Names<N>) -> Self {
        self.filter_tools(FilterRule::Named, names, "`Server::allow_tools`")
    }

    pub(crate) fn filter_tools<N: Into<String>>(
        mut self,
        rule: FilterRule,
        names: impl IntoIterator<Item = N>,
        set_by: &'static str,
    ) -> Self {
        let names = names.into_iter().map(Into::into).collect();
        self.options.tool_filters.push(ToolFilter { rule, names, set_by });
        self
    }

    /// Offers no tools of these names: the opposite of [`allow_tools`](Self::allow_tools).
    pub fn deny_tools<N: Into<String>>(self, names: impl Names<N>) -> Self {
        self.filter_tools(FilterRule::NotNamed, names, "`Server::deny_tools`")
    }

    /// Offers only tools with one of these tags, as [`allow_tools`](Self::allow_tools) does with names.
    ///
    /// ```
    /// use rejoinder::{prelude::*, testing::Client};
    ///
    /// #[tool(tags = ["billing"])]
    /// async fn refund() {}
    ///
    /// #[tool]
    /// async fn restart() {}
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let server = Server::new("shop", "1.0.0").tools(tools![refund, restart]).only_tagged(["billing"]);
    /// assert_eq!(Client::new(server).list_tools().await?[0].name, "refund");
    /// # Ok(())
    /// # }
    /// ```
    pub fn only_tagged<N: Into<String>>(self, tags: impl Names<N>) -> Self {
        self.filter_tools(FilterRule::Tagged, tags, "`Server::only_tagged`")
    }

    /// Offers only tools that are marked `#[tool(read_only)]`; `serve_from_args` takes `--read-only`.
    ///
    /// The mark is what the tool's author says; nothing enforces it. Prompts and resources stay.
    pub fn only_read_only(self) -> Self {
        self.filter_tools(FilterRule::ReadOnly, [""; 0], "`Server::only_read_only`")
    }

    /// Offers prompts. With an empty list it declares that there may be some later.
    pub fn prompts(self, prompts: impl ItemList<Prompt>) -> Self {
        self.offer(TargetKind::Prompt, prompts.into_items().map(AnyItem::Prompt))
    }

    /// Offers resources and templates. With an empty list it declares that there may be some later.
    pub fn resources(self, resources: impl ItemList<Resource>) -> Self {
        self.offer(TargetKind::Resource, resources.into_items().map(AnyItem::Resource))
    }

    /// How many items a page of a list has; 1,000 by default.
    pub fn page_size(mut self, items: usize) -> Self {
        self.options.page_size = items;
        self
    }

    /// How long clients may cache lists; [`CacheHints::LISTS`] by default. Unless this is set, they do not cache lists
    /// with gates, which may decide otherwise for the next request.
    pub fn cache_lists(mut self, hints: CacheHints) -> Self {
        self.options.list_hints = Some(hints);
        self
    }

    /// How long clients may cache the contents of resources; [`CacheHints::CONTENTS`] by default. The attributes of a
    /// resource take precedence.
    pub fn cache_contents(mut self, hints: CacheHints) -> Self {
        self.options.contents_hints = hints;
        self
    }

    /// Serves only clients of 2026-07-28 and later: no `initialize`, no sessions.
    pub fn stateless_only(mut self) -> Self {
        self.options.sessions = false;
        self
    }

    /// Answers invalid arguments with the JSON-RPC error -32602, instead of with a result that the model reads.
    pub fn strict_arguments(mut self) -> Self {
        self.options.strict_arguments = true;
        self
    }

    /// Ignores arguments that a tool or prompt does not have, instead of refusing them by name.
    ///
    /// For clients and models that send more than the schema has. The schema then lacks `additionalProperties: false`, and a
    /// misspelt optional argument is not noticed. A client cannot supply injected parameters in either mode.
    ///
    /// ```
    /// use rejoinder::{prelude::*, testing::Client};
    /// use serde_json::json;
    ///
    /// #[tool]
    /// async fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let server = Server::new("calculator", "1.0.0").tools(tools![add]).ignore_unknown_arguments();
    /// let sum = Client::new(server).call_tool("add", json!({ "a": 1, "b": 2, "why": "for fun" })).await?;
    /// assert_eq!(sum.text(), "3");
    /// # Ok(())
    /// # }
    /// ```
    pub fn ignore_unknown_arguments(mut self) -> Self {
        self.options.unknown_arguments = UnknownArguments::Ignored;
        self
    }

    /// Identifies the caller of a request: only the caller who was asked may answer, and only the caller who began a session
    /// may use it.
    ///
    /// Read the identity from the request's extensions, where your authentication layer puts it.
    ///
    /// ```
    /// use rejoinder::{Server, auth::Principal};
    ///
    /// #[derive(Clone)]
    /// struct User { id: String }
    ///
    /// let server = Server::new("shop", "1.0.0")
    ///     .principal(|request| Some(Principal::new(&*request.extensions()?.get::<User>()?.id)));
    /// assert!(server.check().is_ok());
    /// ```
    ///
    /// A layer that puts a [`Principal`] itself into the extensions needs no such function. With both, the function finds the
    /// caller in `request.principal`, and what it returns counts.
    ///
    /// It runs once for each request, and once when a WebSocket or a stream of HTTP+SSE is opened. A session over HTTP must know its
    /// caller before it reads the message, so there `request` has the headers, the extensions and the era, and nothing else.
    pub fn principal(mut self, who: impl Fn(&RequestInfo) -> Option<Principal> + Send + Sync + 'static) -> Self {
        self.make_once("principal", "identify every caller in one function");
        self.options.principal = Callback(Some(Arc::new(who)));
        self
    }

    /// Sets the caller of all requests on stdio. Only the process that starts the server can send them.
    ///
    /// ```
    /// use rejoinder::{Server, auth::Principal};
    ///
    /// let user = std::env::var("USER").unwrap_or_default();
    /// let server = Server::new("shop", "1.0.0").stdio_principal(Principal::new(user).with_scopes(["orders:read"]));
    /// assert!(server.check().is_ok());
    /// ```
    pub fn stdio_principal(mut self, caller: Principal) -> Self {
        self.options.stdio_principal = Some(caller);
        self
    }

    /// Runs a function around every operation, in both eras and on every transport: calls, lists, completions, `discover` and
    /// subscriptions. The one that was added first is the outermost.
    ///
    /// It runs after the [caller](Self::principal) is known and before anything is looked up. It may read and change the
    /// [request](crate::middleware::OperationRequest), answer itself, and read and change the
    /// [result](crate::middleware::OperationResult). It returns an `OperationResult`, or a `Result` of one and a
    /// [`CallError`](crate::CallError). It shares state with other calls by what it captures.
    ///
    /// ```
    /// use std::sync::{Arc, atomic::{AtomicU32, Ordering}};
    ///
    /// use rejoinder::{middleware::{Next, OperationRequest, OperationResult}, prelude::*, testing::Client};
    /// use serde_json::json;
    ///
    /// #[tool]
    /// async fn ping() -> &'static str { "pong" }
    ///
    /// async fn readers_only_list(request: OperationRequest, next: Next) -> Result<OperationResult, CallError> {
    ///     if request.method() == "tools/call" && request.header("x-role") == Some("reader") {
    ///         return Err(CallError::new("readers cannot call tools"));
    ///     }
    ///     Ok(next.run(request).await)
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let failures = Arc::new(AtomicU32::new(0));
    /// let counter = Arc::clone(&failures);
    /// let server = Server::new("pings", "1.0.0")
    ///     .tools(tools![ping])
    ///     .middleware(move |request, next| {
    ///         let counter = Arc::clone(&counter);
    ///         async move {
    ///             let result = next.run(request).await;
    ///             counter.fetch_add(u32::from(result.is_error()), Ordering::Relaxed);
    ///             result
    ///         }
    ///     })
    ///     .middleware(readers_only_list);
    /// let client = Client::new(server);
    /// assert_eq!(client.call_tool("ping", json!({})).await?.text(), "pong");
    /// let refused = client.header("x-role", "reader").call_tool("ping", json!({})).await?;
    /// assert_eq!(refused.text(), "readers cannot call tools");
    /// assert_eq!(failures.load(Ordering::Relaxed), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn middleware<F>(mut self, around: impl Fn(OperationRequest, Next) -> F + Send + Sync + 'static) -> Self
    where
        F: OperationFuture + Send + 'static,
    {
        let around = move |request, next| -> BoxFuture<'static, OperationResult> {
            let result = around(request, next);
            Box::pin(async move { result.await.into() })
        };
        self.options.middleware.0.push(Arc::new(around));
        self
    }

    /// How much the server takes on, in total and for one caller: sizes, calls, subscriptions, background tasks.
    ///
    /// ```
    /// use rejoinder::{Server, server::Limits, state::StatePolicy};
    ///
    /// const MIB: usize = 1024 * 1024;
    /// let server = || Server::new("painter", "1.0.0").limits(Limits::new().answers_size(MIB).calls(100));
    /// // The state of a call carries its answers.
    /// assert!(server().check().is_err());
    /// assert!(server().state(StatePolicy::new().limit(2 * MIB)).check().is_ok());
    /// ```
    pub fn limits(mut self, limits: Limits) -> Self {
        self.make_once("limits", "set every limit on one `Limits`");
        self.options.limits = limits;
        self
    }

    /// Says who keeps the [tasks](crate::guide::tasks) of tools that are marked `#[tool(task)]`. Without it they are kept in
    /// memory, and end with the process.
    ///
    /// The store is opened when the server starts, and tasks that an earlier process has left go on then.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use rejoinder::{prelude::*, tasks::{MemoryTasks, Tasks}};
    ///
    /// #[tool(task)]
    /// async fn render(project: String) -> String {
    ///     format!("https://studio.example/{project}")
    /// }
    ///
    /// let tasks = Tasks::new(MemoryTasks::new()).ttl(Duration::from_secs(7_200)).at_once(4);
    /// let server = Server::new("studio", "1.0.0").tools(tools![render]).tasks(tasks);
    /// assert!(server.check().is_ok());
    /// ```
    pub fn tasks(mut self, tasks: Tasks) -> Self {
        self.make_once("tasks", "a server has one keeper of tasks");
        self.tasks = Some(tasks);
        self
    }

    /// Sets how long running calls may continue when the server shuts down, on any transport; 10 seconds by default.
    /// Deferred functions of cancelled calls, background tasks, and each function of [`on_stop`](Self::on_stop) get the same
    /// time again, so that `on_stop` runs within three grace periods. It also limits every single deferred function, because
    /// the reply waits for it.
    pub fn grace_period(mut self, grace: Duration) -> Self {
        self.options.grace = grace;
        self
    }

    /// How long a round of a call may take, unless its tool, prompt or resource says otherwise
    /// (`#[tool(timeout = "30s")]`); without a limit by default.
    ///
    /// The time covers everything that runs for the call: pipes, resolvers, the function and the stream that it returns. The
    /// clock stops while a client of a session has a question to answer; a stateless client answers in another round, which
    /// has the full time again. When the time is up, the function is dropped where it waits, deferred functions get
    /// [`CallEnd::TimedOut`](crate::call::CallEnd::TimedOut), and the client gets an error. A function that blocks its thread is
    /// not interrupted.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use rejoinder::{prelude::*, testing::Client};
    /// use serde_json::json;
    ///
    /// #[tool]
    /// async fn wait() {
    ///     std::future::pending().await
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let server = Server::new("slow", "1.0.0").tools(tools![wait]).timeout(Duration::from_millis(10));
    /// let reply = Client::new(server).call_tool("wait", json!({})).await?;
    /// assert!(reply.is_error());
    /// assert_eq!(reply.text(), "timed out after 0.01 s");
    /// # Ok(())
    /// # }
    /// ```
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.options.timeout = Some(limit);
        self
    }

    /// How the server is reached over HTTP: host names, origins, timeouts, connections and sessions.
    ///
    /// ```
    /// use rejoinder::{http, prelude::*};
    ///
    /// let server = Server::new("shop", "1.0.0").http(http::Config::new().allow_host("mcp.example.com"));
    /// assert!(server.check().is_ok());
    /// ```
    pub fn http(mut self, config: http::Config) -> Self {
        self.make_once("http", "set everything on one `http::Config`");
        self.options.http = config;
        self
    }

    /// How the state of a call is sealed while it waits for an answer: keys, expiry, single use.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use rejoinder::{prelude::*, state::StatePolicy};
    ///
    /// let server = Server::new("shop", "1.0.0").state(StatePolicy::new().ttl(Duration::from_secs(60)));
    /// assert!(server.check().is_ok());
    /// ```
    pub fn state(mut self, policy: StatePolicy) -> Self {
        self.make_once("state", "set everything on one `StatePolicy`");
        self.options.state = policy;
        self
    }

    /// Notes a setting that replaces all that an earlier one said. A second one would drop it without a word: an
    /// `http::Config` has the authentication of callers.
    fn make_once(&mut self, method: &'static str, remedy: &str) {
        if self.made.contains(&method) {
            let subject = format!("`Server::{method}`");
            let message = format!("it is called twice, and the last call would replace the one before; {remedy}");
            self.problems.push(BuildProblem { subject, message });
        }
        self.made.push(method);
    }

    /// Checks the server without serving it, in one line of a test, and returns what a client or a model may not
    /// understand: a missing description, a name that model APIs refuse, hints that contradict each other.
    ///
    /// # Errors
    ///
    /// Every problem with the server.
    ///
    /// ```
    /// use rejoinder::prelude::*;
    ///
    /// struct Database;
    ///
    /// /// Counts the orders.
    /// #[tool(name = "orders.count")]
    /// async fn count(database: Dep<Database>) -> u64 { 0 }
    ///
    /// let server = || Server::new("shop", "1.0.0").tools(tools![count]);
    /// let error = server().check().unwrap_err();
    /// assert!(error.to_string().contains("parameter `database` needs a"));
    ///
    /// let warnings = server().provide(Database).check().unwrap();
    /// assert!(warnings[0].to_string().starts_with("tool `orders.count`: model APIs refuse this name"));
    /// ```
    pub fn check(self) -> Result<Vec<BuildProblem>, BuildError> {
        self.build_with_warnings().map(|(_, warnings)| warnings)
    }

    /// Builds the server.
    ///
    /// # Errors
    ///
    /// Every problem with the server.
    pub fn build(self) -> Result<BuiltServer, BuildError> {
        self.build_with_warnings().map(|(server, _)| server)
    }

    fn build_with_warnings(self) -> Result<(BuiltServer, Vec<BuildProblem>), BuildError> {
        let capabilities = capabilities(&self);
        let mut check = WiringCheck::new(&self.dependencies, &self.options);
        let (filters, tools) = (&self.options.tool_filters, self.items[TargetKind::Tool as usize].as_deref());
        for filter in filters {
            let mistakes = filter.mistakes(tools.unwrap_or_default());
            mistakes.into_iter().for_each(|mistake| check.report(filter.set_by, mistake));
        }
        self.items
            .into_iter()
            .flatten()
            .flatten()
            .filter(|item| admits(filters, item))
            .for_each(|item| check.add(item));
        self.problems.iter().for_each(|problem| check.report(&problem.subject, &problem.message));
        if self.options.timeout.is_some_and(|limit| limit.is_zero()) {
            check.report("`Server::timeout`", "every call would time out: set a duration above zero");
        }
        if self.options.page_size == 0 {
            check.report("`Server::page_size`", "it must be at least 1");
        }
        for method in self.options.limits.mistakes() {
            check.report(&format!("`Limits::{method}`"), "it must be at least 1");
        }
        for (method, mistake) in self.options.http.mistakes() {
            check.report(&format!("`http::Config::{method}`"), mistake);
        }
        let seal = Seal::new(&self.info.name, &self.options.state);
        let seal = seal
            .map_err(|mistakes| mistakes.into_iter().for_each(|mistake| check.report("`StatePolicy`", mistake)))
            .ok();
        let bytes = seal.as_ref().map_or(usize::MAX, Seal::record_limit);
        if let (Some(tasks), Some(seal)) = (&self.tasks, &seal)
            && ServerTasks::is_readable(tasks, seal)
        {
            check.warn_of_exposed_headers();
        }
        let answer_bytes = self.options.limits.answers_within(bytes);
        let answer_bytes = answer_bytes.map_err(|mistake| check.report("`Limits::answers_size`", mistake)).ok();
        let (registry, warnings) = check.finish()?;

        #[cfg(feature = "auth")]
        self.options.http.name_addresses();
        let (seal, answer_bytes) = seal.zip(answer_bytes).expect("their mistakes were reported");
        let seal = Arc::new(seal);
        let rounds = self.options.state.rounds;
        let record_rules = RecordRules {
            bytes,
            limit: "`StatePolicy::limit`",
            answer_bytes,
            rounds,
            version: self.info.version.as_str().into(),
        };
        let can_identify = self.options.can_identify();
        if let Some(store) = self.options.state.spent.as_ref().filter(|_| can_identify) {
            store.expect_callers();
        }
        let has_keeper = self.tasks.is_some();
        let budgets = self.options.limits.budgets(self.options.http.max_sessions, can_identify);
        let offer = Offer {
            info_json: to_raw_value(&self.info).expect("plain strings serialise"),
            info: self.info,
            instructions: self.instructions,
            capabilities,
            registry: Arc::new(RwLock::new(Arc::new(registry))),
            hub: Hub::default(),
            dependencies: Arc::new(self.dependencies),
        };
        let stopping = CancellationToken::new();
        let task_rules = RecordRules {
            bytes: RECORD_BYTES,
            limit: "of a task",
            answer_bytes,
            rounds,
            version: Arc::clone(&record_rules.version),
        };
        let tasks =
            ServerTasks::new(self.tasks.unwrap_or_default(), has_keeper, task_rules, (&stopping, &budgets.bytes));
        let activity = Activity {
            lifecycle: (has_keeper || self.lifecycle.is_needed()).then(|| Arc::new(self.lifecycle)),
            tasks: Arc::new(tasks),
            stopping,
            calls: tracker(),
            teardown: tracker(),
            background: Arc::new(ServerBackground::new(budgets.background_tasks.clone())),
            budgets,
            refusals: Arc::default(),
        };
        let settings = Settings { options: self.options, record_rules: Arc::new(record_rules), seal };
        let engine = Engine { offer, activity, settings };
        Ok((BuiltServer(engine.with_handle()), warnings))
    }
}

/// A server that has passed every check, ready to be served or mounted.
#[derive(Debug, Clone)]
pub struct BuiltServer(pub(crate) Arc<Engine>);

impl TryFrom<Server> for BuiltServer {
    type Error = BuildError;

    fn try_from(server: Server) -> Result<Self, BuildError> {
        server.build()
    }
}

impl BuiltServer {
    /// A handle that changes what the server offers while it runs.
    pub fn handle(&self) -> ServerHandle {
        ServerHandle(Arc::downgrade(&self.0))
    }
}

/// Whether clients can make tasks.
fn has_tasks(server: &Server) -> bool {
    let tools = server.items[TargetKind::Tool as usize].iter();
    server.tasks.is_some() || tools.flatten().any(|tool| tool.function().task.is_some())
}

/// The server declares what it serves, and nothing else.
fn capabilities(server: &Server) -> ServerCapabilities {
    let [tools, prompts, resources] = server.items.each_ref().map(Option::is_some);
    let capabilities = json!({
        "tools": tools.then(|| json!({ "listChanged": true })),
        "prompts": prompts.then(|| json!({ "listChanged": true })),
        "resources": resources.then(|| json!({ "listChanged": true, "subscribe": true })),
        // Prompts and resources that are added later may have arguments to complete.
        "completions": (prompts || resources).then(|| json!({})),
        "logging": {},
        "extensions": has_tasks(server).then(|| json!({ Task::EXTENSION: {} })),
    });
    serde_json::from_value(capabilities).expect("these are the protocol's capabilities")
}
