//! How often a refusal is logged: a client can cause as many as it likes.

use std::{
    collections::{HashMap, hash_map::Entry},
    hash::Hash,
    sync::Mutex,
    time::Duration,
};

use tokio::time::Instant;

use super::lock;

/// How often the same reason is logged.
const EVERY: Duration = Duration::from_secs(10);

/// When each reason of a refusal was last logged, and how often it occurred since.
#[derive(Debug)]
pub(crate) struct RefusalLog<R>(Mutex<HashMap<R, (Instant, u64)>>);

impl<R> Default for RefusalLog<R> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<R: Eq + Hash> RefusalLog<R> {
    /// How many refusals for this reason to log now; `None` if the last one was logged a moment ago.
    pub(crate) fn due(&self, reason: R) -> Option<u64> {
        let now = Instant::now();
        match lock(&self.0).entry(reason) {
            Entry::Vacant(first) => {
                first.insert((now, 0));
                Some(1)
            }
            Entry::Occupied(mut logged) => {
                let (last, count) = logged.get_mut();
                *count += 1;
                (now.duration_since(*last) >= EVERY).then(|| {
                    *last = now;
                    std::mem::take(count)
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_reason_is_logged_at_intervals_with_how_often_it_occurred() {
        let log = RefusalLog::default();
        assert_eq!([log.due("expired"), log.due("expired"), log.due("unknown")], [Some(1), None, Some(1)]);
        tokio::time::advance(EVERY).await;
        assert_eq!([log.due("expired"), log.due("expired"), log.due("unknown")], [Some(2), None, Some(1)]);
    }
}
