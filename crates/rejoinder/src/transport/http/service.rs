use std::{
    convert::Infallible,
    fmt,
    future::poll_fn,
    mem,
    sync::{Arc, Once},
    task::{Context, Poll, Waker},
    time::Duration,
};

use ::http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header, request::Parts};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http_body::Body;
use http_body_util::{BodyExt, combinators::UnsyncBoxBody};
use hyper::body::Incoming;
use tokio::time::{sleep, timeout};
use tokio_util::task::TaskTracker;
use tower_service::Service;
#[cfg(feature = "auth")]
use tracing::Instrument;

#[cfg(feature = "auth")]
use super::authorize::{Challenge, WELL_KNOWN, authorize, host_of, request_span};
#[cfg(any(feature = "ws", feature = "sse"))]
use super::sessions::Owner;
#[cfg(feature = "sse")]
use super::sse::SseStreams;
use super::{
    ResponseBody,
    body::{COMMENT, call_events, event},
    guard::{self, PageOrigin},
    limited_stream::READ_BUFFER,
    request::{HttpRefusal, accepts_events, check_content_type, check_head, read_body, read_on},
    serve::RequestCount,
    sessions::HttpSessions,
};
use crate::{
    auth::Principal,
    error::BoxError,
    model::{error_code, header_name, version},
    protocol::{Dispatched, Envelope, Frame, Http, RpcReply, Stream, dispatch, error_reply, is_of_session},
    server::{BuiltServer, Engine, http::HEALTH},
};

/// A server as a tower service: mount it anywhere in your own application, behind your own layers.
///
/// ```
/// use axum::Router;
/// use rejoinder::prelude::*;
///
/// #[tool]
/// async fn ping() -> &'static str { "pong" }
///
/// let server = Server::new("mounted", "1.0.0").tools(tools![ping]).build().unwrap();
/// let app: Router = Router::new().route_service("/mcp", server.into_service());
/// ```
///
/// With [`Context::extension`](crate::Context::extension), tools read the request extensions that your layers insert.
///
/// Another transport is another route: `service.websocket()` with the feature `ws`, `service.sse()` with `sse`.
#[must_use]
#[derive(Clone)]
pub struct McpService(pub(in crate::transport) Arc<Endpoint>, HttpTransport);

/// What a route speaks.
#[derive(Debug, Clone, Copy)]
enum HttpTransport {
    Streamable,
    #[cfg(feature = "ws")]
    WebSocket,
    #[cfg(feature = "sse")]
    Sse,
    /// Not a transport: the document about one.
    #[cfg(feature = "auth")]
    Metadata,
    /// Not a transport: a path of the server at which there is none.
    Elsewhere,
}

impl HttpTransport {
    fn is_websocket(self) -> bool {
        #[cfg(feature = "ws")]
        return matches!(self, Self::WebSocket);
        #[cfg(not(feature = "ws"))]
        return false;
    }
}

/// What all routes of a server share.
pub(in crate::transport) struct Endpoint {
    pub(super) engine: Arc<Engine>,
    /// For clients of the session era, unless they are turned away.
    pub(in crate::transport) sessions: Option<HttpSessions>,
    /// A refused host or origin is logged once: it is a mistake of the operator, or an attack that should not fill the log.
    refusal_logged: Once,
    /// The WebSockets and the streams of HTTP+SSE that are open.
    connections: TaskTracker,
    #[cfg(feature = "sse")]
    pub(super) sse: SseStreams,
}

