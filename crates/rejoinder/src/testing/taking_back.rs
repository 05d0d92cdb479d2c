use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use tower_service::Service;

use crate::transport::McpService;

/// Takes a request of a session back if it is dropped before the reply: a session outlives its connections, so leaving
/// alone says nothing to the server.
pub(super) struct TakingBack(Option<(McpService, Request<Full<Bytes>>)>);

impl TakingBack {
    /// With this notification.
    pub(super) fn with(service: McpService, cancelled: Request<Full<Bytes>>) -> Self {
        Self(Some((service, cancelled)))
    }

    /// The reply has come: there is nothing to take back.
    pub(super) fn is_over(&mut self) {
        self.0 = None;
    }
}

impl Drop for TakingBack {
    fn drop(&mut self) {
        // Without a runtime there is no call that runs.
        if let (Some((mut service, cancelled)), Ok(runtime)) = (self.0.take(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(async move { service.call(cancelled).await });
        }
    }
}
