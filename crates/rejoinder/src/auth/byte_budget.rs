//! How many bytes a server holds for its clients: in all, and for each caller.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use super::{CallerShare, Principal, ShareUsedUp, caller_share::has_room};
use crate::error::RefusalLog;

/// How many bytes each holder has for nothing, so that those who hold much cannot keep out ordinary requests. How many
/// holders there are is limited elsewhere.
const FREE: usize = 4 * 1024;

/// Stands for the hash of a caller where the caller is not known yet.
const UNREAD: u64 = 0;

/// What all clients together, and each caller, may make the server hold.
#[derive(Debug, Clone)]
pub(crate) struct ByteBudget(Arc<Budget>);

#[derive(Debug)]
struct Budget {
    most: usize,
    held: AtomicUsize,
    of_callers: CallerShare,
    log: RefusalLog<&'static str>,
}

/// Bytes that are held; dropping it gives them back. The default is not counted.
#[derive(Debug, Default)]
pub(crate) struct HeldBytes {
    budget: Option<ByteBudget>,
    /// The hash of the caller.
    caller: Option<u64>,
    free: usize,
    bytes: usize,
}

/// There is no room for more bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoRoom {
    #[error("the server holds too many bytes for its clients (limit {0}), try again later")]
    InAll(usize),
    #[error(transparent)]
    OfCaller(#[from] ShareUsedUp),
}

impl ByteBudget {
    pub(crate) fn new(most: usize, of_caller: usize) -> Self {
        let of_callers = CallerShare::new("held bytes", of_caller);
        Self(Arc::new(Budget { most, held: AtomicUsize::new(0), of_callers, log: RefusalLog::default() }))
    }

    /// Nothing yet, for that caller. Anonymous callers are counted in all only.
    pub(crate) fn hold(&self, caller: Option<&Principal>) -> HeldBytes {
        let caller = caller.map(|caller| self.0.of_callers.hash(caller));
        HeldBytes { budget: Some(self.clone()), caller, free: FREE, bytes: 0 }
    }

    /// Nothing yet, for what connections bring before their callers are known. All of it together has the share of one caller,
    /// so that it cannot keep known callers out.
    pub(crate) fn hold_unread(&self) -> HeldBytes {
        let mut held = self.hold(None);
        held.caller = Some(UNREAD);
        held
    }

    /// So many bytes for that caller; `None` if so few are not counted.
    pub(crate) fn take(&self, caller: Option<&Principal>, bytes: usize) -> Result<Option<HeldBytes>, NoRoom> {
        if bytes <= FREE {
            return Ok(None);
        }
        let mut held = self.hold(caller);
        held.grow(bytes).map(|()| Some(held))
    }

    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.0.held.load(Ordering::Relaxed)
    }
}

impl HeldBytes {
    /// Nothing yet, for the same caller. Every byte of it counts.
    pub(crate) fn another(&self) -> Self {
        Self { budget: self.budget.clone(), caller: self.caller, free: 0, bytes: 0 }
    }

    /// Holds more.
    pub(crate) fn grow(&mut self, more: usize) -> Result<(), NoRoom> {
        let own = self.counted();
        let more_counted = (self.bytes + more).saturating_sub(self.free) - own;
        if let Some(ByteBudget(budget)) = self.budget.as_ref().filter(|_| more_counted > 0) {
            budget.add(self.caller, own, more_counted).inspect_err(|no_room| {
                let whose = if matches!(no_room, NoRoom::InAll(_)) { "all clients" } else { "one caller" };
                if let Some(count) = budget.log.due(whose) {
                    tracing::warn!(count, "refused what {whose} would make the server hold: {no_room}");
                }
            })?;
        }
        self.bytes += more;
        Ok(())
    }

    /// Gives some back.
    pub(crate) fn shrink(&mut self, less: usize) {
        let before = self.counted();
        self.bytes = self.bytes.saturating_sub(less);
        let less = before - self.counted();
        let Some(ByteBudget(budget)) = self.budget.as_ref().filter(|_| less > 0) else { return };
        budget.held.fetch_sub(less, Ordering::Relaxed);
        if let Some(caller) = self.caller {
            budget.of_callers.give_back(caller, less);
        }
    }

    /// Moves what it holds into a new holder.
    #[cfg_attr(not(any(test, feature = "ws")), expect(dead_code, reason = "only a WebSocket hands messages on"))]
    pub(crate) fn split(&mut self) -> Self {
        let mut empty = self.another();
        empty.free = self.free;
        std::mem::replace(self, empty)
    }

    fn counted(&self) -> usize {
        self.bytes.saturating_sub(self.free)
    }
}

impl Budget {
    fn add(&self, caller: Option<u64>, own: usize, more: usize) -> Result<(), NoRoom> {
        let fits = |held: usize| has_room(held, own, more, self.most).then_some(held + more);
        let added = self.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits);
        added.map_err(|_| NoRoom::InAll(self.most))?;
        let Some(caller) = caller else { return Ok(()) };
        self.of_callers.add(caller, own, more).map_err(|used_up| {
            self.held.fetch_sub(more, Ordering::Relaxed);
            used_up.into()
        })
    }
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        self.shrink(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_counted_until_it_is_given_back() {
        let budget = ByteBudget::new(100, 40);
        let mut held = budget.hold(None).another();
        held.grow(30).expect("there is room");
        held.grow(30).expect("there is room");
        held.shrink(10);
        assert_eq!(budget.held(), 50);
        let mut other = held.another();
        held.grow(1).expect("there is room");
        assert_eq!(other.grow(50), Err(NoRoom::InAll(100)), "too many together");
        held.shrink(1);
        other.grow(50).expect("there is room");
        let taken = held.split();
        held.shrink(1000);
        assert_eq!(budget.held(), 100, "it holds nothing now");
        drop(taken);
        assert_eq!(budget.held(), 50);
        drop((held, other));
        assert_eq!(budget.held(), 0);
        let message = NoRoom::InAll(100).to_string();
        assert_eq!(message, "the server holds too many bytes for its clients (limit 100), try again later");
        HeldBytes::default().grow(usize::MAX).expect("it is not counted");
    }

    #[test]
    fn small_holders_are_never_refused_and_neither_is_the_only_one() {
        let budget = ByteBudget::new(100, 40);
        let mut only = budget.hold(None);
        only.grow(FREE + 1_000).expect("it is the only one");
        only.grow(1_000).expect("it still is");
        assert!(budget.take(None, FREE).expect("it is small").is_none());
        assert!(budget.take(None, FREE + 1).is_err());
        let mut small = budget.hold(None);
        small.grow(FREE).expect("it is small");
        assert_eq!(small.grow(1), Err(NoRoom::InAll(100)));
        drop(only);
        small.grow(1).expect("there is room again");
    }

    #[test]
    fn each_caller_has_a_share() {
        let budget = ByteBudget::new(100, 40);
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
        assert_eq!(budget.held(), 70, "what is refused is not counted");
        drop(first);
        hold(&ada, 50).expect("it is the only one of ada");
        drop(other);
        assert_eq!(budget.held(), 0);
    }

    #[test]
    fn nothing_is_lost_when_many_hold_and_give_back_at_once() {
        let budget = ByteBudget::new(1_000, 500);
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
                        assert!(budget.held() <= 8 * 1_370, "what is refused is given back");
                    }
                });
            }
        });
        assert_eq!(budget.held(), 0);
        budget.hold(Some(&ada)).another().grow(500).expect("ada holds nothing");
    }
}
