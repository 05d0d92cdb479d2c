//! The clock of a store, which a test can advance.

use std::{
    pin::pin,
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

use crate::error::lock;

/// The clock of a store on this machine: what leases, sleeps and time limits of tasks are measured with.
///
/// A test advances it instead of waiting. Its clones are one clock.
///
/// ```
/// use std::time::Duration;
/// use rejoinder::tasks::TaskClock;
///
/// let clock = TaskClock::system();
/// let before = clock.now();
/// clock.advance(Duration::from_secs(3600));
/// assert!(clock.now() >= before + Duration::from_secs(3600));
/// ```
#[derive(Debug, Clone)]
pub struct TaskClock {
    /// When it began, if it does not follow the clock of the system.
    began: Option<(SystemTime, Instant)>,
    ahead: Arc<Ahead>,
}

/// How far a clock has been advanced.
#[derive(Debug, Default)]
struct Ahead {
    by: Mutex<Duration>,
    has_moved: Notify,
}

/// Nothing lasts longer, so that no sum of times overflows.
const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// Timers of the runtime are shorter. Whoever sleeps looks at the clock again.
const DAY: Duration = Duration::from_secs(24 * 3600);

impl TaskClock {
    /// The clock of the system, which all processes share.
    pub fn system() -> Self {
        Self { began: None, ahead: Arc::default() }
    }

    /// A clock that begins with that of the system and does not jump when somebody sets that one.
    pub fn steady() -> Self {
        Self { began: Some((SystemTime::now(), Instant::now())), ahead: Arc::default() }
    }

    /// The time.
    pub fn now(&self) -> SystemTime {
        let now = self.began.map_or_else(SystemTime::now, |(time, instant)| time + instant.elapsed());
        later(now, *lock(&self.ahead.by))
    }

    /// Moves the clock, and wakes who sleeps by it.
    pub fn advance(&self, by: Duration) {
        let mut ahead = lock(&self.ahead.by);
        *ahead = ahead.saturating_add(by);
        drop(ahead);
        self.ahead.has_moved.notify_waiters();
    }

    /// Waits until so much time has passed by this clock, or a day.
    pub async fn sleep(&self, duration: Duration) {
        let (start, end) = (*lock(&self.ahead.by), Instant::now() + duration.min(DAY));
        loop {
            let mut has_moved = pin!(self.ahead.has_moved.notified());
            has_moved.as_mut().enable();
            let skipped = lock(&self.ahead.by).saturating_sub(start);
            let Some(end) = end.checked_sub(skipped) else { return };
            tokio::select! {
                biased;
                () = sleep_until(end) => return,
                () = has_moved => {}
            }
        }
    }
}

/// So much later.
pub(crate) fn later(time: SystemTime, by: Duration) -> SystemTime {
    time.checked_add(by.min(CENTURY)).unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn sleepers_wake_when_their_time_has_come_or_is_skipped() {
        let clock = TaskClock::steady();
        let start = clock.now();
        clock.sleep(Duration::from_secs(5)).await;
        assert_eq!(clock.now(), start + Duration::from_secs(5), "it follows the paused time of a test");
        let sleeper = tokio::spawn({
            let clock = clock.clone();
            async move {
                clock.sleep(Duration::from_secs(3600)).await;
                clock.now()
            }
        });
        tokio::task::yield_now().await;
        clock.advance(Duration::from_secs(1800));
        clock.advance(Duration::from_secs(1795));
        let woken = sleeper.await.expect("it does not panic");
        assert_eq!(woken, start + Duration::from_secs(3605), "five of the hour are left");
        clock.advance(Duration::MAX);
        clock.advance(Duration::MAX);
        assert!(clock.now() > start);
    }
}
