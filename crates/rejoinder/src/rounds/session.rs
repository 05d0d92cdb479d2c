//! Questions over a live session: asked at once, and awaited where they are asked.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use futures_util::future::try_join_all;
use rejoinder_core::{
    BoxFuture,
    ask::{BadAnswer, Carrier, Fits, NextRound, Question},
    error::{Halt, ToolError},
};
use rmcp::{
    RoleServer,
    model::{CancelledNotificationParam, ClientResult, RequestId, ServerRequest},
    service::{Peer, PeerRequestOptions, ServiceError},
};
use serde_json::{Value, json};
use tokio::runtime::Handle;

use super::{TRIES, unusable};

/// The client at the other end of a session, and what it answered to rounds that are made by hand.
pub(crate) struct Live {
    peer: Peer<RoleServer>,
    by_hand: Mutex<ByHand>,
}

#[derive(Default)]
struct ByHand {
    answers: BTreeMap<String, Arc<Value>>,
    kept: Option<Value>,
    /// How often in a row the call was to go on later without having got any further.
    resumed: u32,
}

/// How long a call waits that is to go on later and has not got any further: longer each time, because a client here
/// cannot be sent away.
const PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

impl Live {
    pub(crate) fn new(peer: Peer<RoleServer>) -> Self {
        Self { peer, by_hand: Mutex::default() }
    }

    fn by_hand(&self) -> MutexGuard<'_, ByHand> {
        // Every statement leaves it valid.
        self.by_hand.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn send(&self, key: &str, question: &Question) -> Result<Value, ToolError> {
        let mut params = question.params();
        // What the stateless era has in the request itself: it tells questions apart in logs and tests.
        params["_meta"] = json!({ "rejoinder/key": key });
        if matches!(question, Question::Visit { .. }) {
            // The session era wants a name for the visit; the stateless one must not have it.
            params["elicitationId"] = json!(fresh_id()?);
        }
        let request = json!({ "method": question.method(), "params": params });
        let request: ServerRequest = serde_json::from_value(request)
            .map_err(|error| ToolError::hidden(format!("not a question a session can ask: {error}")))?;
        match self.exchange(request).await {
            Ok(answer) => Ok(as_json(&answer)),
            Err(ServiceError::McpError(error)) => {
                Err(ToolError::protocol(error.code.0, error.message.into_owned(), error.data))
            }
            Err(error) => Err(ToolError::hidden(error)),
        }
    }

    /// Asks until an answer can be used, or the tries are used up.
    async fn pose(&self, key: &str, question: &Question, fits: Fits<'_>) -> Result<Arc<Value>, ToolError> {
        let mut shown = question.clone();
        let mut tried = 0;
        loop {
            let answer = self.send(key, &shown).await?;
            tried += 1;
            match (fits.check)(&answer) {
                Ok(()) => return Ok(Arc::new(answer)),
                Err(BadAnswer(reason)) if tried < TRIES && question.bears_repeating(&answer) => {
                    shown = question.because(&reason);
                }
                Err(BadAnswer(reason)) => return Err(ToolError::new(unusable(key, &reason))),
            }
        }
    }

    /// Sends a request and waits for its answer; whoever stops waiting takes it back.
    async fn exchange(&self, request: ServerRequest) -> Result<ClientResult, ServiceError> {
        let sent = self.peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await?;
        let mut open = Open { peer: &self.peer, id: Some(sent.id.clone()) };
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
fn fresh_id() -> Result<String, ToolError> {
    let mut id = [0; 16];
    getrandom::fill(&mut id)?;
    Ok(URL_SAFE_NO_PAD.encode(id))
}

fn as_json(answer: &ClientResult) -> Value {
    serde_json::to_value(answer).unwrap_or_default()
}

impl Carrier for Live {
    fn ask<'a>(
        &'a self,
        key: &'a str,
        question: &'a Question,
        fits: Fits<'a>,
    ) -> BoxFuture<'a, Result<Arc<Value>, Halt>> {
        Box::pin(async move { Ok(self.pose(key, question, fits).await?) })
    }

    fn recorded(&self, _: &str) -> Option<Value> {
        None
    }

    fn record(&self, _: &str, _: Value) {}

    fn answer_by_hand(&self, key: &str, fits: Fits<'_>) -> Option<Arc<Value>> {
        let answer = self.by_hand().answers.get(key).cloned();
        answer.filter(|answer| (fits.check)(answer).is_ok())
    }

    fn kept(&self) -> Option<Value> {
        self.by_hand().kept.clone()
    }

    fn hand_on(&self, next: NextRound) -> BoxFuture<'_, Result<(), ToolError>> {
        Box::pin(async move {
            let asking = next.questions.iter().map(|posed| self.pose(&posed.key, &posed.question, posed.fits()));
            let answers = try_join_all(asking).await?;
            let answers: Vec<_> = next.questions.iter().map(|posed| posed.key.clone()).zip(answers).collect();
            let pause = {
                let mut by_hand = self.by_hand();
                let got_further = !answers.is_empty() || next.state != by_hand.kept;
                by_hand.resumed = if got_further { 0 } else { by_hand.resumed + 1 };
                by_hand.answers.extend(answers);
                if next.state.is_some() {
                    by_hand.kept = next.state;
                }
                (!got_further).then(|| PAUSE.saturating_mul(1 << by_hand.resumed.min(10)).min(LONGEST_PAUSE))
            };
            match pause {
                Some(pause) => tokio::time::sleep(pause).await,
                None => tokio::task::yield_now().await,
            }
            Ok(())
        })
    }
}
