//! The seal of `requestState`.
//!
//! In the stateless era a server remembers nothing between two rounds of a call: what it must know again rides in
//! `requestState`, and the client carries it. [`Seal`] makes it unreadable, unforgeable, short-lived, and worth nothing
//! for another call, another caller or another server. `docs/threat-model.md` says what that does and does not protect.
//!
//! * [`keys`]: the secrets, and how they are given and rotated.
//! * [`token`]: the text on the wire: which key, which nonce, and what only the key opens.
//! * [`cipher`]: how it is closed and opened.
//! * [`envelope`]: what is inside: times, a number, the binding, and the state.
//! * [`binding`] and [`canonical`]: which call a state belongs to.
//! * [`spent`]: states that may be redeemed once only.

mod binding;
mod canonical;
mod cipher;
mod clock;
mod envelope;
mod fuzz;
mod keys;
mod measured;
mod policy;
mod refused;
mod sealing;
mod spent;
mod token;

#[cfg(test)]
mod tests;

#[doc(hidden)]
pub use fuzz::fuzz;
pub use keys::{StateKeys, StateKeysError};
#[doc(hidden)]
pub use measured::MeasuredSeal;
pub use spent::{MemoryReplayStore, ReplayStore};

pub(crate) use binding::Binding;
pub use policy::StatePolicy;
pub(crate) use refused::{REASON, Refused, SENTENCE};
pub(crate) use sealing::{CannotSeal, Opened, Seal};
#[cfg(test)]
pub(crate) use tests::Log;
