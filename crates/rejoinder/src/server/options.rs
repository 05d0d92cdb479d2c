use std::{fmt, sync::Arc, time::Duration};

use super::{Limits, http, middleware::AroundOperation, tool_filter::ToolFilter};
use crate::{
    argument::UnknownArguments, auth::Principal, model::CacheScope, request::RequestInfo, rounds::seal::StatePolicy,
};

/// The settings of a server, with the methods of [`Server`](super::Server) that set them.
#[derive(Debug, Clone)]
pub(crate) struct ServerOptions {
    pub(crate) page_size: usize,
    /// What the author says about lists.
    pub(crate) list_hints: Option<CacheHints>,
    pub(crate) contents_hints: CacheHints,
    pub(crate) sessions: bool,
    pub(crate) strict_arguments: bool,
    pub(crate) unknown_arguments: UnknownArguments,
    pub(crate) limits: Limits,
    pub(crate) grace: Duration,
    /// Whether the process ends with the server, also if threads are blocked.
    pub(crate) ends_process: bool,
    pub(crate) timeout: Option<Duration>,
    pub(super) tool_filters: Vec<ToolFilter>,
    pub(crate) principal: Callback<Option<Arc<IdentifyCaller>>>,
    pub(crate) stdio_principal: Option<Principal>,
    /// The first is the outermost.
    pub(super) middleware: Callback<Vec<Arc<AroundOperation>>>,
    pub(crate) http: http::Config,
    pub(crate) state: StatePolicy,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            page_size: 1000,
            list_hints: None,
            contents_hints: CacheHints::CONTENTS,
            sessions: true,
            strict_arguments: false,
            unknown_arguments: UnknownArguments::Refused,
            limits: Limits::new(),
            grace: Duration::from_secs(10),
            ends_process: false,
            timeout: None,
            tool_filters: Vec::new(),
            principal: Callback::default(),
            stdio_principal: None,
            middleware: Callback::default(),
            http: http::Config::new(),
            state: StatePolicy::new(),
        }
    }
}

impl ServerOptions {
    /// Whether a client can get a token with more scopes, if it is told that it needs one.
    pub(crate) fn can_step_up(&self) -> bool {
        #[cfg(feature = "auth")]
        return self.http.auth.as_ref().is_some_and(|auth| auth.is_oauth());
        #[cfg(not(feature = "auth"))]
        return false;
    }

    /// Whether the server itself can find out who calls.
    pub(super) fn can_identify(&self) -> bool {
        #[cfg(feature = "auth")]
        if self.http.auth.is_some() {
            return true;
        }
        self.principal.0.is_some() || self.stdio_principal.is_some()
    }
}

/// How long a client or proxy may cache a reply, and for whom (`ttlMs`, `cacheScope`).
///
/// These are hints; access control never depends on them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheHints {
    /// Milliseconds for which the reply is fresh.
    pub ttl_ms: u64,
    /// Who may cache it.
    pub scope: CacheScope,
}

impl CacheHints {
    /// The default of lists: one minute, for the caller only.
    pub const LISTS: Self = Self { ttl_ms: 60_000, scope: CacheScope::Private };
    /// The default of a resource's contents: not cached.
    pub const CONTENTS: Self = Self { ttl_ms: 0, scope: CacheScope::Private };
}

/// Returns the caller of a request.
pub(super) type IdentifyCaller = dyn Fn(&RequestInfo) -> Option<Principal> + Send + Sync;

/// A function of the author, which `Debug` cannot show.
#[derive(Clone, Default)]
pub(crate) struct Callback<T>(pub(crate) T);

impl<T> fmt::Debug for Callback<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("fn")
    }
}
