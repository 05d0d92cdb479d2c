//! The same runtime and listener for every server, so that only what lies behind them differs.

use std::net::SocketAddr;

use anyhow::Result;
use axum::Router;
use axum::serve::ListenerExt;
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
