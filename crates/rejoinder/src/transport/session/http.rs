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
    owners::{Owner, Owners},
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
    engine: Arc<Engine>,
    ending: CancellationToken,
}

impl SessionHttp {
    /// Sessions of this server, none yet.
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        let sessions = Arc::new(Sessions::new(engine.options.http.session_timeout));
        let ending = CancellationToken::new();
        let mut config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .disable_allowed_origins()
            // The first event of each request's stream has a retry time of its own; an event without data on any
            // other stream only confuses clients that do not know it.
            .with_sse_retry(None)
            .with_cancellation_token(ending.clone());
        config.max_request_body_bytes = usize::MAX;
        let of_session = ending.clone();
        let of_handler = Arc::clone(&engine);
        let handler = move || Ok(SessionHandler::new(Arc::clone(&of_handler), of_session.clone()));
        Self { service: StreamableHttpService::new(handler, Arc::clone(&sessions), config), sessions, engine, ending }
    }

    /// Answers a request. If it is not as it should be, it is refused, once it is known to be of a session.
    pub(crate) async fn handle(
        &self,
        request: Request<Full<Bytes>>,
        checked: Result<(), RpcError>,
    ) -> Response<SessionBody> {
        let (mut parts, body) = request.into_parts();
        let Ok(body) = body.collect().await;
        let body = body.to_bytes();
        let asked = Asked::of(&body);
        let owner = match Owners::of(&self.engine, &parts) {
            Ok(owner) => owner,
            // As all replies of a session; but what was to be a stream is none.
            Err(error) if parts.method == Method::POST => return refusal(StatusCode::OK, &asked, &error),
            Err(error) => return refusal(StatusCode::INTERNAL_SERVER_ERROR, &asked, &error),
        };
        if let Err((status, error)) = self.check(&parts.method, &parts.headers, &asked, owner.as_ref()).await {
            return refusal(status, &asked, &error);
        }
        if let Err(error) = checked {
            // As all replies of a session: some clients do not look into what comes with another status.
            return refusal(StatusCode::OK, &asked, &error);
        }
        if asked.is_initialize() {
            // What the header says of the version is about to be negotiated.
            parts.headers.remove(VERSION);
        }
        let ends = parts.method == Method::DELETE;
        let mut response = self.service.handle(Request::from_parts(parts, Full::new(body))).await;
        if let (Some(owner), Some(session), true) = (owner, session(response.headers()), asked.is_initialize()) {
            self.sessions.owners.note(session, owner);
        }
        if ends && response.status() == StatusCode::ACCEPTED {
            // The session has ended; the Python SDK takes any other success for a failure, and warns of it.
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
        explained(response, &asked).await
    }

    /// What rmcp would refuse in words that no client can read, or not refuse at all.
    async fn check(
        &self,
        method: &Method,
        headers: &HeaderMap,
        asked: &Asked,
        owner: Option<&Owner>,
    ) -> Result<(), (StatusCode, RpcError)> {
        let refuse = |status, message: &'static str| Err((status, RpcError::invalid_request(message)));
        if self.ending.is_cancelled() {
            return refuse(StatusCode::SERVICE_UNAVAILABLE, "the server is shutting down");
        }
        if !headers.contains_key(SESSION) {
            if *method == Method::POST && asked.is_initialize() {
                if self.sessions.count().await >= self.engine.options.http.max_sessions {
                    return refuse(
                        StatusCode::SERVICE_UNAVAILABLE,
                        "the server has as many sessions as it takes: try again later",
                    );
                }
                return Ok(());
            }
            return refuse(
                StatusCode::BAD_REQUEST,
                "the `Mcp-Session-Id` header is missing: a session begins with `initialize`",
            );
        }
        let known = match session(headers) {
            Some(session) => {
                // Somebody else's is not told from one that never was.
                owner.is_none_or(|owner| self.sessions.owners.is_of(&session, owner))
                    && self.sessions.has_session(&session).await.unwrap_or(false)
            }
            None => false,
        };
        if !known {
            return refuse(StatusCode::NOT_FOUND, "there is no such session: begin another with `initialize`");
        }
        if headers.get_all(VERSION).iter().nth(1).is_some() && !asked.is_initialize() {
            return refuse(StatusCode::BAD_REQUEST, "there is more than one `MCP-Protocol-Version` header");
        }
        match headers.get(VERSION) {
            Some(version) if !version.to_str().is_ok_and(is_legacy) => {
                let version = String::from_utf8_lossy(version.as_bytes());
                Err((StatusCode::BAD_REQUEST, RpcError::unsupported_version(&version, true)))
            }
            _ => Ok(()),
        }
    }

    /// Waits until the replies that are on their way have left.
    pub(crate) async fn replied(&self) {
        self.sessions.replied().await;
    }

    /// Ends all sessions and their calls, and takes no more. It takes no longer than the grace period.
    pub(crate) async fn close(&self) {
        self.ending.cancel();
        self.sessions.end(self.engine.options.grace).await;
    }

    /// All sessions.
    #[cfg(test)]
    pub(super) fn sessions(&self) -> &Sessions {
        &self.sessions
    }
}

/// The session that the headers name, if they name one.
fn session(headers: &HeaderMap) -> Option<SessionId> {
    let mut named = headers.get_all(SESSION).iter();
    match (named.next(), named.next()) {
        (Some(session), None) => session.to_str().ok().map(SessionId::from),
        _ => None,
    }
}

impl std::fmt::Debug for SessionHttp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionHttp").field("sessions", &self.sessions).finish_non_exhaustive()
    }
}
