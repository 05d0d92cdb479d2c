//! How a call goes on over several rounds.
//!
//! * [`stateless`]: questions go out with the reply of a round and come back answered with the next one.
//! * [`session`]: questions are sent over the live session, and the function waits.
//! * [`seal`]: what makes a `requestState`, which travels through the client's hands, as trustworthy as if the server
//!   had kept it.

mod bound;
mod by_key;
mod client;
mod notes;
mod progress;
pub(crate) mod seal;
mod session;
mod stateless;
#[cfg(test)]
mod tests;

pub(crate) use bound::Bound;
pub(crate) use progress::Progress;
pub(crate) use session::Live;
pub(crate) use stateless::{Answers, Round};

/// How often a form is asked for in all, when its answers cannot be used.
const TRIES: u8 = 3;

/// What the client is told when it used up its tries.
fn unusable(key: &str, reason: &str) -> String {
    format!("no usable answer to `{key}` came: {reason}")
}
