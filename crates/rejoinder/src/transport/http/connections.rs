//! The connections that are open, and how long nothing has happened on each.

use std::{collections::HashMap, time::Duration};

use tokio::{
    task::{AbortHandle, Id, JoinSet},
    time::sleep,
};

use super::activity::Activity;

/// How often connections are looked at while one may go without a request.
///
/// One clock for all of them: setting one anew for each request costs more than many tools do.
const LOOKS: u32 = 8;

/// The connections that are open. One that sends no request for too long, or takes nothing of its reply, is closed.
#[derive(Debug)]
pub(super) struct Connections {
    tasks: JoinSet<()>,
    watched: HashMap<Id, Watched>,
    pause: Duration,
}

#[derive(Debug)]
struct Watched {
    activity: Activity,
    handle: AbortHandle,
    /// What there was when it was last looked at.
    seen: Option<u64>,
    /// How many looks in a row have found nothing new.
    silent: u32,
}

impl Connections {
    /// None, for now. Each may wait this long for the head of a request.
    pub(super) fn new(header_timeout: Duration) -> Self {
        let pause = (header_timeout / LOOKS).max(Duration::from_millis(1));
        Self { tasks: JoinSet::new(), watched: HashMap::new(), pause }
    }

    /// Lets a connection go on by itself.
    pub(super) fn add<F: Future<Output = ()> + Send + 'static>(&mut self, connection: impl FnOnce(Activity) -> F) {
        let activity = Activity::default();
        let handle = self.tasks.spawn(connection(activity.clone()));
        self.watched.insert(handle.id(), Watched { activity, handle, seen: None, silent: 0 });
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

    /// Closes those whose client has been silent too long.
    pub(super) fn close_silent(&mut self) {
        for watched in self.watched.values_mut() {
            let now = watched.activity.count();
            let unchanged = watched.seen.replace(now) == Some(now);
            watched.silent = if unchanged && watched.activity.waits() { watched.silent + 1 } else { 0 };
            if watched.silent >= LOOKS {
                tracing::debug!("a connection sent no request, or took nothing of its reply, in time");
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

    /// A connection that lasts for ever, and what happens on it.
    fn open(connections: &mut Connections) -> Activity {
        let mut activity = None;
        connections.add(|its| {
            activity = Some(its);
            pending()
        });
        activity.expect("it was added")
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
        let [answered, asking] = [open(&mut connections), open(&mut connections)];
        let answering = answered.begin();
        look(&mut connections, 3 * LOOKS, || drop(asking.begin())).await;
        assert!(connections.tasks.try_join_next().is_none());
        drop(answering);
        look(&mut connections, LOOKS + 1, || drop(asking.begin())).await;
        assert!(connections.ended().await);
        assert_eq!(connections.watched.len(), 1);
    }

    #[tokio::test]
    async fn one_that_takes_its_reply_bit_by_bit_stays_until_it_stops() {
        let mut connections = Connections::new(Duration::from_secs(1));
        // The reply is made, and waits in a buffer: nobody makes anything for this connection any more.
        let reading = open(&mut connections);
        drop(reading.begin());
        look(&mut connections, 3 * LOOKS, || reading.wrote()).await;
        assert!(connections.tasks.try_join_next().is_none());
        look(&mut connections, LOOKS + 1, || {}).await;
        assert!(connections.ended().await);
    }

    #[tokio::test]
    async fn one_that_takes_nothing_of_a_reply_is_closed_although_there_is_more_to_come() {
        let mut connections = Connections::new(Duration::from_secs(1));
        let stuck = open(&mut connections);
        let _answering = stuck.begin();
        look(&mut connections, LOOKS, || stuck.blocked()).await;
        stuck.wrote();
        look(&mut connections, LOOKS, || stuck.blocked()).await;
        assert!(connections.tasks.try_join_next().is_none());
        look(&mut connections, 1, || {}).await;
        assert!(connections.ended().await);
    }
}
