//! Questions over a live session: asked at once, and awaited where they are asked.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use futures_util::future::{Either, try_join_all};
use rejoinder_core::{
    BoxFuture,
    ask::{Asked, BadAnswer, Carrier, Digest, Fits, NextRound, Parked, Posed, Question, Sent},
    call::Turns,
    error::{Halt, ToolError},
};
use rmcp::{
    RoleServer,
    model::{CancelledNotificationParam, ClientResult, CustomRequest, RequestId, ServerRequest},
    service::{OriginatingRequestId, Peer, PeerRequestOptions, ServiceError},
};
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::{TRIES, progress::Given, unusable};

/// The client at the other end of a session, and what the call has got from it so far.
pub(crate) struct Live {
    peer: Peer<RoleServer>,
    /// The request that the call serves.
    request: RequestId,
    /// The version that the session speaks.
    version: &'static str,
    /// Cancelled when nothing more comes from the client.
    unheard: CancellationToken,
    so_far: Mutex<SoFar>,
    /// Who asks what is being asked waits for the answer to that.
    asking: Turns,
}

/// What a call knows from one round to the next: a function that makes its rounds by hand has several here too.
#[derive(Default)]
struct SoFar {
    answers: BTreeMap<String, Given>,
    steps: BTreeMap<String, Value>,
    /// What was asked in this round under each key, to tell a key that is used twice.
    seen: BTreeMap<String, Digest>,
    kept: Option<Value>,
    /// What is to be asked before the next round.
    posed: Vec<Posed>,
    /// How often in a row the call was to go on later without having got any further.
    resumed: u32,
    /// What ends the call, whatever the function would do with an error.
    mistake: Option<ToolError>,
}

/// How long a call waits that is to go on later and has not got any further: longer each time, because a client here
/// cannot be sent away.
const PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

impl Live {
    pub(crate) fn new(
        peer: Peer<RoleServer>,
        request: RequestId,
        version: &'static str,
        unheard: CancellationToken,
    ) -> Self {
        Self { peer, request, version, unheard, so_far: Mutex::default(), asking: Turns::default() }
    }

    fn so_far(&self) -> MutexGuard<'_, SoFar> {
        // Every statement leaves it valid.
        self.so_far.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn send(&self, key: &str, question: &Question) -> Result<Sent, ToolError> {
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
                Err(ToolError::protocol(error.code.0, error.message.into_owned(), error.data))
            }
            Err(error) => {
                tracing::warn!(key, %error, "a question did not come through");
                Err(ToolError::new(format!(
                    "the client could not be asked `{key}`: it must keep the stream of its request open, or one of its own"
                )))
            }
        }
    }

    /// Notes what is asked under a key; another question under it ends the call.
    fn see(&self, key: &str, digest: Digest) -> Result<(), Halt> {
        let mut so_far = self.so_far();
        so_far.see(key, digest).map_err(|mistake| {
            so_far.mistake.get_or_insert(mistake);
            Halt::Pending
        })
    }

    /// The answer that is there, else it is asked.
    async fn answer(&self, key: &str, question: Question, fits: Fits<'_>) -> Result<Arc<Sent>, Halt> {
        let digest = question.digest();
        self.see(key, digest)?;
        let _turn = self.asking.take(key).await;
        let given = self.so_far().answers.get(key).filter(|given| given.digest == digest).cloned();
        if let Some(Given { answer, .. }) = given.filter(|given| (fits.check)(&given.answer).is_ok()) {
            return Ok(answer);
        }
        let answer = self.pose(key, &question, fits).await?;
        self.so_far().answers.insert(key.to_owned(), Given { digest, answer: Arc::clone(&answer) });
        Ok(answer)
    }

    /// Asks until an answer can be used, or the tries are used up.
    async fn pose(&self, key: &str, question: &Question, fits: Fits<'_>) -> Result<Arc<Sent>, ToolError> {
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
        // A quick client may have answered by now, and a decline would end the call before those who ask beside this one
        // have had their turn: the questions of a wave go out together, however soon the first is answered.
        tokio::task::yield_now().await;
        let answer = sent.await_response().await;
        open.id = None;
        answer
    }
}

impl SoFar {
    /// Notes what is asked under a key, where nothing else may be asked in the same round.
    fn see(&mut self, key: &str, digest: Digest) -> Result<(), ToolError> {
        match self.seen.insert(key.to_owned(), digest) {
            Some(other) if other != digest => Err(ToolError::two_questions(key)),
            _ => Ok(()),
        }
    }
}

/// A request that is out. Dropped before its answer came, it is taken back: nobody should
/// be left with a form on the screen that is of no use.
struct Open<'a> {
    peer: &'a Peer<RoleServer>,
    id: Option<RequestId>,
}

impl Drop for Open<'_> {
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

fn no_answer_can_come(key: &str) -> ToolError {
    ToolError::new(format!(
        "the client could not be asked `{key}`: nothing more is read from its pipe, so no answer can come"
    ))
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
    fn ask<'a>(&'a self, key: &'a str, question: Question, fits: Fits<'a>) -> Asked<'a> {
        Either::Right(Box::pin(self.answer(key, question, fits)))
    }

    fn answered(&self, key: &str, question: &Question, _: Fits<'_>) -> Result<Option<Arc<Sent>>, Halt> {
        // No answer comes before its question.
        self.see(key, question.digest()).map(|()| None)
    }

    fn recorded(&self, step: &str) -> Option<Value> {
        self.so_far().steps.get(step).cloned()
    }

    fn record(&self, step: &str, result: Value) {
        self.so_far().steps.insert(step.to_owned(), result);
    }

    fn answer_by_hand(&self, key: &str, fits: Fits<'_>) -> Option<Arc<Sent>> {
        let given = self.so_far().answers.get(key).cloned();
        given.map(|given| given.answer).filter(|answer| (fits.check)(answer).is_ok())
    }

    fn kept(&self) -> Option<Value> {
        self.so_far().kept.clone()
    }

    fn hand_on(&self, next: NextRound) -> Result<(), ToolError> {
        let mut so_far = self.so_far();
        for posed in &next.questions {
            so_far.see(&posed.key, posed.question.digest())?;
        }
        let got_further = !next.questions.is_empty() || next.state != so_far.kept;
        so_far.resumed = if got_further { 0 } else { so_far.resumed + 1 };
        so_far.posed = next.questions;
        if next.state.is_some() {
            so_far.kept = next.state;
        }
        Ok(())
    }

    fn go_on(&self) -> BoxFuture<'_, Result<(), ToolError>> {
        Box::pin(async move {
            let posed = std::mem::take(&mut self.so_far().posed);
            let asking = posed.iter().map(|posed| self.pose(&posed.key, &posed.question, posed.fits()));
            let answers = try_join_all(asking).await?;
            let resumed = {
                let mut so_far = self.so_far();
                for (posed, answer) in posed.into_iter().zip(answers) {
                    so_far.answers.insert(posed.key, Given { digest: posed.question.digest(), answer });
                }
                so_far.seen.clear();
                so_far.resumed
            };
            match resumed {
                0 => tokio::task::yield_now().await,
                _ => tokio::time::sleep(PAUSE.saturating_mul(1 << resumed.min(10)).min(LONGEST_PAUSE)).await,
            }
            Ok(())
        })
    }

    fn note_mistake(&self, mistake: ToolError) {
        self.so_far().mistake.get_or_insert(mistake);
    }

    fn take_mistake(&self) -> Option<ToolError> {
        self.so_far().mistake.take()
    }

    fn parked(&self) -> Option<Result<Parked, ToolError>> {
        self.take_mistake().map(Err)
    }
}
