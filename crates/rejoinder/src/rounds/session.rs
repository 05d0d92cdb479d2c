//! Questions over a live session: asked at once, and awaited where they are asked.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use rejoinder_core::{
    BoxFuture,
    ask::{BadAnswer, Carrier, Fits, Question},
    error::{Halt, ToolError},
};
use rmcp::{
    RoleServer,
    model::{CancelledNotificationParam, ClientResult, RequestId, ServerRequest},
    service::{Peer, PeerRequestOptions, ServiceError},
};
use serde_json::{Value, json};
use tokio::runtime::Handle;

use super::TRIES;

/// The client at the other end of a session.
pub(crate) struct Live(Peer<RoleServer>);

impl Live {
    pub(crate) fn new(peer: Peer<RoleServer>) -> Self {
        Self(peer)
    }

    async fn send(&self, key: &str, question: &Question) -> Result<Value, Halt> {
        let mut params = question.params();
        // What the stateless era has in the request itself: it tells questions apart in logs and tests.
        params["_meta"] = json!({ "rejoinder/key": key });
        if matches!(question, Question::Visit { .. }) {
            // The session era wants a name for the visit; the stateless one must not have it.
            params["elicitationId"] = json!(fresh_id()?);
        }
        let request = json!({ "method": question.method(), "params": params });
        let request: ServerRequest = serde_json::from_value(request)
            .map_err(|error| Halt::Failed(ToolError::hidden(format!("not a question a session can ask: {error}"))))?;
        match self.exchange(request).await {
            Ok(answer) => Ok(as_json(&answer)),
            Err(ServiceError::McpError(error)) => {
                Err(Halt::Failed(ToolError::protocol(error.code.0, error.message.into_owned(), error.data)))
            }
            Err(error) => Err(Halt::Failed(ToolError::hidden(error))),
        }
    }

    /// Sends a request and waits for its answer; whoever stops waiting takes it back.
    async fn exchange(&self, request: ServerRequest) -> Result<ClientResult, ServiceError> {
        let sent = self.0.send_cancellable_request(request, PeerRequestOptions::no_options()).await?;
        let mut open = Open { peer: &self.0, id: Some(sent.id.clone()) };
        let answer = sent.await_response().await;
        open.id = None;
        answer
    }
}

/// A request that is out. Dropped before its answer came, because the call has ended, it is taken back: nobody should
/// be left with a form on the screen that is of no use.
struct Open<'a> {
    peer: &'a Peer<RoleServer>,
    id: Option<RequestId>,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if let (Some(id), Ok(runtime)) = (self.id.take(), Handle::try_current()) {
            let peer = self.peer.clone();
            let cancelled = CancelledNotificationParam::new(Some(id), Some("the call has ended".to_owned()));
            runtime.spawn(async move {
                // A client that has left needs not be told.
                let _ = peer.notify_cancelled(cancelled).await;
            });
        }
    }
}

/// A name that no other visit has.
fn fresh_id() -> Result<String, Halt> {
    let mut id = [0; 16];
    getrandom::fill(&mut id).map_err(|error| Halt::Failed(ToolError::hidden(error)))?;
    Ok(URL_SAFE_NO_PAD.encode(id))
}

fn as_json(answer: &ClientResult) -> Value {
    serde_json::to_value(answer).unwrap_or_default()
}

impl Carrier for Live {
    fn ask<'a>(&'a self, key: &'a str, question: &'a Question, fits: Fits<'a>) -> BoxFuture<'a, Result<Value, Halt>> {
        Box::pin(async move {
            let mut shown = question.clone();
            for _ in 1..TRIES {
                let answer = self.send(key, &shown).await?;
                match (fits.check)(&answer) {
                    Ok(()) => return Ok(answer),
                    Err(BadAnswer(reason)) => shown = question.because(&reason),
                }
            }
            let answer = self.send(key, &shown).await?;
            (fits.check)(&answer).map(|()| answer).map_err(|BadAnswer(reason)| {
                Halt::Failed(ToolError::new(format!("no usable answer to `{key}` came: {reason}")))
            })
        })
    }

    fn recorded(&self, _: &str) -> Option<Value> {
        None
    }

    fn record(&self, _: &str, _: Value) {}
}
