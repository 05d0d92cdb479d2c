//! The settings of HTTP.

use std::{
    net::{Ipv6Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use super::options::Callback;

/// How a server is reached over HTTP; see [`Server::http`](crate::Server::http).
///
/// The settings that say so apply only to [`Server::serve_http`](crate::Server::serve_http) and
/// [`Server::serve_from_args`](crate::Server::serve_from_args): in front of a mounted [`McpService`](crate::http::McpService), use layers of your
/// application.
///
/// ```
/// use std::time::Duration;
///
/// use rejoinder::{Server, http};
///
/// let http = http::Config::new()
///     .allow_host("mcp.example.com")
///     .allow_origin("https://app.example.com")
///     .max_connections(1_000)
///     .session_timeout(Duration::from_secs(60));
/// assert!(Server::new("shop", "1.0.0").http(http).check().is_ok());
/// ```
#[must_use = "pass it to `Server::http`"]
#[derive(Debug, Clone)]
pub struct Config {
    pub(crate) path: String,
    pub(crate) websocket: Option<String>,
    pub(crate) sse: Option<String>,
    pub(crate) allowed_hosts: Vec<String>,
    pub(crate) any_host: bool,
    pub(crate) allowed_origins: Vec<String>,
    pub(crate) header_timeout: Duration,
    pub(crate) body_timeout: Duration,
    pub(crate) stream_after: Duration,
    pub(crate) max_connections: usize,
    pub(crate) max_sessions: usize,
    pub(crate) max_calls_per_session: usize,
    pub(crate) session_timeout: Duration,
    pub(crate) session_memory: bool,
    #[cfg(feature = "auth")]
    pub(crate) auth: Option<Arc<crate::auth::Auth>>,
    pub(crate) default_address: Option<SocketAddr>,
    pub(crate) on_listening: Callback<Option<Arc<OnListening>>>,
}

type OnListening = dyn Fn(SocketAddr) + Send + Sync;

instead!(
    AddressOfConfig for Config,
    "the address is not a setting: `.serve_http(address)`, or `--http ADDR` with `.serve_from_args()`",
    "not a method of `http::Config`": port address bind addr listen
);

impl Config {
    /// The default settings: only requests for this machine's own names are accepted.
    pub fn new() -> Self {
        Self {
            path: "/mcp".to_owned(),
            websocket: None,
            sse: None,
            allowed_hosts: ["localhost", "127.0.0.1", "::1"].map(String::from).to_vec(),
            any_host: false,
            allowed_origins: Vec::new(),
            header_timeout: Duration::from_secs(60),
            body_timeout: Duration::from_secs(30),
            stream_after: Duration::from_secs(10),
            max_connections: 10_000,
            max_sessions: 10_000,
            max_calls_per_session: 100,
            session_timeout: Duration::from_secs(30 * 60),
            session_memory: true,
            #[cfg(feature = "auth")]
            auth: None,
            default_address: None,
            on_listening: Callback(None),
        }
    }

    /// Accepts requests for this host name too; `localhost` and the loopback addresses are always accepted.
    ///
    /// A web page can make its host name resolve to your machine (DNS rebinding); this check stops it. The port is not
    /// compared. `--allow-host` and the environment variable `REJOINDER_ALLOW_HOSTS` (names separated by commas) add
    /// names to [`Server::serve_from_args`](crate::Server::serve_from_args); there `*` means any host.
    pub fn allow_host(mut self, host: impl Into<String>) -> Self {
        self.allowed_hosts.push(host.into());
        self
    }

    /// Accepts requests for any host name: for a server behind a proxy that checks it.
    pub fn allow_any_host(mut self) -> Self {
        self.any_host = true;
        self
    }

    /// Accepts requests from web pages of this origin, such as `https://app.example.com`, and sends browsers the CORS
    /// headers for it. `*` means every origin.
    ///
    /// A WebSocket can be opened without an origin (not from a browser), by pages of its own address, and by pages that are
    /// named here. Other requests without an origin and from pages on a loopback address are always accepted, but a
    /// browser lets a page on another port send them only if its origin is allowed here: `http://localhost:6274`, for
    /// example. Cookies are never accepted.
    pub fn allow_origin(mut self, origin: impl Into<String>) -> Self {
        self.allowed_origins.push(origin.into());
        self
    }

    /// Serves clients of 2025-11-25 and earlier without sessions: for replicas behind a load balancer that may send each
    /// request of a client to another process.
    ///
    /// `initialize` then gives no `Mcp-Session-Id`, and every request is served on its own. The server knows nothing of
    /// such a client but its version: it can ask nothing (a question uses its fallback, or the call fails with an error
    /// that says so) and announces no changes. Clients of 2026-07-28 are not affected.
    ///
    /// ```
    /// use rejoinder::{Server, call::Era, http, prelude::*, testing::Client};
    /// use serde_json::json;
    ///
    /// #[tool]
    /// async fn add(a: i64, b: i64) -> i64 { a + b }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let server = Server::new("replica", "1.0.0").tools(tools![add]).http(http::Config::new().without_session_memory());
    /// let client = Client::new(server).era(Era::Session);
    /// assert_eq!(client.call_tool("add", json!({ "a": 1, "b": 2 })).await?.text(), "3");
    /// # Ok(())
    /// # }
    /// ```
    pub fn without_session_memory(mut self) -> Self {
        self.session_memory = false;
        self
    }

    /// Settings that can never work, each with the method that made it.
    pub(crate) fn mistakes(&self) -> Vec<(&'static str, String)> {
        let mut mistakes = Vec::new();
        for host in self.allowed_hosts.iter().filter(|host| !is_host(host)) {
            let rule = "write it without scheme, port, path and brackets, as in `mcp.example.com`";
            mistakes.push(("allow_host", format!("`{host}` is not a host name: {rule}")));
        }
        for origin in self.allowed_origins.iter().filter(|origin| !is_origin(origin)) {
            let rule = "write scheme and host without a path, as in `https://app.example.com`";
            mistakes.push(("allow_origin", format!("`{origin}` is not an origin: {rule}")));
        }
        let zeros = [
            ("header_timeout", self.header_timeout.is_zero()),
            ("session_timeout", self.session_timeout.is_zero()),
            ("max_connections", self.max_connections == 0),
            ("max_sessions", self.max_sessions == 0),
            ("max_calls_per_session", self.max_calls_per_session == 0),
        ];
        for (method, _) in zeros.into_iter().filter(|(_, is_zero)| *is_zero) {
            mistakes.push((method, "it must be greater than zero".to_owned()));
        }
        let paths = [("path", Some(&self.path)), ("websocket", self.websocket.as_ref()), ("sse", self.sse.as_ref())];
        let mut taken: Vec<(&str, &str)> = Vec::new();
        for (method, path) in paths.into_iter().filter_map(|(method, path)| Some((method, path?))) {
            let trimmed = path.trim_end_matches('/');
            if !is_path(path) {
                let rule = "it begins with `/` and has no query, as in `/mcp`";
                mistakes.push((method, format!("`{path}` is not a path: {rule}")));
            } else if let Some((other, _)) = taken.iter().find(|(_, taken)| *taken == trimmed) {
                mistakes.push((method, format!("`{path}` is the path of `{other}` already: choose another")));
            }
            taken.push((method, trimmed));
        }
        #[cfg(feature = "auth")]
        mistakes.extend(self.auth.iter().flat_map(|auth| auth.mistakes()).map(|mistake| ("auth", mistake)));
        mistakes
    }

    /// Tells `Auth` under which addresses clients know the server.
    #[cfg(feature = "auth")]
    pub(crate) fn name_addresses(&self) {
        let others = [&self.websocket, &self.sse].into_iter().flatten();
        self.auth.iter().for_each(|auth| auth.serve_at(&self.path, others.clone()));
    }
}

/// Defines methods that set the field of their name.
macro_rules! settings {
    ($($(#[$attr:meta])* $name:ident($value:ident: $ty:ty) = $set:expr;)*) => {
        impl Config {
            $($(#[$attr])*
            pub fn $name(mut self, $value: $ty) -> Self {
                self.$name = $set;
                self
            })*
        }
    };
}

settings! {
    /// The path of the endpoint, with or without a slash at the end; `/mcp` by default. `--path` sets it on the command
    /// line. `GET /healthz` answers 200, for load balancers, and 503 while the server shuts down. Not for a mounted service.
    ///
    /// ```
    /// use rejoinder::{Server, http};
    ///
    /// let http = http::Config::new().path("/tools/shop");
    /// assert!(Server::new("shop", "1.0.0").http(http).check().is_ok());
    /// let http = http::Config::new().path("shop");
    /// assert!(Server::new("shop", "1.0.0").http(http).check().unwrap_err().to_string().contains("begins with `/`"));
    /// ```
    path(path: impl Into<String>) = path.into();

    /// Serves WebSocket too, at this path. `--ws` does so on the command line, at `/mcp/ws`. Not for a mounted service, which
    /// has [`McpService::websocket`](crate::http::McpService::websocket).
    ///
    /// ```
    /// use rejoinder::{Server, http};
    ///
    /// let http = http::Config::new().websocket("/mcp/ws");
    /// assert!(Server::new("shop", "1.0.0").http(http).check().is_ok());
    /// ```
    #[cfg(feature = "ws")]
    websocket(path: impl Into<String>) = Some(path.into());

    /// Serves HTTP+SSE too, at this path: for clients of 2024-11-05 that know no other transport. `--sse` does so on the
    /// command line, at `/sse`. Not for a mounted service, which has [`McpService::sse`](crate::http::McpService::sse).
    ///
    /// ```
    /// use rejoinder::{Server, http};
    ///
    /// let http = http::Config::new().sse("/sse");
    /// assert!(Server::new("shop", "1.0.0").http(http).check().is_ok());
    /// ```
    #[cfg(feature = "sse")]
    sse(path: impl Into<String>) = Some(path.into());

    /// How long a connection may take to send the head of its next request, or to read more of a reply; 60 seconds by
    /// default. Then, or up to a quarter of that time later, it is closed, so that idle connections cannot keep other clients
    /// out. Not for a mounted service.
    header_timeout(timeout: Duration) = timeout;

    /// How long the body of a request may take to arrive; 30 seconds by default.
    body_timeout(timeout: Duration) = timeout;

    /// After how long without a message the reply to a stateless call becomes a stream of events; 10 seconds by default.
    ///
    /// A reply is JSON if the call ends at once, and then its status says whether it failed. A proxy or a client may give
    /// up on a call that sends nothing (nginx after a minute). So a slow call begins a stream with a comment, and
    /// further comments keep it open; an error then comes in the stream, with status 200. Clients that accept only JSON
    /// get JSON.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use rejoinder::{Server, http};
    ///
    /// let http = http::Config::new().stream_after(Duration::from_secs(2));
    /// assert!(Server::new("behind-a-strict-proxy", "1.0.0").http(http).check().is_ok());
    /// ```
    stream_after(silence: Duration) = silence;

    /// How many connections are open at once; 10,000 by default. Further connections wait until one has ended.
    ///
    /// A connection has one request at a time, so this also limits stateless calls. Not for a mounted service.
    max_connections(connections: usize) = connections;

    /// How many sessions are open at once; 10,000 by default. A further `initialize` ends the session that has been idle
    /// longest, one that was never used first. If every client reads a stream, it is refused with HTTP 503.
    ///
    /// ```
    /// use rejoinder::{Server, call::Era, http, testing::Client};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let server = Server::new("small", "1.0.0").tools([]).http(http::Config::new().max_sessions(1));
    /// let client = Client::new(server).era(Era::Session);
    /// assert!(client.list_tools().await.is_ok());
    /// assert!(client.clone().name("another").list_tools().await.is_ok());
    /// let ended = client.list_tools().await.unwrap_err();
    /// assert_eq!(ended.rpc().map(|error| error.status.as_u16()), Some(404));
    /// # }
    /// ```
    max_sessions(sessions: usize) = sessions;

    /// How many calls one session runs at once; 100 by default. A further call gets the error -32603.
    ///
    /// A call of a session continues without its client, and may wait for an answer that never comes. This limit keeps one
    /// client from using up [`Limits::calls`](crate::server::Limits::calls).
    max_calls_per_session(calls: usize) = calls;

    /// How long a session lasts in which nothing happens and no stream is open; 30 minutes by default, and at most a minute
    /// if nothing has followed `initialize`.
    session_timeout(idle: Duration) = idle;

    /// Finds out who calls, and refuses requests without valid credentials; see [`Auth`](crate::auth::Auth).
    #[cfg(feature = "auth")]
    auth(auth: crate::auth::Auth) = Some(Arc::new(auth));

    /// Lets [`Server::serve_from_args`](crate::Server::serve_from_args) serve HTTP at this address, instead of standard
    /// input and output, if the command line names neither.
    ///
    /// ```no_run
    /// use rejoinder::{http, prelude::*};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> rejoinder::Result<()> {
    /// let http = http::Config::new().default_address(([127, 0, 0, 1], 8000));
    /// Server::new("shop", "1.0.0").http(http).serve_from_args().await
    /// # }
    /// ```
    default_address(address: impl Into<SocketAddr>) = Some(address.into());

    /// Calls this function with the address once the server listens: to print it, or to learn which port the system
    /// chose. Not for a mounted service.
    ///
    /// ```no_run
    /// use rejoinder::{http, prelude::*};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> rejoinder::Result<()> {
    /// let http = http::Config::new().on_listening(|address| println!("open http://{address}/mcp"));
    /// Server::new("shop", "1.0.0").http(http).serve_http(([127, 0, 0, 1], 0).into()).await
    /// # }
    /// ```
    on_listening(listening: impl Fn(SocketAddr) + Send + Sync + 'static) = Callback(Some(Arc::new(listening)));
}

/// The address that a request comes from, for the log of refused requests. `serve_http` puts it into the extensions of each
/// request if the server has `Auth` (feature `auth`); in front of a mounted [`McpService`](crate::http::McpService), a layer of yours can do so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerAddress(pub SocketAddr);

impl Default for Config {
    fn default() -> Self {
        Self::new()
    }
}

fn is_path(path: &str) -> bool {
    let is_uri = path.parse::<::http::uri::PathAndQuery>().is_ok_and(|uri| uri.query().is_none() && uri.path() == path);
    path.starts_with('/') && path != HEALTH && is_uri
}

/// Where load balancers ask whether the server is up.
pub(crate) const HEALTH: &str = "/healthz";

fn is_host(host: &str) -> bool {
    host.parse::<Ipv6Addr>().is_ok() || !host.is_empty() && !host.contains([':', '/', '[', ']', '@', ' '])
}

/// Browsers send `null` for pages that have no origin; `*` means every origin.
fn is_origin(origin: &str) -> bool {
    let has_host = |(scheme, host): (&str, &str)| !scheme.is_empty() && !host.is_empty() && !host.contains('/');
    matches!(origin, "*" | "null") || origin.split_once("://").is_some_and(has_host)
}

#[cfg(all(test, feature = "sse", feature = "ws"))]
mod tests {
    use super::*;

    #[test]
    fn each_transport_has_a_path_of_its_own() {
        let config = Config::new;
        for (config, mistaken) in [
            (config().websocket("/mcp/ws").sse("/sse"), &[][..]),
            (config().websocket("/mcp/").sse("/mcp"), &["websocket", "sse"]),
            (config().websocket("/live").sse("/live/"), &["sse"]),
            (config().websocket("ws").sse("/sse?x"), &["websocket", "sse"]),
            (config().sse("/healthz"), &["sse"]),
            (config().path("/sse").sse("/sse"), &["sse"]),
        ] {
            let mistakes: Vec<_> = config.mistakes().into_iter().map(|(method, _)| method).collect();
            assert_eq!(mistakes, mistaken, "{config:?}");
        }
    }
}
