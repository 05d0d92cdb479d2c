//! What one caller may use of what all callers share.

use std::{
    collections::{HashMap, hash_map::Entry},
    hash::{BuildHasher, RandomState},
    sync::{Arc, Mutex},
};

use super::Principal;
use crate::lock;

/// How much one caller may use at once, over all its sessions and connections; see
/// [`Server::caller_limits`](crate::Server::caller_limits).
///
/// A caller is an issuer and a subject ([`Principal`]). What is not set is a quarter of what all callers together may use, so
/// that one caller never uses up everything. Requests without a caller have no such limit, only that of their session.
///
/// ```
/// use rejoinder::{Server, auth::CallerLimits};
///
/// let limits = CallerLimits::new().calls(20).questions(5).sessions(10).subscriptions(10);
/// assert!(Server::new("shop", "1.0.0").caller_limits(limits).check().is_ok());
/// ```
#[must_use = "pass it to `Server::caller_limits`"]
#[derive(Debug, Clone, Copy, Default)]
pub struct CallerLimits {
    calls: Option<usize>,
    questions: Option<usize>,
    sessions: Option<usize>,
    subscriptions: Option<usize>,
}

impl CallerLimits {
    /// The default limits: a quarter of what all callers together may use.
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls that run at once; a quarter of [`Server::max_calls`](crate::Server::max_calls) by default. A further call gets
    /// the error -32603, and HTTP 429 if it is stateless.
    pub fn calls(self, most: usize) -> Self {
        Self { calls: Some(most.max(1)), ..self }
    }

    /// Questions over sessions that wait for an answer; a quarter of [`Server::max_calls`](crate::Server::max_calls) by
    /// default. A further question fails, as if the client could not be asked. Stateless questions wait at the client.
    pub fn questions(self, most: usize) -> Self {
        Self { questions: Some(most.max(1)), ..self }
    }

    /// Sessions over HTTP, WebSockets and streams of HTTP+SSE; a quarter of
    /// [`http::Config::max_sessions`](crate::http::Config::max_sessions) by default. A further `initialize` ends the
    /// caller's session that has been idle longest; if there is none, and for a WebSocket and a stream, it is HTTP 429.
    pub fn sessions(self, most: usize) -> Self {
        Self { sessions: Some(most.max(1)), ..self }
    }

    /// Subscriptions (`subscriptions/listen`); a quarter of
    /// [`Server::max_subscriptions`](crate::Server::max_subscriptions) by default. A further one gets the error -32603, and
    /// HTTP 429.
    pub fn subscriptions(self, most: usize) -> Self {
        Self { subscriptions: Some(most.max(1)), ..self }
    }

    /// The shares of callers in so many calls, sessions and subscriptions.
    pub(crate) fn shares(self, calls: usize, sessions: usize, subscriptions: usize) -> CallerShares {
        let share = |what, set: Option<usize>, of: usize| CallerShare::new(what, set.unwrap_or_else(|| quarter(of)));
        CallerShares {
            calls: share("concurrent calls", self.calls, calls),
            questions: share("open questions", self.questions, calls),
            sessions: share("sessions", self.sessions, sessions),
            subscriptions: share("subscriptions", self.subscriptions, subscriptions),
        }
    }
}

/// The share of one caller in so many, unless set.
pub(crate) const fn quarter(of: usize) -> usize {
    match of.div_ceil(4) {
        0 => 1,
        share => share,
    }
}

/// What each caller uses of a server.
#[derive(Debug, Clone)]
pub(crate) struct CallerShares {
    pub(crate) calls: CallerShare,
    pub(crate) questions: CallerShare,
    pub(crate) sessions: CallerShare,
    pub(crate) subscriptions: CallerShare,
}

/// What each caller uses of one thing.
#[derive(Debug, Clone)]
pub(crate) struct CallerShare {
    what: &'static str,
    limit: usize,
    used: Arc<UsedSlots>,
}

#[derive(Debug, Default)]
struct UsedSlots {
    hasher: RandomState,
    /// By the hash of the caller, so that a slot keeps nothing of its token. Nobody can choose a caller whose hash is that of
    /// another; two that have the same would share a limit.
    by_caller: Mutex<HashMap<u64, usize>>,
}

/// One that a caller uses; dropping it gives it back.
#[derive(Debug, Default)]
pub(crate) struct CallerSlot(Option<(Arc<UsedSlots>, u64)>);

/// A caller uses all that it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[error("too many {what} of this caller (limit {limit}), try again later")]
pub(crate) struct ShareUsedUp {
    pub(crate) what: &'static str,
    pub(crate) limit: usize,
}

impl CallerShare {
    pub(crate) fn new(what: &'static str, limit: usize) -> Self {
        Self { what, limit, used: Arc::default() }
    }

    /// One more for the caller, unless it uses all that it may. Anonymous callers are not counted.
    pub(crate) fn take(&self, caller: Option<&Principal>) -> Result<CallerSlot, ShareUsedUp> {
        let Some(caller) = caller else { return Ok(CallerSlot::default()) };
        let hash = self.used.hasher.hash_one(caller);
        let mut by_caller = lock(&self.used.by_caller);
        let used = by_caller.entry(hash).or_default();
        if *used >= self.limit {
            return Err(ShareUsedUp { what: self.what, limit: self.limit });
        }
        *used += 1;
        Ok(CallerSlot(Some((Arc::clone(&self.used), hash))))
    }
}

impl Drop for CallerSlot {
    fn drop(&mut self) {
        let Some((used, hash)) = self.0.take() else { return };
        if let Entry::Occupied(mut slots) = lock(&used.by_caller).entry(hash) {
            match *slots.get() {
                0 | 1 => drop(slots.remove()),
                _ => *slots.get_mut() -= 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_a_quarter_unless_set_and_never_nothing() {
        for (total, share) in [(0, 1), (1, 1), (2, 1), (8, 2), (10, 3), (10_000, 2_500)] {
            assert_eq!(quarter(total), share, "of {total}");
        }
        let shares = CallerLimits::new().calls(7).questions(0).shares(100, 40, 8);
        let limits = [shares.calls, shares.questions, shares.sessions, shares.subscriptions].map(|share| share.limit);
        assert_eq!(limits, [7, 1, 10, 2]);
    }

    #[test]
    fn each_caller_has_a_share_and_what_is_dropped_is_free_again() {
        let share = CallerShare::new("pens", 2);
        let (ada, bob) = (Principal::new("ada"), Principal::new("bob"));
        // Another token of the same caller is the same caller; the same name at another issuer is not.
        let (same, other) = (ada.clone().with_scopes(["write"]), ada.clone().with_issuer("https://id.example"));
        let take = |caller| share.take(Some(caller));
        let (first, second) = (take(&ada).expect("one"), take(&same).expect("two"));
        let full = take(&ada).expect_err("three");
        assert_eq!(full.to_string(), "too many pens of this caller (limit 2), try again later");
        let others = [take(&bob), take(&other), share.take(None), share.take(None), share.take(None)];
        assert!(others.iter().all(Result::is_ok));
        drop(first);
        let again = take(&ada).expect("there is room again");
        drop((second, again, others));
        assert!(lock(&share.used.by_caller).is_empty(), "nothing is kept of callers that use nothing");
    }
}
