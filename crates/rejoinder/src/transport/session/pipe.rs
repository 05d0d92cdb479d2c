use std::sync::Arc;

use rmcp::{
    RoleServer,
    model::{ClientRequest, JsonRpcMessage, RequestId},
    serve_server,
    service::{RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage},
    transport::{Transport, async_rw::AsyncRwTransport},
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use super::{SessionHandler, error::wire};
use crate::{protocol::RpcError, server::Engine};

/// Serves one session over a pair of byte streams, a message on each line, until the client is gone.
///
/// When the reader ends, calls in flight have five seconds to end too; rmcp sets that.
pub(crate) async fn serve_pipe(
    engine: Arc<Engine>,
    reader: impl AsyncRead + Send + Unpin + 'static,
    writer: impl AsyncWrite + Send + Unpin + 'static,
) {
    let ending = CancellationToken::new();
    // When this future is dropped, so are the session's calls.
    let _end = ending.clone().drop_guard();
    // The transport in front has a limit of its own.
    let transport = AsyncRwTransport::new(reader, writer).with_max_line_length(usize::MAX);
    let handler = SessionHandler::new(engine, ending);
    match serve_server(handler, Opening { transport, open: false }).await {
        Ok(session) => {
            let _ = session.waiting().await;
        }
        Err(ServerInitializeError::ConnectionClosed(_)) => {}
        Err(error) => tracing::warn!(%error, "a session did not begin"),
    }
}

/// A transport on which nothing but `initialize` begins a session, and nothing else ends it before it begins.
struct Opening<T> {
    transport: T,
    open: bool,
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
        self.transport.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = self.transport.receive().await?;
            if self.open {
                return Some(message);
            }
            match early(&message) {
                Early::Begins => self.open = true,
                Early::Passes => {}
                Early::Refused(id, error) => {
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
