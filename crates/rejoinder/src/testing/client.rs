//! The client: what a test sets, sends and replaces.

use std::{
    any::{TypeId, type_name},
    borrow::Cow,
    fmt::Display,
    sync::Arc,
};

use http::{HeaderName, HeaderValue, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::{
    ClientAnswer, ClientError, Filter, JsonRpcError, Response, Result, Subscription,
    answer::{Script, Scripts, remedy},
    connection::ClientConnection,
    exchange::{HttpExchange, Incoming},
    response::read,
};
use crate::{
    call::{CallTrace, Dependencies, Era, Level},
    form::Elicit,
    graph::{Double, Resolver},
    model::{
        CallToolResult, ClientCapabilities, CompletionInfo, DiscoverResult, GetPromptResult, Prompt,
        ReadResourceResult, Reference, Resource, ResourceTemplate, Tool,
    },
    protocol::RpcError,
    server::BuiltServer,
    transport::McpService,
};

/// A server that asks in more rounds than this never stops asking.
const MOST_QUESTIONS: usize = 16;
/// On a session questions come one by one, several of them where there would be one round.
const MOST_ON_A_SESSION: usize = 16 * MOST_QUESTIONS;
/// A server that takes more rounds never ends.
const MOST_ROUNDS: usize = 10_000;

/// A client that drives a server in process.
///
/// A clone shares the server, so one request can differ from the others:
/// `client.clone().header("x-tenant", "b").call_tool(..)`.
///
/// ```
/// use rejoinder::{prelude::*, testing::Client};
/// use serde_json::json;
///
/// #[tool]
/// async fn tenant(ctx: Context) -> String {
///     ctx.header("x-tenant").unwrap_or("nobody").to_owned()
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
/// let client = Client::new(Server::new("tenants", "1.0.0").tools(tools![tenant]));
/// assert_eq!(client.clone().header("x-tenant", "b").call_tool("tenant", json!({})).await?.text(), "b");
/// assert_eq!(client.call_tool("tenant", json!({})).await?.text(), "nobody");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Client {
    connection: ClientConnection,
    scripts: Scripts,
    allows_other_paths: bool,
}

impl Client {
    /// A client of a [`Server`](crate::Server) or [`BuiltServer`].
    ///
    /// # Panics
    ///
    /// If the server cannot be built; the message lists every problem.
    #[track_caller]
    pub fn new<S>(server: S) -> Self
    where
        S: TryInto<BuiltServer>,
        S::Error: Display,
    {
        // Not a closure: the panic would be reported there instead of in the test.
        let server = match server.try_into() {
            Ok(server) => server,
            Err(error) => panic!("{error}"),
        };
        Self { connection: ClientConnection::new(server), scripts: Scripts::default(), allows_other_paths: false }
    }

