//! The client, and what a test sets.

use std::fmt::Display;

use http::{HeaderName, HeaderValue};
use serde_json::{Value, json};

use super::{
    ClientAnswer, Transport,
    answer::{Script, Scripts},
    connection::ClientConnection,
};
use crate::{
    form::Elicit,
    model::ClientCapabilities,
    request::{Era, Level},
    server::BuiltServer,
};

/// A client that drives a server in process.
///
/// A clone shares the server, so one request can differ from the others:
/// `client.clone().header("x-tenant", "b").call_tool(..)`. It shares the session and the connection too, until a method
/// changes one of the two clients: that one opens its own.
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
#[must_use]
#[derive(Debug, Clone)]
pub struct Client {
    pub(super) connection: ClientConnection,
    pub(super) scripts: Scripts,
    pub(super) allows_other_paths: bool,
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
    /// use rejoinder::{call::Era, prelude::*, testing::Client};
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
    pub fn era(mut self, era: Era) -> Self {
        self.connection.era = era;
        self.reconnected()
    }

    /// Reaches the server over that transport; [`Transport::Http`] by default.
    ///
    /// ```
    /// use rejoinder::{prelude::*, testing::{Client, Transport}};
    /// use serde_json::json;
    ///
    /// #[tool]
    /// async fn tenant(ctx: Context) -> String {
    ///     ctx.header("x-tenant").unwrap_or("nobody").to_owned()
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("tenants", "1.0.0").tools(tools![tenant])).header("x-tenant", "b");
    /// assert_eq!(client.call_tool("tenant", json!({})).await?.text(), "b");
    /// let client = client.transport(Transport::Stdio);
    /// assert_eq!(client.call_tool("tenant", json!({})).await?.text(), "nobody", "a pipe has no headers");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Except over HTTP, all requests of the client and its clones share one connection. Over it, neither a question of a session nor a log
    /// message says which call it belongs to: the oldest open call answers the question, and all open calls see the log
    /// message.
    pub fn transport(mut self, transport: Transport) -> Self {
        self.connection.transport = transport;
        self.reconnected()
    }

    /// Sends a header with every request, in place of an earlier one of that name. A pipe has no headers.
    ///
    /// # Panics
    ///
    /// If the name or the value is not valid in a header.
    #[track_caller]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        let name = HeaderName::try_from(name).unwrap_or_else(|error| panic!("the header `{name}`: {error}"));
        let value = HeaderValue::from_str(value).unwrap_or_else(|error| panic!("the header `{name}`: {error}"));
        self.connection.headers.insert(name, value);
        self.reconnected()
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
    pub fn extension<T: Clone + Send + Sync + 'static>(mut self, value: T) -> Self {
        self.connection.extensions.insert(value);
        self.reconnected()
    }

    /// Declares the capabilities of the client; none by default.
    pub fn capabilities(mut self, capabilities: ClientCapabilities) -> Self {
        self.connection.capabilities = capabilities;
        self.reconnected()
    }

    /// Requests log messages of that level and above; none by default.
    pub fn log_level(mut self, level: Level) -> Self {
        self.connection.log_level = Some(level);
        self.reconnected()
    }

    /// The name in the client's `clientInfo`.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.connection.info.name = name.into();
        self.reconnected()
    }

    /// The version in the client's `clientInfo`.
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
    pub fn answer(self, key: impl Into<String>, form: impl Elicit) -> Self {
        self.scripted(key, Script::Always(ClientAnswer::accept(form)))
    }

    /// Accepts a function that takes another path in a later round, and so does not reach an answer or a step that an
    /// earlier round recorded. By default this is an error, because such a function can ask a question that it never
    /// uses, or do only part of its work.
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
    pub fn allow_other_paths(mut self) -> Self {
        self.allows_other_paths = true;
        self
    }

    /// Declines the question of that key, every time.
    pub fn decline(self, key: impl Into<String>) -> Self {
        self.scripted(key, Script::Always(ClientAnswer::decline()))
    }

    /// Cancels the question of that key, every time.
    pub fn cancel(self, key: impl Into<String>) -> Self {
        self.scripted(key, Script::Always(ClientAnswer::cancel()))
    }

    /// Sends this answer to the question of that key, every time: for choices, samples, roots, and invalid answers.
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
    pub fn answers(self, key: impl Into<String>, answers: impl IntoIterator<Item = ClientAnswer>) -> Self {
        self.scripted(key, Script::InTurn(answers.into_iter().collect(), 0))
    }

    /// A session and its connection belong to the client that opened them, so a client that differs opens its own.
    pub(super) fn reconnected(mut self) -> Self {
        self.connection.reconnect();
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
}

/// Runs a test with a client of each era: first [`Era::Stateless`], then [`Era::Session`]. Both call the same server, with
/// the same services.
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
