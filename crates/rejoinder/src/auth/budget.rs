//! How much of one thing a server lets its clients use: all of them together, and each caller.

use std::{
    collections::{HashMap, hash_map::RandomState},
    hash::{BuildHasher, Hash},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use http::StatusCode;

use super::Principal;
use crate::error::{RefusalLog, lock};

/// The share of one caller in so many, unless set.
pub(crate) const fn quarter(of: usize) -> usize {
    match of.div_ceil(4) {
        0 => 1,
        share => share,
    }
}

/// How errors name calls.
pub(crate) const CALLS: &str = "concurrent calls";

/// The budgets of a server: each is used on every transport.
#[derive(Debug, Clone)]
pub(crate) struct Budgets {
    pub(crate) calls: Budget,
    /// Questions that wait for an answer over a session.
    pub(crate) questions: Budget,
    pub(crate) sessions: Budget,
    pub(crate) subscriptions: Budget,
    pub(crate) background_tasks: Budget,
    /// The bytes that are held.
    pub(crate) bytes: Budget,
}

/// What all clients together, and each caller, may use of one thing.
#[derive(Debug, Clone)]
pub(crate) struct Budget(Arc<Uses>);

#[derive(Debug, Default)]
struct Uses {
    what: &'static str,
    in_all: usize,
    of_caller: usize,
    /// What anonymous callers may use together, where callers can be known.
    of_anonymous: Option<usize>,
    /// How much each holder has for nothing.
    free: usize,
    used: AtomicUsize,
    hasher: RandomState,
    /// By the hash of the caller, so that a holder keeps nothing of its token. Nobody can choose a caller whose hash is that of
    /// another; two that have the same would share a limit.
    by_caller: Mutex<HashMap<u64, usize>>,
    log: RefusalLog<Option<&'static str>>,
}

/// What is used; dropping it gives it back. The default is not counted.
#[derive(Debug, Default)]
pub(crate) struct Held {
    budget: Option<Budget>,
    /// The hash of the caller.
    caller: Option<u64>,
    free: usize,
    amount: usize,
}

/// All that may be used is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[error("too many {what}{} (limit {limit}), try again later", share_of.unwrap_or_default())]
pub(crate) struct BudgetFull {
    pub(crate) what: &'static str,
    pub(crate) limit: usize,
    /// Whose share it is, in words; `None` if all callers together use all that they may.
    pub(crate) share_of: Option<&'static str>,
}

impl BudgetFull {
    /// As many calls run as may run beside each other.
    pub(crate) fn of_calls(limit: usize) -> Self {
        Self { what: CALLS, limit, share_of: None }
    }

    /// The status of a stateless request for which there is no room.
    pub(crate) fn status(self) -> StatusCode {
        if self.share_of.is_some() { StatusCode::TOO_MANY_REQUESTS } else { StatusCode::SERVICE_UNAVAILABLE }
    }
}

/// How many bytes each holder has for nothing, so that those who hold much cannot keep out ordinary requests. How many
/// holders there are is limited elsewhere.
const FREE_BYTES: usize = 4 * 1024;

/// The same for a connection: hyper has two buffers of 8 KiB for it, however little it brings.
const FREE_UNREAD: usize = 16 * 1024;

/// Stands for the hash of a caller where the caller is not known yet.
const UNREAD: u64 = 0;

/// The same for all callers that nobody knows, where callers can be known.
const ANONYMOUS: u64 = 1;

impl Budget {
    pub(crate) fn new(what: &'static str, in_all: usize, of_caller: usize) -> Self {
        Self(Arc::new(Uses { what, in_all, of_caller, ..Uses::default() }))
    }

    pub(crate) fn of_bytes(in_all: usize, of_caller: usize) -> Self {
        Self(Arc::new(Uses { what: "held bytes", in_all, of_caller, free: FREE_BYTES, ..Uses::default() }))
    }

    /// The same, where callers can be known: all others together may use half of so much, so that they cannot keep known
    /// callers out.
    pub(crate) fn sharing_with_anonymous(mut self, of: usize) -> Self {
        let uses = Arc::get_mut(&mut self.0).expect("nobody uses it yet");
        uses.of_anonymous = Some(of.div_ceil(2));
        self
    }

    /// Nothing yet, for that caller. Where no caller can be known, all are counted in all only.
    pub(crate) fn hold(&self, caller: Option<&Principal>) -> Held {
        let caller = match caller {
            Some(caller) => Some(self.0.hasher.hash_one(caller)),
            None => self.0.of_anonymous.map(|_| ANONYMOUS),
        };
        Held { budget: Some(self.clone()), caller, free: self.0.free, amount: 0 }
    }

    /// Nothing yet, for what connections bring before their callers are known. All of it together has the share of one caller,
    /// so that it cannot keep known callers out.
    pub(crate) fn hold_unread(&self) -> Held {
        Held { budget: Some(self.clone()), caller: Some(UNREAD), free: FREE_UNREAD, amount: 0 }
    }

    /// Nothing yet, for an owner of what outlives the calls of its caller. It has the share of a caller, and all of it counts.
    pub(crate) fn hold_for(&self, owner: impl Hash) -> Held {
        Held { budget: Some(self.clone()), caller: Some(self.0.hasher.hash_one(owner)), free: 0, amount: 0 }
    }

    /// So much for that caller; what is free is not counted.
    pub(crate) fn take(&self, caller: Option<&Principal>, amount: usize) -> Result<Held, BudgetFull> {
        if amount <= self.0.free {
            return Ok(Held::default());
        }
        let mut held = self.hold(caller);
        held.grow(amount).map(|()| held)
    }

    #[cfg(test)]
    pub(crate) fn used(&self) -> usize {
        self.0.used.load(Ordering::Relaxed)
    }

    #[cfg(test)]
    pub(crate) fn of_caller(&self) -> usize {
        self.0.of_caller
    }
}

impl Uses {
    /// Adds what a holder of `own` takes.
    fn add(&self, caller: Option<u64>, own: usize, more: usize) -> Result<(), BudgetFull> {
        let fits = |used: usize| has_room(used, own, more, self.in_all).then_some(used + more);
        let added = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits);
        added.map_err(|_| self.full(self.in_all, None))?;
        let Some(caller) = caller else { return Ok(()) };
        let (limit, share_of) = match self.of_anonymous.filter(|_| caller == ANONYMOUS) {
            Some(limit) => (limit, " of anonymous callers"),
            None => (self.of_caller, " of this caller"),
        };
        let mut by_caller = lock(&self.by_caller);
        let used = by_caller.entry(caller).or_default();
        if !has_room(*used, own, more, limit) {
            drop(by_caller);
            self.used.fetch_sub(more, Ordering::Relaxed);
            return Err(self.full(limit, Some(share_of)));
        }
        *used += more;
        Ok(())
    }

    fn add_anyway(&self, caller: Option<u64>, more: usize) {
        self.used.fetch_add(more, Ordering::Relaxed);
        if let Some(caller) = caller {
            *lock(&self.by_caller).entry(caller).or_default() += more;
        }
    }

    fn subtract(&self, caller: Option<u64>, less: usize) {
        self.used.fetch_sub(less, Ordering::Relaxed);
        let Some(caller) = caller else { return };
        let mut by_caller = lock(&self.by_caller);
        let used = by_caller.get_mut(&caller).expect("it was added");
        *used -= less;
        if *used == 0 {
            by_caller.remove(&caller);
        }
    }

    fn full(&self, limit: usize, share_of: Option<&'static str>) -> BudgetFull {
        let full = BudgetFull { what: self.what, limit, share_of };
        if let Some(count) = self.log.due(share_of) {
            tracing::warn!(count, "refused: {full}");
        }
        full
    }
}

