//! What a database does for tasks.

use std::{collections::HashMap, fmt, sync::Arc, time::Duration};

use bytes::Bytes;

use super::{
    BirthError, KeeperFuture, MemoryTasks, NewTask, Parking, TaskClock, TaskEnd, TaskId, TaskOwner, TaskRun,
    TaskSnapshot, task::random,
};

/// A database that keeps tasks. [`LeaseKeeper`](super::LeaseKeeper) has them run.
///
/// Every operation is one transaction. An error may come after its commit, for example when a connection breaks, so every
/// operation may be repeated after an error. What an operation has acknowledged is durable.
///
/// A store decides nothing about questions: [`Parking`] says which keys are new and which are closed. A question is *open*
/// while it has no answer and is not closed.
///
/// A task is *due* when a worker may claim it, from a certain time on. A task that a worker holds, that waits for answers only,
/// or that has ended is not due.
///
/// `rejoinder::testing::tasks::contract` checks a store (feature `testing`).
pub trait TaskStore: Send + Sync + 'static {
    /// Whether tasks outlive the process. Then their workers beat on a thread of their own.
    fn outlives_process(&self) -> bool;

    /// The clock that the keeper sleeps by. A store on another machine moves it to the time there.
    fn clock(&self) -> &TaskClock;

    /// Connects to the database and brings its tables up to date.
    fn open(&self) -> KeeperFuture<'_, ()>;

    /// Adds a worker, which is alive until the end of its lease.
    fn join(&self, worker: WorkerId, lease: Duration) -> KeeperFuture<'_, ()>;

    /// Renews the lease of a worker, and says what it holds; `None` if the worker has been buried.
    fn beat(&self, worker: WorkerId, lease: Duration) -> KeeperFuture<'_, Option<Vec<Claim>>>;

    /// Removes a worker that stops. What it holds is due at once, without a death.
    fn leave(&self, worker: WorkerId) -> KeeperFuture<'_, ()>;

    /// Makes a task, which is due at once, unless there is one with this id, or one of this owner with this origin. With a
    /// claimant it claims the new task.
    ///
    /// Ended tasks take none of the places of [`NewTask::most`].
    fn create<'a>(
        &'a self,
        task: &'a NewTask,
        claimant: Option<&'a Claimant>,
    ) -> KeeperFuture<'a, CreatedTask, BirthError>;

    /// Claims due tasks: those that [`Claimant::choose`] chooses. A claim adds one to the epoch of its task. A worker that has
    /// been buried or has left gets none, here and elsewhere.
    fn claim<'a>(&'a self, claimant: &'a Claimant, most: usize) -> KeeperFuture<'a, Claimed>;

    /// The task as it is now, if the owner has it.
    fn get<'a>(&'a self, owner: &'a TaskOwner, id: &'a TaskId) -> KeeperFuture<'a, Option<TaskSnapshot>>;

    /// Takes the first answer to each open question; `None` if the owner has no such task. If that was the last of them and no
    /// worker holds the task, the task is due at once, and claimed if there is a claimant with its tool.
    fn answer<'a>(
        &'a self,
        owner: &'a TaskOwner,
        id: &'a TaskId,
        answers: &'a [(Arc<str>, Bytes)],
        claimant: Option<&'a Claimant>,
    ) -> KeeperFuture<'a, Option<AnsweredTask>>;

    /// Ends the task as cancelled, and whether it did; `None` if the owner has no such task.
    fn cancel<'a>(&'a self, owner: &'a TaskOwner, id: &'a TaskId) -> KeeperFuture<'a, Option<bool>>;

    /// Adds a step. One with this key and these bytes is a repetition; with other bytes it is an error.
    fn record<'a>(&'a self, claim: &'a Claim, key: &'a str, step: &'a Bytes) -> KeeperFuture<'a, ClaimState>;

    /// Changes the message.
    fn message<'a>(&'a self, claim: &'a Claim, message: &'a Bytes) -> KeeperFuture<'a, ClaimState>;

    /// Gives up the claim: replaces the record, removes the steps, and writes the questions. A new question whose key the task
    /// has had is an error. Afterwards the task is due
    ///
    /// * at [`Parking::wakes`], or never, if a question is open;
    /// * at once if none is open, and one was answered that is not closed: the answer came during the run;
    /// * otherwise at [`Parking::wakes`], or at once.
    fn park<'a>(&'a self, claim: &'a Claim, parking: &'a Parking) -> KeeperFuture<'a, ClaimState>;

    /// Ends the task. What only its runs need is removed.
    fn finish<'a>(&'a self, claim: &'a Claim, end: &'a TaskEnd) -> KeeperFuture<'a, ClaimState>;

    /// Gives up the claim, if it holds, of a task that cannot run here. The task is due again after this time, and
    /// [`TaskSnapshot::waits_since`] stays what it was before the claim.
    fn release<'a>(&'a self, claim: &'a Claim, after: Duration) -> KeeperFuture<'a, ()>;

    /// Removes the workers, except `by`, whose lease has ended or that are known to be dead. What they hold is due at once and
    /// has one more death; one that has so many deaths without a new step or a parking in between ends as
    /// [`TaskEnd::Died`], and is in the result. A store that knows that the process of a worker lives counts no death.
    fn bury(&self, by: WorkerId, deaths: u32) -> KeeperFuture<'_, Vec<TaskId>>;

    /// Ends open tasks whose time is up as [`TaskEnd::Expired`], which are the result, and removes those that need not be kept
    /// any more: ended, [`NewTask::ttl`] after their creation, and [`NewTask::keep`] after their end.
    fn sweep(&self) -> KeeperFuture<'_, Vec<TaskId>>;

    #[doc(hidden)]
    fn as_memory(&self) -> Option<&MemoryTasks> {
        None
    }
}

