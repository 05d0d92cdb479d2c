use std::{sync::Arc, time::Duration};

use super::{LeaseKeeper, MemoryTasks, TaskKeeper, TaskStore};

/// How a tool runs as a task: `#[tool(task)]`, or `#[tool(task(required, ttl = "2h", poll = "2s"))]`.
///
/// ```
/// use std::time::Duration;
///
/// use rejoinder::{Tool, model, tasks::TaskOptions};
///
/// let record = model::Tool::new("render", "Render a video.", model::JsonObject::new());
/// let options = TaskOptions::new().required().ttl(Duration::from_secs(7_200));
/// let render = Tool::dynamic(record, |_, _| async { "https://.." }).task(options);
/// assert_eq!(render.name(), "render");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TaskOptions {
    pub(crate) is_required: bool,
    pub(crate) ttl: Option<Duration>,
    pub(crate) poll: Option<Duration>,
}

impl TaskOptions {
    /// A task for clients that declare the extension; for others a plain call.
    pub const fn new() -> Self {
        Self { is_required: false, ttl: None, poll: None }
    }

    /// A task always: a client that does not declare the extension gets an error.
    #[must_use]
    pub const fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    /// How long a task lasts at most, instead of [`Tasks::ttl`].
    #[must_use]
    pub const fn ttl(self, ttl: Duration) -> Self {
        Self { ttl: Some(ttl), ..self }
    }

    /// How often clients should look, instead of [`Tasks::poll`].
    #[must_use]
    pub const fn poll(self, poll: Duration) -> Self {
        Self { poll: Some(poll), ..self }
    }
}

/// Who keeps the tasks of a server, and how they run; see [`Server::tasks`](crate::Server::tasks).
#[must_use = "pass it to `Server::tasks`"]
#[derive(Debug, Clone)]
pub struct Tasks {
    pub(crate) keeper: Arc<dyn TaskKeeper>,
    /// The store, if it is memory: its bytes count as the server's.
    pub(crate) memory: Option<MemoryTasks>,
    pub(crate) at_once: usize,
    pub(crate) ttl: Duration,
    pub(crate) poll: Duration,
}

impl Tasks {
    /// Tasks that are kept in this store and run in the processes that share it.
    pub fn new(store: impl TaskStore) -> Self {
        let memory = store.as_memory().cloned();
        Self { memory, ..Self::kept_by(LeaseKeeper::new(store)) }
    }

    /// Tasks that a service keeps which runs functions itself.
    pub fn kept_by(keeper: impl TaskKeeper + 'static) -> Self {
        let (ttl, poll) = (Duration::from_secs(60 * 60), Duration::from_secs(2));
        Self { keeper: Arc::new(keeper), memory: None, at_once: 64, ttl, poll }
    }

    /// How many tasks this process runs at the same time; 64 by default. With 0 it only serves requests: other processes run
    /// the tasks.
    ///
    /// A task that waits for its user, or sleeps, does not run.
    pub fn at_once(self, most: usize) -> Self {
        Self { at_once: most, ..self }
    }

    /// How long a task lasts at most, from its creation; an hour by default. Then it fails. It can be read for at least ten
    /// minutes after its end.
    pub fn ttl(self, ttl: Duration) -> Self {
        Self { ttl, ..self }
    }

    /// How often clients should look at a task; every two seconds by default.
    pub fn poll(self, poll: Duration) -> Self {
        Self { poll, ..self }
    }
}

/// In memory.
impl Default for Tasks {
    fn default() -> Self {
        Self::new(MemoryTasks::new())
    }
}