impl McpService {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        let sessions = engine.has_sessions().then(|| HttpSessions::new(Arc::clone(&engine)));
        let endpoint = Endpoint {
            engine,
            sessions,
            refusal_logged: Once::new(),
            connections: TaskTracker::new(),
            #[cfg(feature = "sse")]
            sse: SseStreams::default(),
        };
        Self(Arc::new(endpoint), HttpTransport::Streamable)
    }

    /// The same server over WebSocket: one JSON-RPC message for each text frame.
    ///
    /// ```
    /// use axum::Router;
    /// use rejoinder::prelude::*;
    ///
    /// let service = Server::new("mounted", "1.0.0").build().unwrap().into_service();
    /// let app: Router = Router::new().route_service("/mcp/ws", service.websocket()).route_service("/mcp", service);
    /// ```
    ///
    /// The headers and extensions of the request that opens the WebSocket are those of every call over it.
    #[cfg(feature = "ws")]
    pub fn websocket(&self) -> Self {
        Self(Arc::clone(&self.0), HttpTransport::WebSocket)
    }

    /// The same server over HTTP+SSE, the transport of 2024-11-05, for clients that know no newer one. `GET` opens a stream
    /// of events, whose first event says where to send messages: to the same path, with the id of the stream.
    ///
    /// ```
    /// use axum::Router;
    /// use rejoinder::prelude::*;
    ///
    /// let service = Server::new("mounted", "1.0.0").build().unwrap().into_service();
    /// let app: Router = Router::new().route_service("/sse", service.sse()).route_service("/mcp", service);
    /// ```
    #[cfg(feature = "sse")]
    pub fn sse(&self) -> Self {
        Self(Arc::clone(&self.0), HttpTransport::Sse)
    }

    /// The document that tells clients which issuer the server trusts (RFC 9728).
    ///
    /// Mount it where clients look for it: at the well-known path, and there again with the path of the endpoint.
    ///
    /// ```
    /// use axum::Router;
    /// use rejoinder::{auth::Auth, http, prelude::*};
    ///
    /// let auth = Auth::jwt("https://id.example.com", "https://example.com/api/mcp");
    /// let server = Server::new("mounted", "1.0.0").http(http::Config::new().auth(auth));
    /// let service = server.build().unwrap().into_service();
    /// let app: Router = Router::new()
    ///     .route_service("/.well-known/oauth-protected-resource/api/mcp", service.resource_metadata())
    ///     .route_service("/api/mcp", service);
    /// ```
    #[cfg(feature = "auth")]
    pub fn resource_metadata(&self) -> Self {
        Self(Arc::clone(&self.0), HttpTransport::Metadata)
    }

    /// What a request is for, on a server that has its address to itself.
    pub(super) fn route(&self, request: &Request<Incoming>) -> Self {
        let (path, config) = (request.uri().path(), self.0.engine.http());
        let is = |route: &str| path.trim_end_matches('/') == route.trim_end_matches('/');
        let endpoint = &config.path;
        if is(endpoint) {
            return self.clone();
        }
        #[cfg(feature = "ws")]
        if config.websocket.as_deref().is_some_and(is) {
            return self.websocket();
        }
        #[cfg(feature = "sse")]
        if config.sse.as_deref().is_some_and(is) {
            return self.sse();
        }
        #[cfg(feature = "auth")]
        if config.auth.as_ref().is_some_and(|auth| auth.is_oauth())
            && let Some(rest) = path.strip_prefix(WELL_KNOWN).map(|rest| rest.trim_end_matches('/'))
            && ["", self.0.path_of(request.uri()).trim_end_matches('/')].contains(&rest)
        {
            return self.resource_metadata();
        }
        Self(Arc::clone(&self.0), HttpTransport::Elsewhere)
    }

    /// The response to a request that is for nothing that this serves: whether the server is up, or where it is.
    fn elsewhere(&self, request: &Parts) -> Response<ResponseBody> {
        let endpoint = &self.0.engine.http().path;
        let is_up = request.uri.path() == HEALTH && matches!(request.method, Method::GET | Method::HEAD);
        let (status, text) = match is_up {
            true if self.0.engine.is_stopping() => (StatusCode::SERVICE_UNAVAILABLE, "shutting down\n".to_owned()),
            true => (StatusCode::OK, "ok\n".to_owned()),
            false => (StatusCode::NOT_FOUND, format!("the MCP endpoint is {endpoint}\n")),
        };
        let mut response = Response::new(ResponseBody::whole(text.into()));
        *response.status_mut() = status;
        response
    }

    /// Answers a request. The response holds on to what is given until its body has been written.
    pub(super) fn respond<B>(
        self,
        request: Request<B>,
        held: Option<RequestCount>,
    ) -> impl Future<Output = Result<Response<ResponseBody>, Infallible>> + Send
    where
        B: Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: Into<BoxError> + Send,
    {
        // The future keeps these as they are. As an `async fn` it would also keep the request, and be copied with it.
        let (mut parts, mut body) = request.into_parts();
        async move {
            let config = self.0.engine.http();
            // A client that waits for `100 Continue` does not send the body of a refused request.
            let waits = parts.headers.contains_key(header::EXPECT);
            let page = guard::check(&parts.headers, &parts.uri, config, self.1.is_websocket());
            let answered = match &page {
                _ if matches!(self.1, HttpTransport::Elsewhere) => Ok(self.elsewhere(&parts)),
                Ok(page) => self.answer(&mut parts, &mut body, page.is_some()).await,
                Err(reason) => {
                    self.0.log_refusal(&parts.headers, reason);
                    Err(Box::new(HttpRefusal::new(StatusCode::FORBIDDEN, *reason).response(None)))
                }
            };
            let mut response = answered.unwrap_or_else(|refused| {
                read_on(body, waits, config.body_timeout);
                *refused
            });
            if let Ok(Some(page)) = page {
                page.may_read(&mut response);
            }
            if let Some(held) = held {
                response.body_mut().hold(held);
            }
            Ok(response)
        }
    }

    /// Answers a request that comes from where requests may come from. The error is a response, too, after which the body
    /// is still to be read.
    async fn answer<B>(
        &self,
        parts: &mut Parts,
        body: B,
        from_page: bool,
    ) -> Result<Response<ResponseBody>, Box<Response<ResponseBody>>>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<BoxError>,
    {
        let endpoint = &*self.0;
        check_head(parts).map_err(|refusal| Box::new(refusal.response(None)))?;
        if !endpoint.engine.is_started() && endpoint.engine.start_up().await.is_err() {
            let reason = "the server did not start; its log has the reason";
            return Err(Box::new(HttpRefusal::new(StatusCode::SERVICE_UNAVAILABLE, reason).response(None)));
        }
        if from_page && let Some(answer) = PageOrigin::preflight(parts, || self.methods(&parts.headers)) {
            return Ok(answer);
        }
        #[cfg(feature = "auth")]
        if let (Some(auth), false) = (&endpoint.engine.http().auth, matches!(self.1, HttpTransport::Metadata)) {
            let host = auth.resource.as_deref().is_none().then(|| host_of(parts)).flatten();
            let (span, path) = (request_span(parts), endpoint.path_of(&parts.uri));
            let mut answered = match authorize(auth, parts).await {
                Ok(()) => self.handle(parts, body).instrument(span).await,
                Err(refused) => Err(Box::new(refused)),
            };
            let response = answered.as_mut().unwrap_or_else(|refused| refused);
            endpoint.challenge(auth, response, (host.as_deref(), path));
            return answered;
        }
        self.handle(parts, body).await
    }

    /// Answers a request of a known caller.
    async fn handle<B>(&self, parts: &mut Parts, body: B) -> Result<Response<ResponseBody>, Box<Response<ResponseBody>>>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<BoxError>,
    {
        let handled = match self.1 {
            HttpTransport::Streamable => self.0.handle(parts, body).await,
            #[cfg(feature = "ws")]
            HttpTransport::WebSocket => self.0.open_websocket(take(parts)),
            #[cfg(feature = "sse")]
            HttpTransport::Sse => Box::pin(self.0.sse(take(parts), body)).await,
            #[cfg(feature = "auth")]
            HttpTransport::Metadata => self.0.resource_metadata(parts),
            HttpTransport::Elsewhere => Ok(self.elsewhere(parts)),
        };
        handled.map_err(|refusal| {
            let mut response = refusal.response(None);
            let status = response.status();
            let headers = response.headers_mut();
            if status == StatusCode::METHOD_NOT_ALLOWED {
                headers.insert(header::ALLOW, self.methods(&parts.headers));
            }
            if status == StatusCode::UPGRADE_REQUIRED {
                headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
                headers.insert(header::SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
            }
            Box::new(response)
        })
    }

    /// The HTTP methods that a client with these headers can use.
    fn methods(&self, headers: &HeaderMap) -> HeaderValue {
        HeaderValue::from_static(match self.1 {
            HttpTransport::Streamable if self.0.has_sessions(headers) => "GET, POST, DELETE",
            HttpTransport::Streamable => "POST",
            #[cfg(feature = "ws")]
            HttpTransport::WebSocket => "GET",
            #[cfg(feature = "sse")]
            HttpTransport::Sse => "GET, POST",
            #[cfg(feature = "auth")]
            HttpTransport::Metadata => "GET",
            HttpTransport::Elsewhere => "GET, HEAD",
        })
    }

    /// Not generic, so that it is compiled in this crate and not in each that mounts the service.
    fn respond_boxed(
        self,
        request: Request<UnsyncBoxBody<Bytes, BoxError>>,
    ) -> BoxFuture<'static, Result<Response<ResponseBody>, Infallible>> {
        Box::pin(self.respond(request, None))
    }

    /// Ends subscriptions and sessions, which would stay open otherwise, and closes WebSockets and streams of HTTP+SSE when
    /// their calls are done. Stateless calls in flight over HTTP continue. New requests are refused, and the other transports of the
    /// server end too.
    ///
    /// It takes at most the [grace period](crate::Server::grace_period), even if a client does not read.
    /// Call it when your own application shuts down; [`Server::serve_http`](crate::Server::serve_http) does so itself.
    pub async fn close(&self) {
        self.start_closing();
        if let Some(sessions) = &self.0.sessions {
            sessions.close();
        }
        let _ = timeout(self.0.engine.grace(), self.0.connections.wait()).await;
    }

    /// Ends subscriptions, and lets connections finish what is in flight.
    pub(super) fn start_closing(&self) {
        self.0.engine.stop_accepting();
        self.0.connections.close();
    }
}

