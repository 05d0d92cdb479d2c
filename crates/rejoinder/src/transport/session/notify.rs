//! What a call emits, on its way to the client.

#![expect(deprecated, reason = "log messages are deprecated in the protocol, and still part of it")]

use rmcp::{
    Peer, RoleServer,
    model::{LoggingLevel, LoggingMessageNotification, ProgressNotification, ServerNotification},
    service::RequestContext,
};
use serde_json::Value;

use super::reply_stream::ReplyStream;
use crate::call::Level;

/// The way from a call to its client.
pub(super) struct Notify {
    peer: Peer<RoleServer>,
    stream: ReplyStream,
}

impl Notify {
    /// The way to the client of this request.
    pub(super) fn new(context: &RequestContext<RoleServer>) -> Self {
        Self { peer: context.peer.clone(), stream: context.extensions.get().cloned().unwrap_or_default() }
    }

    /// Sends a notification to the client, and waits until the message is on its way.
    pub(super) async fn tell(&self, message: &[u8]) {
        let Some(notification) = notification(message) else { return };
        // On HTTP the stream that carries the reply is the only one that belongs to the call. Where the client is
        // not listening on it, the session keeps the message until it is.
        if let Err(notification) = self.stream.tell(notification).await
            && let Err(error) = self.peer.send_notification(notification).await
        {
            tracing::debug!(%error, "a notification did not reach its client");
        }
    }

    /// Whether the client has left, and may come back.
    pub(super) fn is_client_away(&self) -> bool {
        self.stream.is_left()
    }

    /// Waits for a client that is away, so that the reply is not sent to nobody.
    pub(super) async fn before_reply(&self) {
        self.stream.connected().await;
    }
}

/// A notification of a call, in rmcp's types.
fn notification(message: &[u8]) -> Option<ServerNotification> {
    let mut message: Value = serde_json::from_slice(message).ok()?;
    let params = message["params"].take();
    Some(match message["method"].as_str()? {
        "notifications/progress" => {
            ServerNotification::ProgressNotification(ProgressNotification::new(serde_json::from_value(params).ok()?))
        }
        _ => ServerNotification::LoggingMessageNotification(LoggingMessageNotification::new(
            serde_json::from_value(params).ok()?,
        )),
    })
}

/// A level of the protocol's as ours.
pub(super) fn from_wire(level: LoggingLevel) -> Level {
    match level {
        LoggingLevel::Debug => Level::Debug,
        LoggingLevel::Info => Level::Info,
        LoggingLevel::Notice => Level::Notice,
        LoggingLevel::Warning => Level::Warning,
        LoggingLevel::Error => Level::Error,
        LoggingLevel::Critical => Level::Critical,
        LoggingLevel::Alert => Level::Alert,
        LoggingLevel::Emergency => Level::Emergency,
    }
}