/// Whether a holder of `own` may have so much more, where all together have `used`. One that takes more than half of the limit
/// counts as half of it, so that whatever is allowed can be served while little else is held.
fn has_room(used: usize, own: usize, more: usize, limit: usize) -> bool {
    (used - own).saturating_add((own + more).min(limit.div_ceil(2))) <= limit
}

impl Held {
    /// Nothing yet, for the same caller. All of it counts.
    pub(crate) fn another(&self) -> Self {
        Self { budget: self.budget.clone(), caller: self.caller, free: 0, amount: 0 }
    }

    /// Holds more.
    pub(crate) fn grow(&mut self, more: usize) -> Result<(), BudgetFull> {
        let own = self.counted();
        let counted = (self.amount + more).saturating_sub(self.free) - own;
        if let Some(Budget(uses)) = self.budget.as_ref().filter(|_| counted > 0) {
            uses.add(self.caller, own, counted)?;
        }
        self.amount += more;
        Ok(())
    }

    /// Holds more, whether or not there is room: what it belongs to has begun. Nobody else finds room before there is some.
    pub(crate) fn grow_anyway(&mut self, more: usize) {
        let own = self.counted();
        let counted = (self.amount + more).saturating_sub(self.free) - own;
        if let Some(Budget(uses)) = self.budget.as_ref().filter(|_| counted > 0) {
            uses.add_anyway(self.caller, counted);
        }
        self.amount += more;
    }

