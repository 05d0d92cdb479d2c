//! The record of a call: what was answered, asked, done and kept. It is the same in both eras, and can be stored.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned};
use serde_json::{
    Map, Value,
    value::{RawValue, to_raw_value},
};
use tokio_util::sync::CancellationToken;

use super::Halt;
use crate::{
    ask::{AnswerError, AskByHand, NextRound, Question, QuestionDigest},
    error::CallError,
};

/// The answers that a client sent, by key. They are unread: a client may answer what was never asked.
pub(crate) type InputResponses = BTreeMap<Arc<str>, Box<RawValue>>;

/// How often a form is asked in total when its answers cannot be used.
const TRIES: u8 = 3;

/// How often an answer may arrive after the text of its question has changed.
const REWORDINGS: u8 = 5;

/// What a call has recorded so far: a storage format, which other builds of the server read. The files in `tests/golden` show
/// it. Member names are short because a stateless client carries the record.
///
/// Every member is necessary, except those in `optional`: a build that does not know one refuses the record. A member that
/// changes its meaning gets a new name, so that other builds do not misread it.
///
/// `round` is not stored: it describes the round that is running.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct CallRecord {
    /// The answers to questions that were asked in this call, those that were used or became final last at the end. Several may
    /// have one key,
    /// because another build, or another course of the function, may ask another question under it.
    #[serde(rename = "a", skip_serializing_if = "Vec::is_empty")]
    answers: Vec<RecordedAnswer>,
    /// The questions that the last round asked.
    #[serde(rename = "q", skip_serializing_if = "BTreeMap::is_empty")]
    questions: BTreeMap<Arc<str>, RecordedQuestion>,
    /// The results of steps (`Context::once`), as JSON text.
    #[serde(rename = "s", skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) steps: BTreeMap<Arc<str>, Box<RawValue>>,
    /// What is inside each step. A run that has the result of the step does not run it.
    #[serde(rename = "i", skip_serializing_if = "BTreeMap::is_empty")]
    inside: BTreeMap<Arc<str>, InsideStep>,
    /// The state of a function that makes its rounds by hand, as JSON text.
    #[serde(rename = "k", deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub(super) kept: Option<Box<RawValue>>,
    /// How many rounds have ended since the last new step or changed state by hand.
    #[serde(rename = "n", skip_serializing_if = "is_zero")]
    rounds: u32,
    /// The versions of the server that have served rounds of the call.
    #[serde(rename = "v", skip_serializing_if = "BTreeSet::is_empty")]
    versions: BTreeSet<Arc<str>>,
    /// Members that a build may ignore. It passes on those that it does not know.
    #[serde(rename = "x", skip_serializing_if = "BTreeMap::is_empty")]
    optional: BTreeMap<Arc<str>, Box<RawValue>>,
    #[serde(skip)]
    round: RoundRecord,
}

/// What a record may hold, and which server writes it.
#[derive(Debug)]
pub(crate) struct RecordRules {
    /// How many bytes the record may take as JSON.
    pub(crate) bytes: usize,
    /// What sets that, as errors name it.
    pub(crate) limit: &'static str,
    /// How many bytes an answer may take as JSON.
    pub(crate) answer_bytes: usize,
    /// How many rounds may follow one another without a new step or a changed state by hand.
    pub(crate) rounds: u32,
    /// The version of the server.
    pub(crate) version: Arc<str>,
}

impl RecordRules {
    /// How much of a record with steps of that size answers may take: the rest is for the steps after them.
    pub(crate) fn bytes_with_answers(bytes: usize, steps: usize) -> usize {
        bytes - bytes.saturating_sub(steps) / 8
    }
}

/// The keys of the questions and steps inside a step.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct InsideStep {
    #[serde(rename = "q", skip_serializing_if = "BTreeSet::is_empty")]
    questions: BTreeSet<Arc<str>>,
    #[serde(rename = "s", skip_serializing_if = "BTreeSet::is_empty")]
    steps: BTreeSet<Arc<str>>,
}

/// A member that is there has a value, also if it is `null`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::deserialize(deserializer).map(Some)
}

/// What the running round has added to the record.
#[derive(Debug, Clone, Default)]
struct RoundRecord {
    keys: BTreeMap<Arc<str>, RoundKey>,
    /// The open questions as the client sees them, in the order in which they were asked.
    asked: Vec<(Arc<str>, Question)>,
    /// Whether the function may still need the answers that it did not use in this round.
    keeps_unused: bool,
    steps: BTreeMap<Arc<str>, RoundStep>,
    /// How many bytes the recorded steps take, once that was asked.
    size_of_steps: Option<usize>,
    /// Whether the function makes its rounds by hand.
    by_hand: bool,
    /// The capabilities that the client lacks for what was to be asked.
    missing: Option<Value>,
    /// Whether the round continues a call, and has brought nothing new to it.
    is_idle: bool,
    has_new_steps: bool,
    /// Whether a function that makes its rounds by hand has changed its state.
    has_new_state: bool,
    /// Whether that function could not read the state of the round before.
    has_unread_state: bool,
    /// Cancelled at the end of the round: a question that a spawned future asks ends with it.
    over: Option<CancellationToken>,
}

/// What the running round knows about the question under one key.
#[derive(Debug, Clone, Default)]
struct RoundKey {
    /// The answer that came with this round.
    response: Option<Box<RawValue>>,
    /// What is asked, to find two different questions under one key.
    digest: Option<QuestionDigest>,
    /// The question whose answer was used.
    used: Option<QuestionDigest>,
    /// Whether it could not be asked, so that the fallback or an error counts.
    is_unasked: bool,
    /// The answer that a function which makes its rounds by hand could not use, and why.
    rejected: Option<(Value, String)>,
    /// The question, if it is open at the end of the round.
    open: Option<RecordedQuestion>,
    /// Whether its resolver could not run in this round, and may still need the answer.
    is_waiting: bool,
    /// Whether it need not be asked: its resolver knew the value, or the step that asks is recorded.
    is_known: bool,
    /// Held by the future that asks it.
    turn: Turn,
}

/// What the running round knows about one step.
#[derive(Debug, Clone, Default)]
struct RoundStep {
    /// Once the function has the result: whether it may have it a second time.
    is_shared: Option<bool>,
    /// Held by the future that takes it.
    turn: Turn,
}

/// Lets futures that use the same key go one after the other.
type Turn = Arc<tokio::sync::Mutex<()>>;

impl RoundRecord {
    fn key(&mut self, key: &Arc<str>) -> &mut RoundKey {
        self.keys.entry(Arc::clone(key)).or_default()
    }

    fn response(&self, key: &str) -> Option<&RawValue> {
        self.keys.get(key)?.response.as_deref()
    }
}

/// An answer, and the question that it belongs to.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordedAnswer {
    key: Arc<str>,
    digest: QuestionDigest,
    /// As JSON text, it may be as deep as in a request. `None` is final: the question could not be asked when the function took
    /// a step, so it is not asked any more, and its fallback, or the error that the function handled, counts.
    answer: Option<Box<RawValue>>,
    #[serde(default)]
    pub(super) status: AnswerStatus,
}

