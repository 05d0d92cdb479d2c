use tokio_util::sync::CancellationToken;

/// Tells a transport to stop.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shutdown(CancellationToken);

impl Shutdown {
    /// Stops when the process is asked to: on Ctrl-C, and on SIGTERM where there is such a thing.
    pub(crate) fn on_signal() -> Self {
        let shutdown = Self::default();
        let token = shutdown.0.clone();
        tokio::spawn(async move {
            signal().await;
            tracing::info!("stopping: calls in flight may finish");
            token.cancel();
        });
        shutdown
    }

    pub(crate) async fn wait(&self) {
        self.0.cancelled().await;
    }
}

#[cfg(unix)]
async fn signal() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
        }
        Err(error) => {
            tracing::warn!(%error, "SIGTERM cannot be caught");
            let _ = tokio::signal::ctrl_c().await;
        }
    }
}

#[cfg(not(unix))]
async fn signal() {
    let _ = tokio::signal::ctrl_c().await;
}
