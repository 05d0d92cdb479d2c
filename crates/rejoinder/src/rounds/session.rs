//! Questions over a live session: asked at once, and awaited where they are asked.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::{
    BoxFuture,
    ask::{AnswerError, Asked, Carrier, Fits, NextRound, Question, RawAnswer},
    call::Turns,
    error::{CallError, Halt},
};
use futures_util::future::{Either, try_join_all};
use rmcp::{RoleServer, model::RequestId, service::Peer};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{
    TRIES,
    by_key::ByKey,
    client::Client,
    notes::Notes,
    progress::{Given, Open},
    unusable,
};

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
    /// What was asked by hand before this round.
    before: ByKey<Open>,
    /// Cancelled when this round is over: what a task has asked in it is not asked any more.
    over: CancellationToken,
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
    async fn answer(&self, key: &str, question: Question, fits: Fits<'_>) -> Result<Arc<RawAnswer>, Halt> {
        let (name, digest) = (Arc::from(key), question.digest());
        let over = {
            let mut so_far = self.so_far();
            so_far.notes.see(&name, digest)?;
            so_far.over.clone()
        };
        let _turn = self.asking.take(key).await;
        let given = self.so_far().notes.progress.answers.get(key).filter(|given| given.digest == digest).cloned();
        if let Some(Given { answer, .. }) = given.filter(|given| (fits.check)(&given.answer).is_ok()) {
            return Ok(answer);
        }
        let answer = tokio::select! {
            biased;
            () = over.cancelled() => return Err(Halt::Failed(CallError::round_is_over())),
            answer = self.pose(key, &question, fits) => answer?,
        };
        self.so_far().notes.progress.answers.insert(name, Given { digest, answer: Arc::clone(&answer) });
        Ok(answer)
    }

    /// Asks until an answer can be used, or the tries are used up.
    async fn pose(&self, key: &str, question: &Question, fits: Fits<'_>) -> Result<Arc<RawAnswer>, CallError> {
        let mut shown = question.clone();
        let mut tried = 0;
        loop {
            let answer = self.client.ask(key, &shown).await?;
            tried += 1;
            match (fits.check)(&answer) {
                Ok(()) => return Ok(Arc::new(answer)),
                Err(AnswerError(reason)) if tried < TRIES && question.bears_repeating(&answer) => {
                    shown = question.because(&reason);
                }
                Err(AnswerError(reason)) => return Err(CallError::new(unusable(key, &reason))),
            }
        }
    }
}

impl SoFar {
    /// Ends the round, and gives what it asked by hand.
    fn end_round(&mut self) -> Vec<(Arc<str>, Question)> {
        std::mem::take(&mut self.over).cancel();
        std::mem::take(&mut self.notes.asked)
    }

    /// Begins another round with the answers to what the last one asked by hand, and tells how often it was resumed.
    fn next_round(&mut self, answers: impl Iterator<Item = (Arc<str>, RawAnswer)>) -> u32 {
        let Notes { progress, seen, unfit, .. } = &mut self.notes;
        self.before = std::mem::take(&mut progress.questions);
        for (key, _) in unfit.iter() {
            progress.answers.remove(key);
        }
        (*seen, *unfit) = Default::default();
        for (key, answer) in answers {
            if let Some(Open { digest, .. }) = self.before.get(&key) {
                let given = Given { digest: *digest, answer: Arc::new(answer) };
                progress.answers.insert(key, given);
            }
        }
        self.resumed
    }
}

impl Carrier for Live {
    fn ask<'a>(&'a self, key: &'a str, question: Question, fits: Fits<'a>) -> Asked<'a> {
        Either::Right(Box::pin(self.answer(key, question, fits)))
    }

    fn answered(&self, key: &str, question: &Question, _: Fits<'_>) -> Result<Option<Arc<RawAnswer>>, Halt> {
        // No answer comes before its question.
        self.so_far().notes.see(&key.into(), question.digest()).map(|()| None)
    }

    fn recorded(&self, step: &str) -> Option<Value> {
        self.so_far().notes.progress.steps.get(step).cloned()
    }

    fn record(&self, step: &str, result: Value) {
        self.so_far().notes.progress.steps.insert(step.into(), result);
    }

    fn answer_by_hand(&self, key: &str, fits: Fits<'_>) -> Option<Arc<RawAnswer>> {
        let Given { answer, .. } = self.so_far().notes.progress.answers.get(key).cloned()?;
        match (fits.check)(&answer) {
            Ok(()) => {
                self.so_far().notes.unfit.remove(key);
                Some(answer)
            }
            Err(AnswerError(reason)) => {
                self.so_far().notes.unfit.insert(key.into(), (answer, reason));
                None
            }
        }
    }

    fn kept(&self) -> Option<Value> {
        self.so_far().notes.progress.kept.clone()
    }

    fn hand_on(&self, next: NextRound) -> Result<(), CallError> {
        let SoFar { notes, before, resumed, .. } = &mut *self.so_far();
        let got_further = !next.questions.is_empty() || next.state != notes.progress.kept;
        *resumed = if got_further { 0 } else { *resumed + 1 };
        if next.state.is_some() {
            notes.progress.kept = next.state;
        }
        next.questions.into_iter().try_for_each(|posed| {
            let before = before.get(&posed.key);
            notes.pose(posed, before, true)
        })
    }

    fn go_on(&self) -> BoxFuture<'_, Result<(), CallError>> {
        Box::pin(async move {
            let asked = self.so_far().end_round();
            let answers = try_join_all(asked.iter().map(|(key, question)| self.client.ask(key, question))).await?;
            let keys = asked.into_iter().map(|(key, _)| key);
            let resumed = self.so_far().next_round(keys.zip(answers));
            match resumed {
                0 => tokio::task::yield_now().await,
                _ => tokio::time::sleep(PAUSE.saturating_mul(1 << resumed.min(10)).min(LONGEST_PAUSE)).await,
            }
            Ok(())
        })
    }
}
