use std::sync::Arc;

use crate::{
    ask::{Digest, Posed, Question, RawAnswer},
    error::{CallError, Halt},
};

use super::{
    TRIES,
    by_key::ByKey,
    progress::{Open, Progress},
    unusable,
};

/// What a round notes while it runs, however its questions travel.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// What the next round will know.
    pub(super) progress: Progress,
    /// What goes out when the round is over.
    pub(super) asked: Vec<(Arc<str>, Question)>,
    /// The digest of what was asked under each key, to tell a key that is used twice.
    pub(super) seen: ByKey<Digest>,
    /// The answers that a function which makes its rounds by hand has looked at in vain, and what was wrong with them.
    pub(super) unfit: ByKey<(Arc<RawAnswer>, String)>,
}

impl Notes {
    /// Notes what is asked by hand. An answer that did not fit was one of its tries, and none gives no new ones.
    pub(super) fn pose(&mut self, posed: Posed, before: Option<&Open>, answered: bool) -> Result<(), CallError> {
        let Posed { key, question } = posed;
        let key = Arc::from(key);
        let digest = question.digest();
        self.note(&key, digest)?;
        let missed = before.filter(|before| !answered && before.digest == digest);
        let mut open = Open { digest, bad: missed.map_or(0, |before| before.bad), reworded: 0 };
        let shown = match self.unfit.remove(&key) {
            None => question,
            Some((answer, reason)) => {
                open.bad = before.map_or(1, |before| before.bad + 1);
                if open.bad >= TRIES || !question.bears_repeating(&answer) {
                    return Err(CallError::new(unusable(&key, &reason)));
                }
                question.because(&reason)
            }
        };
        if self.progress.questions.insert(Arc::clone(&key), open).is_none() {
            self.asked.push((key, shown));
        }
        Ok(())
    }

    /// Notes what is asked under a key, where nothing else may be asked in the same round.
    fn note(&mut self, key: &Arc<str>, digest: Digest) -> Result<(), CallError> {
        match self.seen.insert(Arc::clone(key), digest) {
            Some(other) if other != digest => Err(CallError::two_questions(key)),
            _ => Ok(()),
        }
    }

    /// The same, for a function that must not handle the mistake.
    pub(super) fn see(&mut self, key: &Arc<str>, digest: Digest) -> Result<(), Halt> {
        self.note(key, digest).map_err(Halt::Mistake)
    }
}
