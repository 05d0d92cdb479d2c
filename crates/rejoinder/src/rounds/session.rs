//! Questions over a live session: asked at once, and awaited where they are asked.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::future::{Either, try_join_all};
use rejoinder_core::{
    BoxFuture,
    ask::{Asked, BadAnswer, Carrier, Fits, NextRound, Parked, Posed, Question, Sent},
    call::Turns,
    error::{Halt, ToolError},
};
use rmcp::{RoleServer, model::RequestId, service::Peer};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{TRIES, client::Client, notes::Notes, progress::Given, unusable};

/// A client that waits at the other end of a session, and what the call has got from it so far.
pub(crate) struct Live {
    client: Client,
    so_far: Mutex<SoFar>,
    /// Who asks what is being asked waits for the answer to that.
    asking: Turns,
}

/// What a call knows from one round to the next: a function that makes its rounds by hand has several here too.
#[derive(Default)]
struct SoFar {
    notes: Notes,
    /// What is to be asked before the next round.
    posed: Vec<Posed>,
    /// How often in a row the call was to go on later without having got any further.
    resumed: u32,
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
        let client = Client { peer, request, version, unheard };
        Self { client, so_far: Mutex::default(), asking: Turns::default() }
    }

    fn so_far(&self) -> MutexGuard<'_, SoFar> {
        // Every statement leaves it valid.
        self.so_far.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer that is there, else it is asked.
    async fn answer(&self, key: &str, question: Question, fits: Fits<'_>) -> Result<Arc<Sent>, Halt> {
        let (name, digest) = (Arc::from(key), question.digest());
        self.so_far().notes.see(&name, digest)?;
        let _turn = self.asking.take(key).await;
        let given = self.so_far().notes.progress.answers.get(key).filter(|given| given.digest == digest).cloned();
        if let Some(Given { answer, .. }) = given.filter(|given| (fits.check)(&given.answer).is_ok()) {
            return Ok(answer);
        }
        let answer = self.pose(key, &question, fits).await?;
        self.so_far().notes.progress.answers.insert(name, Given { digest, answer: Arc::clone(&answer) });
        Ok(answer)
    }

    /// Asks until an answer can be used, or the tries are used up.
    async fn pose(&self, key: &str, question: &Question, fits: Fits<'_>) -> Result<Arc<Sent>, ToolError> {
        let mut shown = question.clone();
        let mut tried = 0;
        loop {
            let answer = self.client.ask(key, &shown).await?;
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
}

impl Carrier for Live {
    fn ask<'a>(&'a self, key: &'a str, question: Question, fits: Fits<'a>) -> Asked<'a> {
        Either::Right(Box::pin(self.answer(key, question, fits)))
    }

    fn answered(&self, key: &str, question: &Question, _: Fits<'_>) -> Result<Option<Arc<Sent>>, Halt> {
        // No answer comes before its question.
        self.so_far().notes.see(&key.into(), question.digest()).map(|()| None)
    }

    fn recorded(&self, step: &str) -> Option<Value> {
        self.so_far().notes.progress.steps.get(step).cloned()
    }

    fn record(&self, step: &str, result: Value) {
        self.so_far().notes.progress.steps.insert(step.into(), result);
    }

    fn answer_by_hand(&self, key: &str, fits: Fits<'_>) -> Option<Arc<Sent>> {
        let given = self.so_far().notes.progress.answers.get(key).cloned();
        given.map(|given| given.answer).filter(|answer| (fits.check)(answer).is_ok())
    }

    fn kept(&self) -> Option<Value> {
        self.so_far().notes.progress.kept.clone()
    }

    fn hand_on(&self, next: NextRound) -> Result<(), ToolError> {
        let mut so_far = self.so_far();
        for posed in &next.questions {
            so_far.notes.note(&Arc::from(posed.key.as_str()), posed.question.digest())?;
        }
        let got_further = !next.questions.is_empty() || next.state != so_far.notes.progress.kept;
        so_far.resumed = if got_further { 0 } else { so_far.resumed + 1 };
        so_far.posed = next.questions;
        if next.state.is_some() {
            so_far.notes.progress.kept = next.state;
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
                    let given = Given { digest: posed.question.digest(), answer };
                    so_far.notes.progress.answers.insert(posed.key.into(), given);
                }
                so_far.notes.seen = Default::default();
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
        self.so_far().notes.mistake(mistake);
    }

    fn take_mistake(&self) -> Option<ToolError> {
        self.so_far().notes.mistake.take()
    }

    fn parked(&self) -> Option<Result<Parked, ToolError>> {
        self.take_mistake().map(Err)
    }
}
