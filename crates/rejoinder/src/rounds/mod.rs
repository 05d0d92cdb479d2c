//! How a call continues over several rounds.
//!
//! * [`stateless`]: questions go out with the reply of a round and come back answered with the next one.
//! * [`session`]: questions are sent over the live session, and the function waits.
//! * [`task`]: questions park a task, and its function runs again when they are answered.
//! * [`seal`]: what makes a `requestState`, which travels through the client's hands, as trustworthy as if the server
//!   had kept it.

pub(crate) mod seal;
mod session;
mod stateless;
mod task;

pub(crate) use session::{SessionCarrier, SessionClient};
pub(crate) use stateless::StatelessCarrier;
pub(crate) use task::{BirthCarrier, RECORD_BYTES, TaskCarrier, column};
