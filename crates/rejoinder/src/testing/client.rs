use std::{
    fmt::Display,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::{
    call::{Era, Level},
    graph::Ran,
    model::{ClientCapabilities, Implementation},
};
use bytes::Bytes;
use http::{Extensions, HeaderMap, HeaderName, HeaderValue, Method, Request, header};
use http_body_util::Full;
use serde_json::Value;

use super::{Result, answer::Answers, exchange::Exchange, session::Session};
use crate::{server::BuiltServer, transport::McpService};

/// A client that drives a server in process.
///
/// What it says of itself is set with methods that take it and give it back. A clone shares the server, so one
/// request can be made differently from the others: `client.clone().header("x-tenant", "b").call(..)`.
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
/// # async fn main() -> Result<(), rejoinder::testing::Error> {
/// let client = Client::new(Server::new("tenants", "1.0.0").tools(tools![tenant]));
/// assert_eq!(client.clone().header("x-tenant", "b").call_tool("tenant", json!({})).await?.text(), "b");
/// assert_eq!(client.call_tool("tenant", json!({})).await?.text(), "nobody");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Client {
    pub(super) server: BuiltServer,
    /// One for all requests: it holds the sessions.
    pub(super) service: McpService,
    pub(super) era: Era,
    pub(super) info: Implementation,
    pub(super) capabilities: ClientCapabilities,
    pub(super) log_level: Option<Level>,
    pub(super) answers: Answers,
    /// The session, once there is one; a client that says something else of itself opens another.
    pub(super) session: Arc<tokio::sync::OnceCell<Session>>,
    headers: HeaderMap,
    extensions: Extensions,
    ids: Arc<AtomicU64>,
}

impl Client {
    /// A client of a [`Server`](crate::Server) or [`BuiltServer`].
    ///
    /// # Panics
    ///
    /// If the server is not wired as it should be; the message lists every mistake.
    #[track_caller]
    pub fn new<S>(server: S) -> Self
    where
        S: TryInto<BuiltServer>,
        S::Error: Display,
    {
        // Not in a closure, which would be where it panics, instead of the test.
        let server = match server.try_into() {
            Ok(server) => server,
            Err(mistakes) => panic!("{mistakes}"),
        };
        Self {
            service: McpService::new(Arc::clone(&server.0)),
            server,
            era: Era::Stateless,
            info: Implementation::new("rejoinder-testing", env!("CARGO_PKG_VERSION")),
            capabilities: ClientCapabilities::default(),
            log_level: None,
            answers: Answers::default(),
            session: Arc::default(),
            headers: HeaderMap::new(),
            extensions: Extensions::new(),
            ids: Arc::new(AtomicU64::new(1)),
        }
    }

    /// Talks as clients of that era do; [`Era::Stateless`] unless set.
    ///
    /// In [`Era::Session`] the first request opens a session, which the client and its clones share. Nobody ends it but the
    /// server, when nothing has happened in it [for too long](crate::Server::session_timeout).
    ///
    /// In both eras, dropping the future of a request cancels it, as `tokio::time::timeout` does.
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
    /// # async fn main() -> Result<(), rejoinder::testing::Error> {
    /// let client = Client::new(Server::new("eras", "1.0.0").tools(tools![era]));
    /// assert_eq!(client.call_tool("era", json!({})).await?.text(), "stateless");
    /// assert_eq!(client.era(Era::Session).call_tool("era", json!({})).await?.text(), "session");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn era(mut self, era: Era) -> Self {
        self.era = era;
        self.anew()
    }

    /// Sends a header with every request, in place of an earlier one of that name.
    ///
    /// # Panics
    ///
    /// If it is no header.
    #[must_use]
    #[track_caller]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        let name = HeaderName::try_from(name).unwrap_or_else(|error| panic!("the header `{name}`: {error}"));
        let value = HeaderValue::from_str(value).unwrap_or_else(|error| panic!("the header `{name}`: {error}"));
        self.headers.insert(name, value);
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
    /// # async fn main() -> Result<(), rejoinder::testing::Error> {
    /// let client = Client::new(Server::new("users", "1.0.0").tools(tools![whoami])).extension(User("ada"));
    /// assert_eq!(client.call_tool("whoami", json!({})).await?.text(), "ada");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn extension<T: Clone + Send + Sync + 'static>(mut self, value: T) -> Self {
        self.extensions.insert(value);
        self
    }

    /// Declares what the client can do; nothing unless set.
    #[must_use]
    pub fn capabilities(mut self, capabilities: ClientCapabilities) -> Self {
        self.capabilities = capabilities;
        self.anew()
    }

    /// Wants log messages of that level and above; none unless set.
    #[must_use]
    pub fn log_level(mut self, level: Level) -> Self {
        self.log_level = Some(level);
        self.anew()
    }

    /// The client's own name.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.info.name = name.into();
        self.anew()
    }

    /// The client's own version.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.info.version = version.into();
        self.anew()
    }

    /// The server that it drives: its [handle](BuiltServer::handle), say.
    pub fn server(&self) -> &BuiltServer {
        &self.server
    }

    pub(super) fn anew(mut self) -> Self {
        self.session = Arc::default();
        self
    }

    pub(super) fn next_id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::Relaxed)
    }

    /// Sends a request in the words of the client's era; what comes back is read from the exchange.
    pub(super) async fn open(&self, method: &str, params: Value) -> Result<Exchange> {
        self.open_with(method, params, Ran::default()).await
    }

    /// [`Client::open`], and what runs for it is noted.
    pub(super) async fn open_with(&self, method: &str, params: Value, ran: Ran) -> Result<Exchange> {
        let (mut request, taking_back) = match self.era {
            Era::Session => self.session_request(method, params).await.map(|(request, back)| (request, Some(back)))?,
            _ => (self.stateless_request(method, params), None),
        };
        request.extensions_mut().insert(ran);
        let mut exchange = Exchange::open(self.service.clone(), method, request).await;
        exchange.taking_back = taking_back;
        Ok(exchange)
    }

    /// A request with the headers that all have, and then the user's.
    pub(super) fn http(&self, method: Method, headers: HeaderMap, body: Bytes) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = http::Uri::from_static("/mcp");
        *request.headers_mut() = headers;
        let all = [
            (header::HOST, "localhost"),
            (header::CONTENT_TYPE, "application/json"),
            (header::ACCEPT, "application/json, text/event-stream"),
        ];
        for (name, value) in all {
            request.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        for (name, value) in &self.headers {
            request.headers_mut().insert(name, value.clone());
        }
        *request.extensions_mut() = self.extensions.clone();
        request
    }
}