/// What has become of an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) enum AnswerStatus {
    /// The function has used it. The last round did too, or may have stopped before it could.
    #[default]
    Used,
    /// The function had used it when it took a step. It cannot change any more, because the step is not taken again.
    #[serde(rename = "f")]
    Final,
    /// No round has used it, so nothing has checked it; the last one may have stopped before it could.
    #[serde(rename = "w")]
    Waiting,
    /// The last round did not use it.
    #[serde(rename = "o")]
    Old,
    /// No round has used it, and the last one could have.
    #[serde(rename = "n")]
    NeverUsed,
}

impl AnswerStatus {
    pub(super) fn is_unchecked(self) -> bool {
        matches!(self, Self::Waiting | Self::NeverUsed)
    }

    fn is_unused(self) -> bool {
        matches!(self, Self::Old | Self::NeverUsed)
    }
}

impl RecordedAnswer {
    fn is_to(&self, key: &str, digest: QuestionDigest) -> bool {
        *self.key == *key && self.digest == digest
    }
}

/// As an array, which is shorter than an object and is read in the same way.
impl Serialize for RecordedAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self { key, digest, answer, status: AnswerStatus::Used } => (key, digest, answer).serialize(serializer),
            Self { key, digest, answer, status } => (key, digest, answer, status).serialize(serializer),
        }
    }
}

/// A step, with all that depends on it: what keeps steps apart from their record can [restore](CallRecord::restore) each
/// without the others, and in any order, because steps that are taken at the same time are not stored in one.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StepRecord {
    #[serde(rename = "r")]
    result: Box<RawValue>,
    /// The answers, and the questions that could not be asked, which are final with it.
    #[serde(rename = "a", default, skip_serializing_if = "Vec::is_empty")]
    answers: Vec<RecordedAnswer>,
    /// What is inside it.
    #[serde(rename = "i", default, skip_serializing_if = "Option::is_none")]
    inside: Option<InsideStep>,
    /// The step that it is inside of.
    #[serde(rename = "o", default, skip_serializing_if = "Option::is_none")]
    outer: Option<Arc<str>>,
}

/// A question without a usable answer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordedQuestion {
    #[serde(rename = "d")]
    digest: QuestionDigest,
    /// How many answers to it could not be used.
    #[serde(rename = "n", default, skip_serializing_if = "is_zero")]
    bad: u8,
    /// How many answers arrived after its text had changed.
    #[serde(rename = "c", default, skip_serializing_if = "is_zero")]
    reworded: u8,
}

fn is_zero<N: Default + PartialEq>(number: &N) -> bool {
    *number == N::default()
}

fn written<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).expect("strings and JSON serialise")
}

/// The member of [`CallRecord::optional`] that idempotency keys are made from.
const SEED: &str = "id";

/// Storing.
impl CallRecord {
    /// What idempotency keys are made from, if one was made before.
    pub(super) fn seed(&self) -> Option<String> {
        serde_json::from_str(self.optional.get(SEED)?.get()).ok()
    }

    /// Keeps what idempotency keys are made from.
    pub(super) fn plant(&mut self, seed: &str) {
        self.optional.insert(SEED.into(), to_raw_value(seed).expect("a text is JSON"));
    }

    /// Reads a record that this build or another one wrote; `None` if a necessary part cannot be read. A part of it is not
    /// enough: a step without the answers that it was taken with would let them change.
    pub(crate) fn read(state: &[u8]) -> Option<Self> {
        serde_json::from_slice(state).ok()
    }

    /// Writes it in at most so many bytes, if it can drop enough answers: first unused ones, the oldest first, and then those
    /// that no function has checked. Their questions are asked again. If that is not enough, it drops nothing.
    pub(crate) fn write(&mut self, most: usize) -> Vec<u8> {
        let all = written(self);
        let mut over = all.len().saturating_sub(most);
        let can_go = |answer: &&RecordedAnswer| answer.status.is_unused() || answer.status.is_unchecked();
        if over == 0 || self.answers.iter().filter(can_go).map(|answer| written(answer).len()).sum::<usize>() < over {
            return all;
        }
        for goes in [AnswerStatus::is_unused, AnswerStatus::is_unchecked] {
            self.answers.retain(|answer| {
                let goes = over > 0 && goes(answer.status);
                over = if goes { over.saturating_sub(written(answer).len()) } else { over };
                !goes
            });
        }
        written(self)
    }

    /// How many bytes more than this it takes after it has made room.
    fn excess(&mut self, most: usize) -> usize {
        let steps = self.size_of_steps();
        let answers = self.answers.iter().filter_map(|answer| answer.answer.as_ref());
        let texts = answers.chain(&self.kept).map(|json| json.get().len() + 64);
        // Far below the limit it is not written to be measured.
        if texts.sum::<usize>() + steps + 64 * self.steps.len() < most / 2 {
            return 0;
        }
        // There may be many steps, and this is asked after each of them: all are written only if there is too little room.
        let taken = std::mem::take(&mut self.steps);
        let rest = written(self).len() + "\"s\":{},".len();
        self.steps = taken;
        if rest + steps <= most { 0 } else { self.write(most).len().saturating_sub(most) }
    }

    /// How many bytes the steps take.
    fn size_of_steps(&mut self) -> usize {
        let count = || self.steps.iter().map(|(key, result)| size_of_step(key, result)).sum();
        *self.round.size_of_steps.get_or_insert_with(count)
    }
}

/// How many bytes a step takes, with a comma.
fn size_of_step(key: &str, result: &RawValue) -> usize {
    written(key).len() + result.get().len() + ":,".len()
}

/// The round.
impl CallRecord {
    /// Begins a round with what the client answered.
    pub(crate) fn begin_round(&mut self, responses: InputResponses) {
        // With an empty record the call could as well begin in this round.
        let is_idle = !self.answers.is_empty() || !self.steps.is_empty() || self.kept.is_some();
        self.round = RoundRecord { is_idle, ..RoundRecord::default() };
        for (key, response) in responses {
            self.round.key(&key).response = Some(response);
        }
    }

