use serde::{Deserialize, Serialize};

use crate::Other;

/// A task, as the extension [`EXTENSION`](Task::EXTENSION) shows it: a call that goes on after the reply to its request.
///
/// ```
/// use rejoinder_wire::{Task, TaskStatus};
/// use serde_json::json;
///
/// let mut task = Task::new("786512e2", TaskStatus::Working, "2026-07-28T10:30:00Z");
/// task.ttl_ms = Some(60_000);
/// assert_eq!(
///     json!(task),
///     json!({
///         "taskId": "786512e2",
///         "status": "working",
///         "createdAt": "2026-07-28T10:30:00Z",
///         "lastUpdatedAt": "2026-07-28T10:30:00Z",
///         "ttlMs": 60_000,
///     })
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Task {
    /// Its id.
    pub task_id: String,
    /// What it does.
    pub status: TaskStatus,
    /// What it does, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_message: Option<String>,
    /// When it was made (ISO 8601).
    pub created_at: String,
    /// When it changed last (ISO 8601).
    pub last_updated_at: String,
    /// How long after it was made it can be read at least, in milliseconds; `None` is without end.
    pub ttl_ms: Option<u64>,
    /// How often a client should look, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poll_interval_ms: Option<u64>,
    /// Members that are not known here.
    #[serde(flatten)]
    pub other: Other,
}

impl Task {
    /// The name of the extension, as clients and servers declare it.
    pub const EXTENSION: &str = "io.modelcontextprotocol/tasks";

    /// A task with this id and status, made at this time (ISO 8601).
    pub fn new(task_id: impl Into<String>, status: TaskStatus, created_at: impl Into<String>) -> Self {
        let created_at = created_at.into();
        Self {
            task_id: task_id.into(),
            status,
            status_message: None,
            last_updated_at: created_at.clone(),
            created_at,
            ttl_ms: None,
            poll_interval_ms: None,
            other: Other::default(),
        }
    }
}

/// What a task does.
///
/// ```
/// use rejoinder_wire::TaskStatus;
///
/// assert_eq!(serde_json::json!(TaskStatus::InputRequired), "input_required");
/// assert!(TaskStatus::Cancelled.is_final() && !TaskStatus::Working.is_final());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TaskStatus {
    /// It runs, or is about to.
    Working,
    /// It waits for answers.
    InputRequired,
    /// It has a result, which may be an error of the tool.
    Completed,
    /// It has ended with an error of the protocol.
    Failed,
    /// It was cancelled.
    Cancelled,
}

impl TaskStatus {
    /// Whether it never changes any more.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}
