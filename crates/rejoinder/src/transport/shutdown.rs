//! When a transport stops, and what it waits for before it has stopped.

use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::server::Engine;

/// A token that is cancelled on Ctrl-C, and on SIGTERM where it exists.
pub(crate) fn on_signal() -> CancellationToken {
    let shutdown = CancellationToken::new();
    let (token, signal) = (shutdown.clone(), signal());
    tokio::spawn(async move {
        signal.await;
        tracing::info!("shutting down, running calls may finish");
        token.cancel();
    });
    shutdown
}

/// Waits until the deferred work of cancelled calls is done, at most for the grace period.
pub(crate) async fn finish_teardown(engine: &Engine) {
    let finishing = async {
        // Calls in sessions take a moment to notice that they are cancelled.
        engine.calls.idle().await;
        engine.teardown.idle().await;
    };
    if timeout(engine.options.grace, finishing).await.is_err() {
        tracing::warn!("the deferred work of cancelled calls took too long and was dropped");
    }
}

/// Signals are caught from this call on, not from the first poll.
#[cfg(unix)]
fn signal() -> impl Future<Output = ()> {
    use tokio::signal::unix::{Signal, SignalKind, signal};
    async fn received(signal: std::io::Result<Signal>) {
        match signal {
            Ok(mut signal) => drop(signal.recv().await),
            Err(error) => {
                tracing::warn!(%error, "cannot catch a signal");
                std::future::pending::<()>().await;
            }
        }
    }
    let (interrupt, terminate) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
    async move {
        tokio::select! {
            () = received(interrupt) => {}
            () = received(terminate) => {}
        }
    }
}

#[cfg(not(unix))]
async fn signal() {
    let _ = tokio::signal::ctrl_c().await;
}

/// A tool that never returns and has deferred work, for the tests of transports that stop.
#[cfg(test)]
pub(super) mod waiting {
    use std::sync::Mutex;

    use tokio::sync::Notify;

    use crate::{CallEnd, prelude::*};

    /// What a test sees of the tool.
    #[derive(Default)]
    pub(crate) struct Seen {
        pub(crate) begun: Notify,
        ending: Mutex<Option<CallEnd>>,
    }

    impl Seen {
        /// The end that its deferred work was given.
        pub(crate) fn ending(&self) -> Option<CallEnd> {
            *self.ending.lock().expect("nobody panics")
        }
    }

    #[tool]
    pub(crate) async fn wait(scope: Scope, seen: Dep<Seen>) {
        let observed = seen.clone();
        scope.defer(move |ending| async move {
            tokio::task::yield_now().await;
            *observed.ending.lock().expect("nobody panics") = Some(ending);
        });
        seen.begun.notify_one();
        std::future::pending::<()>().await;
    }
}
