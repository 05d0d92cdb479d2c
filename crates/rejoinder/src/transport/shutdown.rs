use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::server::Engine;

/// Tells a transport to stop.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shutdown(CancellationToken);

impl Shutdown {
    /// Stops when the process is asked to: on Ctrl-C, and on SIGTERM where there is such a thing.
    pub(crate) fn on_signal() -> Self {
        let shutdown = Self::default();
        let token = shutdown.0.clone();
        let signal = signal();
        tokio::spawn(async move {
            signal.await;
            tracing::info!("stopping: calls in flight may finish");
            token.cancel();
        });
        shutdown
    }

    #[cfg(test)]
    pub(crate) fn stop(&self) {
        self.0.cancel();
    }

    pub(crate) async fn wait(&self) {
        self.0.cancelled().await;
    }
}

/// Lets what cancelled calls have deferred run to its end, for as long as the calls themselves had.
pub(crate) async fn finish_teardown(engine: &Engine) {
    let finishing = async {
        // Those of sessions take a moment to see that they are cancelled.
        engine.calls.idle().await;
        engine.teardown.idle().await;
    };
    if timeout(engine.options.grace, finishing).await.is_err() {
        tracing::warn!("what cancelled calls have deferred was cut short");
    }
}

/// Signals count from now on, not from when somebody first waits for one.
#[cfg(unix)]
fn signal() -> impl Future<Output = ()> {
    use tokio::signal::unix::{SignalKind, signal};
    let listen = |kind, name| {
        let signal = signal(kind);
        signal.inspect_err(|error| tracing::warn!(%error, "{name} cannot be caught")).ok()
    };
    let interrupt = listen(SignalKind::interrupt(), "SIGINT");
    let terminate = listen(SignalKind::terminate(), "SIGTERM");
    async move {
        let received = async |signal: Option<tokio::signal::unix::Signal>| match signal {
            Some(mut signal) => signal.recv().await,
            None => std::future::pending().await,
        };
        tokio::select! {
            _ = received(interrupt) => {}
            _ = received(terminate) => {}
        }
    }
}

#[cfg(not(unix))]
async fn signal() {
    let _ = tokio::signal::ctrl_c().await;
}
