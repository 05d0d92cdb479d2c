use std::time::Duration;

use super::Server;

/// How much of the server its clients may take up at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) connections: usize,
    pub(crate) sessions: usize,
    pub(crate) calls: usize,
    pub(crate) subscriptions: usize,
    pub(crate) session_idle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 10_000,
            sessions: 10_000,
            calls: 10_000,
            subscriptions: 10_000,
            session_idle: Duration::from_secs(30 * 60),
        }
    }
}

/// Limits of what clients can take up, so that no number of them takes up everything.
impl Server {
    /// How many connections are open at once; 10,000 unless set. More of them wait to be accepted until one has ended.
    ///
    /// A connection has one request at a time, so it also limits the calls of the stateless era. It counts for the HTTP
    /// that the server serves itself; for a [mounted](crate::McpService) one, put a layer of yours in front.
    ///
    /// ```
    /// use rejoinder::Server;
    ///
    /// assert!(Server::new("small", "1.0.0").max_connections(100).check().is_ok());
    /// ```
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.options.limits.connections = connections.max(1);
        self
    }

    /// How many sessions are open over HTTP at once; 10,000 unless set. `initialize` beyond that is refused with HTTP 503.
    ///
    /// ```
    /// use rejoinder::{Era, Server, testing::Client};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let client = Client::new(Server::new("small", "1.0.0").tools([]).max_sessions(1)).era(Era::Session);
    /// assert!(client.list_tools().await.is_ok());
    /// let second = client.name("another").list_tools().await.unwrap_err();
    /// assert_eq!(second.rpc().map(|error| error.status.as_u16()), Some(503));
    /// # }
    /// ```
    pub fn max_sessions(mut self, sessions: usize) -> Self {
        self.options.limits.sessions = sessions;
        self
    }

    /// How long a session over HTTP lasts in which nothing happens and no stream is open; half an hour unless set.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use rejoinder::Server;
    ///
    /// assert!(Server::new("brief", "1.0.0").session_timeout(Duration::from_secs(60)).check().is_ok());
    /// ```
    pub fn session_timeout(mut self, idle: Duration) -> Self {
        self.options.limits.session_idle = idle;
        self
    }

    /// How many calls run at once in all sessions together, and on a pipe; 10,000 unless set. More of them are answered
    /// with the error -32603, which says so.
    ///
    /// As many replies of calls that are over are kept, for a minute, for clients who left and may come back for them.
    ///
    /// ```
    /// use rejoinder::Server;
    ///
    /// assert!(Server::new("small", "1.0.0").max_calls(100).check().is_ok());
    /// ```
    pub fn max_calls(mut self, calls: usize) -> Self {
        self.options.limits.calls = calls;
        self
    }

    /// How many subscriptions (`subscriptions/listen`) are open at once; 10,000 unless set. More of them are answered with
    /// the error -32603, and HTTP 503.
    ///
    /// What a session hears of changes does not count: it lasts as long as the session. One subscription names at most
    /// 10,000 resources, as does one session.
    ///
    /// ```
    /// use rejoinder::{Server, testing::{Client, Filter}};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let client = Client::new(Server::new("small", "1.0.0").tools([]).max_subscriptions(1));
    /// let first = client.listen(Filter::default().tools()).await;
    /// assert!(first.is_ok());
    /// let second = client.listen(Filter::default().tools()).await.unwrap_err();
    /// assert_eq!(second.rpc().unwrap().status, 503);
    /// # }
    /// ```
    pub fn max_subscriptions(mut self, subscriptions: usize) -> Self {
        self.options.limits.subscriptions = subscriptions;
        self
    }
}
