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
            state.full.push(cx.waker().clone());
            return Poll::Pending;
        }
        if let Some(emitted) = emitted.take() {
            if let Emitted::Progress { progress, .. } = &emitted {
                if !progress.is_finite() || state.progress.is_some_and(|last| *progress <= last) {
                    return Poll::Ready(());
                }
                state.progress = Some(*progress);
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
        let mut state = self.state();
        let emitted = state.waiting.pop_front();
        if emitted.is_some() {
            state.full.drain(..).for_each(Waker::wake);
        }
        emitted
    }

    /// Takes the oldest notification, or is woken when there is one.
    pub fn poll_take(&self, cx: &Context<'_>) -> Poll<Emitted> {
        if let Some(emitted) = self.take() {
            return Poll::Ready(emitted);
        }
        let mut state = self.state();
        if state.waiting.is_empty() && !state.empty.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            state.empty = Some(cx.waker().clone());
        }
        Poll::Pending
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.state().waiting.is_empty()
    }

    /// Refuses everything from now on; what waits may still be taken.
    pub fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        state.full.drain(..).for_each(Waker::wake);
    }
}
