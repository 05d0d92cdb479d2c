//! What a call sends before it ends.

use std::{
    collections::VecDeque,
    sync::Mutex,
    task::{Context, Poll, Waker},
};

use serde::Serialize;
use serde_json::Value;
use tokio::sync::Notify;

use super::AfterReply;
use crate::{error::lock, request::Level};

/// Something that a call sends to its client before it ends. It serialises as the params of its notification.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Emitted {
    /// How far the call has got.
    Progress {
        /// Rises with every message.
        progress: f64,
        /// Where it ends, if that is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        total: Option<f64>,
        /// For a person to read.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// A log message.
    Log {
        /// How severe.
        level: Level,
        /// The message.
        data: Value,
    },
}

/// Where a call's notifications wait until the transport takes them.
///
/// It is bounded: a call that emits faster than its client reads waits. It is not a channel, because most calls emit nothing
/// and should not pay for one.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    queue: Mutex<OutboxQueue>,
    /// Notified when there is room, and when the outbox closes.
    room: Notify,
}

#[derive(Debug, Default)]
struct OutboxQueue {
    waiting: VecDeque<Emitted>,
    progress: Option<f64>,
    muted: bool,
    closed: bool,
    /// Whether something came after that.
    has_late: bool,
    /// Whether nobody takes anything any more, although the call may go on.
    abandoned: bool,
    /// What the reply takes along, if another than the call makes it.
    after_reply: Option<AfterReply>,
    /// Woken when there is something to take.
    reader: Option<Waker>,
    /// Woken to look at the call again.
    runner: Option<Waker>,
}

const CAPACITY: usize = 64;

impl Outbox {
    /// Emits a notification, and waits while the outbox is full.
    ///
    /// After the end of the call it is dropped, and so is progress that does not rise. Returns whether it is the first that comes
    /// after the end.
    pub(super) async fn send(&self, emitted: Emitted) -> bool {
        loop {
            let room = self.room.notified();
            {
                let mut queue = lock(&self.queue);
                if queue.closed {
                    return !std::mem::replace(&mut queue.has_late, true);
                }
                if queue.muted || queue.abandoned {
                    return false;
                }
                if queue.waiting.len() < CAPACITY {
                    queue.push(emitted);
                    return false;
                }
            }
            room.await;
        }
    }

    /// Takes the oldest notification, or is woken when there is one.
    pub(crate) fn poll_take(&self, cx: &Context<'_>) -> Poll<Emitted> {
        let mut queue = lock(&self.queue);
        self.notify_if_full(&queue);
        if let Some(emitted) = queue.waiting.pop_front() {
            return Poll::Ready(emitted);
        }
        wake_later(&mut queue.reader, cx);
        Poll::Pending
    }

    /// Sets who looks at the call again when it is [woken](Self::wake): perhaps another task than the reader's.
    pub(crate) fn watch(&self, cx: &Context<'_>) {
        wake_later(&mut lock(&self.queue).runner, cx);
    }

    /// Has the call looked at again.
    pub(super) fn wake(&self) {
        if let Some(waker) = lock(&self.queue).runner.take() {
            waker.wake();
        }
    }

    /// Drops everything until it is set back: what a gate says would show that there is something behind it.
    pub(crate) fn mute(&self, muted: bool) {
        lock(&self.queue).muted = muted;
    }

    /// Whether the call has ended.
    pub(super) fn is_closed(&self) -> bool {
        lock(&self.queue).closed
    }

    /// Refuses everything from now on; what waits may still be taken.
    pub(super) fn close(&self) {
        let mut queue = lock(&self.queue);
        queue.closed = true;
        self.notify_if_full(&queue);
    }

    /// Leaves what the reply takes along to whoever makes the reply.
    pub(crate) fn leave(&self, after_reply: Option<AfterReply>) {
        let mut queue = lock(&self.queue);
        if !queue.abandoned {
            queue.after_reply = after_reply;
        }
    }

    /// Drops everything from now on, although the call may go on; what waits may still be taken. Returns what was left.
    pub(crate) fn abandon(&self) -> Option<AfterReply> {
        let mut queue = lock(&self.queue);
        queue.abandoned = true;
        self.notify_if_full(&queue);
        queue.after_reply.take()
    }

    /// Wakes those that wait for room: there are none unless the outbox is full.
    fn notify_if_full(&self, queue: &OutboxQueue) {
        if queue.waiting.len() >= CAPACITY {
            self.room.notify_waiters();
        }
    }
}

fn wake_later(waker: &mut Option<Waker>, cx: &Context<'_>) {
    waker.get_or_insert_with(|| cx.waker().clone()).clone_from(cx.waker());
}

impl OutboxQueue {
    fn push(&mut self, mut emitted: Emitted) {
        if let Emitted::Progress { progress, total, .. } = &mut emitted {
            if !progress.is_finite() || self.progress.is_some_and(|last| *progress <= last) {
                return;
            }
            self.progress = Some(*progress);
            // JSON has no other numbers.
            *total = total.filter(|total| total.is_finite());
        }
        self.waiting.push_back(emitted);
        if let Some(waker) = self.reader.take() {
            waker.wake();
        }
    }
}

/// A number that [`Context::progress`](crate::Context::progress) takes: of any type, because most count something.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number",
    label = "progress is a number, such as `3`, `0.5` or `done.len()`; write `*` before a reference",
    note = "a text is for `.message(..)`: `ctx.progress(1).total(3).message(\"..\")`"
)]
pub trait Amount {
    /// As it is sent.
    #[doc(hidden)]
    fn into_f64(self) -> f64;
}

macro_rules! amounts {
    ($($number:ty)*) => { $(
        impl Amount for $number {
            fn into_f64(self) -> f64 {
                self as f64
            }
        }
    )* };
}

amounts!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64);

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
        Emitted::Log { level: Level::Info, data: number.into() }
    }

    #[test]
    fn a_future_that_waits_for_room_is_woken_once_however_often_it_is_polled() {
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
        assert_eq!(outbox.poll_take(&cx), Poll::Ready(said(0)));
        assert_eq!(woken.0.load(Ordering::Relaxed), 1);
        assert!(blocked.as_mut().poll(&mut cx).is_ready());
    }

    #[test]
    fn a_total_that_is_not_finite_is_left_out() {
        let progress = |progress, total| Emitted::Progress { progress, total, message: None };
        let (outbox, cx) = (Outbox::default(), &Context::from_waker(Waker::noop()));
        for (step, total) in [(1.0, f64::NAN), (2.0, f64::INFINITY), (3.0, f64::NEG_INFINITY)] {
            futures_util::FutureExt::now_or_never(outbox.send(progress(step, Some(total))));
            assert_eq!(outbox.poll_take(cx), Poll::Ready(progress(step, None)));
        }
        futures_util::FutureExt::now_or_never(outbox.send(progress(4.0, Some(4.0))));
        assert_eq!(outbox.poll_take(cx), Poll::Ready(progress(4.0, Some(4.0))));
    }

    #[test]
    fn the_reader_misses_no_notification() {
        let outbox = Outbox::default();
        let sends = 20_000;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0..sends {
                    futures_util::FutureExt::now_or_never(outbox.send(said(number)));
                    while !lock(&outbox.queue).waiting.is_empty() {
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
