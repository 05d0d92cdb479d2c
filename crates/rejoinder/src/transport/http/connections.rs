//! The connections that are open, and how long each has been without a request.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    task::{AbortHandle, Id, JoinSet},
    time::sleep,
};

/// How often connections are looked at while one may go without a request.
///
/// One clock for all of them: setting one anew for each request costs more than many tools do.
const LOOKS: u32 = 8;

/// The connections that are open. One that sends no request for too long is closed.
#[derive(Debug)]
pub(super) struct Connections {
    tasks: JoinSet<()>,
    watched: HashMap<Id, Watched>,
    pause: Duration,
}

#[derive(Debug)]
struct Watched {
    requests: Requests,
    handle: AbortHandle,
    /// What there was when it was last looked at.
    seen: Option<u64>,
    /// How many looks in a row have found nothing new.
    silent: u32,
}

/// The requests of one connection, which come one after the other: a number that rises when one begins and when it
/// ends, so it is odd in between.
#[derive(Debug, Clone, Default)]
pub(super) struct Requests(Arc<AtomicU64>);

/// A request that is being answered, until its reply has been handed over.
#[derive(Debug)]
pub(super) struct Answering(Requests);

impl Requests {
    pub(super) fn begin(&self) -> Answering {
        self.0.fetch_add(1, Ordering::Relaxed);
        Answering(self.clone())
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Connections {
    /// None, for now. Each may wait this long for the head of a request.
    pub(super) fn new(header_timeout: Duration) -> Self {
        let pause = (header_timeout / LOOKS).max(Duration::from_millis(1));
        Self { tasks: JoinSet::new(), watched: HashMap::new(), pause }
    }

    /// Lets a connection go on by itself.
    pub(super) fn add<F: Future<Output = ()> + Send + 'static>(&mut self, connection: impl FnOnce(Requests) -> F) {
        let requests = Requests::default();
        let handle = self.tasks.spawn(connection(requests.clone()));
        self.watched.insert(handle.id(), Watched { requests, handle, seen: None, silent: 0 });
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Waits until one has ended; `false` if there is none.
    pub(super) async fn ended(&mut self) -> bool {
        let Some(ended) = self.tasks.join_next_with_id().await else { return false };
        let id = ended.map_or_else(|failed| failed.id(), |(id, ())| id);
        self.watched.remove(&id);
        true
    }

    /// Closes them all, and waits until their calls are gone.
    pub(super) async fn close(mut self) {
        self.tasks.shutdown().await;
    }

    /// Waits until it is time for [`Connections::close_silent`].
    pub(super) fn pause(&self) -> impl Future<Output = ()> + use<> {
        sleep(self.pause)
    }

    /// Closes those that have waited for a request too long.
    pub(super) fn close_silent(&mut self) {
        for watched in self.watched.values_mut() {
            let requests = watched.requests.0.load(Ordering::Relaxed);
            let waiting = requests.is_multiple_of(2) && watched.seen.replace(requests) == Some(requests);
            watched.silent = if waiting { watched.silent + 1 } else { 0 };
            if watched.silent >= LOOKS {
                tracing::debug!("a connection sent no request in time");
                watched.handle.abort();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::task::yield_now;

    use super::*;

    /// Looks so many times, and lets something happen before each.
    async fn look(connections: &mut Connections, times: u32, between: impl Fn()) {
        for _ in 0..times {
            between();
            connections.close_silent();
            yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_connection_is_closed_when_it_waits_for_a_request_too_long() {
        let mut connections = Connections::new(Duration::from_secs(1));
        connections.add(|_| pending());
        look(&mut connections, LOOKS, || {}).await;
        assert!(connections.tasks.try_join_next().is_none());
        look(&mut connections, 1, || {}).await;
        assert!(connections.ended().await);
        assert!(connections.watched.is_empty());
        assert!(!connections.ended().await);
    }

    #[tokio::test]
    async fn one_that_is_being_answered_or_keeps_asking_stays() {
        let mut connections = Connections::new(Duration::from_secs(1));
        let mut requests = Vec::new();
        for _ in 0..2 {
            connections.add(|its| {
                requests.push(its);
                pending()
            });
        }
        let answering = requests[0].begin();
        look(&mut connections, 3 * LOOKS, || drop(requests[1].begin())).await;
        assert!(connections.tasks.try_join_next().is_none());
        drop(answering);
        look(&mut connections, LOOKS + 1, || drop(requests[1].begin())).await;
        assert!(connections.ended().await);
        assert_eq!(connections.watched.len(), 1);
    }
}
