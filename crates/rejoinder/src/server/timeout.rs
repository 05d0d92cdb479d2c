//! How long a round of a call may take.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::time::{Instant, Sleep, sleep_until};

/// The time that a round has. It stops while a client of a session has a question to answer.
pub(super) struct RoundClock {
    limit: Duration,
    /// What was left when the clock last started.
    left: Duration,
    /// When it last started; `None` while it stands still.
    started: Option<Instant>,
    /// Made when the round first waits: most rounds end at once.
    timer: Option<Pin<Box<Sleep>>>,
}

impl RoundClock {
    /// Starts a clock, if there is a limit. The time since the start of an earlier clock of the round counts.
    pub(super) fn start(limit: Option<Duration>, earlier: Option<Box<Self>>) -> Option<Box<Self>> {
        let started = earlier.and_then(|earlier| earlier.started).unwrap_or_else(Instant::now);
        limit.map(|limit| Box::new(Self { limit, left: limit, started: Some(started), timer: None }))
    }

    /// Ready with the limit when the time is up.
    pub(super) fn poll_expired(&mut self, is_asking: bool, cx: &mut Context<'_>) -> Poll<Duration> {
        if is_asking {
            if let Some(started) = self.started.take() {
                self.left = self.left.saturating_sub(started.elapsed());
                self.timer = None;
            }
            return Poll::Pending;
        }
        let started = *self.started.get_or_insert_with(Instant::now);
        // A limit beyond the end of the clock is none.
        let Some(until) = started.checked_add(self.left) else { return Poll::Pending };
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(until)));
        timer.as_mut().poll(cx).map(|()| self.limit)
    }
}
