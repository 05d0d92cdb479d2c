//! Keeps a session from being taken for idle while somebody listens to it.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use futures_core::Stream;
use rmcp::transport::streamable_http_server::session::local::LocalSessionHandle;
use tokio::task::AbortHandle;

use crate::server::RunningCall;

/// A request that no session has: closing its stream does nothing, except that something happens in the session.
const NO_REQUEST: u64 = u64::MAX;

/// Until it is dropped, its session is not idle.
///
/// rmcp counts messages only: a session whose client waits for a long call, or listens without asking for anything,
/// would end under it.
#[derive(Debug)]
pub(super) struct Awake(AbortHandle, Option<RunningCall>);

impl Awake {
    /// Lets something happen in the session well before `idle` is over, again and again.
    pub(super) fn keep(session: &LocalSessionHandle, idle: Duration) -> Self {
        let session = session.clone();
        let task = tokio::spawn(async move {
            loop {
                tokio::time::sleep(idle / 3).await;
                if session.close_request_wise_channel(NO_REQUEST).await.is_err() {
                    return;
                }
            }
        });
        Self(task.abort_handle(), None)
    }

    /// Counts a reply as on its way for as long.
    pub(super) fn with(mut self, reply: RunningCall) -> Self {
        self.1 = Some(reply);
        self
    }

    /// For as long as the stream lasts.
    pub(super) fn during<S>(self, stream: S) -> Attended<S> {
        Attended { stream, _awake: self }
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A stream that somebody listens to.
#[derive(Debug)]
pub(super) struct Attended<S> {
    stream: S,
    _awake: Awake,
}

impl<S: Stream + Unpin> Stream for Attended<S> {
    type Item = S::Item;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        Pin::new(&mut self.stream).poll_next(cx)
    }
}
