//! Questions over a live session: asked at once, and awaited where they are asked.

use rejoinder_core::{
    BoxFuture,
    ask::{BadAnswer, Carrier, Fits, Question},
    error::{Halt, ToolError},
};
use rmcp::{
    RoleServer,
    model::{ClientResult, ServerRequest},
    service::{Peer, ServiceError},
};
use serde_json::{Value, json};

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
            params["elicitationId"] = json!(format!("{:p}", std::ptr::from_ref(question)));
        }
        let request = json!({ "method": question.method(), "params": params });
        let request: ServerRequest = serde_json::from_value(request)
            .map_err(|error| Halt::Failed(ToolError::hidden(format!("not a question a session can ask: {error}"))))?;
        match self.0.send_request(request).await {
            Ok(answer) => Ok(as_json(&answer)),
            Err(ServiceError::McpError(error)) => {
                Err(Halt::Failed(ToolError::protocol(error.code.0, error.message.into_owned(), error.data)))
            }
            Err(error) => Err(Halt::Failed(ToolError::hidden(error))),
        }
    }
}

fn as_json(answer: &ClientResult) -> Value {
    serde_json::to_value(answer).unwrap_or_default()
}

impl Carrier for Live {
    fn ask<'a>(&'a self, key: &'a str, question: &'a Question, fits: Fits<'a>) -> BoxFuture<'a, Result<Value, Halt>> {
        Box::pin(async move {
            let (mut shown, mut tries) = (question.clone(), 0);
            loop {
                tries += 1;
                let answer = self.send(key, &shown).await?;
                match (fits.check)(&answer) {
                    Ok(()) => return Ok(answer),
                    Err(BadAnswer(reason)) if tries < TRIES && question.bears_repeating(&answer) => {
                        shown = question.because(&reason);
                    }
                    Err(BadAnswer(reason)) => {
                        return Err(Halt::Failed(ToolError::new(format!(
                            "no usable answer to `{key}` came: {reason}"
                        ))));
                    }
                }
            }
        })
    }

    fn recorded(&self, _: &str) -> Option<Value> {
        None
    }

    fn record(&self, _: &str, _: Value) {}
}
