//! Who has a session on HTTP: rmcp's local sessions, with lines of our own into the streams of their requests.

use std::time::Duration;

use futures_core::Stream;
use futures_util::future::join_all;
use http::request::Parts;
use rmcp::{
    model::{ClientJsonRpcMessage, GetExtensions, JsonRpcMessage, ServerJsonRpcMessage},
    transport::{
        WorkerTransport,
        streamable_http_server::session::{
            ServerSseMessage, SessionId, SessionManager,
            local::{EventId, LocalSessionHandle, LocalSessionManager, LocalSessionManagerError, LocalSessionWorker},
        },
    },
};
use tokio::time::timeout;

use super::{
    awake::Awake,
    line::{Line, Merged},
    lines::Lines,
    owners::Owners,
    reply_stream::ReplyStream,
};
use crate::{protocol::LEGACY, server::Calls};

type Error = LocalSessionManagerError;

/// All sessions.
#[derive(Debug)]
pub(super) struct Sessions {
    local: LocalSessionManager,
    lines: Lines,
    pub(super) owners: Owners,
    /// The replies that are on their way.
    replies: Calls,
    /// A session in which nothing happens for this long, without an open stream, is over.
    idle: Duration,
}

impl Sessions {
    /// None yet.
    pub(super) fn new(idle: Duration) -> Self {
        let mut local = LocalSessionManager::default();
        local.session_config.keep_alive = Some(idle);
        Self { local, lines: Lines::default(), owners: Owners::default(), replies: Calls::default(), idle }
    }

    /// Waits until no reply is on its way.
    pub(super) async fn replied(&self) {
        self.replies.idle().await;
    }

    /// Ends all sessions. One whose client does not read what it is sent may not hear of it in time: it ends when the
    /// client's connection does.
    pub(super) async fn end(&self, within: Duration) {
        let handles: Vec<LocalSessionHandle> = self.local.sessions.read().await.values().cloned().collect();
        // An error says that the session has ended by itself.
        let closing = join_all(handles.iter().map(LocalSessionHandle::close));
        if timeout(within, closing).await.is_err() {
            tracing::warn!("a session is held up by a client that does not read");
        }
        self.local.sessions.write().await.clear();
    }

    /// How many there are.
    pub(super) async fn count(&self) -> usize {
        self.local.sessions.read().await.len()
    }

    /// How many requests they are serving.
    #[cfg(test)]
    pub(super) fn requests(&self) -> usize {
        self.lines.count()
    }

    async fn handle(&self, id: &SessionId) -> Result<LocalSessionHandle, Error> {
        let sessions = self.local.sessions.read().await;
        sessions.get(id).cloned().ok_or_else(|| Error::SessionNotFound(SessionId::clone(id)))
    }
}

impl SessionManager for Sessions {
    type Error = Error;
    type Transport = WorkerTransport<LocalSessionWorker>;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Error> {
        self.local.create_session().await
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Error> {
        self.local.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Error> {
        self.local.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Error> {
        self.owners.forget(id);
        // rmcp would let calls that nobody waits for go on for a while.
        self.lines.end(id);
        self.local.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        mut message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Error> {
        let handle = self.handle(id).await?;
        let receiver = handle.establish_request_wise_channel().await?;
        let http_request = receiver.http_request_id;
        let request = http_request.unwrap_or_default();
        let resumes = knows_resuming(&message);
        let line = self.lines.add(id, request, |place| Line::new(handle.clone(), request, resumes, place));
        let stream = line.connect(receiver.inner);
        if let JsonRpcMessage::Request(request) = &mut message {
            request.request.extensions_mut().insert(ReplyStream::new(line));
        }
        let awake = Awake::keep(&handle, self.idle).with(self.replies.begin());
        handle.push_message(message, http_request).await?;
        Ok(awake.during(stream))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Error> {
        self.local.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Error> {
        let handle = self.handle(id).await?;
        let receiver = handle.establish_common_channel().await?;
        Ok(Awake::keep(&handle, self.idle).during(Merged::from_rmcp(receiver.inner)))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Error> {
        let handle = self.handle(id).await?;
        let receiver = handle.resume(last_event_id.parse::<EventId>()?).await?;
        let mut awake = Awake::keep(&handle, self.idle);
        if receiver.http_request_id.is_some() {
            awake = awake.with(self.replies.begin());
        }
        let line = receiver.http_request_id.and_then(|request| self.lines.get(id, request));
        let stream = match line {
            Some(line) => line.reconnect(receiver.inner, last_event_id),
            None => Merged::resumed(receiver.inner, last_event_id),
        };
        Ok(awake.during(stream))
    }
}

/// Leaving a stream and coming back to it, with events that have no data but an id, is of 2025-11-25. Clients before
/// that take such an event for broken JSON.
fn knows_resuming(message: &ClientJsonRpcMessage) -> bool {
    let JsonRpcMessage::Request(request) = message else { return false };
    let parts = request.request.extensions().get::<Parts>();
    parts.and_then(|parts| parts.headers.get("mcp-protocol-version")).is_some_and(|version| version == LEGACY[0])
}
