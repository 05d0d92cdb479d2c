use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use serde_json::Value;

use super::Level;

/// Something that a call tells its client before it ends.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Emitted {
    /// How far the call has got.
    Progress {
        /// Rises with every message.
        progress: f64,
        /// Where it ends, if that is known.
        total: Option<f64>,
        /// For a person to read.
        message: Option<String>,
    },
    /// A log message.
    Log {
        /// How severe.
        level: Level,
        /// Who says it.
        logger: Option<String>,
        /// What it says.
        data: Value,
    },
}

/// Where a call's notifications wait until the transport takes them.
///
/// It holds few: a call that emits faster than its client reads waits.
#[derive(Debug, Default)]
pub struct Outbox(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Emitted>,
    progress: Option<f64>,
    closed: bool,
    full: Vec<Waker>,
    empty: Option<Waker>,
}

const CAPACITY: usize = 64;

impl State {
    fn take(&mut self) -> Option<Emitted> {
        let emitted = self.waiting.pop_front();
        if emitted.is_some() {
            self.full.drain(..).for_each(Waker::wake);
        }
        emitted
    }
}

impl Outbox {
    fn state(&self) -> MutexGuard<'_, State> {
        // The state is valid after every statement, so a panic elsewhere cannot have broken it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands over a notification, waiting while the outbox is full.
    ///
    /// After the call's end it is dropped, as is progress that does not rise.
    pub async fn send(&self, emitted: Emitted) {
        let mut emitted = Some(emitted);
        std::future::poll_fn(|cx| self.poll_send(cx, &mut emitted)).await;
    }

    fn poll_send(&self, cx: &mut Context<'_>, emitted: &mut Option<Emitted>) -> Poll<()> {
        let mut state = self.state();
        if state.closed {
            return Poll::Ready(());
        }
        if state.waiting.len() >= CAPACITY {
            // Whoever looks at it again and again, in a `select!` say, is to be woken once.
            if !state.full.iter().any(|waker| waker.will_wake(cx.waker())) {
                state.full.push(cx.waker().clone());
            }
            return Poll::Pending;
        }
        if let Some(mut emitted) = emitted.take() {
            if let Emitted::Progress { progress, total, .. } = &mut emitted {
                if !progress.is_finite() || state.progress.is_some_and(|last| *progress <= last) {
                    return Poll::Ready(());
                }
                state.progress = Some(*progress);
                // JSON has no other numbers.
                *total = total.filter(|total| total.is_finite());
            }
            state.waiting.push_back(emitted);
            if let Some(waker) = state.empty.take() {
                waker.wake();
            }
        }
        Poll::Ready(())
    }

    /// Takes the oldest notification.
    pub fn take(&self) -> Option<Emitted> {
        self.state().take()
    }

    /// Takes the oldest notification, or is woken when there is one.
    pub fn poll_take(&self, cx: &Context<'_>) -> Poll<Emitted> {
        let mut state = self.state();
        if let Some(emitted) = state.take() {
            return Poll::Ready(emitted);
        }
        if !state.empty.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            state.empty = Some(cx.waker().clone());
        }
        Poll::Pending
    }

    /// Wakes whoever waits for a notification, to see what else has become of the call.
    pub(super) fn wake(&self) {
        if let Some(waker) = self.state().empty.take() {
            waker.wake();
        }
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.state().waiting.is_empty()
    }

    /// Whether everything is refused.
    pub(super) fn is_closed(&self) -> bool {
        self.state().closed
    }

    /// Refuses everything from now on; what waits may still be taken.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        state.full.drain(..).for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::Future,
        pin::pin,
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
        task::Wake,
    };

    use super::*;

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn said(number: usize) -> Emitted {
        Emitted::Log { level: Level::Info, logger: None, data: number.into() }
    }

    #[test]
    fn who_waits_for_room_is_woken_once_however_often_they_looked() {
        let (outbox, woken) = (Outbox::default(), Arc::new(Woken::default()));
        let waker = Waker::from(Arc::clone(&woken));
        let mut cx = Context::from_waker(&waker);
        for number in 0..CAPACITY {
            assert!(pin!(outbox.send(said(number))).poll(&mut cx).is_ready());
        }
        let mut blocked = pin!(outbox.send(said(CAPACITY)));
        for _ in 0..10 {
            assert!(blocked.as_mut().poll(&mut cx).is_pending());
        }
        assert_eq!(outbox.take(), Some(said(0)));
        assert_eq!(woken.0.load(Ordering::Relaxed), 1);
        assert!(blocked.as_mut().poll(&mut cx).is_ready());
    }

    #[test]
    fn a_total_that_is_no_number_is_not_known() {
        let progress = |progress, total| Emitted::Progress { progress, total, message: None };
        let outbox = Outbox::default();
        for (step, total) in [(1.0, f64::NAN), (2.0, f64::INFINITY), (3.0, f64::NEG_INFINITY)] {
            futures_util::FutureExt::now_or_never(outbox.send(progress(step, Some(total))));
            assert_eq!(outbox.take(), Some(progress(step, None)));
        }
        futures_util::FutureExt::now_or_never(outbox.send(progress(4.0, Some(4.0))));
        assert_eq!(outbox.take(), Some(progress(4.0, Some(4.0))));
    }

    #[test]
    fn no_notification_is_missed_by_who_waits_for_one() {
        let outbox = Outbox::default();
        let sends = 20_000;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0..sends {
                    futures_util::FutureExt::now_or_never(outbox.send(said(number)));
                    while !outbox.is_empty() {
                        std::hint::spin_loop();
                    }
                }
            });
            // Sleeps until it is woken, so one that is missed would be waited for in vain.
            struct Sleeper(std::thread::Thread);
            impl Wake for Sleeper {
                fn wake(self: Arc<Self>) {
                    self.0.unpark();
                }
            }
            let waker = Waker::from(Arc::new(Sleeper(std::thread::current())));
            let cx = Context::from_waker(&waker);
            for number in 0..sends {
                loop {
                    match outbox.poll_take(&cx) {
                        Poll::Ready(emitted) => break assert_eq!(emitted, said(number)),
                        Poll::Pending => std::thread::park(),
                    }
                }
            }
        });
    }
}
