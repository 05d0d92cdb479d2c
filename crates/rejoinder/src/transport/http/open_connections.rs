//! Connections that stay open beside the requests of Streamable HTTP: WebSockets, and the streams of HTTP+SSE.

use ::http::StatusCode;
use tokio_util::{
    sync::CancellationToken,
    task::{TaskTracker, task_tracker::TaskTrackerToken},
};

use super::{request::HttpRefusal, sessions::Owner};
use crate::{auth::CallerSlot, server::Engine};

/// How many are open, and whether they should close.
#[derive(Default)]
pub(super) struct OpenConnections {
    open: TaskTracker,
    /// Cancelled when the server shuts down.
    pub(super) closing: CancellationToken,
}

/// One of them; it ends when this is dropped.
pub(super) type OpenConnection = (TaskTrackerToken, CallerSlot);

impl OpenConnections {
    /// Opens one more for that caller, unless too many are open.
    pub(super) fn open(&self, engine: &Engine, owner: &Owner) -> Result<OpenConnection, HttpRefusal> {
        let refuse = |reason: &'static str| Err(HttpRefusal::new(StatusCode::SERVICE_UNAVAILABLE, reason));
        let of_caller = engine.shares.sessions.take(owner.as_ref())?;
        if self.closing.is_cancelled() {
            return refuse("the server is shutting down");
        }
        let open = self.open.token();
        if self.open.len() > engine.options.http.max_sessions {
            return refuse("too many connections, try again later");
        }
        Ok((open, of_caller))
    }

    /// Lets them finish what is in flight, and close.
    pub(super) fn start_closing(&self) {
        self.closing.cancel();
        self.open.close();
    }

    /// Waits until they are closed.
    pub(super) async fn closed(&self) {
        self.open.wait().await;
    }
}
