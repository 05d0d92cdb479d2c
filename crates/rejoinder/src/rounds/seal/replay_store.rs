//! States that can be used once only.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap},
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::SystemTime,
};

use futures_util::future::BoxFuture;
use tokio::time::Instant;

use super::policy::Clock;
use crate::{
    auth::{Budget, Held, Principal, quarter},
    error::{BoxError, lock},
};

/// Remembers which states were used, so that each is used once.
///
/// Processes that share keys need one store for all: a database with a unique column, or Redis with `SET NX`.
/// Pass it to [`StatePolicy::single_use`](super::StatePolicy::single_use).
///
/// ```
/// use std::time::SystemTime;
///
/// use rejoinder::{BoxError, BoxFuture, auth::Principal, state::ReplayStore};
/// # struct Database;
/// # impl Database {
/// #     async fn insert_if_absent(&self, _: &[u8], _: SystemTime) -> Result<bool, std::io::Error> { Ok(true) }
/// # }
///
/// struct InDatabase(Database);
///
/// impl ReplayStore for InDatabase {
///     fn spend(
///         &self,
///         id: [u8; 16],
///         until: SystemTime,
///         _: Option<&Principal>,
///     ) -> BoxFuture<'_, Result<bool, BoxError>> {
///         Box::pin(async move { Ok(self.0.insert_if_absent(&id, until).await?) })
///     }
/// }
/// ```
pub trait ReplayStore: Send + Sync {
    /// Marks a state as used: `true` the first time, `false` afterwards. It need not be remembered after `until`.
    ///
    /// Of two that try at once, one gets `true`. After an error the state is refused, because it may have been used. A
    /// store with little room can limit what it remembers for one caller.
    fn spend(
        &self,
        id: [u8; 16],
        until: SystemTime,
        caller: Option<&Principal>,
    ) -> BoxFuture<'_, Result<bool, BoxError>>;

    /// Called when a server that can know its callers is built; does nothing unless implemented.
    ///
    /// A store with little room should then not let those without a caller fill it.
    fn expect_callers(&self) {}
}

/// A [`ReplayStore`] in the memory of this process, for a server with a single process.
///
/// It forgets states when they expire, and never before: when it is full, it returns an error. One caller can fill a quarter
/// of it, unless [`per_caller`](Self::per_caller) says otherwise. Where callers can be known, all others together can fill half.
///
/// ```
/// use rejoinder::{Server, state::{MemoryReplayStore, StatePolicy}};
///
/// let policy = StatePolicy::new().single_use(MemoryReplayStore::default());
/// let server = Server::new("shop", "1.0.0").state(policy);
/// assert!(server.check().is_ok());
/// ```
pub struct MemoryReplayStore {
    spent: Mutex<Spent>,
    most: usize,
    share: Budget,
    /// Whether those without a caller have a share as well.
    expects_callers: AtomicBool,
    clock: Clock,
}

#[derive(Default)]
struct Spent {
    ids: HashMap<[u8; 16], Held>,
    /// The one that expires first is on top. Of a clock that cannot be set: if the system's is set forward and back, no
    /// state may be forgotten that could be used again.
    expiring: BinaryHeap<Reverse<(Instant, [u8; 16])>>,
}

/// What one caller, and all anonymous ones together, may use of it.
fn share(of_caller: usize, most: usize) -> Budget {
    Budget::new("used states", usize::MAX, of_caller).sharing_with_anonymous(most)
}

impl MemoryReplayStore {
    /// Remembers at most that many states at a time; 100,000 (some 10 MB) unless set.
    pub fn at_most(states: usize) -> Self {
        let (share, clock): (_, Clock) = (share(quarter(states), states), Arc::new(SystemTime::now));
        Self { spent: Mutex::default(), most: states, share, expects_callers: AtomicBool::new(false), clock }
    }

    /// Remembers at most that many states of one [caller](Principal); a quarter of all unless set. Then that caller is
    /// refused with HTTP 429, and the others are not.
    ///
    /// ```
    /// use rejoinder::state::{MemoryReplayStore, StatePolicy};
    ///
    /// let policy = StatePolicy::new().single_use(MemoryReplayStore::at_most(10_000).per_caller(100));
    /// # drop(policy);
    /// ```
    #[must_use]
    pub fn per_caller(self, states: usize) -> Self {
        Self { share: share(states, self.most), ..self }
    }

    #[cfg(test)]
    pub(super) fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        lock(&self.spent).ids.len()
    }

    fn try_spend(&self, id: [u8; 16], until: SystemTime, caller: Option<&Principal>) -> Result<bool, BoxError> {
        let left = until.duration_since((self.clock)()).unwrap_or_default();
        let now = Instant::now();
        // Nothing panics between the changes to the two collections.
        let Spent { ids, expiring } = &mut *lock(&self.spent);
        while let Some(Reverse((until, expired))) = expiring.peek().copied()
            && until <= now
        {
            expiring.pop();
            ids.remove(&expired);
        }
        // An expired id may have been forgotten.
        if left.is_zero() || ids.contains_key(&id) {
            return Ok(false);
        }
        if ids.len() >= self.most {
            let most = self.most;
            return Err(format!("the replay store is full: it remembers {most} states that have not expired").into());
        }
        let is_counted = caller.is_some() || self.expects_callers.load(Ordering::Relaxed);
        let slot = if is_counted { self.share.take(caller, 1)? } else { Held::default() };
        expiring.push(Reverse((now + left, id)));
        ids.insert(id, slot);
        Ok(true)
    }
}

impl ReplayStore for MemoryReplayStore {
    fn spend(
        &self,
        id: [u8; 16],
        until: SystemTime,
        caller: Option<&Principal>,
    ) -> BoxFuture<'_, Result<bool, BoxError>> {
        Box::pin(std::future::ready(self.try_spend(id, until, caller)))
    }

    fn expect_callers(&self) {
        self.expects_callers.store(true, Ordering::Relaxed);
    }
}

impl Default for MemoryReplayStore {
    fn default() -> Self {
        Self::at_most(100_000)
    }
}

impl fmt::Debug for MemoryReplayStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryReplayStore").field("at_most", &self.most).finish_non_exhaustive()
    }
}
