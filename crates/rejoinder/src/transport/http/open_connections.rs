//! Connections that stay open beside the requests of Streamable HTTP: WebSockets, and the streams of HTTP+SSE.

use ::http::StatusCode;
use tokio_util::{
    sync::CancellationToken,
    task::{TaskTracker, task_tracker::TaskTrackerToken},
};

use super::request::HttpRefusal;
use crate::auth::CallerSlot;

/// How many are open, and whether they should close.
#[derive(Default)]
pub(super) struct OpenConnections {
    open: TaskTracker,
    closing: CancellationToken,
}

/// One of them; it ends when this is dropped.
pub(super) struct OpenConnection {
    closing: CancellationToken,
    _open: TaskTrackerToken,
    _of_caller: CallerSlot,
}

impl OpenConnection {
    /// Cancelled when the server shuts down.
    pub(super) fn closing(&self) -> CancellationToken {
        self.closing.clone()
    }
}

impl OpenConnections {
    /// Opens one more for a caller, unless that many are open.
    pub(super) fn begin(&self, most: usize, of_caller: CallerSlot) -> Result<OpenConnection, HttpRefusal> {
        let refuse = |reason: &'static str| Err(HttpRefusal::new(StatusCode::SERVICE_UNAVAILABLE, reason));
        if self.closing.is_cancelled() {
            return refuse("the server is shutting down");
        }
        let open = self.open.token();
        if self.open.len() > most {
            return refuse("too many connections, try again later");
        }
        Ok(OpenConnection { closing: self.closing.clone(), _open: open, _of_caller: of_caller })
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