impl BuiltServer {
    /// The server as a tower service; see [`McpService`].
    ///
    /// Where it is reached is not known here, so without [keys](crate::state::StatePolicy::keys) it warns when it first asks
    /// something: the answer may go to another process.
    pub fn into_service(self) -> McpService {
        self.0.seal().warn_about_random_key_when_used();
        let http = self.0.http();
        for (setting, path) in [("websocket", &http.websocket), ("sse", &http.sse)] {
            if let Some(path) = path {
                tracing::warn!(
                    "`http::Config::{setting}` does nothing in a mounted server; mount `McpService::{setting}` at `{path}`"
                );
            }
        }
        McpService::new(self.0)
    }
}

impl fmt::Debug for McpService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("McpService").field(&self.0.engine.info().name).finish()
    }
}

impl<B> Service<Request<B>> for McpService
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        self.clone().respond_boxed(request.map(|body| body.map_err(Into::into).boxed_unsync()))
    }
}

impl Endpoint {
    fn log_refusal(&self, headers: &HeaderMap, reason: &str) {
        self.refusal_logged.call_once(|| {
            let [host, origin] = [header::HOST, header::ORIGIN].map(|name| headers.get(name));
            tracing::warn!(
                ?host,
                ?origin,
                "refused a request: {reason}; `--allow-host` and REJOINDER_ALLOW_HOSTS allow a host too; further refusals are \
                 not logged"
            );
        });
    }

