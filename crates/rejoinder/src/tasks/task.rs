//! A task as its keeper sees it: names, times and bytes.

use std::{
    fmt,
    str::FromStr,
    sync::Arc,
    time::{Duration, SystemTime},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::Bytes;
use ring::rand::{SecureRandom, SystemRandom};

/// The id of a task: 128 random bits, which nobody guesses.
///
/// ```
/// use rejoinder::tasks::TaskId;
///
/// let id = TaskId::new();
/// assert_eq!(id.to_string().len(), 22);
/// assert_eq!(id.to_string().parse(), Ok(id));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskId([u8; 16]);

impl TaskId {
    /// A new id.
    #[expect(clippy::new_without_default, reason = "two ids are never the same")]
    pub fn new() -> Self {
        Self(random())
    }

    /// The id of these bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// Bytes that nobody guesses.
pub(super) fn random() -> [u8; 16] {
    let mut bytes = [0; 16];
    SystemRandom::new().fill(&mut bytes).expect("the system has randomness");
    bytes
}

/// As the protocol writes it.
impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.0))
    }
}

/// Shortened: who knows the id of a task of an anonymous caller may read the task, so logs do not show it.
impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TaskId({}..)", &self.to_string()[..6])
    }
}

impl FromStr for TaskId {
    type Err = TaskIdError;

    fn from_str(text: &str) -> Result<Self, TaskIdError> {
        let mut id = [0; 16];
        match URL_SAFE_NO_PAD.decode_slice(text, &mut id) {
            Ok(16) => Ok(Self(id)),
            _ => Err(TaskIdError),
        }
    }
}

/// The text is not the id of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the id of a task: it has 22 characters of URL-safe base64")]
pub struct TaskIdError;

/// Whose task it is: a digest of the caller that made it. Callers without an identity are one owner.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TaskOwner(pub [u8; 20]);

impl fmt::Debug for TaskOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TaskOwner(..)")
    }
}

/// A task that is about to begin.
#[derive(Debug, Clone)]
pub struct NewTask {
    /// Its id.
    pub id: TaskId,
    /// What runs it: the name of a tool of a server.
    pub tool: Arc<str>,
    /// Who made it.
    pub owner: TaskOwner,
    /// What it was made from, if that can be sent again: the same origin gives the same task.
    pub origin: Option<Bytes>,
    /// The call, as the runner reads it.
    pub call: Bytes,
    /// The record of the call so far.
    pub record: Bytes,
    /// How long it lasts at most, from now on.
    pub ttl: Duration,
    /// How long it can still be read after its end, and how long its origin counts, whichever is later.
    pub keep: Duration,
    /// How often the client should look.
    pub poll: Duration,
    /// How many tasks there may be.
    pub most: TaskPlaces,
}

/// How many tasks may be open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskPlaces {
    /// Of all callers together.
    pub in_all: usize,
    /// Of one caller.
    pub of_owner: usize,
}

/// A task as its owner sees it at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskSnapshot {
    /// Its id.
    pub id: TaskId,
    /// When it was made.
    pub created: SystemTime,
    /// When its status, its message or its answers changed last.
    pub updated: SystemTime,
    /// How long after `created` it can be read at least.
    pub ttl: Duration,
    /// How often the client should look.
    pub poll: Duration,
    /// What its run said last.
    pub message: Option<Bytes>,
    /// Since when it could run and nobody has run it.
    pub waits_since: Option<SystemTime>,
    /// What it does.
    pub state: TaskState,
}

impl TaskSnapshot {
    /// A task that has just been made.
    pub fn new(id: TaskId, created: SystemTime, ttl: Duration, poll: Duration) -> Self {
        let state = TaskState::Open(Vec::new());
        Self { id, created, updated: created, ttl, poll, message: None, waits_since: None, state }
    }
}

/// Whether a task has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskState {
    /// It goes on when these are answered. Without any it runs, or is about to.
    Open(Vec<OpenQuestion>),
    /// It has ended.
    Ended(TaskEnd),
}

/// How a task has ended. The first end counts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskEnd {
    /// With the result of its call.
    Completed(Bytes),
    /// With an error of the protocol.
    Failed(Bytes),
    /// Its owner cancelled it.
    Cancelled,
    /// Its time was up.
    Expired,
    /// The processes that ran it died too often without a new step.
    Died,
}

/// A question that waits for its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenQuestion {
    /// Its key, which no other question of the task ever has.
    pub key: Arc<str>,
    /// What the client is asked.
    pub request: Bytes,
}

/// A question that a run asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewQuestion {
    /// Its key, which no other question of the task has had.
    pub key: Arc<str>,
    /// What the function calls it. A question that is asked again has the same name and another key.
    pub name: Arc<str>,
    /// What the client is asked.
    pub request: Bytes,
}

/// A question that an earlier run has asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedQuestion {
    /// Its key.
    pub key: Arc<str>,
    /// What the function calls it.
    pub name: Arc<str>,
    /// What the client was asked.
    pub request: Bytes,
    /// What the client answered.
    pub answer: Option<Bytes>,
    /// Whether a run has had the answer, or does not need it any more.
    pub is_closed: bool,
}
