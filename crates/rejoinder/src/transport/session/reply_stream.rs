use std::{sync::Arc, time::Duration};

use crate::{call::Call, error::CallError, inject::FromCall};
use rmcp::model::ServerNotification;

use super::line::Line;

/// The HTTP response stream that carries a call's reply, as far as a function has a say in it.
///
/// Only clients of 2025-11-25 and earlier on HTTP have a stream that they can leave and come back to; everywhere else
/// the methods do nothing.
#[derive(Debug, Clone, Default)]
pub struct ReplyStream(Option<Arc<Line>>);

impl ReplyStream {
    pub(super) fn new(line: Arc<Line>) -> Self {
        Self(Some(line))
    }

    /// Ends the client's connection while the call goes on, and asks the client to come back after `retry` for what
    /// is sent from then on.
    ///
    /// For calls that last so long that an open connection is a burden. The reply waits for the client for a minute,
    /// unless too many do or the server stops.
    /// Tells whether it was done: clients before 2025-11-25 do not know how to come back, and stay connected.
    pub async fn disconnect(&self, retry: Duration) -> bool {
        match &self.0 {
            Some(line) => line.close(retry).await,
            None => false,
        }
    }

    /// Sends a notification; gives it back if there is no stream, or no client on it.
    pub(super) async fn tell(&self, notification: ServerNotification) -> Result<(), ServerNotification> {
        match &self.0 {
            Some(line) => line.tell(notification).await,
            None => Err(notification),
        }
    }

    /// Waits for the end of the session, where that is not told in another way.
    pub(super) async fn ended(&self) {
        match &self.0 {
            Some(line) => line.ended().await,
            None => std::future::pending().await,
        }
    }

    /// Whether its client has left, and may come back.
    pub(super) fn is_left(&self) -> bool {
        self.0.as_ref().is_some_and(|line| line.is_left())
    }

    /// Waits for a client that has left the stream.
    pub(super) async fn connected(&self) {
        if let Some(line) = &self.0 {
            line.connected().await;
        }
    }
}

impl FromCall for ReplyStream {
    fn from_call(call: &Call, _: &'static str) -> Result<Self, CallError> {
        Ok(call.extension::<Self>().cloned().unwrap_or_default())
    }
}
