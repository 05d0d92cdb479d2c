use std::{convert::Infallible, sync::Arc};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, combinators::BoxBody};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService,
    session::{SessionId, SessionManager},
};
use tokio_util::sync::CancellationToken;

use super::{
    SessionHandler,
    manager::Sessions,
    refusal::{Asked, explained, refusal},
};
use crate::{
    protocol::{RpcError, is_legacy},
    server::Engine,
};

/// The body of a response: JSON, or a stream of events.
pub(crate) type SessionBody = BoxBody<Bytes, Infallible>;

const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";

/// Sessions over Streamable HTTP.
///
/// Whoever calls it has checked where the request comes from, how large it is, and that it is of the session era.
pub(crate) struct SessionHttp {
    service: StreamableHttpService<SessionHandler, Sessions>,
    sessions: Arc<Sessions>,
    ending: CancellationToken,
}

impl SessionHttp {
    /// Sessions of this server, none yet.
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        let (sessions, ending) = (Arc::new(Sessions::new()), CancellationToken::new());
        let mut config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .disable_allowed_origins()
            // The first event of each request's stream has a retry time of its own; an event without data on any
            // other stream only confuses clients that do not know it.
            .with_sse_retry(None)
            .with_cancellation_token(ending.clone());
        config.max_request_body_bytes = usize::MAX;
        let of_session = ending.clone();
        let handler = move || Ok(SessionHandler::new(Arc::clone(&engine), of_session.clone()));
        Self { service: StreamableHttpService::new(handler, Arc::clone(&sessions), config), sessions, ending }
    }

    /// Answers a request.
    pub(crate) async fn handle(&self, request: Request<Full<Bytes>>) -> Response<SessionBody> {
        let (mut parts, body) = request.into_parts();
        let Ok(body) = body.collect().await;
        let body = body.to_bytes();
        let asked = Asked::of(&body);
        if let Err((status, error)) = self.check(&parts.method, &parts.headers, &asked).await {
            return refusal(status, &asked, &error);
        }
        if asked.is_initialize() {
            // What the header says of the version is about to be negotiated.
            parts.headers.remove(VERSION);
        }
        let ends = parts.method == Method::DELETE;
        let mut response = self.service.handle(Request::from_parts(parts, Full::new(body))).await;
        if ends && response.status() == StatusCode::ACCEPTED {
            // The session has ended; the Python SDK takes any other success for a failure, and warns of it.
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
        explained(response, &asked).await
    }

    /// What rmcp would refuse in words that no client can read, or not refuse at all.
    async fn check(&self, method: &Method, headers: &HeaderMap, asked: &Asked) -> Result<(), (StatusCode, RpcError)> {
        let refuse = |status, message: &'static str| Err((status, RpcError::invalid_request(message)));
        if self.ending.is_cancelled() {
            return refuse(StatusCode::SERVICE_UNAVAILABLE, "the server is shutting down");
        }
        let Some(session) = headers.get(SESSION) else {
            if *method == Method::POST && asked.is_initialize() {
                return Ok(());
            }
            return refuse(
                StatusCode::BAD_REQUEST,
                "the `Mcp-Session-Id` header is missing: a session begins with `initialize`",
            );
        };
        let session = session.to_str().ok().map(SessionId::from);
        let known = match &session {
            Some(session) => self.sessions.has_session(session).await.unwrap_or(false),
            None => false,
        };
        if !known {
            return refuse(StatusCode::NOT_FOUND, "there is no such session: begin another with `initialize`");
        }
        match headers.get(VERSION) {
            Some(version) if !version.to_str().is_ok_and(is_legacy) => {
                let version = String::from_utf8_lossy(version.as_bytes());
                Err((StatusCode::BAD_REQUEST, RpcError::unsupported_version(&version, true)))
            }
            _ => Ok(()),
        }
    }

    /// Ends all sessions and their calls, and takes no more.
    pub(crate) async fn close(&self) {
        self.ending.cancel();
        self.sessions.end().await;
    }

    /// All sessions.
    #[cfg(test)]
    pub(super) fn sessions(&self) -> &Sessions {
        &self.sessions
    }
}

impl std::fmt::Debug for SessionHttp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionHttp").field("sessions", &self.sessions).finish_non_exhaustive()
    }
}