    /// Ends the round, and returns what it asks.
    ///
    /// An answer that the round did not use is kept until the call ends, while there is room: another build may ask its
    /// question. The answer to a question that is asked again is dropped: an earlier consent is not this one.
    ///
    /// # Errors
    ///
    /// If too many rounds have ended without a new step or a changed state by hand.
    pub(super) fn end_round(
        &mut self,
        is_stateless: bool,
        rules: &RecordRules,
    ) -> Result<Vec<(Arc<str>, Question)>, CallError> {
        self.versions.insert(Arc::clone(&rules.version));
        // Two builds that do not read each other's state by hand change it in every round.
        let is_own_state = self.versions.len() == 1 && !self.round.has_unread_state;
        let is_new = self.round.has_new_steps || (self.round.has_new_state && is_own_state);
        // On a session a call that asks nothing may wait for something, as long as its timeout allows.
        let counts = is_stateless || !self.round.asked.is_empty();
        self.rounds = if is_new { 1 } else { self.rounds.saturating_add(counts.into()) };
        if self.rounds > rules.rounds {
            return Err(CallError::mistake(format!(
                "the call has no result after {} rounds without a new step or a changed state of `Reply` \
                 (`StatePolicy::rounds`); ask questions together, take a step with `ctx.once`, or raise the limit",
                rules.rounds
            )));
        }
        let (keys, none) = (std::mem::take(&mut self.round.keys), RoundKey::default());
        let of = |key: &Arc<str>| keys.get(key).unwrap_or(&none);
        let is_kept =
            |of: &RoundKey| (self.round.keeps_unused || of.is_waiting) && of.digest.is_none() && of.rejected.is_none();
        for (key, RecordedQuestion { digest, .. }) in std::mem::take(&mut self.questions) {
            let is_recorded = self.answers.iter().any(|answer| answer.is_to(&key, digest));
            if let Some(answer) = of(&key).response.clone().filter(|_| !is_recorded) {
                let status = AnswerStatus::Waiting;
                self.answers.push(RecordedAnswer { key, digest, answer: Some(answer), status });
            }
        }
        self.answers.retain_mut(|answer| {
            let of = of(&answer.key);
            let is_final = answer.status == AnswerStatus::Final;
            if of.open.is_some_and(|open| open.digest == answer.digest) || (of.rejected.is_some() && !is_final) {
                return false;
            }
            if !is_final && !is_kept(of) && of.used != Some(answer.digest) {
                let is_unchecked = answer.status.is_unchecked();
                answer.status = if is_unchecked { AnswerStatus::NeverUsed } else { AnswerStatus::Old };
            }
            true
        });
        self.cancel_round();
        self.questions = keys.into_iter().filter_map(|(key, of)| Some((key, of.open?))).collect();
        Ok(std::mem::take(&mut self.round.asked))
    }

    /// Notes capabilities that the client lacks.
    pub(super) fn note_missing(&mut self, required: &Value) {
        merge(self.round.missing.get_or_insert_with(|| Value::Object(Map::new())), required);
    }

    /// Whether the round ends because the client lacks capabilities.
    pub(super) fn lacks_capabilities(&self) -> bool {
        self.round.missing.is_some()
    }

    /// All capabilities that the client lacks.
    pub(super) fn missing(&mut self) -> Option<Value> {
        self.round.missing.take()
    }

    /// Keeps answers that this round does not use: the function waits in the middle of its body, or makes its rounds by
    /// hand.
    pub(super) fn keep_unused(&mut self) {
        self.round.keeps_unused = true;
    }

    /// Keeps the answer of a resolver that could not run, because it depends on an open question.
    pub(crate) fn keep_waiting(&mut self, key: &str) {
        self.round.key(&key.into()).is_waiting = true;
    }

    /// Whether this round has a new answer, a new step or a new kept state. An answer that cannot be used counts, because
    /// the user needs time to correct it; how many of them are accepted is limited.
    pub(crate) fn has_progressed(&self) -> bool {
        !self.round.is_idle
    }

    /// Whether this round has a new step or a changed state by hand.
    pub(crate) fn has_advanced(&self) -> bool {
        self.round.has_new_steps || self.round.has_new_state
    }

    /// Cancelled when the round is over.
    pub(super) fn over(&mut self) -> CancellationToken {
        self.round.over.get_or_insert_default().clone()
    }

    pub(super) fn cancel_round(&mut self) {
        if let Some(over) = self.round.over.take() {
            over.cancel();
        }
    }
}

/// Questions and answers.
impl CallRecord {
    /// The question under a key that the last round that ended has asked.
    pub(crate) fn open_question(&self, key: &str) -> Option<QuestionDigest> {
        self.questions.get(key).map(|open| open.digest)
    }

    /// Notes what is asked under a key, and returns the turn to ask it; `None` if it is not asked any more, because a step was
    /// taken when it could not be asked.
    ///
    /// # Errors
    ///
    /// If another question uses the key, or if the text of the question has changed after a step was taken with its answer.
    pub(super) fn note_question(&mut self, key: &Arc<str>, digest: QuestionDigest) -> Result<Option<Turn>, CallError> {
        let of = self.round.key(key);
        let turn = Arc::clone(&of.turn);
        if of.digest.replace(digest).is_some_and(|other| other != digest) {
            return Err(CallError::two_questions(key));
        }
        match self.answers.iter().find(|answer| answer.key == *key && answer.status == AnswerStatus::Final) {
            Some(before) if before.digest != digest => Err(CallError::mistake(format!(
                "the text of question `{key}` changed after a step was taken with its {}, and the step cannot be taken \
                 again; read what the question shows in `ctx.once`, or use `Ask::pinned_to`",
                if before.answer.is_some() { "answer" } else { "fallback" }
            ))),
            Some(before) if before.answer.is_none() => Ok(None),
            _ => Ok(Some(turn)),
        }
    }

    /// Notes that a question could not be asked: its fallback or an error counts.
    pub(super) fn leave_unasked(&mut self, key: &str) {
        self.round.key(&key.into()).is_unasked = true;
    }

    /// Notes that a resolver knows its value without asking.
    pub(super) fn note_known(&mut self, key: &str) {
        self.round.key(&key.into()).is_known = true;
    }

    /// The recorded answer to exactly this question.
    pub(super) fn recorded_answer(&self, key: &str, digest: QuestionDigest) -> Option<(Box<RawValue>, AnswerStatus)> {
        let recorded = self.answers.iter().find(|answer| answer.is_to(key, digest));
        if recorded.is_none() && self.answers.iter().any(|answer| *answer.key == *key) {
            tracing::debug!(key, "a recorded answer is not used: the text of its question has changed");
        }
        recorded.and_then(|recorded| Some((recorded.answer.clone()?, recorded.status)))
    }

    /// The answer to exactly this question that came with this round.
    pub(super) fn response(&self, key: &str, digest: QuestionDigest, allow_unsolicited: bool) -> Option<Box<RawValue>> {
        let counts = self.questions.get(key).map_or(allow_unsolicited, |open| open.digest == digest);
        self.round.response(key).filter(|_| counts).map(ToOwned::to_owned)
    }

    /// The latest answer under a key, to any question, and whether it came with this round.
    pub(super) fn latest_answer(&self, key: &str) -> Option<(QuestionDigest, Box<RawValue>, bool)> {
        if let (Some(open), Some(answer)) = (self.questions.get(key), self.round.response(key)) {
            return Some((open.digest, answer.to_owned(), true));
        }
        let latest = self.answers.iter().rfind(|answer| *answer.key == *key && !answer.status.is_unused())?;
        Some((latest.digest, latest.answer.clone()?, false))
    }

    /// Notes that a question is inside a step.
    pub(super) fn note_question_inside(&mut self, outer: &Arc<str>, key: &Arc<str>) {
        self.inside.entry(Arc::clone(outer)).or_default().questions.insert(Arc::clone(key));
    }

