use std::{collections::HashSet, future::pending, sync::Arc, time::Duration};

use rmcp::{
    RoleServer,
    model::{ClientNotification, ClientRequest, JsonRpcMessage, RequestId},
    serve_server,
    service::{RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage},
    transport::{Transport, async_rw::AsyncRwTransport},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::{SessionHandler, error::wire};
use crate::{
    protocol::RpcError,
    server::{Calls, Engine},
};

/// Serves one session over a pair of byte streams, a message on each line, until the client is gone.
///
/// When the reader ends, calls in flight, which count in `calls` too, have the grace period to end as well; those that
/// ask are told that no answer can come.
pub(crate) async fn serve_pipe(
    engine: Arc<Engine>,
    reader: impl AsyncRead + Send + Unpin + 'static,
    writer: impl AsyncWrite + Send + Unpin + 'static,
    calls: Calls,
) {
    let ending = CancellationToken::new();
    // When this future is dropped, so are the session's calls.
    let _end = ending.clone().drop_guard();
    // The transport in front has a limit of its own.
    let transport = AsyncRwTransport::new(reader, writer).with_max_line_length(usize::MAX);
    let grace = engine.options.grace;
    let unheard = CancellationToken::new();
    let handler = SessionHandler::new(engine, ending.clone()).on_pipe(unheard.clone(), calls);
    let opening = Opening { transport, open: false, in_flight: HashSet::new(), grace, ended: None, unheard, ending };
    match serve_server(handler, opening).await {
        Ok(session) => {
            let _ = session.waiting().await;
        }
        Err(ServerInitializeError::ConnectionClosed(_)) => {}
        Err(error) => tracing::warn!(%error, "a session did not begin"),
    }
}

/// A transport on which nothing but `initialize` begins a session, nothing else ends it before it begins, and no
/// request is left unanswered when it ends.
struct Opening<T> {
    transport: T,
    open: bool,
    in_flight: HashSet<RequestId>,
    grace: Duration,
    /// When the client's input ended: since then the grace period runs.
    ended: Option<Instant>,
    /// Tells the calls of the session that it did.
    unheard: CancellationToken,
    /// Ends the calls of the session.
    ending: CancellationToken,
}

impl<T> Opening<T> {
    /// Takes note of what a message of the client's begins or ends.
    fn note(&mut self, message: &RxJsonRpcMessage<RoleServer>) {
        match message {
            JsonRpcMessage::Request(request) => {
                self.in_flight.insert(request.id.clone());
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.in_flight.remove(id);
                }
            }
            _ => {}
        }
    }
}

/// What becomes of a message that comes before `initialize`.
enum Early {
    Begins,
    Passes,
    Refused(RequestId, RpcError),
    Ignored,
}

fn early(message: &RxJsonRpcMessage<RoleServer>) -> Early {
    let JsonRpcMessage::Request(request) = message else { return Early::Ignored };
    let error = match &request.request {
        ClientRequest::InitializeRequest(_) => return Early::Begins,
        ClientRequest::PingRequest(_) => return Early::Passes,
        ClientRequest::CustomRequest(custom) if custom.method == "initialize" => {
            RpcError::invalid_params("`params` is not what `initialize` takes")
        }
        _ => RpcError::invalid_request("a session begins with `initialize`"),
    };
    Early::Refused(request.id.clone(), error)
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Opening<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        match &item {
            JsonRpcMessage::Response(response) => self.in_flight.remove(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref().is_some_and(|id| self.in_flight.remove(id)),
            _ => false,
        };
        self.transport.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let Some(message) = self.transport.receive().await else {
                // Every message before this one has been passed on.
                self.unheard.cancel();
                // From its end on, rmcp carries no more notifications, and a call that wants to send one would wait in
                // vain: so the end is told later. Whenever something was sent, this is asked again.
                if !self.in_flight.is_empty() {
                    let ended = *self.ended.get_or_insert_with(Instant::now);
                    match ended.checked_add(self.grace) {
                        Some(last) => sleep_until(last).await,
                        None => pending().await,
                    }
                    self.ending.cancel();
                }
                return None;
            };
            self.note(&message);
            if self.open {
                return Some(message);
            }
            match early(&message) {
                Early::Begins => self.open = true,
                Early::Passes => {}
                Early::Refused(id, error) => {
                    self.in_flight.remove(&id);
                    self.transport.send(JsonRpcMessage::error(wire(error), Some(id))).await.ok()?;
                    continue;
                }
                Early::Ignored => continue,
            }
            return Some(message);
        }
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        self.transport.close().await
    }
}
