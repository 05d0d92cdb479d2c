//! What one caller may use of what all callers share.

use std::{
    collections::{HashMap, hash_map::Entry},
    hash::{BuildHasher, RandomState},
    sync::{Arc, Mutex},
};

use super::{ByteBudget, Principal};
use crate::lock;

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
    pub(crate) bytes: ByteBudget,
}

/// Whether a holder of `own` may have so many more, where all together have `used`. One that takes more than half of the limit
/// counts as half of it, so that whatever is allowed can be served while little else is held.
pub(super) fn has_room(used: usize, own: usize, more: usize, limit: usize) -> bool {
    used.saturating_sub(own) + (own + more).min(limit.div_ceil(2)) <= limit
}

/// What each caller uses of one thing.
#[derive(Debug, Clone)]
pub(crate) struct CallerShare {
    what: &'static str,
    pub(crate) limit: usize,
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
pub(crate) struct CallerSlot(Option<(CallerShare, u64)>);

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
        let Some(caller) = caller.map(|caller| self.hash(caller)) else { return Ok(CallerSlot::default()) };
        self.add(caller, 0, 1)?;
        Ok(CallerSlot(Some((self.clone(), caller))))
    }

    pub(super) fn hash(&self, caller: &Principal) -> u64 {
        self.used.hasher.hash_one(caller)
    }

    /// So many more for the caller, for a holder that has `own` of them, unless the caller uses all that it may.
    pub(super) fn add(&self, caller: u64, own: usize, more: usize) -> Result<(), ShareUsedUp> {
        let mut by_caller = lock(&self.used.by_caller);
        let used = by_caller.get(&caller).copied().unwrap_or_default();
        if !has_room(used, own, more, self.limit) {
            return Err(ShareUsedUp { what: self.what, limit: self.limit });
        }
        by_caller.insert(caller, used + more);
        Ok(())
    }

    /// So many fewer.
    pub(super) fn give_back(&self, caller: u64, less: usize) {
        if let Entry::Occupied(mut used) = lock(&self.used.by_caller).entry(caller) {
            match used.get().saturating_sub(less) {
                0 => drop(used.remove()),
                left => *used.get_mut() = left,
            }
        }
    }
}

impl Drop for CallerSlot {
    fn drop(&mut self) {
        if let Some((share, caller)) = self.0.take() {
            share.give_back(caller, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
