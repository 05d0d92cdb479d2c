//! Tasks: calls that outlive their request, and who keeps them.
//!
//! A tool that is marked `#[tool(task)]` runs as a task of the protocol's extension `io.modelcontextprotocol/tasks` for
//! clients that declare it. A *run* is one execution of its function. Where the function asks the user it *parks*: the function
//! is dropped, and runs again from the top when the answer is there. What [`Context::once`](crate::Context::once) returned is
//! kept, and is not done again.
//!
//! A [`TaskKeeper`] keeps tasks and has them run. It knows nothing of calls: what it keeps is bytes, and what runs a task is a
//! [`TaskRunner`] that the server hands to it. The one that is built in is the [`LeaseKeeper`], on any [`TaskStore`]:
//! [`MemoryTasks`], the crate `rejoinder-sqlite`, or a database that you bring.

mod clock;
mod journal;
mod keeper;
mod lease;
mod memory;
mod options;
mod store;
mod task;
#[cfg(test)]
mod tests;

pub use clock::TaskClock;
pub(crate) use clock::later;
pub use keeper::{
    BirthError, KeeperError, KeeperFuture, Parking, RunEnd, RunStop, TaskJournal, TaskKeeper, TaskRun, TaskRunner,
};
pub use lease::LeaseKeeper;
pub use memory::MemoryTasks;
pub use options::{TaskOptions, Tasks};
pub use store::{AnsweredTask, Claim, ClaimState, Claimant, Claimed, ClaimedTask, CreatedTask, TaskStore, WorkerId};
pub use task::{
    AskedQuestion, NewQuestion, NewTask, OpenQuestion, TaskEnd, TaskId, TaskIdError, TaskOwner, TaskPlaces,
    TaskSnapshot, TaskState,
};