    /// Records an answer that is used, for the first time if it is new.
    ///
    /// # Errors
    ///
    /// If it is new, and the record has no room for it. Then the step after it cannot be recorded either.
    pub(super) fn use_answer(
        &mut self,
        key: &Arc<str>,
        digest: QuestionDigest,
        answer: Box<RawValue>,
        is_new: bool,
        rules: &RecordRules,
    ) -> Result<(), AnswerError> {
        let length = answer.get().len();
        let before = self.answers.iter().position(|answer| answer.is_to(key, digest));
        let before = before.map(|position| self.answers.remove(position).status);
        let status = before.filter(|before| *before == AnswerStatus::Final).unwrap_or_default();
        self.answers.push(RecordedAnswer { key: Arc::clone(key), digest, answer: Some(answer), status });
        if is_new {
            let steps: usize = self.steps.values().chain(&self.kept).map(|json| json.get().len()).sum();
            let most = RecordRules::bytes_with_answers(rules.bytes, steps);
            let excess = self.excess(most);
            if excess > 0 {
                self.answers.pop();
                return Err(AnswerError::too_long(length, length.saturating_sub(excess)));
            }
            self.round.is_idle = false;
        }
        let of = self.round.key(key);
        (of.used, of.rejected) = (Some(digest), None);
        Ok(())
    }

    /// Notes that a function which makes its rounds by hand cannot use an answer.
    pub(super) fn reject_answer(&mut self, key: &Arc<str>, answer: Value, reason: String) {
        let of = self.round.key(key);
        (of.used, of.rejected) = (None, Some((answer, reason)));
    }

    /// The question to send now if it differs from this one, given the answer that cannot be used and what is wrong with
    /// it, if there is one.
    pub(super) fn next_question(
        &mut self,
        key: &Arc<str>,
        question: &Question,
        digest: QuestionDigest,
        bad: Option<(Value, AnswerError)>,
    ) -> Result<(RecordedQuestion, Option<Question>), Halt> {
        let before = self.questions.get(key);
        // A retry without an answer does not reset the count.
        let tried = before.filter(|before| before.digest == digest).map_or(0, |before| before.bad);
        let mut open = RecordedQuestion { digest, bad: tried, reworded: before.map_or(0, |before| before.reworded) };
        match bad {
            Some((answer, AnswerError(reason))) => {
                open.bad = open.bad.saturating_add(1);
                self.round.is_idle = false;
                // It may be long, and a recorded one must not come before the next.
                self.round.key(key).response = None;
                self.answers.retain(|answer| !answer.is_to(key, digest));
                return Ok((open, Some(ask_again(key, question, &answer, &reason, open.bad)?)));
            }
            None if before.is_some() && self.round.response(key).is_some() => {
                tracing::debug!(key = &**key, "an answer is not used: the text of its question has changed");
                open.reworded = open.reworded.saturating_add(1);
                self.round.is_idle = false;
                if open.reworded > REWORDINGS {
                    return Err(Halt::Mistake(CallError::mistake(format!(
                        "the text of question `{key}` changes every round, so its answer can never match; remove what \
                         changes, such as a timestamp or the order of a list, or use `Ask::pinned_to`"
                    ))));
                }
            }
            None => {}
        }
        Ok((open, None))
    }

    /// Notes a question that goes out when the round ends.
    pub(super) fn leave_open(&mut self, key: &Arc<str>, open: RecordedQuestion, shown: Question) {
        if self.round.key(key).open.replace(open).is_none() {
            self.round.asked.push((Arc::clone(key), shown));
        }
    }

    /// Notes the answer to a question that was sent at once.
    pub(super) fn respond(&mut self, key: &Arc<str>, open: RecordedQuestion, answer: Box<RawValue>) {
        self.questions.insert(Arc::clone(key), open);
        self.round.key(key).response = Some(answer);
    }

    /// Notes that a function that makes its rounds by hand cannot read its state, which another build wrote.
    pub(super) fn note_unread_state(&mut self) {
        self.round.has_unread_state = true;
    }

    /// Notes what a function that makes its rounds by hand leaves to the next one.
    pub(super) fn hand_on(&mut self, next: NextRound) -> Result<(), CallError> {
        if let Some(state) = next.state {
            let is_changed = self.kept.as_ref().is_none_or(|kept| kept.get() != state.get());
            self.round.is_idle &= !is_changed;
            self.round.has_new_state |= is_changed;
            self.kept = Some(state);
        }
        self.keep_unused();
        next.questions.into_iter().try_for_each(|asked| self.ask_by_hand(asked))
    }

    fn ask_by_hand(&mut self, AskByHand { key, question }: AskByHand) -> Result<(), CallError> {
        let (key, digest) = (Arc::from(key), question.digest(None));
        self.note_question(&key, digest)?;
        let before = self.questions.get(&key);
        // A retry without an answer does not reset the count.
        let unanswered = before.filter(|before| before.digest == digest && self.round.response(&key).is_none());
        let mut open = RecordedQuestion { digest, bad: unanswered.map_or(0, |before| before.bad), reworded: 0 };
        let shown = match self.round.key(&key).rejected.clone() {
            None => question,
            Some((answer, reason)) => {
                open.bad = before.map_or(1, |before| before.bad.saturating_add(1));
                self.round.is_idle = false;
                ask_again(&key, &question, &answer, &reason, open.bad)?
            }
        };
        self.leave_open(&key, open, shown);
        Ok(())
    }
}

/// Adds the members of an object of objects to another.
fn merge(into: &mut Value, from: &Value) {
    for (name, from) in from.as_object().into_iter().flatten() {
        merge(&mut into[name], from);
    }
    if into.is_null() {
        *into = Value::Object(Map::new());
    }
}

/// The question with the reason why its last answer cannot be used; an error after too many bad answers.
fn ask_again(key: &str, question: &Question, answer: &Value, reason: &str, bad: u8) -> Result<Question, CallError> {
    if bad >= TRIES || !question.bears_repeating(answer) {
        return Err(CallError::unusable_answer(key, reason));
    }
    Ok(question.because(reason))
}

/// What a run reaches.
impl CallRecord {
    /// Notes that the function makes its rounds by hand, so that it need not take the same path in each.
    pub(crate) fn makes_rounds_by_hand(&mut self) {
        self.round.by_hand = true;
    }

    /// Whether the function has the result of a step in this run.
    pub(crate) fn has_step(&self, step: &str) -> bool {
        self.round.steps.get(step).is_some_and(|step| step.is_shared.is_some())
    }

    /// The turn to take a step.
    pub(super) fn turn_to_step(&mut self, step: &str) -> Turn {
        Arc::clone(&self.round.steps.entry(step.into()).or_default().turn)
    }

    /// Notes that the function has the result of a step.
    pub(crate) fn reach_step(&mut self, step: &str, is_shared: bool) {
        self.round.steps.entry(step.into()).or_default().is_shared = Some(is_shared);
        for key in self.inside.get(step).into_iter().flat_map(|inside| &inside.questions) {
            self.round.key(key).is_known = true;
        }
    }

    /// Notes that the function has the recorded result of a step, and so of all steps inside it.
    ///
    /// # Errors
    ///
    /// If it took a step under the key of one of these.
    pub(crate) fn replay_step(&mut self, step: &str, is_shared: bool) -> Result<(), CallError> {
        self.reach_step(step, is_shared);
        for inner in self.inside.get(step).map(|inside| inside.steps.clone()).unwrap_or_default() {
            match self.round.steps.get(&inner).and_then(|step| step.is_shared) {
                None => self.replay_step(&inner, true)?,
                Some(true) => {}
                Some(false) => return Err(CallError::step_twice(&inner)),
            }
        }
        Ok(())
    }

