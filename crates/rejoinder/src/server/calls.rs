use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tokio::sync::Notify;

/// How many calls, or what they have deferred, are running: for whoever waits until there are none.
#[derive(Debug, Clone, Default)]
pub(crate) struct Calls(Arc<State>);

#[derive(Debug, Default)]
struct State {
    running: AtomicUsize,
    idle: Notify,
}

/// One running call.
#[derive(Debug)]
pub(crate) struct RunningCall(Calls);

impl Calls {
    pub(crate) fn begin(&self) -> RunningCall {
        self.0.running.fetch_add(1, Ordering::Relaxed);
        RunningCall(self.clone())
    }

    /// Begins one more, unless that many are running.
    pub(crate) fn begin_below(&self, most: usize) -> Option<RunningCall> {
        let begun = self.begin();
        (self.0.running.load(Ordering::Relaxed) <= most).then_some(begun)
    }

    /// Waits until no call is running.
    pub(crate) async fn idle(&self) {
        loop {
            // Before the look at the number, so that no end is missed in between.
            let ended = self.0.idle.notified();
            if self.0.running.load(Ordering::Acquire) == 0 {
                return;
            }
            ended.await;
        }
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        if self.0.0.running.fetch_sub(1, Ordering::Release) == 1 {
            self.0.0.idle.notify_waiters();
        }
    }
}