    /// Speaks the protocol of that era; [`Era::Stateless`] by default.
    ///
    /// In [`Era::Session`] the first request opens a session, which the client and its clones share. It ends when it has
    /// been idle for the server's [`session_timeout`](crate::http::Config::session_timeout).
    ///
    /// In both eras, dropping the future of a request cancels the request.
    ///
    /// ```
    /// use rejoinder::{Era, prelude::*, testing::Client};
    /// use serde_json::json;
    ///
    /// #[tool]
    /// async fn era(ctx: Context) -> &'static str {
    ///     if ctx.era() == Era::Session { "session" } else { "stateless" }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("eras", "1.0.0").tools(tools![era]));
    /// assert_eq!(client.call_tool("era", json!({})).await?.text(), "stateless");
    /// assert_eq!(client.era(Era::Session).call_tool("era", json!({})).await?.text(), "session");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn era(mut self, era: Era) -> Self {
        self.connection.era = era;
        self.reconnected()
    }

    /// Sends a header with every request, in place of an earlier one of that name.
    ///
    /// # Panics
    ///
    /// If the name or the value is not valid in a header.
    #[must_use]
    #[track_caller]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        let name = HeaderName::try_from(name).unwrap_or_else(|error| panic!("the header `{name}`: {error}"));
        let value = HeaderValue::from_str(value).unwrap_or_else(|error| panic!("the header `{name}`: {error}"));
        self.connection.headers.insert(name, value);
        self
    }

    /// Attaches a value to every request, as a layer in front of the server would.
    ///
    /// ```
    /// # use rejoinder::{prelude::*, testing::Client};
    /// # use serde_json::json;
    /// #[derive(Clone)]
    /// struct User(&'static str);
    ///
    /// #[tool]
    /// async fn whoami(ctx: Context) -> &'static str {
    ///     ctx.extension::<User>().map_or("nobody", |user| user.0)
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("users", "1.0.0").tools(tools![whoami])).extension(User("ada"));
    /// assert_eq!(client.call_tool("whoami", json!({})).await?.text(), "ada");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn extension<T: Clone + Send + Sync + 'static>(mut self, value: T) -> Self {
        self.connection.extensions.insert(value);
        self
    }

    /// Declares the capabilities of the client; none by default.
    #[must_use]
    pub fn capabilities(mut self, capabilities: ClientCapabilities) -> Self {
        self.connection.capabilities = capabilities;
        self.reconnected()
    }

    /// Requests log messages of that level and above; none by default.
    #[must_use]
    pub fn log_level(mut self, level: Level) -> Self {
        self.connection.log_level = Some(level);
        self.reconnected()
    }

    /// The name in the client's `clientInfo`.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.connection.info.name = name.into();
        self.reconnected()
    }

    /// The version in the client's `clientInfo`.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.connection.info.version = version.into();
        self.reconnected()
    }

    /// The server: for its [handle](BuiltServer::handle), for example.
    pub fn server(&self) -> &BuiltServer {
        &self.connection.server
    }

    /// Accepts the question of that key with this form, every time, and declares that the client can be asked.
    ///
    /// ```
    /// use rejoinder::{Ask, prelude::*, testing::Client};
    /// use serde_json::json;
    ///
    /// #[derive(Elicit)]
    /// struct Name { name: String }
    ///
    /// #[tool]
    /// async fn greet(ctx: Context) -> Result<String, CallError> {
    ///     let Name { name } = ctx.ask("who", Ask::user("Who are you?")).await?;
    ///     Ok(format!("Hello, {name}!"))
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("greeter", "1.0.0").tools(tools![greet]));
    /// let reply = client.answer("who", Name { name: "Ada".into() }).call_tool("greet", json!({})).await?;
    /// assert_eq!(reply.text(), "Hello, Ada!");
    /// assert_eq!(reply.asked, [["who"]]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn answer(self, key: impl Into<String>, form: impl Elicit) -> Self {
        self.scripted(key, Script::Always(ClientAnswer::accept(form)))
    }

    /// Accepts a function that takes another path in a later round, and so does not reach an answer or a step that an
    /// earlier round recorded. By default this is an error, because such a function can ask in vain or leave work half done.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering};
    ///
    /// use rejoinder::{prelude::*, form::ConfirmForm, testing::Client};
    /// use serde_json::json;
    ///
    /// /// How many orders there are: it changes while the user answers.
    /// static ORDERS: AtomicU32 = AtomicU32::new(1);
    ///
    /// #[tool]
    /// async fn ship(ctx: Context) -> Result<u32, CallError> {
    ///     let orders = ORDERS.fetch_sub(1, Ordering::Relaxed);
    ///     for order in 0..orders {
    ///         ctx.ask(&format!("ship-{order}"), Ask::confirm(format!("Ship order {order}?"))).await?;
    ///     }
    ///     Ok(orders)
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("shop", "1.0.0").tools(tools![ship])).answer("ship-0", ConfirmForm { yes: true });
    /// let error = client.call_tool("ship", json!({})).await.unwrap_err();
    /// assert!(error.to_string().contains("did not reach the answer to `ship-0`"));
    ///
    /// ORDERS.store(1, Ordering::Relaxed);
    /// assert_eq!(client.allow_other_paths().call_tool("ship", json!({})).await?.text(), "0");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn allow_other_paths(mut self) -> Self {
        self.allows_other_paths = true;
        self
    }

    /// Declines the question of that key, every time.
    #[must_use]
    pub fn decline(self, key: impl Into<String>) -> Self {
        self.scripted(key, Script::Always(ClientAnswer::decline()))
    }

    /// Cancels the question of that key, every time.
    #[must_use]
    pub fn cancel(self, key: impl Into<String>) -> Self {
        self.scripted(key, Script::Always(ClientAnswer::cancel()))
    }

    /// Sends this answer to the question of that key, every time: for choices, samples, roots, and invalid answers.
    #[must_use]
    pub fn answer_with(self, key: impl Into<String>, answer: Value) -> Self {
        self.scripted(key, Script::Always(ClientAnswer::with(answer)))
    }

    /// Sends these answers to the question of that key, one after the other, in one call or in several.
    ///
    /// A call that asks once more than there are answers is an error. A clone has its own copy of the remaining answers.
    ///
    /// ```
    /// use rejoinder::{Ask, prelude::*, testing::{Client, ClientAnswer}};
    /// use serde_json::json;
    ///
    /// #[derive(Elicit)]
    /// struct Age { #[elicit(max = 150)] years: u16 }
    ///
    /// #[tool]
    /// async fn age(ctx: Context) -> Result<u16, CallError> {
    ///     let Age { years } = ctx.ask("age", Ask::user("How old are you?")).await?;
    ///     Ok(years)
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("census", "1.0.0").tools(tools![age]))
    ///     .answers("age", [360, 36].map(|years| ClientAnswer::accept(Age { years })));
    /// let reply = client.call_tool("age", json!({})).await?;
    /// assert_eq!(reply.text(), "36");
    /// assert_eq!(reply.asked, [["age"], ["age"]], "an answer that does not fit is asked for again");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn answers(self, key: impl Into<String>, answers: impl IntoIterator<Item = ClientAnswer>) -> Self {
        self.scripted(key, Script::InTurn(answers.into_iter().collect(), 0))
    }

    /// Calls a tool and requests progress.
    ///
    /// # Errors
    ///
    /// If the server returns an error. A tool that fails is a response with [`is_error`](Response::is_error).
    ///
    /// ```
    /// # use rejoinder::{prelude::*, testing::Client};
    /// # use serde_json::json;
    /// #[tool]
    /// async fn half(number: i64) -> Result<i64, CallError> {
    ///     if number % 2 == 0 { Ok(number / 2) } else { Err(CallError::new("give an even number")) }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("calculator", "1.0.0").tools(tools![half]));
    /// assert_eq!(client.call_tool("half", json!({ "number": 4 })).await?.text(), "2");
    /// let reply = client.call_tool("half", json!({ "number": 5 })).await?;
    /// assert!(reply.is_error());
    /// assert_eq!(reply.text(), "give an even number");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn call_tool(&self, tool: &str, arguments: Value) -> Result<Response<CallToolResult>> {
        self.run("tools/call", json!({ "name": tool, "arguments": or_empty(arguments) })).await
    }

    /// Gets a prompt.
    ///
    /// # Errors
    ///
    /// If the server returns an error, or the prompt fails.
    ///
    /// ```
    /// # use rejoinder::{prelude::*, testing::Client};
    /// # use serde_json::json;
    /// #[prompt]
    /// async fn review(code: String) -> String { format!("Review this: {code}") }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("reviews", "1.0.0").prompts(prompts![review]));
    /// assert_eq!(client.get_prompt("review", json!({ "code": "1 + 1" })).await?.text(), "Review this: 1 + 1");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn get_prompt(&self, prompt: &str, arguments: Value) -> Result<Response<GetPromptResult>> {
        self.run("prompts/get", json!({ "name": prompt, "arguments": or_empty(arguments) })).await
    }

    /// Reads a resource.
    ///
    /// # Errors
    ///
    /// If the server returns an error, or the resource fails.
    ///
    /// ```
    /// # use rejoinder::{prelude::*, testing::Client};
    /// #[resource("note://{name}")]
    /// async fn note(name: String) -> String { format!("all about {name}") }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("notes", "1.0.0").resources(resources![note]));
    /// assert_eq!(client.read_resource("note://rust").await?.text(), "all about rust");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn read_resource(&self, uri: &str) -> Result<Response<ReadResourceResult>> {
        self.run("resources/read", json!({ "uri": uri })).await
    }

    /// Requests values for an argument that begin with what was typed.
    ///
    /// # Errors
    ///
    /// If the server returns an error.
    ///
    /// ```
    /// # use rejoinder::{call::CompletionRequest, model::Reference, prelude::*, testing::Client};
    /// async fn languages(_: CompletionRequest) -> Vec<String> { vec!["rust".into()] }
    ///
    /// #[prompt]
    /// async fn review(#[arg(complete = languages)] language: String) -> String { language }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("reviews", "1.0.0").prompts(prompts![review]));
    /// let completion = client.complete(Reference::for_prompt("review"), "language", "r").await?;
    /// assert_eq!(completion.values, ["rust"]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn complete(&self, of: Reference, argument: &str, typed: &str) -> Result<CompletionInfo> {
        self.complete_with(of, argument, typed, json!({})).await
    }

    /// [`Client::complete`] when other arguments, an object of strings, have been filled in already.
    ///
    /// # Errors
    ///
    /// If the server returns an error.
    ///
    /// ```
    /// # use rejoinder::{call::CompletionRequest, model::Reference, prelude::*, testing::Client};
    /// # use serde_json::json;
    /// async fn rooms(request: CompletionRequest) -> Vec<String> {
    ///     request.arguments.get("house").map(|house| format!("{house} kitchen")).into_iter().collect()
    /// }
    ///
    /// #[resource("home://{house}/{room}")]
    /// async fn room(house: String, #[arg(complete = rooms)] room: String) -> String { format!("{house} {room}") }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("home", "1.0.0").resources(resources![room]));
    /// let template = Reference::for_resource("home://{house}/{room}");
    /// let completion = client.complete_with(template, "room", "", json!({ "house": "red" })).await?;
    /// assert_eq!(completion.values, ["red kitchen"]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn complete_with(
        &self,
        of: Reference,
        argument: &str,
        typed: &str,
        arguments: Value,
    ) -> Result<CompletionInfo> {
        let argument = json!({ "name": argument, "value": typed });
        let params = json!({ "ref": of, "argument": argument, "context": { "arguments": arguments } });
        let result = self.request("completion/complete", params).await?;
        read("completion/complete", &result["completion"])
    }

    /// Sends any request and returns its result as JSON.
    ///
    /// The client adds the `_meta` and headers of its era; an entry of `params._meta` replaces the client's own, and
    /// `null` removes it. Questions are not answered: `input_required` is returned like any result, and a question on a
    /// session is an error.
    ///
    /// # Errors
    ///
    /// If the server returns an error, or asks something on a session.
    ///
    /// ```
    /// # use rejoinder::{prelude::*, testing::Client};
    /// # use serde_json::json;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let client = Client::new(Server::new("empty", "1.0.0"));
    /// let error = client.request("no/such/method", json!({})).await.unwrap_err();
    /// assert_eq!(error.code(), Some(-32601));
    /// # }
    /// ```
    pub async fn request(&self, method: &str, params: Value) -> Result<Value> {
        self.connection.open(method, params, CallTrace::default()).await?.finish().await
    }

    /// The server's capabilities, name and instructions.
    ///
    /// # Errors
    ///
    /// If the server returns an error, or a result that does not follow the protocol.
    ///
    /// ```
    /// # use rejoinder::{prelude::*, testing::Client};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("shop", "1.0.0").instructions("Buy something.").tools([]));
    /// let discovered = client.discover().await?;
    /// assert_eq!(discovered.instructions.as_deref(), Some("Buy something."));
    /// assert!(discovered.capabilities.tools.is_some());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn discover(&self) -> Result<DiscoverResult> {
        read("server/discover", &self.request("server/discover", json!({})).await?)
    }

    /// All tools, from every page.
    ///
    /// # Errors
    ///
    /// If the server returns an error, or a result that does not follow the protocol.
    ///
    /// ```
    /// # use rejoinder::{prelude::*, testing::Client};
    /// #[tool]
    /// async fn first() {}
    /// #[tool]
    /// async fn second() {}
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("shop", "1.0.0").tools(tools![first, second]).page_size(1));
    /// assert_eq!(client.list_tools().await?.len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn list_tools(&self) -> Result<Vec<Tool>> {
        self.list("tools/list", "tools").await
    }

    /// All prompts, from every page.
    ///
    /// # Errors
    ///
    /// If the server returns an error, or a result that does not follow the protocol.
    pub async fn list_prompts(&self) -> Result<Vec<Prompt>> {
        self.list("prompts/list", "prompts").await
    }

    /// All resources, from every page.
    ///
    /// # Errors
    ///
    /// If the server returns an error, or a result that does not follow the protocol.
    pub async fn list_resources(&self) -> Result<Vec<Resource>> {
        self.list("resources/list", "resources").await
    }

    /// All resource templates, from every page.
    ///
    /// # Errors
    ///
    /// If the server returns an error, or a result that does not follow the protocol.
    pub async fn list_resource_templates(&self) -> Result<Vec<ResourceTemplate>> {
        self.list("resources/templates/list", "resourceTemplates").await
    }

    /// Subscribes to changes.
    ///
    /// # Errors
    ///
    /// If the server returns an error, or does not acknowledge the subscription.
    ///
    /// ```
    /// use rejoinder::{prelude::*, testing::{Client, Filter, Notification}};
    ///
    /// /// Buy what is left.
    /// #[tool]
    /// fn buy() {}
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("shop", "1.0.0").tools(tools![buy]));
    /// let mut subscription = client.listen(Filter::default().tools()).await?;
    /// client.server().handle().remove_tool("buy");
    /// assert_eq!(subscription.next().await, Some(Notification::ToolsChanged));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn listen(&self, filter: Filter) -> Result<Subscription> {
        if self.connection.era == Era::Session {
            // A session has one stream, which reports all changes of lists without a subscription.
            let exchange = self.connection.session_stream().await?;
            for uri in &filter.resource_subscriptions {
                self.request("resources/subscribe", json!({ "uri": uri })).await?;
            }
            return Ok(Subscription::new(exchange, filter));
        }
        const METHOD: &str = "subscriptions/listen";
        let mut exchange =
            self.connection.open(METHOD, json!({ "notifications": filter }), CallTrace::default()).await?;
        let first = exchange.next().await?.ok_or_else(|| ClientError::NoReply { method: METHOD.into() })?;
        if first["method"] == "notifications/subscriptions/acknowledged" {
            let honoured = read(METHOD, &first["params"]["notifications"])?;
            return Ok(Subscription::new(exchange, honoured));
        }
        Err(match first.get("error") {
            Some(_) => exchange.error(first),
            None => ClientError::unexpected(
                METHOD,
                "the first message of a subscription must be its acknowledgement",
                &first,
            ),
        })
    }

    /// Replaces the provided service of this type.
    ///
    /// # Panics
    ///
    /// If no service of that type was provided.
    ///
    /// ```
    /// use rejoinder::{prelude::*, testing::Client};
    /// use serde_json::json;
    ///
    /// struct Clock(fn() -> u64);
    ///
    /// #[tool]
    /// async fn now(clock: Dep<Clock>) -> u64 { (clock.0)() }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let server = Server::new("clock", "1.0.0").provide(Clock(|| panic!("the real clock"))).tools(tools![now]);
    /// let client = Client::new(server).replace(Clock(|| 42));
    /// assert_eq!(client.call_tool("now", json!({})).await?.text(), "42");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    #[track_caller]
    pub fn replace<T: Send + Sync + 'static>(self, service: T) -> Self {
        self.replace_arc(Arc::new(service))
    }

    /// [`Client::replace`] with a service that the test keeps, or a `dyn Trait`.
    ///
    /// # Panics
    ///
    /// If no service of that type was provided.
    #[must_use]
    #[track_caller]
    pub fn replace_arc<T: ?Sized + Send + Sync + 'static>(self, service: Arc<T>) -> Self {
        if !self.connection.server.0.dependencies.contains(TypeId::of::<T>()) {
            let name = type_name::<T>();
            panic!("no `{name}` was provided, so none can be replaced; for a `dyn Trait` use `replace_arc`")
        }
        self.with_dependencies(|dependencies| dependencies.insert(service))
    }

    /// Replaces a resolver, named as in `#[resolve(..)]`, with a function that makes its value. For a method in
    /// [`#[handlers]`](crate::handlers) see [`Client::replace_method`].
    ///
    /// The resolver does not run, does not ask, and does not need its own parameters.
    ///
    /// # Panics
    ///
    /// If no item of the server uses the resolver.
    ///
    /// ```
    /// use rejoinder::{prelude::*, testing::Client};
    /// use serde_json::json;
    ///
    /// #[resolver]
    /// fn weather(city: &str) -> Result<String, CallError> { Err(CallError::new(format!("{city} is not on the map"))) }
    ///
    /// #[tool]
    /// async fn dress(city: String, #[resolve(weather)] weather: &String) -> String { format!("{weather} in {city}") }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let server = Server::new("wardrobe", "1.0.0").tools(tools![dress]);
    /// let client = Client::new(server).replace_resolver::<weather>(|| "rain".to_owned());
    /// let reply = client.call_tool("dress", json!({ "city": "Bergen" })).await?;
    /// assert_eq!(reply.text(), "rain in Bergen");
    /// assert!(reply.ran.concat().is_empty(), "it did not run");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    #[track_caller]
    pub fn replace_resolver<R: Resolver>(self, value: impl Fn() -> R::Output + Send + Sync + 'static) -> Self {
        self.replaced_by::<R>(Double::Value(Box::new(value)))
    }

    #[track_caller]
    fn replaced_by<R: Resolver>(self, double: Double<R::Output>) -> Self {
        let resolver = TypeId::of::<R>();
        if self.connection.server.0.find_resolver(|instance| instance.type_id() == resolver).is_none() {
            panic!("no item of the server uses the resolver `{}`", R::instance().shown())
        }
        self.with_dependencies(|dependencies| dependencies.replace_resolver(resolver, double))
    }

    /// Replaces a resolver with another one, which may fail, ask, and take arguments and services.
    ///
    /// The other resolver asks under its own name, and takes only arguments that the items have.
    ///
    /// # Panics
    ///
    /// If no item of the server uses the resolver.
    ///
    /// ```
    /// use rejoinder::{Ask, form::TextForm, prelude::*, testing::Client};
    /// use serde_json::json;
    ///
    /// #[resolver]
    /// fn weather(city: &str) -> String { panic!("calls a service about {city}") }
    ///
    /// #[tool]
    /// async fn dress(city: String, #[resolve(weather)] weather: &String) -> String { format!("{weather} in {city}") }
    ///
    /// #[resolver]
    /// fn asked_weather(city: &str) -> Ask<String> { Ask::text(format!("What is the weather in {city}?")) }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("wardrobe", "1.0.0").tools(tools![dress])).replace_with::<weather, asked_weather>();
    /// let client = client.answer("asked_weather", TextForm { text: "rain".to_owned() });
    /// assert_eq!(client.call_tool("dress", json!({ "city": "Bergen" })).await?.text(), "rain in Bergen");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    #[track_caller]
    pub fn replace_with<R: Resolver, S: Resolver<Output = R::Output>>(self) -> Self {
        self.replaced_by::<R>(Double::Resolver(S::run))
    }

    /// [`Client::replace_resolver`] for a method in [`#[handlers]`](crate::handlers).
    ///
    /// # Panics
    ///
    /// If no item of the server uses the resolver, or if its value has another type.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use rejoinder::{prelude::*, testing::Client};
    /// use serde_json::json;
    ///
    /// struct Station;
    ///
    /// #[handlers]
    /// impl Station {
    ///     #[resolver]
    ///     fn weather(&self, city: &str) -> Result<String, CallError> { Err(CallError::new(format!("{city} is not on the map"))) }
    ///
    ///     #[tool]
    ///     async fn dress(&self, city: String, #[resolve(Self::weather)] weather: &String) -> String {
    ///         format!("{weather} in {city}")
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let server = Server::new("wardrobe", "1.0.0").tools(Arc::new(Station).tools());
    /// let client = Client::new(server).replace_method(Station::weather, || "rain".to_owned());
    /// let reply = client.call_tool("dress", json!({ "city": "Bergen" })).await?;
    /// assert_eq!(reply.text(), "rain in Bergen");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    #[track_caller]
    pub fn replace_method<F: 'static, T: 'static>(
        self,
        _method: F,
        value: impl Fn() -> T + Send + Sync + 'static,
    ) -> Self {
        let found = self.connection.server.0.find_resolver(|instance| (instance.types.function)() == TypeId::of::<F>());
        let Some(instance) = found else { panic!("no item of the server uses the resolver `{}`", type_name::<F>()) };
        if (instance.types.output)() != TypeId::of::<T>() {
            let (name, makes, made) = (instance.shown(), (instance.types.output_name)(), type_name::<T>());
            panic!("the resolver `{name}` makes a `{makes}`; it cannot be replaced with a `{made}`")
        }
        let double = Double::Value(Box::new(value));
        self.with_dependencies(|dependencies| dependencies.replace_resolver(instance.type_id(), double))
    }

    fn with_dependencies(mut self, change: impl FnOnce(&mut Dependencies)) -> Self {
        let engine = self.connection.server.0.with_dependencies(change);
        self.connection.service = McpService::new(Arc::clone(&engine));
        self.connection.server = BuiltServer(engine);
        self.reconnected()
    }

    /// A client that says something else about itself opens another session.
    fn reconnected(mut self) -> Self {
        self.connection.session = Arc::default();
        self
    }

    fn scripted(mut self, key: impl Into<String>, script: Script) -> Self {
        self.scripts.insert(key.into(), script);
        let sampling = json!({ "tools": {}, "context": {} });
        let everything = json!({ "elicitation": { "form": {}, "url": {} }, "sampling": sampling, "roots": {} });
        if self.connection.capabilities == Default::default()
            && let Ok(capabilities) = serde_json::from_value(everything)
        {
            self.connection.capabilities = capabilities;
        }
        self.reconnected()
    }

    /// Sends a call, and sends it again with answers until there is a result.
    async fn run<R: DeserializeOwned>(&self, method: &str, params: Value) -> Result<Response<R>> {
        let (mut asked, mut ran, mut runs) = (Vec::new(), Vec::new(), 0);
        let mut next = params.clone();
        while asked.len() <= MOST_QUESTIONS && ran.len() < MOST_ROUNDS {
            let trace = CallTrace::default();
            let mut exchange = self.connection.open(method, next, trace.clone()).await?;
            let result = self.one_round(&mut exchange, method, &mut asked).await;
            let result = self.with_remedy(method, result, &trace)?;
            let traced = std::mem::take(&mut *trace.lock());
            ran.push(traced.ran.into_iter().map(Cow::into_owned).collect());
            runs += traced.runs;
            if !traced.unreached.is_empty() && !self.allows_other_paths {
                return Err(ClientError::OtherPath { method: method.to_owned(), unreached: traced.unreached });
            }
            if result["resultType"] != "input_required" {
                return Ok(Response { asked, ran, runs, ..Response::read(method, &result, &exchange.notifications)? });
            }
            let questions = result["inputRequests"].as_object().cloned().unwrap_or_default();
            if !questions.is_empty() {
                asked.push(questions.keys().cloned().collect());
            }
            let mut answers = Map::new();
            for (key, question) in &questions {
                answers.extend(self.answer_to(method, key, question)?.map(|answer| (key.clone(), answer)));
            }
            next = params.clone();
            next["inputResponses"] = Value::Object(answers);
            next["requestState"] = result["requestState"].clone();
        }
        let reason = format!("no result after {} rounds, {} of which asked something", ran.len(), asked.len());
        Err(ClientError::unexpected(method, reason, &next))
    }

    /// Reads until there is a result, and answers what a session asks.
    async fn one_round(
        &self,
        exchange: &mut HttpExchange,
        method: &str,
        asked: &mut Vec<Vec<String>>,
    ) -> Result<Value> {
        loop {
            let question = match exchange.receive().await? {
                Incoming::Result(result) => return Ok(result),
                Incoming::Question(question) => question,
            };
            if asked.len() == MOST_ON_A_SESSION {
                let reason = format!("no result after {} questions", asked.len());
                return Err(ClientError::unexpected(method, reason, &question));
            }
            let key = question["params"]["_meta"]["rejoinder/key"].as_str().unwrap_or_default().to_owned();
            let Some(result) = self.answer_to(method, &key, &question)? else {
                let reason = format!("it asks `{key}` on a session, where `ClientAnswer::later` is not possible");
                return Err(ClientError::unexpected(method, reason, &question));
            };
            asked.push(vec![key]);
            self.connection.respond(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": result })).await?;
        }
    }

    /// The answer to a question; `None` if it is to be left open.
    fn answer_to(&self, method: &str, key: &str, question: &Value) -> Result<Option<Value>> {
        let answer = self.scripts.next(key).map_err(|reason| ClientError::unexpected(method, reason, question))?;
        Ok(answer.0)
    }

    /// A client without answers declares no capabilities, so what the test lacks is an answer. Stateless it gets an error, on
    /// a session a tool's result with `isError`.
    fn with_remedy(&self, method: &str, result: Result<Value>, trace: &CallTrace) -> Result<Value> {
        let has_answers = !self.scripts.is_empty() || self.connection.capabilities != Default::default();
        let Some(unasked) = trace.lock().unasked.first().filter(|_| !has_answers).cloned() else { return result };
        let mut rpc = match result {
            Err(ClientError::Rpc(rpc)) if rpc.code == RpcError::MISSING_CAPABILITY => rpc,
            Ok(result) if result["isError"] == true => Box::new(JsonRpcError {
                method: method.to_owned(),
                status: StatusCode::OK,
                code: RpcError::MISSING_CAPABILITY,
                message: result["content"][0]["text"].as_str().unwrap_or_default().to_owned(),
                data: None,
                unanswered: None,
                remedy: None,
            }),
            result => return result,
        };
        rpc.remedy = Some(remedy(&unasked));
        rpc.unanswered = Some(unasked.key);
        Err(ClientError::Rpc(rpc))
    }

    async fn list<T: DeserializeOwned>(&self, method: &str, field: &str) -> Result<Vec<T>> {
        let (mut items, mut seen) = (Vec::new(), Vec::new());
        let mut params = json!({});
        loop {
            let mut page = self.request(method, params).await?;
            items.extend(read::<Vec<T>>(method, &page[field])?);
            let cursor = match page["nextCursor"].take() {
                Value::Null => return Ok(items),
                cursor => cursor,
            };
            if seen.contains(&cursor) {
                return Err(ClientError::unexpected(method, "the same cursor came twice", &cursor));
            }
            params = json!({ "cursor": cursor });
            seen.push(cursor);
        }
    }
}

