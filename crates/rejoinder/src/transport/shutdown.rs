//! When a transport stops, and what it waits for before it has stopped.

use std::{future::ready, sync::Arc, thread, time::Duration};

#[cfg(not(unix))]
use futures_util::stream::unfold;
#[cfg(unix)]
use futures_util::stream::{poll_fn, select_all};
use futures_util::{
    future::{BoxFuture, join},
    stream::{Stream, StreamExt},
};
use tokio::{runtime::Builder, time::timeout};

use super::Error;
use crate::server::{BuiltServer, Engine};

/// Stops the server on Ctrl-C, and on SIGTERM where it exists. The second signal ends the process.
///
/// The time that the server has to stop begins with the signal, whatever the transport does. Signals are heard in a thread
/// with a runtime of its own, because functions may block every thread of the server's runtime.
pub(crate) fn on_signal(engine: &Arc<Engine>) {
    let (stopping, engine) = (engine.stopping().clone(), Arc::downgrade(engine));
    let runtime = match Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return tracing::warn!(%error, "cannot catch signals"),
    };
    let mut signals = {
        let _entered = runtime.enter();
        signals()
    };
    let stop = async move {
        // There is none if they cannot be caught.
        let Some(()) = signals.next().await else { return };
        tracing::info!("shutting down, running calls may finish; a second signal ends the process at once");
        stopping.cancel();
        if let Some(engine) = engine.upgrade() {
            engine.shut_down_in_time();
            if engine.ends_process() {
                exit_after(engine.longest_stop());
            }
        }
        let Some(()) = signals.next().await else { return };
        tracing::warn!("a second signal: the process ends at once");
        std::process::exit(1);
    };
    thread::spawn(move || runtime.block_on(stop));
}

/// Ends the process after that time, unless `main` returns before: a function that blocks its thread would keep the runtime
/// from stopping.
pub(crate) fn exit_after(longest: Duration) {
    thread::spawn(move || {
        thread::sleep(longest);
        tracing::warn!("a thread is still blocked after the grace period: the process ends without it");
        std::process::exit(1);
    });
}

/// Waits until calls that were cancelled, and whatever else is `ending`, are over and what they deferred is done, and then until
/// the background tasks are, each at most for the grace period.
pub(crate) async fn finish_teardown(engine: &Engine, ending: impl Future<Output = ()>) {
    let finishing = async {
        // Calls in sessions take a moment to notice that they are cancelled.
        engine.calls_ended().await;
        engine.teardown_ended().await;
    };
    let grace = engine.grace();
    if timeout(grace, join(ending, finishing)).await.is_err() {
        tracing::warn!("the deferred work of cancelled calls took too long and was dropped");
    }
    // Those that wait for something are dropped at once; a thread that is blocked cannot be stopped.
    let to_cancel = grace / 4;
    if timeout(grace - to_cancel, engine.background().idle()).await.is_err() {
        let tasks = engine.background().cancel();
        tracing::warn!(tasks, "background tasks took longer than the grace period and were cancelled");
        let _ = timeout(to_cancel, engine.background().idle()).await;
    }
}

/// Starts the server, serves it, and stops it.
pub(crate) async fn serve_started(
    engine: &Arc<Engine>,
    serving: impl Future<Output = Result<(), Error>>,
) -> Result<(), Error> {
    engine.serve();
    let served = match engine.start_up().await {
        Ok(()) => serving.await,
        Err(error) => Err(error.into()),
    };
    engine.served().await;
    served
}

impl BuiltServer {
    /// Starts the server: runs what [`Server::provide_async`](crate::Server::provide_async) and
    /// [`Server::on_start`](crate::Server::on_start) were given, once.
    ///
    /// Call it before you mount the server in an application, so that it fails early; otherwise the first request starts the
    /// server and waits for it.
    ///
    /// # Errors
    ///
    /// The error of the function that failed.
    pub fn start(&self) -> BoxFuture<'static, Result<(), Error>> {
        let engine = Arc::clone(&self.0);
        Box::pin(async move { Ok(engine.start_up().await?) })
    }

    /// Stops the server on every transport: refuses new requests, ends subscriptions, waits for calls, what they have deferred,
    /// and background tasks, and then runs what
    /// [`Server::on_stop`](crate::Server::on_stop) was given, once. That runs within three
    /// [grace periods](crate::Server::grace_period), whatever functions do. The time begins when the future is first polled.
    /// The server cannot be served again.
    ///
    /// The functions that serve the server end. Calls that take longer than a grace period are cancelled, except those
    /// of Streamable HTTP on connections of the application, which end with these or with the process. Do not wait for the
    /// application's connections before: a call that never ends would keep the server
    /// from stopping.
    pub fn stop(&self) -> BoxFuture<'static, ()> {
        let engine = Arc::clone(&self.0);
        Box::pin(async move {
            engine.shut_down_in_time();
            engine.stop_accepting();
            // Transports cancel the calls that take longer.
            let _ = timeout(engine.grace(), engine.calls_ended()).await;
            finish_teardown(&engine, ready(())).await;
            engine.start_ended().await;
            engine.shut_down().await;
        })
    }
}

/// Ctrl-C, and SIGTERM where it exists, caught from this call on.
#[cfg(unix)]
fn signals() -> impl Stream<Item = ()> + Send + Unpin {
    use tokio::signal::unix::{SignalKind, signal};
    let caught = [SignalKind::interrupt(), SignalKind::terminate()].map(signal).into_iter();
    let log = |error: &std::io::Error| tracing::warn!(%error, "cannot catch a signal");
    let caught = caught.filter_map(|signal| signal.inspect_err(log).ok());
    select_all(caught.map(|mut signal| poll_fn(move |cx| signal.poll_recv(cx))))
}

#[cfg(not(unix))]
fn signals() -> impl Stream<Item = ()> + Send + Unpin {
    unfold((), |()| async { Some((tokio::signal::ctrl_c().await.ok()?, ())) }).boxed()
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    };

    use tokio::sync::oneshot;

    use super::serve_started;
    use crate::Server;

    #[tokio::test]
    async fn the_last_transport_that_ends_stops_the_server() {
        let stops = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&stops);
        let server = Server::new("two transports", "1.0.0").on_stop(async move |_| {
            counter.fetch_add(1, Ordering::SeqCst);
        });
        let engine = server.build().expect("a good server").0;
        let serve = || {
            let (end, ended) = oneshot::channel::<()>();
            let engine = Arc::clone(&engine);
            let serving = tokio::spawn(async move {
                serve_started(&engine, async {
                    let _ = ended.await;
                    Err(std::io::Error::other("the network failed").into())
                })
                .await
            });
            (end, serving)
        };
        let (first, second) = (serve(), serve());
        tokio::task::yield_now().await;
        drop(first.0);
        assert!(first.1.await.expect("no panic").is_err());
        assert_eq!(stops.load(Ordering::SeqCst), 0, "the other one still serves");
        drop(second.0);
        assert!(second.1.await.expect("no panic").is_err());
        assert_eq!(stops.load(Ordering::SeqCst), 1, "also if serving failed");
    }
}
