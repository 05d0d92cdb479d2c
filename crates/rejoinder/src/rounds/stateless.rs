//! Questions that go out with the reply of a round and come back answered with the next one.

use std::{
    future::ready,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures_util::future::Either;

use crate::{
    ask::{AnswerError, Asked, Carrier, Digest, Fits, NextRound, Parked, Question, RawAnswer},
    error::{CallError, Halt},
};
use serde_json::Value;

use super::{
    TRIES,
    by_key::ByKey,
    notes::Notes,
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
pub(crate) type Answers = ByKey<Arc<RawAnswer>>;

#[derive(Debug, Default)]
struct Now {
    /// Of its progress, what was looked at.
    notes: Notes,
    /// Whether one of this round's answers could be used.
    answered: bool,
    /// Whether a function stopped in the middle.
    cut_short: bool,
}

/// An answer that can be used.
struct Usable {
    given: Given,
    /// Whether it came with this round.
    is_new: bool,
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

    /// A recorded answer to the same words, else one of this round to the same words, if it can be used; otherwise what is
    /// wrong with that one, if there is one.
    ///
    /// The author's code reads it, and may look at the round meanwhile: nothing may be locked.
    fn given(&self, key: &str, digest: Digest, fits: Fits<'_>) -> Result<Usable, Option<AnswerError>> {
        let recorded = self.before.answers.get(key);
        if recorded.is_some_and(|given| given.digest != digest) {
            tracing::debug!(key, "a recorded answer is to other words than the question has now");
        }
        if let Some(given) = recorded.filter(|given| given.digest == digest && (fits.check)(&given.answer).is_ok()) {
            return Ok(Usable { given: given.clone(), is_new: false });
        }
        let open = self.before.questions.get(key);
        let counts = open.map_or(fits.allow_unsolicited, |open| open.digest == digest);
        let answer = self.answers.get(key).filter(|_| counts).ok_or(None)?;
        (fits.check)(answer)?;
        Ok(Usable { given: Given { digest, answer: Arc::clone(answer) }, is_new: true })
    }

    /// Keeps every answer that was not looked at, where it may be in a later round: for a function that makes its rounds
    /// by hand, or that stopped in the middle.
    fn carry_over(&self, notes: &mut Notes) {
        let Notes { progress, seen, unfit, .. } = notes;
        let fresh = self.before.questions.iter().filter_map(|(key, open)| {
            let answer = Arc::clone(self.answers.get(key)?);
            Some((key, Given { digest: open.digest, answer }))
        });
        let recorded = self.before.answers.iter().map(|(key, given)| (key, given.clone()));
        for (key, given) in fresh.chain(recorded) {
            if !seen.contains(key) && !unfit.contains(key) {
                progress.answers.fill(key, || given);
            }
        }
    }

    /// The answer that is there, else it is asked.
    fn answer(&self, key: &str, question: Question, fits: Fits<'_>) -> Result<Arc<RawAnswer>, Halt> {
        let (key, digest) = (&Arc::from(key), question.digest());
        let given = self.given(key, digest, fits);
        let mut now = self.now();
        now.notes.see(key, digest)?;
        let bad = match given {
            Ok(usable) => return Ok(now.keep(key, usable)),
            Err(bad) => bad,
        };
        let open = self.before.questions.get(key);
        let mut asked = Open { digest, bad: 0, reworded: open.map_or(0, |open| open.reworded) };
        let mut shown = question;
        match (self.answers.get(key), open) {
            (Some(answer), Some(open)) if open.digest == digest => {
                let reason = bad.map(|AnswerError(reason)| reason).unwrap_or_default();
                asked.bad = open.bad + 1;
                if asked.bad >= TRIES || !shown.bears_repeating(answer) {
                    return Err(Halt::Failed(CallError::new(unusable(key, &reason))));
                }
                shown = shown.because(&reason);
            }
            (Some(_), Some(_)) => {
                tracing::debug!(
                    key = &**key,
                    "an answer is to other words than the question has now: it is asked again"
                );
                asked.reworded += 1;
                if asked.reworded >= REWORDINGS {
                    return Err(Halt::Mistake(CallError::mistake(format!(
                        "the question `{key}` has other words in every round, so no answer is ever to it: take out what \
                         changes, such as the time or the order of a list"
                    ))));
                }
            }
            // No answer came, which gives no new tries.
            (None, Some(open)) if open.digest == digest => asked.bad = open.bad,
            _ => {}
        }
        if now.notes.progress.questions.insert(Arc::clone(key), asked).is_none() {
            now.notes.asked.push((Arc::clone(key), shown));
        }
        Err(Halt::Pending)
    }
}

impl Now {
    /// Keeps an answer that was looked at, for the rounds that follow.
    fn keep(&mut self, key: &Arc<str>, Usable { given, is_new }: Usable) -> Arc<RawAnswer> {
        self.answered |= is_new;
        let answer = Arc::clone(&given.answer);
        self.notes.progress.answers.insert(Arc::clone(key), given);
        answer
    }
}

impl Carrier for Round {
    fn ask<'a>(&'a self, key: &'a str, question: Question, fits: Fits<'a>) -> Asked<'a> {
        Either::Left(ready(self.answer(key, question, fits)))
    }

    fn answered(&self, key: &str, question: &Question, fits: Fits<'_>) -> Result<Option<Arc<RawAnswer>>, Halt> {
        let (key, digest) = (Arc::from(key), question.digest());
        let given = self.given(&key, digest, fits);
        let mut now = self.now();
        now.notes.see(&key, digest)?;
        Ok(given.ok().map(|usable| now.keep(&key, usable)))
    }

    fn recorded(&self, step: &str) -> Option<Value> {
        // What earlier rounds recorded is carried on in any case; see `parked`.
        self.now().notes.progress.steps.get(step).or_else(|| self.before.steps.get(step)).cloned()
    }

    fn record(&self, step: &str, result: Value) {
        self.now().notes.progress.steps.insert(step.into(), result);
    }

    fn answer_by_hand(&self, key: &str, fits: Fits<'_>) -> Option<Arc<RawAnswer>> {
        let (recorded, open) = (self.before.answers.get(key), self.before.questions.get(key));
        let (given, is_new) = match (recorded, open, self.answers.get(key)) {
            (_, Some(open), Some(answer)) => (Given { digest: open.digest, answer: Arc::clone(answer) }, true),
            (Some(given), _, _) => (given.clone(), false),
            (None, _, _) => return None,
        };
        match (fits.check)(&given.answer) {
            Ok(()) => {
                let mut now = self.now();
                now.notes.unfit.remove(key);
                Some(now.keep(&key.into(), Usable { given, is_new }))
            }
            Err(AnswerError(reason)) => {
                self.now().notes.unfit.insert(key.into(), (given.answer, reason));
                None
            }
        }
    }

    fn kept(&self) -> Option<Value> {
        self.before.kept.clone()
    }

    fn hand_on(&self, next: NextRound) -> Result<(), CallError> {
        let mut now = self.now();
        now.notes.progress.kept = next.state;
        self.carry_over(&mut now.notes);
        next.questions.into_iter().try_for_each(|posed| {
            let (before, answered) = (self.before.questions.get(&posed.key), self.answers.contains(&posed.key));
            now.notes.pose(posed, before, answered)
        })
    }

    fn cut_short(&self) {
        self.now().cut_short = true;
    }

    fn parked(&self) -> Option<Parked> {
        let mut now = self.now();
        if now.cut_short {
            self.carry_over(&mut now.notes);
        }
        // What is asked again is open again, in whatever words: an earlier consent is not this one.
        let Progress { answers, questions, .. } = &mut now.notes.progress;
        for (key, _) in questions.iter() {
            answers.remove(key);
        }
        if now.notes.progress.kept.is_none() {
            now.notes.progress.kept.clone_from(&self.before.kept);
        }
        // A step that was taken stays known, although this round did not come to it: it must never be taken again.
        for (step, result) in self.before.steps.iter() {
            now.notes.progress.steps.fill(step, || result.clone());
        }
        let questions = std::mem::take(&mut now.notes.asked);
        let (state, further) =
            (now.notes.progress.write(), now.answered || now.notes.progress.is_further_than(&self.before));
        Some(Parked { questions, state, further })
    }
}