    /// What earlier runs of the function recorded and this one did not reach. Another version of the server may take
    /// another path.
    pub(super) fn unreached(&self, version: &Arc<str>) -> Vec<String> {
        if self.round.by_hand || self.kept.is_some() || self.versions.iter().any(|other| other != version) {
            return Vec::new();
        }
        let is_reached = |of: &RoundKey| of.digest.is_some() || of.used.is_some() || of.is_waiting || of.is_known;
        let is_unreached = |key: &&Arc<str>| !self.round.keys.get(*key).is_some_and(is_reached);
        let answered = self.questions.keys().filter(|key| self.round.response(key).is_some());
        let recorded = self.answers.iter().filter(|answer| answer.answer.is_some() && !answer.status.is_unused());
        let recorded = recorded.map(|answer| &answer.key);
        let answers: BTreeSet<_> = recorded.chain(answered).filter(is_unreached).collect();
        let steps = self.steps.keys().filter(|step| !self.has_step(step));
        let answers = answers.into_iter().map(|key| format!("the answer to `{key}`"));
        answers.chain(steps.map(|step| format!("step `{step}`"))).collect()
    }
}

/// Steps.
impl CallRecord {
    /// Records the result of a step, which may be inside another one, and returns what restores it; an error if the record would
    /// take more bytes than it may.
    pub(super) fn record_step(
        &mut self,
        step: &str,
        outer: Option<Arc<str>>,
        result: Box<RawValue>,
        rules: &RecordRules,
    ) -> Result<StepRecord, CallError> {
        let mut answers = Vec::new();
        for (key, of) in &self.round.keys {
            let Some(digest) = of.digest else { continue };
            let recorded = self.answers.iter().find(|answer| answer.is_to(key, digest));
            let answer = match recorded {
                Some(recorded) if of.used == Some(digest) => recorded.answer.clone(),
                // It could not be asked, in this run or in an earlier one.
                Some(recorded) if recorded.answer.is_none() => None,
                _ if of.is_unasked => None,
                _ => continue,
            };
            answers.push(RecordedAnswer { key: Arc::clone(key), digest, answer, status: AnswerStatus::Final });
        }
        let record = StepRecord { result, answers, inside: self.inside.get(step).cloned(), outer };
        self.restore(step, &record);
        let (most, limit) = (rules.bytes, rules.limit);
        let excess = self.excess(most);
        if excess > 0 {
            self.steps.remove(step);
            self.round.size_of_steps = None;
            let bytes = most + excess;
            return Err(CallError::mistake(format!(
                "the result of step `{step}` cannot be recorded: the record of this call takes {bytes} bytes with it, and \
                 the limit is {most} ({limit}); store large results elsewhere and return a reference"
            )));
        }
        (self.round.is_idle, self.round.has_new_steps) = (false, true);
        Ok(record)
    }

    /// Adds a step that was recorded.
    pub(crate) fn restore(&mut self, step: &str, record: &StepRecord) {
        for answer in &record.answers {
            self.answers.retain(|recorded| !recorded.is_to(&answer.key, answer.digest));
            self.answers.push(answer.clone());
        }
        if let Some(InsideStep { questions, steps }) = record.inside.clone() {
            let inside = self.inside.entry(step.into()).or_default();
            inside.questions.extend(questions);
            inside.steps.extend(steps);
        }
        if let Some(outer) = &record.outer {
            self.inside.entry(Arc::clone(outer)).or_default().steps.insert(step.into());
        }
        let before = self.steps.insert(step.into(), record.result.clone());
        if let Some(size) = &mut self.round.size_of_steps {
            *size += size_of_step(step, &record.result);
            *size -= before.map_or(0, |before| size_of_step(step, &before));
        }
    }
}

