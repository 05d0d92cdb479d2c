use std::{
    convert::Infallible,
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use ::http::{HeaderValue, Method, Request, Response, StatusCode, header};
use bytes::Bytes;
use http_body::Body;
use tower_service::Service;

use super::{
    ResponseBody, guard,
    request::{Refused, accepts_events, check_content_type, read_body},
};
use crate::{
    protocol::{Answer, Envelope, Frame, Reply, Stream, dispatch, error_reply},
    server::{BuiltServer, Engine},
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
/// What your layers put into the request's extensions is there for tools, as
/// [`Context::extension`](crate::Context::extension).
#[derive(Clone)]
pub struct McpService(Arc<Engine>);

impl McpService {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Self(engine)
    }
}

impl BuiltServer {
    /// The server as a tower service; see [`McpService`].
    pub fn into_service(self) -> McpService {
        McpService::new(self.0)
    }
}

impl fmt::Debug for McpService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("McpService").field(&self.0.info.name).finish()
    }
}

impl<B> Service<Request<B>> for McpService
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let engine = Arc::clone(&self.0);
        Box::pin(async move { Ok(handle(engine, request).await.unwrap_or_else(refusal)) })
    }
}

async fn handle<B>(engine: Arc<Engine>, request: Request<B>) -> Result<Response<ResponseBody>, Refused>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let (parts, body) = request.into_parts();
    guard::check(&parts.headers, &parts.uri, &engine.options)
        .map_err(|reason| Refused::new(StatusCode::FORBIDDEN, reason))?;
    if parts.method != Method::POST {
        return Err(Refused::new(StatusCode::METHOD_NOT_ALLOWED, "requests are sent with POST"));
    }
    check_content_type(&parts.headers)?;
    let events = accepts_events(&parts.headers)?;
    let body = read_body(body, engine.options.body_limit, engine.options.body_timeout).await?;
    let envelope = match Envelope::read(&body, &engine) {
        Ok(envelope) => envelope,
        Err(bad) => return Ok(json(error_reply(bad.id, &bad.error))),
    };
    let answer = dispatch(&engine, &body, envelope, Some(Box::new((parts.headers, parts.extensions))));
    Ok(match answer {
        Answer::Nothing => status(StatusCode::ACCEPTED),
        Answer::Reply(reply) => json(reply),
        Answer::Stream(stream) if stream.is_subscription() => {
            if !events {
                return Err(Refused::new(StatusCode::NOT_ACCEPTABLE, "a subscription needs Accept: text/event-stream"));
            }
            event_stream(None, stream)
        }
        Answer::Stream(stream) => run(stream, events).await,
    })
}

/// Runs a call. It is answered with JSON, unless it told something before it ended.
async fn run(mut stream: Stream, events: bool) -> Response<ResponseBody> {
    loop {
        match stream.frame().await {
            Frame::Last(reply) => return json(reply),
            Frame::Notification(first) if events => return event_stream(Some(first), stream),
            // A client that takes no events is not told. Nothing slows such a call down, so it makes room for others.
            Frame::Notification(_) => tokio::task::yield_now().await,
        }
    }
}

fn status(status: StatusCode) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::empty());
    *response.status_mut() = status;
    response
}

fn json(reply: Reply) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::reply(reply.body));
    *response.status_mut() = reply.status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn event_stream(first: Option<Bytes>, stream: Stream) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::events(first, stream));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

fn refusal(refused: Refused) -> Response<ResponseBody> {
    let mut response = json(error_reply(None, &refused.error));
    *response.status_mut() = refused.status;
    if refused.status == StatusCode::METHOD_NOT_ALLOWED {
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
    }
    response
}
