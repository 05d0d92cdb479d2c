//! Who wants to be told of changes.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use super::Filter;

/// Something that changed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Change {
    Tools,
    Prompts,
    Resources,
    Updated(String),
}

/// All open subscriptions. A change that a slow subscriber has not yet been told of is told once.
#[derive(Debug, Default, Clone)]
pub(crate) struct Hub(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    next: u64,
    closed: bool,
    subscribers: HashMap<u64, Subscriber>,
    /// How many of them only listen, and are not a session's own.
    listening: usize,
}

#[derive(Debug)]
struct Subscriber {
    filter: Filter,
    waiting: BTreeSet<Change>,
    waker: Option<Waker>,
}

impl Hub {
    fn state(&self) -> MutexGuard<'_, State> {
        // Every statement leaves the state valid.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Subscribes for a session, as long as that lasts.
    pub(crate) fn subscribe(&self, filter: Filter) -> Subscription {
        self.add(&mut self.state(), filter, false)
    }

    /// Subscribes, unless that many only listen already.
    pub(crate) fn listen_below(&self, most: usize, filter: Filter) -> Option<Subscription> {
        let mut state = self.state();
        (state.listening < most).then(|| self.add(&mut state, filter, true))
    }

    fn add(&self, state: &mut State, filter: Filter, listens: bool) -> Subscription {
        let id = state.next;
        state.next += 1;
        state.listening += usize::from(listens);
        state.subscribers.insert(id, Subscriber { filter, waiting: BTreeSet::new(), waker: None });
        Subscription { hub: self.clone(), id, listens }
    }

    pub(crate) fn tell(&self, change: &Change) {
        for subscriber in self.state().subscribers.values_mut() {
            if subscriber.filter.wants(change) {
                subscriber.waiting.insert(change.clone());
                if let Some(waker) = subscriber.waker.take() {
                    waker.wake();
                }
            }
        }
    }

    /// How many subscriptions are open.
    #[cfg(test)]
    pub(crate) fn subscribers(&self) -> usize {
        self.state().subscribers.len()
    }

    /// Ends every subscription, now and from now on.
    pub(crate) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        state.subscribers.values_mut().filter_map(|subscriber| subscriber.waker.take()).for_each(Waker::wake);
    }
}

/// One subscription; dropping it ends it.
#[derive(Debug)]
pub(crate) struct Subscription {
    hub: Hub,
    id: u64,
    listens: bool,
}

impl Subscription {
    /// The next change; `None` when the server ends the subscription.
    pub(crate) fn poll_change(&self, cx: &Context<'_>) -> Poll<Option<Change>> {
        let mut state = self.hub.state();
        let closed = state.closed;
        let Some(subscriber) = state.subscribers.get_mut(&self.id) else { return Poll::Ready(None) };
        match subscriber.waiting.pop_first() {
            Some(change) => Poll::Ready(Some(change)),
            None if closed => Poll::Ready(None),
            None => {
                subscriber.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    pub(crate) async fn change(&self) -> Option<Change> {
        std::future::poll_fn(|cx| self.poll_change(cx)).await
    }

    /// Changes what this subscriber wants to hear; `None` once the subscription has ended.
    pub(crate) fn refilter<T>(&self, change: impl FnOnce(&mut Filter) -> T) -> Option<T> {
        let mut state = self.hub.state();
        state.subscribers.get_mut(&self.id).map(|subscriber| change(&mut subscriber.filter))
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut state = self.hub.state();
        state.subscribers.remove(&self.id);
        state.listening -= usize::from(self.listens);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subscription_that_is_dropped_is_forgotten() {
        let hub = Hub::default();
        let filter = || Filter { tools: true, ..Filter::default() };
        let stays = hub.subscribe(filter());
        for _ in 0..1000 {
            let left = hub.subscribe(filter());
            hub.tell(&Change::Tools);
            drop(left);
        }
        assert_eq!(hub.state().subscribers.len(), 1);
        // However often it changed, it is told once.
        let cx = Context::from_waker(Waker::noop());
        assert_eq!(stays.poll_change(&cx), Poll::Ready(Some(Change::Tools)));
        assert_eq!(stays.poll_change(&cx), Poll::Pending);
    }
}