/// A value of the author's as JSON, and the value that later rounds read from it.
///
/// # Errors
///
/// If it has no form in JSON that can be read again: a map whose keys are not strings, a number that is not finite, a value
/// that is nested too deeply. The reason goes to the log only, since it may quote what no client should see.
pub(crate) fn round_trip<T: Serialize + ?Sized, R: DeserializeOwned>(
    value: &T,
    what: impl FnOnce() -> String,
) -> Result<(Box<RawValue>, R), CallError> {
    let written = to_raw_value(value).and_then(|json| serde_json::from_str(json.get()).map(|read| (json, read)));
    written.map_err(|error| {
        let what = what();
        tracing::error!(%error, "{what} cannot be recorded as JSON");
        CallError::mistake(format!(
            "{what} cannot be recorded: it cannot be written as JSON and read again (see the server log)"
        ))
    })
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use serde_json::json;

    use super::*;
    use crate::{
        ask::Answer,
        call::{Call, carrier::AnswerCheck},
        form::{ConfirmForm, Elicit},
        request::RequestInfo,
        rounds::{StatelessCarrier, seal::Log},
    };

    fn question(message: &str) -> Question {
        Question::Form { message: message.to_owned(), form: ConfirmForm::form() }
    }

    fn yes() -> Value {
        json!({ "action": "accept", "content": { "yes": true } })
    }

    fn answer(key: &str, message: &str, answer: Value) -> RecordedAnswer {
        let (digest, answer) = (question(message).digest(None), Some(json_text(answer)));
        RecordedAnswer { key: key.into(), digest, answer, status: AnswerStatus::Used }
    }

    /// Recorded answers, to be compared.
    fn shown(answers: &[RecordedAnswer]) -> String {
        serde_json::to_string(answers).expect("JSON")
    }

    fn open(message: &str) -> RecordedQuestion {
        RecordedQuestion { digest: question(message).digest(None), bad: 0, reworded: 0 }
    }

    fn by_key<T, const N: usize>(entries: [(&str, T); N]) -> BTreeMap<Arc<str>, T> {
        entries.into_iter().map(|(key, value)| (key.into(), value)).collect()
    }

    fn json_text(value: Value) -> Box<RawValue> {
        to_raw_value(&value).expect("JSON")
    }

    fn rules() -> Arc<RecordRules> {
        Arc::new(RecordRules {
            bytes: 1000,
            limit: "`StatePolicy::limit`",
            answer_bytes: 800,
            rounds: 64,
            version: "1".into(),
        })
    }

    /// A round of a stateless call.
    fn round<const N: usize>(mut record: CallRecord, responses: [(&str, Value); N]) -> Call {
        record.begin_round(by_key(responses.map(|(key, answer)| (key, json_text(answer)))));
        let call = Call::new(RequestInfo::default(), Arc::default(), Arc::default());
        call.carry(Box::new(StatelessCarrier::for_tests()), rules(), Some(record));
        call
    }

    /// The answer under a key, or what there is instead.
    fn ask(call: &Call, key: &str, message: &str) -> Result<Value, Halt> {
        let check = |answer: &Value| <ConfirmForm as Answer>::read(answer).map(|_| ());
        let check = AnswerCheck { allow_unsolicited: false, pinned_to: None, read: &check, accept: None };
        let asked = call.ask(key, question(message), check, None).now_or_never().expect("no waiting");
        asked.map(|answer| answer.expect("it can be asked"))
    }

    /// The keys that a round asks under in the end, and the record for the next one.
    fn end(call: &Call) -> (Vec<String>, CallRecord) {
        let mut record = call.record();
        let asked = record.end_round(true, &rules()).expect("few rounds");
        (asked.into_iter().map(|(key, _)| key.to_string()).collect(), read(&record))
    }

    fn read(record: &CallRecord) -> CallRecord {
        CallRecord::read(&written(record)).expect("this build wrote it")
    }

    fn unused(record: &CallRecord) -> Vec<&str> {
        record.answers.iter().filter(|answer| answer.status.is_unused()).map(|answer| &*answer.key).collect()
    }

    fn stored(record: &CallRecord) -> String {
        String::from_utf8(written(record)).expect("JSON is text")
    }

    #[test]
    fn d4_d5_d8_an_answer_to_what_was_asked_is_kept_and_any_other_is_dropped() {
        let before = CallRecord {
            answers: vec![answer("used", "Used?", yes()), answer("unused", "Unused?", yes())],
            questions: by_key([("open", open("Open?")), ("gone", open("Gone?"))]),
            ..CallRecord::default()
        };
        let call = round(before, [("open", yes()), ("gone", yes()), ("stranger", yes())]);
        assert_eq!(ask(&call, "used", "Used?").unwrap(), yes());
        assert_eq!(ask(&call, "open", "Open?").unwrap(), yes());
        assert!(matches!(ask(&call, "new", "New?"), Err(Halt::Pending)));
        let (asked, after) = end(&call);
        assert_eq!(asked, ["new"]);
        let kept = vec![answer("used", "Used?", yes()), answer("open", "Open?", yes())];
        assert_eq!(unused(&after), ["unused", "gone"]);
        let used: Vec<_> = after.answers.into_iter().filter(|answer| !answer.status.is_unused()).collect();
        assert_eq!(shown(&used), shown(&kept));
        assert_eq!(after.questions, by_key([("new", open("New?"))]));
    }

    #[test]
    fn d5_a_decline_counts_for_the_text_that_was_declined() {
        let decline = json!({ "action": "decline" });
        let answers = vec![answer("sure", "Sure?", decline.clone())];
        let before = CallRecord { answers, ..CallRecord::default() };
        assert_eq!(ask(&round(before.clone(), []), "sure", "Sure?").unwrap(), decline);
        let reworded = round(before, []);
        assert!(matches!(ask(&reworded, "sure", "Really sure?"), Err(Halt::Pending)));
        let (asked, after) = end(&reworded);
        assert_eq!(asked, ["sure"]);
        assert_eq!(after.questions, by_key([("sure", open("Really sure?"))]));
        assert_eq!(unused(&after), ["sure"], "the old answer is not to this question");
        let again = round(after, []);
        assert_eq!(ask(&again, "sure", "Sure?").unwrap(), decline, "but it is to its own");
    }

    #[test]
    fn u3_2_an_answer_to_a_question_that_is_asked_again_is_dropped() {
        let bad = json!({ "action": "accept", "content": { "yes": "perhaps" } });
        let old = |answer| RecordedAnswer { status: AnswerStatus::Old, ..answer };
        let answers = vec![old(answer("sure", "Sure?", bad)), old(answer("sure", "Really?", yes()))];
        let call = round(CallRecord { answers, ..CallRecord::default() }, []);
        assert!(matches!(ask(&call, "sure", "Sure?"), Err(Halt::Pending)));
        let (_, after) = end(&call);
        assert_eq!(after.answers.len(), 1, "the one to another question is kept");
        assert_eq!(ask(&round(after, []), "sure", "Really?").unwrap(), yes());
    }

    #[test]
    fn u3_2_the_oldest_unused_answers_go_when_the_record_is_full() {
        let long = |byte: &str| json!({ "action": "accept", "content": { "yes": true, "note": byte.repeat(200) } });
        let questions = by_key([("a", open("A?")), ("b", open("B?")), ("c", open("C?"))]);
        let mut record = CallRecord { questions, ..CallRecord::default() };
        for (key, answered) in [("a", "x"), ("b", "y"), ("c", "z")] {
            let call = round(record, [(key, long(answered))]);
            record = end(&call).1;
            record.questions = by_key([("b", open("B?")), ("c", open("C?"))]);
        }
        assert_eq!(unused(&record), ["a", "b", "c"]);
        let call = round(record, []);
        call.record_step("charge", "x".repeat(150)).now_or_never().expect("no waiting").unwrap();
        assert_eq!(unused(&end(&call).1), ["b", "c"]);
    }

    #[test]
    fn d5_d7_a_recorded_answer_that_no_longer_fits_is_asked_for_again() {
        let other = json!({ "action": "accept", "content": { "yes": "perhaps" } });
        let call = round(CallRecord { answers: vec![answer("sure", "Sure?", other)], ..CallRecord::default() }, []);
        assert!(matches!(ask(&call, "sure", "Sure?"), Err(Halt::Pending)));
        assert_eq!(end(&call).0, ["sure"]);
    }

    #[test]
    fn r3_m2_a_fallback_that_a_step_used_stays_although_an_answer_that_cannot_be_read_is_recorded() {
        let unreadable = answer("sure", "Sure?", json!({ "action": "accept", "content": { "yes": "perhaps" } }));
        let call = round(CallRecord { answers: vec![unreadable], ..CallRecord::default() }, []);
        let asked = |call: &Call, refused| {
            let check = |answer: &Value| <ConfirmForm as Answer>::read(answer).map(|_| ());
            let check = AnswerCheck { allow_unsolicited: false, pinned_to: None, read: &check, accept: None };
            let asked = call.ask("sure", question("Sure?"), check, refused).now_or_never().expect("no waiting");
            asked.map(|answer| answer.map_err(|error| error.to_string()))
        };
        assert_eq!(
            asked(&call, Some(CallError::new("it cannot be asked"))).unwrap().unwrap_err(),
            "it cannot be asked"
        );
        call.record_step("charge", 1).now_or_never().expect("no waiting").unwrap();
        let next = round(end(&call).1, [("sure", yes())]);
        let error = asked(&next, None).unwrap().unwrap_err();
        assert!(error.starts_with("`sure` is not asked any more"), "{error}");
    }

    #[test]
    fn a_round_without_an_answer_changes_no_count() {
        let questions = by_key([("sure", RecordedQuestion { bad: 2, reworded: 1, ..open("Sure?") })]);
        let call = round(CallRecord { questions: questions.clone(), ..CallRecord::default() }, []);
        assert!(matches!(ask(&call, "sure", "Sure?"), Err(Halt::Pending)));
        assert_eq!(end(&call).1.questions, questions);
    }

    #[test]
    fn a_step_is_known_in_its_own_round_and_in_all_later_ones() {
        let call = round(CallRecord::default(), []);
        assert_eq!(call.recorded_step::<u32>("charge").unwrap(), None);
        call.record_step("charge", 100).now_or_never().expect("no waiting").unwrap();
        assert_eq!(call.recorded_step::<u32>("charge").unwrap(), Some(100));
        let next = round(end(&call).1, []);
        assert_eq!(next.recorded_step::<u32>("charge").unwrap(), Some(100));
    }

    #[test]
    fn steps_that_take_too_many_bytes_together_are_an_error() {
        let call = round(CallRecord::default(), []);
        let record = |step: &str, length| {
            call.record_step(step, "x".repeat(length)).now_or_never().expect("no waiting").map(|_| ())
        };
        record("one", 470).unwrap();
        record("two", 490).unwrap();
        let error = record("more", 20).unwrap_err().to_string();
        assert!(
            error.starts_with(
                "the result of step `more` cannot be recorded: the record of this call takes 1015 bytes with it, and the \
                 limit is 1000"
            ),
            "{error}"
        );
        assert_eq!(call.recorded_step::<String>("more").unwrap(), None);
    }

    #[test]
    fn d13_an_answer_to_another_text_is_logged_without_its_content() {
        let secret = json!({ "action": "accept", "content": { "yes": true, "note": "topsecret" } });
        let lines = Log::of(|| {
            let before = CallRecord {
                answers: vec![answer("recorded", "Old?", secret.clone())],
                questions: by_key([("late", open("Old?"))]),
                ..CallRecord::default()
            };
            let call = round(before, [("late", secret)]);
            assert!(matches!(ask(&call, "recorded", "New?"), Err(Halt::Pending)));
            assert!(matches!(ask(&call, "late", "New?"), Err(Halt::Pending)));
        });
        let changed = "is not used: the text of its question has changed";
        assert!(lines.contains(&format!("a recorded answer {changed} key=\"recorded\"")), "{lines}");
        assert!(lines.contains(&format!("an answer {changed} key=\"late\"")), "{lines}");
        assert!(!lines.contains("topsecret"), "{lines}");
    }

    #[test]
    fn an_unused_answer_is_kept_for_a_function_that_waits_and_does_not_count_as_progress() {
        let before = CallRecord {
            answers: vec![answer("used", "Used?", yes())],
            questions: by_key([("open", open("Open?"))]),
            ..CallRecord::default()
        };
        let junk = json!({ "action": "accept", "content": { "yes": "perhaps" } });
        for (sent, is_used, progressed) in [(yes(), true, true), (yes(), false, false), (junk, false, false)] {
            let call = round(before.clone(), [("open", sent.clone())]);
            assert_eq!(ask(&call, "used", "Used?").unwrap(), yes());
            if is_used {
                assert_eq!(ask(&call, "open", "Open?").unwrap(), sent);
            }
            assert!(matches!(ask(&call, "new", "New?"), Err(Halt::Pending)));
            call.record().keep_unused();
            assert_eq!(call.record().has_progressed(), progressed, "{sent} used: {is_used}");
            let status = if is_used { AnswerStatus::Used } else { AnswerStatus::Waiting };
            let kept = RecordedAnswer { status, ..answer("open", "Open?", sent) };
            let answers = vec![answer("used", "Used?", yes()), kept];
            assert_eq!(shown(&end(&call).1.answers), shown(&answers));
        }
    }

    #[test]
    fn d12_a_question_asked_by_hand_has_its_key_to_itself() {
        let call = round(CallRecord::default(), []);
        let asked = AskByHand { key: "sure".to_owned(), question: question("Delete the copy?") };
        call.record().hand_on(NextRound { questions: vec![asked], state: None }).expect("it can be asked");
        // A future that the function spawned before it returned.
        let Err(Halt::Mistake(mistake)) = ask(&call, "sure", "Delete everything?") else {
            panic!("an answer to one question must not count for the other")
        };
        assert!(mistake.to_string().starts_with("two different questions use the key `sure`"), "{mistake}");
    }

    #[test]
    fn every_answer_is_read_as_it_was_recorded() {
        let deep = (0..125).fold(json!(1), |inner, _| json!([inner]));
        for sent in [
            json!({ "action": "accept", "content": { "yes": true } }),
            json!({ "action": "accept", "content": {} }),
            json!({ "action": "accept", "content": null }),
            json!({ "action": "accept" }),
            json!({ "action": "accept", "content": {}, "_meta": {} }),
            json!({ "action": "decline", "content": {} }),
            json!({ "action": "decline", "_meta": { "deep": deep } }),
            json!({ "roots": [] }),
        ] {
            let answers = vec![answer("key", "Sure?", sent)];
            let record = CallRecord { answers: answers.clone(), ..CallRecord::default() };
            assert_eq!(shown(&read(&record).answers), shown(&answers));
        }
    }

    #[test]
    fn what_is_kept_is_read_as_it_was_recorded() {
        for kept in [None, Some(Value::Null), Some(json!({ "stage": 2 }))] {
            let record = CallRecord { kept: kept.map(json_text), ..CallRecord::default() };
            assert_eq!(stored(&read(&record)), stored(&record));
        }
    }

    #[test]
    fn steps_that_are_restored_in_any_order_are_as_they_were_recorded() {
        let before = CallRecord { answers: vec![answer("amount", "How many?", yes())], ..CallRecord::default() };
        let call = round(before.clone(), []);
        assert_eq!(ask(&call, "amount", "How many?").unwrap(), yes());
        let mut record = call.record();
        let gift = Arc::from("gift");
        record.note_question(&gift, question("A gift?").digest(None)).expect("one question");
        record.leave_unasked(&gift);
        record.note_question_inside(&"charge".into(), &"pin".into());
        let mut taken = |step: &str, outer: Option<&str>| {
            record.record_step(step, outer.map(Arc::from), json_text(json!(step)), &rules()).expect("there is room")
        };
        let steps = [("number", Some("charge")), ("charge", None), ("receipt", Some("charge"))];
        let steps = steps.map(|(step, outer)| (step, taken(step, outer)));
        for order in [[0, 1, 2], [2, 1, 0]] {
            let mut restored = before.clone();
            for (step, one) in order.map(|position| &steps[position]) {
                let json = serde_json::to_string(one).expect("JSON");
                restored.restore(step, &serde_json::from_str(&json).expect("this build wrote it"));
                assert_eq!(shown(&restored.answers), shown(&record.answers), "with one step alone");
            }
            assert_eq!(stored(&restored), stored(&record), "{order:?}");
        }
        let golden = golden("steps.json", || serde_json::to_string(&steps).expect("JSON"));
        assert_eq!(golden, serde_json::to_string(&steps).expect("JSON"));
    }

    /// The formats of the record. A file is never changed: a build that cannot read it would refuse the calls of the builds
    /// that wrote it. Set `REJOINDER_BLESS` to write the file of a new format.
    #[test]
    fn a3_l9_golden_records_are_read_and_written_unchanged() {
        let form = |content| json!({ "action": "accept", "content": content });
        let steps = by_key([("charge", json_text(json!({ "receipt": 4711 }))), ("number", json_text(json!(7)))]);
        let inside = InsideStep { questions: ["pin".into()].into(), steps: ["number".into()].into() };
        let with = |status, answer| RecordedAnswer { status, ..answer };
        let asked = CallRecord {
            answers: vec![
                with(AnswerStatus::Old, answer("login", "Log in?", yes())),
                with(AnswerStatus::NeverUsed, answer("login", "Sign in?", yes())),
                with(AnswerStatus::Final, answer("amount", "How many?", form(json!({ "amount": 2 })))),
                RecordedAnswer { answer: None, ..with(AnswerStatus::Final, answer("gift", "A gift?", yes())) },
                answer("number", "Which?", yes()),
                with(AnswerStatus::Waiting, answer("later", "Later?", yes())),
            ],
            questions: by_key([
                ("sure", open("Sure?")),
                ("name", RecordedQuestion { bad: 2, reworded: 1, ..open("Name?") }),
            ]),
            steps,
            inside: by_key([("charge", inside)]),
            rounds: 3,
            versions: ["1.0.0".into(), "1.1.0".into()].into(),
            ..CallRecord::default()
        };
        let ignorable = RawValue::from_string(r#"{ "as":  "written" }"#.into()).expect("JSON");
        let by_hand = CallRecord {
            kept: Some(json_text(json!({ "stage": 2 }))),
            rounds: 1,
            versions: ["1.0.0".into()].into(),
            optional: by_key([("unknown", ignorable)]),
            ..CallRecord::default()
        };
        for (file, record) in [("record-asked.json", asked), ("record-by-hand.json", by_hand)] {
            let golden = golden(file, || stored(&record));
            assert_eq!(golden, stored(&record), "{file}: what is written");
            assert_eq!(stored(&CallRecord::read(golden.as_bytes()).expect(file)), golden, "{file}: what is read");
        }
    }

    #[test]
    fn a3_l9_golden_digests_of_questions_stay_the_same() {
        let visit = Question::Visit { url: "https://shop.example/pay".into(), message: "Pay there.".into() };
        let digests: BTreeMap<_, _> = [
            ("form", question("Sure?").digest(None)),
            ("form, pinned", question("Sure?").digest(Some("delete /tmp"))),
            ("page", visit.digest(None)),
            ("page, pinned", visit.digest(Some("pay"))),
            ("sample", Question::Sample(crate::ask::Sampling::new("A haiku.").max_tokens(50)).digest(None)),
            ("roots", Question::Roots.digest(None)),
        ]
        .into();
        let written = serde_json::to_string_pretty(&digests).expect("JSON") + "\n";
        assert_eq!(golden("question-digests.json", || written.clone()), written);
    }

    fn golden(file: &str, written: impl FnOnce() -> String) -> String {
        let path = format!("{}/tests/golden/{file}", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os("REJOINDER_BLESS").is_some() && !std::path::Path::new(&path).exists() {
            std::fs::write(&path, written()).expect(&path);
        }
        std::fs::read_to_string(&path).expect(&path)
    }

    #[test]
    fn a3_l9_a_record_with_a_part_that_cannot_be_read_is_refused() {
        let digest = serde_json::to_string(&question("Sure?").digest(None)).expect("JSON");
        for (state, is_read) in [
            ("{}".to_owned(), true),
            (r#"{"x":{"trace":["any",{"thing":1}]}}"#.to_owned(), true),
            (format!(r#"{{"a":[["sure",{digest},{{}}]],"s":{{"charge":100}}}}"#), true),
            (format!(r#"{{"a":[["sure",{digest},{{}},"f"]],"s":{{"charge":100}}}}"#), true),
            (format!(r#"{{"a":[["sure",{digest},{{}},"new"]],"s":{{"charge":100}}}}"#), false),
            (format!(r#"{{"a":[["sure",{digest},{{}},"f",1]],"s":{{"charge":100}}}}"#), false),
            (format!(r#"{{"q":{{"sure":{{"d":{digest},"new":1}}}}}}"#), false),
            (r#"{"i":{"charge":{"new":[]}}}"#.to_owned(), false),
            (r#"{"new":1,"s":{"charge":100}}"#.to_owned(), false),
            (r#"{"a":["another","shape"],"s":{"charge":100}}"#.to_owned(), false),
            (r#"{"s":[]}"#.to_owned(), false),
            ("not JSON".to_owned(), false),
        ] {
            assert_eq!(CallRecord::read(state.as_bytes()).is_some(), is_read, "{state}");
        }
    }

    #[test]
    fn a_call_ends_after_so_many_rounds_without_a_step() {
        let ended = |record: CallRecord, step: bool| {
            let call = round(record, []);
            if step {
                call.record_step("charge", 1).now_or_never().expect("no waiting").unwrap();
            }
            let mut record = call.record();
            record.end_round(true, &rules()).map(|_| record.clone()).map_err(|error| error.to_string())
        };
        let before = CallRecord { rounds: 63, ..CallRecord::default() };
        let last = ended(before, false).unwrap();
        assert_eq!(ended(last.clone(), true).unwrap().rounds, 1, "a step starts over");
        let error = ended(last, false).unwrap_err();
        assert!(error.starts_with("the call has no result after 64 rounds without a new step"), "{error}");
    }

    #[test]
    fn a_step_is_recorded_exactly_if_the_record_has_room_for_it() {
        let limit = |bytes| RecordRules { bytes, ..Arc::into_inner(rules()).expect("nobody else has them") };
        let steps = [("a", "1"), ("a \"long\" key", "[1,2,3]"), ("\n", "\"text\""), ("d", "{}")];
        let mut record = CallRecord::default();
        for (key, result) in steps {
            let result = RawValue::from_string(result.to_owned()).expect("JSON");
            let mut whole = record.clone();
            whole.record_step(key, None, result.clone(), &limit(1_000)).expect("there is room");
            let needs = written(&whole).len();
            record.record_step(key, None, result.clone(), &limit(needs - 1)).expect_err("one byte is missing");
            assert!(!record.has_step(key) && record.steps.len() + 1 == whole.steps.len());
            record.record_step(key, None, result, &limit(needs)).expect("there is room");
            assert_eq!(written(&record), written(&whole));
        }
    }

    #[test]
    fn a_number_is_read_as_it_was_recorded_to_the_last_bit() {
        for number in [0.945_270_695_553_922_3, 0.1 + 0.2, f64::MIN_POSITIVE, f64::MAX, -1e-300] {
            let call = round(CallRecord::default(), []);
            let same = call.record_step("price", number).now_or_never().expect("no waiting").unwrap();
            let next = round(end(&call).1, []);
            assert_eq!((same, next.recorded_step("price").unwrap()), (number, Some(number)));
        }
    }

    #[test]
    fn four_answers_take_under_600_bytes() {
        let form = |content| json!({ "action": "accept", "content": content });
        let address = json!({ "street": "12 Long Lane", "city": "Little Hamlet", "zip": "12345" });
        let answers = vec![
            answer("confirm", "1", form(json!({ "yes": true }))),
            answer("reason", "2", form(json!({ "reason": "it is a copy of last year's folder" }))),
            answer("address", "3", form(address)),
            answer("payment", "4", form(json!({ "method": "invoice", "reference": "PO-2026-001234" }))),
        ];
        let questions = by_key([("newsletter", RecordedQuestion { bad: 2, reworded: 1, ..open("5") })]);
        let written = stored(&CallRecord { answers, questions, ..CallRecord::default() });
        assert!(written.len() < 600, "{} bytes", written.len());
    }
}
