use std::{net::Ipv6Addr, time::Duration};

use crate::call::Unknown;

use super::{CacheHints, Limits, Server, listening::Listening, state::Principal};
use crate::rounds::seal::StateOptions;

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
    pub(crate) unknown_arguments: Unknown,
    pub(crate) state: StateOptions,
    pub(crate) principal: Principal,
    pub(crate) limits: Limits,
    pub(crate) listening: Listening,
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
            unknown_arguments: Unknown::Refused,
            state: StateOptions::default(),
            principal: Principal::default(),
            limits: Limits::default(),
            listening: Listening::default(),
        }
    }
}

impl Options {
    /// What can never be of use, each with the method that set it.
    pub(super) fn mistakes(&self) -> Vec<(&'static str, String)> {
        let hosts = self.allowed_hosts.iter().filter(|host| !is_host(host)).map(|host| {
            let mistake =
                format!("`{host}` is no host name: it has no scheme, port, path or brackets, as in `mcp.example`");
            ("allow_host", mistake)
        });
        let origins = self.allowed_origins.iter().filter(|origin| !is_origin(origin)).map(|origin| {
            let mistake =
                format!("`{origin}` is no origin: it has a scheme and a host and no path, as in `https://app.example`");
            ("allow_origin", mistake)
        });
        let timeout = self.limits.session_idle.is_zero().then(|| {
            (
                "session_timeout",
                "a session that may not be idle at all ends before it is used: give it some time".to_owned(),
            )
        });
        hosts.chain(origins).chain(timeout).collect()
    }
}

fn is_host(host: &str) -> bool {
    host.parse::<Ipv6Addr>().is_ok() || !host.is_empty() && !host.contains([':', '/', '[', ']', '@', ' '])
}

/// Browsers send `null` for pages that have none; `*` means them all.
fn is_origin(origin: &str) -> bool {
    let has_host = |(scheme, host): (&str, &str)| !scheme.is_empty() && !host.is_empty() && !host.contains('/');
    matches!(origin, "*" | "null") || origin.split_once("://").is_some_and(has_host)
}

/// How the server talks, and with whom.
impl Server {
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
    pub fn stateless_only(mut self) -> Self {
        self.options.sessions = false;
        self
    }

    /// The largest request body or line, in bytes; 4 MiB unless set. The `id` in it takes at most 1,024 of them.
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.options.body_limit = bytes;
        self
    }

    /// How long a request's body may take to arrive; 30 seconds unless set.
    pub fn body_timeout(mut self, timeout: Duration) -> Self {
        self.options.body_timeout = timeout;
        self
    }

    /// How long a connection may take to send the head of its next request, or to read more of a reply; 60 seconds unless
    /// set.
    ///
    /// A connection that does neither is closed: otherwise enough of them would keep everybody else out. It counts for
    /// the HTTP that the server serves itself, not for a [mounted](crate::McpService) one.
    pub fn header_timeout(mut self, timeout: Duration) -> Self {
        self.options.header_timeout = timeout;
        self
    }

    /// How long calls in flight may go on once the server is told to stop; 10 seconds unless set. Closing sessions and what
    /// calls have deferred may take as long again, each.
    pub fn grace_period(mut self, grace: Duration) -> Self {
        self.options.grace = grace;
        self
    }

    /// Accepts requests for this host name too; `localhost` and the loopback addresses always are.
    ///
    /// A page in a browser can make a name of its own point at your machine: the check is what stops it. Ports do not count.
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
    /// Requests of pages on a loopback address and requests without an origin (not from a browser) are always accepted,
    /// but a browser lets a page of another port send them only if its origin is named here: `http://localhost:6274`, say.
    /// No page brings its user's cookies along. `*` stands for every origin.
    pub fn allow_origin(mut self, origin: impl Into<String>) -> Self {
        self.options.allowed_origins.push(origin.into());
        self
    }

    /// Answers bad argument values with the JSON-RPC error -32602 instead of a result that the model reads.
    pub fn strict_arguments(mut self) -> Self {
        self.options.strict_arguments = true;
        self
    }

    /// Ignores arguments that a tool or prompt does not have, instead of refusing them by name.
    ///
    /// For clients and models that send more than the schema has, which then no longer says `additionalProperties: false`.
    /// A misspelt name of an optional argument goes unnoticed with it. Injected parameters cannot be supplied either way.
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
    /// # async fn main() -> Result<(), rejoinder::testing::Error> {
    /// let server = Server::new("calculator", "1.0.0").tools(tools![add]).ignore_unknown_arguments();
    /// let sum = Client::new(server).call_tool("add", json!({ "a": 1, "b": 2, "why": "for fun" })).await?;
    /// assert_eq!(sum.text(), "3");
    /// # Ok(())
    /// # }
    /// ```
    pub fn ignore_unknown_arguments(mut self) -> Self {
        self.options.unknown_arguments = Unknown::Ignored;
        self
    }
}
