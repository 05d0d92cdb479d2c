//! Questions that go out with the reply of a round and come back answered with the next one.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rejoinder_core::{
    BoxFuture,
    ask::{BadAnswer, Carrier, Digest, Fits, NextRound, Parked, Posed, Question},
    error::{Halt, ToolError},
};
use serde_json::Value;

use super::{
    TRIES,
    progress::{Given, Open, Progress},
    unusable,
};

/// One round of a call: what it was told, and what it asks in turn.
#[derive(Debug, Default)]
pub(crate) struct Round {
    /// What earlier rounds recorded.
    before: Progress,
    /// What came with this one.
    answers: Answers,
    now: Mutex<Now>,
}

/// The answers of a round, by key.
pub(crate) type Answers = BTreeMap<String, Arc<Value>>;

#[derive(Debug, Default)]
struct Now {
    /// What the next round will know of what was looked at in this one.
    progress: Progress,
    asked: Vec<(String, Question)>,
    /// The answers that a function which makes its rounds by hand has looked at in vain, and what was wrong with them.
    unfit: BTreeMap<String, (Arc<Value>, String)>,
    mistake: Option<ToolError>,
}

/// How often an answer may come for other words than the question has by then.
const REWORDINGS: u8 = 2;

impl Round {
    pub(crate) fn new(before: Progress, answers: Answers) -> Self {
        Self { before, answers, now: Mutex::default() }
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        // Every statement leaves it valid.
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A recorded answer to the same words, else one of this round to the same words, if it can be used.
    fn given(&self, now: &mut Now, key: &str, digest: Digest, fits: Fits<'_>) -> Option<Arc<Value>> {
        let usable = |answer: &Value| (fits.check)(answer).is_ok();
        let recorded = self.before.answers.get(key).filter(|given| given.digest == digest && usable(&given.answer));
        let answer = recorded.map(|given| &given.answer).or_else(|| {
            let open = self.before.questions.get(key);
            let counts = open.map_or(fits.unprompted, |open| open.digest == digest);
            self.answers.get(key).filter(|answer| counts && usable(answer))
        })?;
        now.progress.answers.insert(key.to_owned(), Given { digest, answer: Arc::clone(answer) });
        Some(Arc::clone(answer))
    }

    /// The answer that is there, else it is asked.
    fn answer(&self, key: &str, question: &Question, fits: Fits<'_>) -> Result<Arc<Value>, Halt> {
        let digest = question.digest();
        let mut now = self.now();
        if now.progress.digest(key).is_some_and(|other| other != digest) {
            return Err(now.mistake(format!("two questions are asked under the key `{key}`: give one another key")));
        }
        if let Some(answer) = self.given(&mut now, key, digest, fits) {
            return Ok(answer);
        }
        let open = self.before.questions.get(key);
        let mut asked = Open { digest, bad: 0, reworded: 0 };
        let mut shown = question.clone();
        match (self.answers.get(key), open) {
            (Some(answer), Some(open)) if open.digest == digest => {
                let reason = (fits.check)(answer).err().map(|BadAnswer(reason)| reason).unwrap_or_default();
                asked.bad = open.bad + 1;
                if asked.bad >= TRIES || !question.bears_repeating(answer) {
                    return Err(Halt::Failed(ToolError::new(unusable(key, &reason))));
                }
                shown = question.because(&reason);
            }
            (Some(_), Some(open)) => {
                asked.reworded = open.reworded + 1;
                if asked.reworded >= REWORDINGS {
                    return Err(now.mistake(format!(
                        "the question `{key}` has other words in every round, so no answer is ever to it: take out what \
                         changes, such as the time"
                    )));
                }
            }
            _ => {}
        }
        now.progress.questions.insert(key.to_owned(), asked);
        if !now.asked.iter().any(|(other, _)| other == key) {
            now.asked.push((key.to_owned(), shown));
        }
        Err(Halt::Pending)
    }
}

impl Now {
    /// Notes what is asked by hand. An answer that did not fit was one of its tries.
    fn pose(&mut self, posed: Posed, before: Option<&Open>) -> Result<(), ToolError> {
        let Posed { key, question, .. } = posed;
        let mut open = Open { digest: question.digest(), bad: 0, reworded: 0 };
        let shown = match self.unfit.remove(&key) {
            None => question,
            Some((answer, reason)) => {
                open.bad = before.map_or(1, |before| before.bad + 1);
                if open.bad >= TRIES || !question.bears_repeating(&answer) {
                    return Err(ToolError::new(unusable(&key, &reason)));
                }
                question.because(&reason)
            }
        };
        self.progress.questions.insert(key.clone(), open);
        self.asked.push((key, shown));
        Ok(())
    }

    /// The author's mistake, told as such: the client can do nothing about it.
    fn mistake(&mut self, mistake: String) -> Halt {
        tracing::error!("{mistake}");
        let error = ToolError::new(mistake);
        self.mistake = Some(error.clone());
        Halt::Failed(error)
    }
}

impl Carrier for Round {
    fn ask<'a>(
        &'a self,
        key: &'a str,
        question: &'a Question,
        fits: Fits<'a>,
    ) -> BoxFuture<'a, Result<Arc<Value>, Halt>> {
        Box::pin(std::future::ready(self.answer(key, question, fits)))
    }

    fn answered(&self, key: &str, question: &Question, fits: Fits<'_>) -> Option<Arc<Value>> {
        self.given(&mut self.now(), key, question.digest(), fits)
    }

    fn recorded(&self, step: &str) -> Option<Value> {
        let result = self.before.steps.get(step)?.clone();
        self.record(step, result.clone());
        Some(result)
    }

    fn record(&self, step: &str, result: Value) {
        self.now().progress.steps.insert(step.to_owned(), result);
    }

    fn answer_by_hand(&self, key: &str, fits: Fits<'_>) -> Option<Arc<Value>> {
        let (recorded, open) = (self.before.answers.get(key), self.before.questions.get(key));
        let given = match (recorded, open, self.answers.get(key)) {
            (_, Some(open), Some(answer)) => Given { digest: open.digest, answer: Arc::clone(answer) },
            (Some(given), _, _) => given.clone(),
            (None, _, _) => return None,
        };
        let mut now = self.now();
        match (fits.check)(&given.answer) {
            Ok(()) => {
                now.progress.answers.insert(key.to_owned(), given.clone());
                Some(given.answer)
            }
            Err(BadAnswer(reason)) => {
                now.unfit.insert(key.to_owned(), (given.answer, reason));
                None
            }
        }
    }

    fn kept(&self) -> Option<Value> {
        self.before.kept.clone()
    }

    fn hand_on(&self, next: NextRound) -> BoxFuture<'_, Result<(), ToolError>> {
        let mut now = self.now();
        now.progress.kept = next.state;
        let posed = next.questions.into_iter().try_for_each(|posed| {
            let before = self.before.questions.get(&posed.key);
            now.pose(posed, before)
        });
        Box::pin(std::future::ready(posed))
    }

    fn parked(&self) -> Option<Result<Parked, ToolError>> {
        let mut now = self.now();
        if now.progress.kept.is_none() {
            now.progress.kept.clone_from(&self.before.kept);
        }
        // A step that was taken stays known, although this round did not come to it: it must never be taken again.
        for (step, result) in &self.before.steps {
            now.progress.steps.entry(step.clone()).or_insert_with(|| result.clone());
        }
        let questions = std::mem::take(&mut now.asked);
        let (state, further) = (now.progress.write(), now.progress.is_further_than(&self.before));
        Some(now.mistake.take().map_or(Ok(Parked { questions, state, further }), Err))
    }
}
