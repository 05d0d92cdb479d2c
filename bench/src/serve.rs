//! The same runtime and listener for every server, so that only what lies behind them differs.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Result;
use axum::Router;
use axum::serve::ListenerExt;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService,
    session::{local::LocalSessionManager, never::NeverSessionManager},
};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

/// Tokio as `#[tokio::main]` makes it: a worker per core the process may use, so one when it is pinned.
///
/// # Errors
///
/// When the system gives no threads.
pub fn runtime() -> Result<Runtime> {
    Ok(Builder::new_multi_thread().enable_all().build()?)
}

/// Serves until the process is ended. Small writes leave at once (`TCP_NODELAY`).
///
/// # Errors
///
/// When the address cannot be listened on.
pub async fn serve(address: SocketAddr, app: Router) -> Result<()> {
    let listener = TcpListener::bind(address).await?.tap_io(|io| {
        // A connection without the option is slower, not wrong: nothing to do about it here.
        let _ = io.set_nodelay(true);
    });
    Ok(axum::serve(listener, app).await?)
}

/// A server of rmcp: stateless, replies as plain JSON.
pub fn rmcp<S, F>(factory: F) -> Router
where
    S: ServerHandler + Send + 'static,
    F: Fn() -> std::io::Result<S> + Send + Sync + 'static,
{
    let config = StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true);
    let sessions = Arc::new(NeverSessionManager::default());
    Router::new().nest_service("/mcp", StreamableHttpService::new(factory, sessions, config))
}

/// A server of rmcp as documented: clients before 2026-07-28 get sessions, replies are events.
pub fn rmcp_sessions<S, F>(factory: F) -> Router
where
    S: ServerHandler + Send + 'static,
    F: Fn() -> std::io::Result<S> + Send + Sync + 'static,
{
    let sessions = Arc::new(LocalSessionManager::default());
    let config = StreamableHttpServerConfig::default();
    Router::new().nest_service("/mcp", StreamableHttpService::new(factory, sessions, config))
}