    /// Gives some back.
    pub(crate) fn shrink(&mut self, less: usize) {
        let before = self.counted();
        self.amount = self.amount.saturating_sub(less);
        let less = before - self.counted();
        if let Some(Budget(uses)) = self.budget.as_ref().filter(|_| less > 0) {
            uses.subtract(self.caller, less);
        }
    }

    /// Moves what it holds into a new holder.
    #[cfg_attr(not(any(test, feature = "ws")), expect(dead_code, reason = "only a WebSocket hands messages on"))]
    pub(crate) fn split(&mut self) -> Self {
        let mut empty = self.another();
        empty.free = self.free;
        std::mem::replace(self, empty)
    }

    /// How much it holds, with what is free.
    pub(crate) fn amount(&self) -> usize {
        self.amount
    }

    /// Whether there is a budget that counts it.
    pub(crate) fn is_counted(&self) -> bool {
        self.budget.is_some()
    }

    fn counted(&self) -> usize {
        self.amount.saturating_sub(self.free)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.shrink(self.amount);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IN_ALL: BudgetFull = BudgetFull { what: "held bytes", limit: 100, share_of: None };

    #[test]
    fn what_is_held_is_counted_until_it_is_given_back() {
        let budget = Budget::of_bytes(100, 40);
        let mut held = budget.hold(None).another();
        held.grow(30).expect("there is room");
        held.grow(30).expect("there is room");
        held.shrink(10);
        assert_eq!(budget.used(), 50);
        let mut other = held.another();
        held.grow(1).expect("there is room");
        assert_eq!(other.grow(50), Err(IN_ALL), "too many together");
        held.shrink(1);
        other.grow(50).expect("there is room");
        let taken = held.split();
        held.shrink(1000);
        assert_eq!(budget.used(), 100, "it holds nothing now");
        drop(taken);
        assert_eq!(budget.used(), 50);
        drop((held, other));
        assert_eq!(budget.used(), 0);
        assert_eq!(IN_ALL.to_string(), "too many held bytes (limit 100), try again later");
        Held::default().grow(usize::MAX).expect("it is not counted");
    }

    #[test]
    fn small_holders_are_never_refused_and_neither_is_the_only_one() {
        let budget = Budget::of_bytes(100, 40);
        let mut only = budget.hold(None);
        only.grow(FREE_BYTES + 1_000).expect("it is the only one");
        only.grow(1_000).expect("it still is");
        assert!(!budget.take(None, FREE_BYTES).expect("it is small").is_counted());
        assert!(budget.take(None, FREE_BYTES + 1).is_err());
        let mut small = budget.hold(None);
        small.grow(FREE_BYTES).expect("it is small");
        assert_eq!(small.grow(1), Err(IN_ALL));
        drop(only);
        small.grow(1).expect("there is room again");
    }

    #[test]
    fn each_caller_has_a_share() {
        let budget = Budget::of_bytes(100, 40);
        let [ada, bob] = ["ada", "bob"].map(Principal::new);
        let hold = |caller, bytes| {
            let mut held = budget.hold(Some(caller)).another();
            held.grow(bytes).map(|()| held)
        };
        let first = hold(&ada, 30).expect("there is room");
        let full = hold(&ada, 11).expect_err("ada holds enough");
        assert_eq!(full.to_string(), "too many held bytes of this caller (limit 40), try again later");
        let other = hold(&bob, 40).expect("bob holds nothing yet");
        assert_eq!(hold(&bob, 1).expect_err("bob holds enough"), full);
        assert_eq!(budget.used(), 70, "what is refused is not counted");
        drop(first);
        hold(&ada, 50).expect("it is the only one of ada");
        drop(other);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn a3_m12_anonymous_callers_leave_half_to_known_ones() {
        let pens = Budget::new("pens", 6, 4).sharing_with_anonymous(6);
        let ada = Principal::new("ada");
        let taken = [pens.take(None, 1), pens.take(None, 1), pens.take(None, 1)];
        assert!(taken.iter().all(Result::is_ok));
        let full = pens.take(None, 1).expect_err("half of them");
        assert_eq!(full.to_string(), "too many pens of anonymous callers (limit 3), try again later");
        assert_eq!(full.status(), StatusCode::TOO_MANY_REQUESTS);
        let adas = [pens.take(Some(&ada), 1), pens.take(Some(&ada), 1), pens.take(Some(&ada), 1)];
        assert!(adas.iter().all(Result::is_ok), "a known caller finds room");
        drop(taken);
        pens.take(None, 1).expect("there is room again");
    }

    #[test]
    fn nothing_is_lost_when_many_hold_and_give_back_at_once() {
        let budget = Budget::of_bytes(1_000, 500);
        let ada = Principal::new("ada");
        std::thread::scope(|threads| {
            for thread in 0..8 {
                let (budget, caller) = (&budget, (thread % 2 == 0).then_some(&ada));
                threads.spawn(move || {
                    for round in 0..2_000 {
                        let mut held = budget.hold(caller).another();
                        if held.grow(round % 300).is_ok() {
                            let _ = held.grow(round % 70);
                            held.shrink(round % 50);
                        }
                        assert!(budget.used() <= 8 * 1_370, "what is refused is given back");
                    }
                });
            }
        });
        assert_eq!(budget.used(), 0);
        budget.hold(Some(&ada)).another().grow(500).expect("ada holds nothing");
    }

    #[test]
    fn each_caller_has_a_share_and_what_is_dropped_is_free_again() {
        let pens = Budget::new("pens", 6, 2);
        let (ada, bob) = (Principal::new("ada"), Principal::new("bob"));
        // Another token of the same caller is the same caller; the same name at another issuer is not.
        let (same, other) = (ada.clone().with_scopes(["write"]), ada.clone().with_issuer("https://id.example"));
        let take = |caller| pens.take(Some(caller), 1);
        let (first, second) = (take(&ada).expect("one"), take(&same).expect("two"));
        let full = take(&ada).expect_err("three");
        assert_eq!(full.to_string(), "too many pens of this caller (limit 2), try again later");
        let others = [take(&bob), take(&other), pens.take(None, 1), pens.take(None, 1)];
        assert!(others.iter().all(Result::is_ok));
        let full = pens.take(None, 1).expect_err("seven");
        assert_eq!(full.to_string(), "too many pens (limit 6), try again later");
        drop(first);
        let again = take(&ada).expect("there is room again");
        drop((second, again, others));
        assert!(lock(&pens.0.by_caller).is_empty(), "nothing is kept of callers that use nothing");
    }
}
