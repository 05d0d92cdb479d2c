//! What a call emits, on its way to the client.

#![expect(deprecated, reason = "log messages are deprecated in the protocol, and still part of it")]

use crate::call::{Emitted, Level};
use rmcp::{
    Peer, RoleServer,
    model::{
        LoggingLevel, LoggingMessageNotification, LoggingMessageNotificationParam, ProgressNotification,
        ProgressNotificationParam, ProgressToken, ServerNotification,
    },
    service::RequestContext,
};

use super::reply_stream::ReplyStream;

/// The way from a call to its client.
pub(super) struct Notify {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    stream: ReplyStream,
}

impl Notify {
    /// The way to the client of this request.
    pub(super) fn new(context: &RequestContext<RoleServer>) -> Self {
        Self {
            peer: context.peer.clone(),
            token: context.meta.get_progress_token(),
            stream: context.extensions.get().cloned().unwrap_or_default(),
        }
    }

    /// Tells the client, and waits until the message is on its way.
    pub(super) async fn tell(&self, emitted: Emitted) {
        let Some(notification) = self.notification(emitted) else { return };
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

    fn notification(&self, emitted: Emitted) -> Option<ServerNotification> {
        Some(match emitted {
            Emitted::Progress { progress, total, message } => {
                let mut params = ProgressNotificationParam::new(self.token.clone()?, progress);
                params.total = total;
                params.message = message;
                ServerNotification::ProgressNotification(ProgressNotification::new(params))
            }
            Emitted::Log { level, logger, data } => {
                let mut params = LoggingMessageNotificationParam::new(to_wire(level), data);
                params.logger = logger;
                ServerNotification::LoggingMessageNotification(LoggingMessageNotification::new(params))
            }
        })
    }
}

fn to_wire(level: Level) -> LoggingLevel {
    match level {
        Level::Debug => LoggingLevel::Debug,
        Level::Info => LoggingLevel::Info,
        Level::Notice => LoggingLevel::Notice,
        Level::Warning => LoggingLevel::Warning,
        Level::Error => LoggingLevel::Error,
        Level::Critical => LoggingLevel::Critical,
        Level::Alert => LoggingLevel::Alert,
        Level::Emergency => LoggingLevel::Emergency,
    }
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