/// A worker that runs tasks: new at every start.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorkerId([u8; 16]);

impl WorkerId {
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

/// In hexadecimal digits.
impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WorkerId({self})")
    }
}

/// A worker's right to write to a task. It holds until the task has another epoch or no worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Claim {
    /// The task.
    pub id: TaskId,
    /// The worker.
    pub worker: WorkerId,
    /// Which run of the task counts.
    pub epoch: i64,
}

/// Whether a claim still held when something was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum ClaimState {
    /// It did, or this is the repetition of a write that is there.
    Held,
    /// It did not. Nothing was written.
    Lost,
}

/// Who claims tasks, and which.
#[derive(Debug, Clone)]
pub struct Claimant {
    /// The worker.
    pub worker: WorkerId,
    /// The tools that it can run.
    pub tools: Vec<Arc<str>>,
    /// How many tasks of one owner it holds while those of others wait.
    pub of_owner: usize,
}

impl Claimant {
    /// Whether it can run the tool.
    pub fn runs(&self, tool: &str) -> bool {
        self.tools.iter().any(|known| **known == *tool)
    }

    /// Which tasks it claims: those that are due first, but those of owners that have their share come after all others.
    ///
    /// `held` has the owner of every task that the worker holds, and `due` the due tasks whose tools it runs, by time.
    pub fn choose(
        &self,
        most: usize,
        held: impl IntoIterator<Item = TaskOwner>,
        due: impl IntoIterator<Item = (TaskId, TaskOwner)>,
    ) -> Vec<TaskId> {
        let mut shares = HashMap::new();
        for owner in held {
            *shares.entry(owner).or_insert(0) += 1;
        }
        let (mut chosen, mut others) = (Vec::new(), Vec::new());
        let mut due = due.into_iter();
        while chosen.len() < most
            && let Some((id, owner)) = due.next()
        {
            let share = shares.entry(owner).or_insert(0);
            if *share < self.of_owner {
                *share += 1;
                chosen.push(id);
            } else if others.len() < most {
                others.push(id);
            }
        }
        chosen.extend(others);
        chosen.truncate(most);
        chosen
    }
}

/// A task that a worker has claimed.
#[derive(Debug, Clone)]
pub struct ClaimedTask {
    /// The worker's right to write.
    pub claim: Claim,
    /// What its run begins with.
    pub run: TaskRun,
}

/// What a worker has claimed.
#[derive(Debug, Clone, Default)]
pub struct Claimed {
    /// The tasks.
    pub tasks: Vec<ClaimedTask>,
    /// When it looks again at the latest. Without a time nobody else makes tasks due.
    pub look_again: Option<Duration>,
}

/// What [`TaskStore::create`] did.
#[derive(Debug, Clone)]
pub struct CreatedTask {
    /// The task.
    pub snapshot: TaskSnapshot,
    /// If it was claimed.
    pub claimed: Option<ClaimedTask>,
}

/// What [`TaskStore::answer`] did.
#[derive(Debug, Clone, Default)]
pub struct AnsweredTask {
    /// Whether an answer counted.
    pub is_changed: bool,
    /// If it was claimed.
    pub claimed: Option<ClaimedTask>,
}

impl fmt::Debug for dyn TaskStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskStore").field("outlives_process", &self.outlives_process()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_that_has_its_share_waits_for_others() {
        let [ada, bob] = [1, 2].map(|owner| TaskOwner([owner; 20]));
        let ids: Vec<_> = (0..6).map(|id| TaskId::from_bytes([id; 16])).collect();
        let claimant = Claimant { worker: WorkerId::new(), tools: Vec::new(), of_owner: 2 };
        let due = |owners: [TaskOwner; 6]| ids.clone().into_iter().zip(owners);
        let chosen = |most, held: &[TaskOwner], due| claimant.choose(most, held.iter().copied(), due);
        assert_eq!(chosen(4, &[], due([ada, ada, ada, ada, ada, bob])), [ids[0], ids[1], ids[5], ids[2]]);
        assert_eq!(chosen(1, &[ada, ada], due([ada, ada, ada, ada, ada, bob])), [ids[5]]);
        assert_eq!(chosen(2, &[ada, ada], due([ada; 6])), [ids[0], ids[1]], "nobody else waits");
        assert_eq!(chosen(0, &[], due([ada; 6])), []);
    }
}
