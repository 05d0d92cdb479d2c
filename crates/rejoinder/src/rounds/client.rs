//! One question over a session, and its answer.

use super::SessionClient;
use crate::{
    BoxFuture,
    ask::{Question, RawAnswer},
    error::CallError,
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use rmcp::{
    RoleServer,
    model::{CancelledNotificationParam, ClientResult, CustomRequest, RequestId, ServerRequest},
    service::{OriginatingRequestId, Peer, PeerRequestOptions, ServiceError},
};
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

/// The client at the other end of a session, as one call sees it.
pub(crate) struct RmcpClient {
    pub(crate) peer: Peer<RoleServer>,
    /// The request that the call serves.
    pub(crate) request: RequestId,
    /// The version that the session speaks.
    pub(crate) version: &'static str,
    /// Cancelled when nothing more comes from the client.
    pub(crate) unheard: CancellationToken,
}

impl RmcpClient {
    /// Asks, and gives the answer as it came.
    async fn send(&self, key: &str, question: &Question) -> Result<RawAnswer, CallError> {
        if self.unheard.is_cancelled() {
            return Err(no_answer_can_come(key));
        }
        let mut params = question.params_in(self.version);
        // What the stateless era has in the request itself: it tells questions apart in logs and tests.
        params["_meta"] = json!({ "rejoinder/key": key });
        if matches!(question, Question::Visit { .. }) {
            // The session era wants a name for the visit; the stateless one must not have it.
            params["elicitationId"] = json!(fresh_id()?);
        }
        let request = json!({ "method": question.method(), "params": params });
        // As it is: rmcp's own types know less of a form than the client may.
        let mut request: CustomRequest = serde_json::from_value(request)?;
        // On the stream of the call, from whichever task it is asked.
        request.extensions.insert(OriginatingRequestId(self.request.clone()));
        let answer = tokio::select! {
            // Whatever has come counts.
            biased;
            answer = self.exchange(ServerRequest::CustomRequest(request)) => answer,
            () = self.unheard.cancelled() => return Err(no_answer_can_come(key)),
        };
        match answer {
            Ok(answer) => Ok(as_json(&answer).into()),
            Err(ServiceError::McpError(error)) => {
                Err(CallError::protocol(error.code.0, error.message.into_owned(), error.data))
            }
            Err(error) => {
                tracing::warn!(key, %error, "a question did not come through");
                Err(CallError::new(format!(
                    "the client could not be asked `{key}`: it must keep the stream of its request open, or one of its own"
                )))
            }
        }
    }

    /// Sends a request and waits for its answer; whoever stops waiting takes it back.
    async fn exchange(&self, request: ServerRequest) -> Result<ClientResult, ServiceError> {
        let sent = self.peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await?;
        let mut open = OpenRequest { peer: &self.peer, id: Some(sent.id.clone()) };
        // A quick client may have answered by now, and a decline would end the call before those who ask beside this one
        // have had their turn: the questions of a wave go out together, however soon the first is answered.
        tokio::task::yield_now().await;
        let answer = sent.await_response().await;
        open.id = None;
        answer
    }
}

impl SessionClient for RmcpClient {
    fn ask<'a>(&'a self, key: &'a str, question: &'a Question) -> BoxFuture<'a, Result<RawAnswer, CallError>> {
        Box::pin(self.send(key, question))
    }
}

/// A request that is out. Dropped before its answer came, it is taken back: nobody should
/// be left with a form on the screen that is of no use.
struct OpenRequest<'a> {
    peer: &'a Peer<RoleServer>,
    id: Option<RequestId>,
}

impl Drop for OpenRequest<'_> {
    fn drop(&mut self) {
        if let (Some(id), Ok(runtime)) = (self.id.take(), Handle::try_current()) {
            let peer = self.peer.clone();
            let cancelled =
                CancelledNotificationParam::new(Some(id), Some("the answer is no longer needed".to_owned()));
            runtime.spawn(async move {
                // A client that has left needs not be told.
                let _ = peer.notify_cancelled(cancelled).await;
            });
        }
    }
}

fn no_answer_can_come(key: &str) -> CallError {
    CallError::new(format!(
        "the client could not be asked `{key}`: nothing more is read from its pipe, so no answer can come"
    ))
}

/// A name that no other visit has.
fn fresh_id() -> Result<String, CallError> {
    let mut id = [0; 16];
    getrandom::fill(&mut id)?;
    Ok(URL_SAFE_NO_PAD.encode(id))
}

fn as_json(answer: &ClientResult) -> Value {
    serde_json::to_value(answer).unwrap_or_default()
}
