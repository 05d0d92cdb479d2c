use std::time::Duration;

use super::{CacheHints, Limits, Server, state::Principal};
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
    pub fn modern_only(mut self) -> Self {
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
    /// Requests of pages on a loopback address and requests without an origin (not from a browser) are always accepted,
    /// but a browser lets a page of another port send them only if its origin is named here: `http://localhost:6274`, say.
    /// No page brings its user's cookies along.
    pub fn allow_origin(mut self, origin: impl Into<String>) -> Self {
        self.options.allowed_origins.push(origin.into());
        self
    }

    /// Answers bad argument values with the JSON-RPC error -32602 instead of a result that the model reads.
    pub fn argument_errors_as_protocol_errors(mut self) -> Self {
        self.options.strict_arguments = true;
        self
    }
}