    /// Opens a WebSocket or a stream of HTTP+SSE for that caller, unless too many are open; it ends when this is dropped.
    #[cfg(any(feature = "ws", feature = "sse"))]
    pub(super) fn open_connection(&self, owner: &Owner) -> Result<impl Send + use<>, HttpRefusal> {
        let refuse = |reason: &'static str| Err(HttpRefusal::new(StatusCode::SERVICE_UNAVAILABLE, reason));
        let of_caller = self.engine.session_places().take(owner.as_ref(), 1)?;
        if self.engine.is_stopping() {
            return refuse("the server is shutting down");
        }
        let open = self.connections.token();
        if self.connections.len() > self.engine.http().max_sessions {
            return refuse("too many connections, try again later");
        }
        Ok((open, of_caller))
    }

    /// Whether there are sessions to get and delete for a client with these headers.
    fn has_sessions(&self, headers: &HeaderMap) -> bool {
        let is_stateless =
            headers.get(header_name::PROTOCOL_VERSION).is_some_and(|version| version == version::STATELESS);
        self.sessions.is_some() && self.engine.http().session_memory && !is_stateless
    }

    /// Answers a request of Streamable HTTP.
    async fn handle<B>(&self, parts: &mut Parts, body: B) -> Result<Response<ResponseBody>, HttpRefusal>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<BoxError>,
    {
        let engine = &self.engine;
        if parts.method != Method::POST {
            return match &self.sessions {
                Some(sessions)
                    if matches!(parts.method, Method::GET | Method::DELETE) && self.has_sessions(&parts.headers) =>
                {
                    sessions.get_or_delete(parts)
                }
                _ => Err(HttpRefusal::new(StatusCode::METHOD_NOT_ALLOWED, "requests are sent with POST")),
            };
        }
        check_content_type(&parts.headers)?;
        let events = accepts_events(&parts.headers)?;
        let bytes = engine.bytes();
        let hold = || match parts.extensions.get::<Principal>() {
            // The door will know.
            None if engine.identifies_callers() => bytes.hold_unread(),
            caller => bytes.hold(caller),
        };
        let limit = engine.limits().message_size;
        let body = read_body(body, limit, engine.http().body_timeout, hold).await?;
        // A call of a session outlives its connection, and must not keep the buffer that the connection is read into.
        let is_of_session = parts.headers.contains_key(header_name::SESSION_ID) && body.len() <= READ_BUFFER;
        let body = if is_of_session { Bytes::copy_from_slice(&body) } else { body };
        let begun = self.begin(parts, &body, events)?;
        drop(body);
        match begun {
            Begun::Response(response) => Ok(response),
            Begun::Later(response) => Ok(response.await),
        }
    }