/// Runs a test with a client of each era: first [`Era::Stateless`], then [`Era::Session`].
///
/// ```
/// use rejoinder::{prelude::*, testing::{Client, in_both_eras}};
/// use serde_json::json;
///
/// #[tool]
/// async fn ping() -> &'static str { "pong" }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// in_both_eras(Client::new(Server::new("pings", "1.0.0").tools(tools![ping])), async |client| {
///     assert_eq!(client.call_tool("ping", json!({})).await.unwrap().text(), "pong");
/// })
/// .await;
/// # }
/// ```
pub async fn in_both_eras(client: Client, test: impl AsyncFn(Client)) {
    for era in [Era::Stateless, Era::Session] {
        test(client.clone().era(era)).await;
    }
}

fn or_empty(arguments: Value) -> Value {
    if arguments.is_null() { json!({}) } else { arguments }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::{prelude::*, testing::Client};

    #[derive(Elicit, Debug, Clone)]
    struct Applicant {
        name: String,
    }

    struct Desk;

    #[handlers]
    impl Desk {
        #[resolver]
        fn sender(&self) -> Ask<Applicant> {
            Ask::user("Who sends it?")
        }

        #[tool]
        fn send(&self, #[resolve(Self::sender)] sender: Applicant) -> String {
            sender.name
        }
    }

    #[test]
    #[should_panic(
        expected = "makes a `rejoinder::testing::client::tests::Applicant`; it cannot be replaced with a `rejoinder::ask::"
    )]
    fn a_method_is_replaced_by_its_value_not_by_its_question() {
        let client = Client::new(Server::new("post", "1.0.0").tools(Arc::new(Desk).tools()));
        let _ = client.replace_method(Desk::sender, || Ask::known(Applicant { name: "Ada".to_owned() }));
    }
}
