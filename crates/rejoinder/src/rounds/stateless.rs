//! Questions that go out with the reply of a round and come back answered with the next one.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use rejoinder_core::{
    BoxFuture,
    ask::{BadAnswer, Carrier, Fits, Parked, Question},
    error::{Halt, ToolError},
};
use serde_json::Value;

use super::{
    TRIES,
    digest::digest,
    progress::{Given, Open, Progress},
};

/// One round of a call: what it was told, and what it asks in turn.
#[derive(Debug, Default)]
pub(crate) struct Round {
    /// What earlier rounds recorded.
    before: Progress,
    /// What came with this one.
    answers: BTreeMap<String, Value>,
    now: Mutex<Now>,
}

#[derive(Debug, Default)]
struct Now {
    /// What the next round will know of what was looked at in this one.
    progress: Progress,
    asked: Vec<(String, Question)>,
    /// The digest of what was asked under each key, to tell a key that is used twice.
    seen: BTreeMap<String, String>,
    mistake: Option<ToolError>,
}

/// How often an answer may come for other words than the question has by then.
const REWORDINGS: u8 = 2;

impl Round {
    pub(crate) fn new(before: Progress, answers: BTreeMap<String, Value>) -> Self {
        Self { before, answers, now: Mutex::default() }
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        // Every statement leaves it valid.
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A recorded answer to the same words, else an answer of this round to the same words, else it is asked.
    fn answer(&self, key: &str, question: &Question, fits: Fits<'_>) -> Result<Value, Halt> {
        let digest = digest(question);
        let mut now = self.now();
        if now.seen.insert(key.to_owned(), digest.clone()).is_some_and(|other| other != digest) {
            return Err(now.mistake(format!("two questions are asked under the key `{key}`: give one another key")));
        }
        if let Some(given) = self.before.answers.get(key).filter(|given| given.digest == digest)
            && (fits.check)(&given.answer).is_ok()
        {
            now.progress.answers.insert(key.to_owned(), given.clone());
            return Ok(given.answer.clone());
        }
        let open = self.before.questions.get(key);
        let mut asked = Open { digest: digest.clone(), bad: 0, reworded: 0 };
        let mut shown = question.clone();
        match (self.answers.get(key), open) {
            (Some(answer), Some(open)) if open.digest == digest => match (fits.check)(answer) {
                Ok(()) => {
                    let given = Given { digest, answer: answer.clone() };
                    now.progress.answers.insert(key.to_owned(), given);
                    return Ok(answer.clone());
                }
                Err(BadAnswer(reason)) if open.bad + 1 >= TRIES => {
                    return Err(Halt::Failed(ToolError::new(format!("no usable answer to `{key}` came: {reason}"))));
                }
                Err(BadAnswer(reason)) => {
                    asked.bad = open.bad + 1;
                    shown = question.because(&reason);
                }
            },
            (Some(_), Some(open)) => {
                asked.reworded = open.reworded + 1;
                if asked.reworded >= REWORDINGS {
                    return Err(now.mistake(format!(
                        "the question `{key}` has other words in every round, so no answer is ever to it: take out what \
                         changes, such as the time"
                    )));
                }
            }
            (Some(answer), None) if fits.unprompted && (fits.check)(answer).is_ok() => {
                now.progress.answers.insert(key.to_owned(), Given { digest, answer: answer.clone() });
                return Ok(answer.clone());
            }
            _ => {}
        }
        now.progress.questions.insert(key.to_owned(), asked);
        if !now.asked.iter().any(|(other, _)| other == key) {
            now.asked.push((key.to_owned(), shown));
        }
        Err(Halt::Pending)
    }

    /// What this round found out, and what it did not come to: a question before it had to be asked again, or another
    /// build of the server, which asks other things, served this round. A step that was taken must stay known, and
    /// nobody should be asked the same twice.
    fn known_next(&self, now: &Now) -> Progress {
        let mut next = now.progress.clone();
        for (step, result) in &self.before.steps {
            next.steps.entry(step.clone()).or_insert_with(|| result.clone());
        }
        let answered = self.answers.iter().filter_map(|(key, answer)| {
            let Open { digest, .. } = self.before.questions.get(key)?;
            Some((key, Given { digest: digest.clone(), answer: answer.clone() }))
        });
        let given = self.before.answers.iter().map(|(key, given)| (key, given.clone()));
        for (key, given) in given.chain(answered).filter(|(key, _)| !now.seen.contains_key(*key)) {
            next.answers.insert(key.clone(), given);
        }
        next
    }
}

impl Now {
    /// The author's mistake, told as such: the client can do nothing about it.
    fn mistake(&mut self, mistake: String) -> Halt {
        tracing::error!("{mistake}");
        let error = ToolError::new(mistake);
        self.mistake = Some(error.clone());
        Halt::Failed(error)
    }
}

impl Carrier for Round {
    fn ask<'a>(&'a self, key: &'a str, question: &'a Question, fits: Fits<'a>) -> BoxFuture<'a, Result<Value, Halt>> {
        Box::pin(std::future::ready(self.answer(key, question, fits)))
    }

    fn recorded(&self, step: &str) -> Option<Value> {
        let result = self.before.steps.get(step)?.clone();
        self.record(step, result.clone());
        Some(result)
    }

    fn record(&self, step: &str, result: Value) {
        self.now().progress.steps.insert(step.to_owned(), result);
    }

    fn parked(&self) -> Option<Result<Parked, ToolError>> {
        let mut now = self.now();
        let questions = std::mem::take(&mut now.asked);
        let state = self.known_next(&now).write();
        Some(now.mistake.take().map_or(Ok(Parked { questions, state }), Err))
    }
}