    /// Reads a message and begins to answer it. A future would keep what this reads, and be copied with it.
    fn begin(&self, parts: &mut Parts, body: &Bytes, events: bool) -> Result<Begun, HttpRefusal> {
        let envelope = match Envelope::read(body, self.engine.limits().message_values) {
            Ok(envelope) => envelope,
            Err(bad) => {
                let is_array = bad.error.code != error_code::PARSE_ERROR && body.trim_ascii_start().starts_with(b"[");
                let is_batch = is_array && parts.headers.contains_key(header_name::SESSION_ID);
                return Ok(Begun::Response(match &self.sessions {
                    Some(sessions) if is_batch => sessions.post_batch(parts, body)?,
                    _ => json(error_reply(bad.id.as_deref(), &bad.error)),
                }));
            }
        };
        let version = || parts.headers.get(header_name::PROTOCOL_VERSION)?.to_str().ok();
        if let (true, Some(sessions)) = (is_of_session(&envelope, version), &self.sessions) {
            if !events {
                return Err(HttpRefusal::not_acceptable());
            }
            return Ok(sessions.post(take(parts), body, envelope));
        }
        let id = envelope.id;
        let http = Http::repeating_body(mem::take(&mut parts.headers), mem::take(&mut parts.extensions));
        let dispatched = dispatch(&self.engine, body, envelope, http, None);
        Ok(Begun::with(dispatched, id, events, self.engine.http().stream_after))
    }
}

/// What becomes of a request of Streamable HTTP.
pub(super) enum Begun {
    Response(Response<ResponseBody>),
    /// It holds nothing of the body.
    Later(BoxFuture<'static, Response<ResponseBody>>),
}

impl Begun {
    /// The response to a request of its own.
    pub(super) fn with(dispatched: Dispatched, id: Option<&str>, events: bool, longest_silence: Duration) -> Self {
        match dispatched {
            Dispatched::Nothing => Self::Response(status(StatusCode::ACCEPTED)),
            Dispatched::Reply(reply) => Self::Response(json(reply)),
            Dispatched::Stream(stream) if stream.is_subscription() && !events => {
                Self::Response(HttpRefusal::not_acceptable().response(id))
            }
            Dispatched::Stream(mut stream) => match stream.poll_frame(&mut Context::from_waker(Waker::noop())) {
                // Most calls end at once, without a future of their own.
                Poll::Ready(Frame::Last(reply)) => Self::Response(json(reply)),
                polled => Self::Later(Box::pin(run(stream, polled, events, longest_silence))),
            },
        }
    }
}

/// The head of a request, for what keeps it. Others borrow it: it is large, and a future that owns it copies it.
fn take(parts: &mut Parts) -> Parts {
    mem::replace(parts, Request::new(()).into_parts().0)
}

/// Runs a call that was polled once. The reply is JSON, unless the call emits something or is silent for too long before
/// it ends.
async fn run(
    mut stream: Stream,
    mut polled: Poll<Frame>,
    events: bool,
    longest_silence: Duration,
) -> Response<ResponseBody> {
    let mut silence = None;
    loop {
        let frame = poll_fn(|cx| {
            if let Poll::Ready(frame) = mem::replace(&mut polled, Poll::Pending) {
                return Poll::Ready(Some(frame));
            }
            if let Poll::Ready(frame) = stream.poll_frame(cx) {
                return Poll::Ready(Some(frame));
            }
            // Most calls end at once and need no timer.
            let silence = silence.get_or_insert_with(|| Box::pin(sleep(longest_silence)));
            if events { silence.as_mut().poll(cx).map(|()| None) } else { Poll::Pending }
        });
        let first = match frame.await {
            Some(Frame::Last(reply)) => return json(reply),
            Some(Frame::Notification(message)) if events => event([message]),
            // The client does not accept events. Nothing slows such a call down, so it makes room for others.
            Some(Frame::Notification(_) | Frame::Request(_)) => {
                tokio::task::yield_now().await;
                continue;
            }
            None => COMMENT,
        };
        return event_stream(ResponseBody::events(call_events(first, stream)));
    }
}

pub(super) fn status(status: StatusCode) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::empty());
    *response.status_mut() = status;
    response
}

pub(super) fn json(mut reply: RpcReply) -> Response<ResponseBody> {
    let (status, scopes) = (reply.status, mem::take(&mut reply.scopes));
    let mut response = Response::new(ResponseBody::reply(reply.into_body()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    #[cfg(feature = "auth")]
    if !scopes.is_empty() {
        let error = ("insufficient_scope", "the caller lacks a scope".into());
        response.extensions_mut().insert(Challenge(Some(error), scopes));
    }
    #[cfg(not(feature = "auth"))]
    debug_assert!(scopes.is_empty(), "without `Auth` no client can get more");
    response
}

pub(super) fn event_stream(body: ResponseBody) -> Response<ResponseBody> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}
