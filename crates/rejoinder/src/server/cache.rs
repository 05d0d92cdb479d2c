use serde::Serialize;

/// For how long, and by whom, a reply may be kept (`ttlMs`, `cacheScope`).
///
/// Hints to clients and proxies; access control never rests on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheHints {
    /// Milliseconds for which the reply counts as fresh.
    pub ttl_ms: u64,
    /// Who may keep it.
    pub scope: CacheScope,
}

/// Who may keep a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CacheScope {
    /// Any cache, for any caller.
    Public,
    /// The caller alone.
    Private,
}

impl CacheHints {
    /// The default of lists: a minute, for the caller alone.
    pub const LISTS: Self = Self { ttl_ms: 60_000, scope: CacheScope::Private };
    /// The default of a resource's contents: not kept.
    pub const CONTENTS: Self = Self { ttl_ms: 0, scope: CacheScope::Private };
}
