use std::{
    convert::Infallible,
    io,
    pin::Pin,
    task::{Context, Poll},
};

use ::http::{Request, Response, StatusCode};
use axum::{ServiceExt, body::Body, response::IntoResponse, serve::ListenerExt};
use tokio::{net::TcpListener, time::timeout};
use tower_service::Service;

use super::McpService;
use crate::{server::BuiltServer, transport::shutdown::Shutdown};

/// Serves on a listener, at `/mcp`, until told to stop; then calls in flight have the grace period to finish.
pub(in crate::transport) async fn serve(
    server: BuiltServer,
    listener: TcpListener,
    shutdown: Shutdown,
) -> io::Result<()> {
    let grace = server.0.options.grace;
    let service = server.into_service();
    let closing = service.clone();
    let listener = listener.tap_io(|io| {
        // A reply is written whole: waiting to fill a packet would only delay it.
        let _ = io.set_nodelay(true);
    });
    let stop = shutdown.clone();
    let service = ServiceExt::<Request<Body>>::into_make_service(AtMcp(service));
    let serving = axum::serve(listener, service).with_graceful_shutdown(async move {
        stop.wait().await;
        closing.close().await;
    });
    let mut serving = std::pin::pin!(serving.into_future());
    tokio::select! {
        ended = &mut serving => return ended,
        () = shutdown.wait() => {}
    }
    match timeout(grace, serving).await {
        Ok(ended) => ended,
        Err(_) => {
            tracing::warn!(?grace, "calls were still in flight at the end of the grace period");
            Ok(())
        }
    }
}

/// The service at `/mcp`, and nothing elsewhere.
#[derive(Clone)]
struct AtMcp(McpService);

impl Service<Request<Body>> for AtMcp {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        if request.uri().path() != "/mcp" {
            let elsewhere = (StatusCode::NOT_FOUND, "the MCP endpoint is /mcp\n").into_response();
            return Box::pin(std::future::ready(Ok(elsewhere)));
        }
        let reply = self.0.call(request);
        Box::pin(async move { Ok(reply.await?.map(Body::new)) })
    }
}
