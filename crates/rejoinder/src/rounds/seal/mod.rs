//! The seal of `requestState`.
//!
//! In the stateless era a server remembers nothing between two rounds of a call: the record of the call is in
//! `requestState`, and the client carries it. [`Seal`] makes it unreadable, unforgeable and short-lived, and it opens only for
//! the same call, caller and server. `crates/rejoinder/docs/threat-model.md` describes what that protects and what it does not.
//!
//! * [`policy`]: what can be configured.
//! * [`keys`]: the secrets, and how they are rotated.
//! * [`token`]: the text on the wire, the cipher, and the envelope inside.
//! * [`binding`] and [`canonical`]: which call a state belongs to.
//! * [`at_rest`]: what a server writes down itself.
//! * [`replay_store`]: states that can be used once only.

mod at_rest;
mod binding;
mod canonical;
mod keys;
mod policy;
mod replay_store;
mod token;

#[cfg(test)]
mod tests;

use std::{
    borrow::Borrow,
    fmt,
    sync::{
        Once,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

pub(crate) use at_rest::KeptAt;
pub(crate) use binding::Binding;
pub use keys::{StateKeys, StateKeysError};
pub use policy::StatePolicy;
pub use replay_store::{MemoryReplayStore, ReplayStore};
#[cfg(test)]
pub(crate) use tests::Log;

use binding::{Digest, digest};
use policy::nanoseconds;
use token::StateEnvelope;

use serde_json::json;

use crate::{
    auth::{BudgetFull, Principal},
    error::{CallError, RefusalLog},
    model::error_code::{INTERNAL_ERROR, INVALID_PARAMS},
};

/// How far apart the clocks of servers that share keys may be.
const SKEW: Duration = Duration::from_secs(60);

/// Seals states and opens them again. To the client every failure to open looks the same.
pub(crate) struct Seal {
    keys: StateKeys,
    /// Whether to warn about a random key when something is first sealed with it.
    warns_when_used: AtomicBool,
    warned: Once,
    audience: Digest,
    policy: StatePolicy,
    refusals: RefusalLog<StateRefusal>,
}

/// A state that was opened for its call.
pub(crate) struct Opened {
    /// What was sealed.
    pub(crate) state: Vec<u8>,
    /// Unique among all states.
    pub(crate) id: [u8; 16],
    /// When it expires.
    pub(crate) expires: SystemTime,
}

/// Why a state is refused. This is for the log only: the client gets the same error for all of them, so that a forger
/// learns nothing; but a caller whose valid state finds no room learns that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub(crate) enum StateRefusal {
    #[error("it is not a string")]
    NotText,
    #[error("it is longer than `StatePolicy::limit`")]
    TooLong,
    #[error("it does not have the format of a sealed state")]
    Malformed,
    #[error("this server does not have its key: set REJOINDER_STATE_KEYS to the same value in all processes")]
    UnknownKey,
    #[error("its seal is broken")]
    Broken,
    #[error("this version of the server cannot read its envelope")]
    Envelope,
    #[error(
        "this build cannot read the record in it, because another build with another format of the record wrote it: the call \
         starts over; run such builds with different keys, or let the states of one expire before the other starts"
    )]
    Record,
    #[error("it was sealed in the future: check the clocks of the servers")]
    FromTheFuture,
    #[error("it has expired")]
    Expired,
    #[error("it belongs to another method, tool, prompt or resource")]
    Request,
    #[error("it belongs to a call with other arguments")]
    Arguments,
    #[error("it belongs to another server")]
    Audience,
    #[error("it belongs to another caller, or only one of the two requests has a caller")]
    Principal,
    #[error("it was used before")]
    Spent,
    #[error("the replay store failed, so the state cannot be marked as used")]
    Store,
    #[error(transparent)]
    CallerLimit(BudgetFull),
    #[error("calls on a session have no state")]
    Session,
}

/// How long the shortest token is.
const fn shortest() -> usize {
    token::length(token::ENVELOPE)
}

impl Seal {
    /// The seal of a server of that name, or everything that is wrong with its options.
    pub(crate) fn new(name: &str, options: &StatePolicy) -> Result<Self, Vec<String>> {
        let mistakes = options.mistakes(name);
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        let keys = options.keys.clone().map_or_else(StateKeys::random, Ok);
        Ok(Self {
            keys: keys.map_err(|error| vec![format!("the system returned no random key: {error}")])?,
            warns_when_used: AtomicBool::new(false),
            warned: Once::new(),
            audience: digest("audience", [options.audience.as_deref().unwrap_or(name)]),
            policy: options.clone(),
            refusals: RefusalLog::default(),
        })
    }

    /// Logs why a state is refused, but nothing of the state.
    pub(crate) fn log_refusal(&self, reason: StateRefusal, method: &str) {
        if let Some(times) = self.refusals.due(reason) {
            tracing::warn!(method, %reason, times, "refused a requestState");
        }
    }

    /// How many bytes the record of a call may take, so that its state is not too large to be sealed with the questions that
    /// follow.
    pub(crate) fn record_limit(&self) -> usize {
        let most = (self.policy.limit - shortest()) / 4 * 3;
        most - most / 32
    }

    /// Seals the state of a call, for [`StatePolicy::ttl`] and at most until then.
    ///
    /// # Errors
    ///
    /// If the state is too large, if it would be expired, or if the system has no random numbers.
    pub(crate) fn seal_until(
        &self,
        binding: &Binding,
        state: &[u8],
        until: Option<SystemTime>,
    ) -> Result<String, CallError> {
        let size = token::ENVELOPE + state.len();
        let length = token::length(size);
        let StatePolicy { limit, ttl, ref clock, .. } = self.policy;
        if length > limit {
            return Err(CallError::protocol(
                INTERNAL_ERROR,
                format!(
                    "the state of this call takes {length} bytes, and the limit is {limit} (`StatePolicy::limit`); ask for \
                     less, or store large values elsewhere and keep a reference"
                ),
                None,
            ));
        }
        let (nonce, id) = token::fresh().map_err(CallError::internal)?;
        let issued = clock();
        let expires = until.map_or(issued + ttl, |until| until.min(issued + ttl));
        if expires <= issued {
            return Err(CallError::protocol(
                INVALID_PARAMS,
                "the state of this call expired while the call ran; make the request again without `requestState`",
                Some(json!({ "reason": "invalid_request_state" })),
            ));
        }
        let (issued, expires) = (nanoseconds(issued), nanoseconds(expires));
        let envelope = StateEnvelope { issued, expires, id, bound: binding.digests(self.audience, id) };
        if self.warns_when_used.load(Ordering::Relaxed) {
            self.warned.call_once(|| self.warn_about_random_key());
        }
        Ok(token::seal(self.keys.first(), nonce, size, |out| envelope.write(state, out)))
    }

    /// Opens the state of a call. It may have been opened before: see [`Seal::spend`].
    ///
    /// The binding is made after the seal is checked: hashing the arguments costs time, and only a client with a valid state
    /// should cause it.
    pub(crate) fn open_for<B: Borrow<Binding>>(
        &self,
        method: &str,
        token: &str,
        binding: impl FnOnce() -> B,
    ) -> Result<Opened, StateRefusal> {
        let open = || {
            if token.len() > self.policy.limit {
                return Err(StateRefusal::TooLong);
            }
            let mut state = token::open(&self.keys, token)?;
            let (envelope, begin) = StateEnvelope::read(&state).ok_or(StateRefusal::Envelope)?;
            let now = (self.policy.clock)();
            if envelope.issued > nanoseconds(now + SKEW) {
                return Err(StateRefusal::FromTheFuture);
            }
            if envelope.expires <= nanoseconds(now) {
                return Err(StateRefusal::Expired);
            }
            binding().borrow().check(&envelope, self.audience)?;
            state.drain(..begin);
            Ok(Opened { state, id: envelope.id, expires: UNIX_EPOCH + Duration::from_nanos(envelope.expires) })
        };
        open().inspect_err(|reason| self.log_refusal(*reason, method))
    }

    /// Whether a state can be used once only.
    pub(crate) fn is_single_use(&self) -> bool {
        self.policy.spent.is_some()
    }

    /// Marks an opened state as used, if there is a store. This comes before anything of the round runs.
    pub(crate) async fn spend(
        &self,
        method: &str,
        opened: &Opened,
        caller: Option<&Principal>,
    ) -> Result<(), StateRefusal> {
        let Some(store) = &self.policy.spent else { return Ok(()) };
        // The clock of another server may be late, so it accepts the state a little longer.
        let reason = match store.spend(opened.id, opened.expires + SKEW, caller).await {
            Ok(true) => return Ok(()),
            Ok(false) => StateRefusal::Spent,
            Err(error) => match error.downcast_ref::<BudgetFull>() {
                Some(full) => StateRefusal::CallerLimit(*full),
                None => {
                    tracing::error!(%error, "the replay store failed");
                    StateRefusal::Store
                }
            },
        };
        self.log_refusal(reason, method);
        Err(reason)
    }

    /// Warns about a random key: for a transport over which the rounds of a call may reach different processes.
    pub(crate) fn warn_about_random_key(&self) {
        if self.policy.keys.is_none() {
            tracing::warn!(
                "states are sealed with a random key of this process: a call that asks the user starts over if its next \
                 round reaches another process. Give all processes the same keys: set REJOINDER_STATE_KEYS, which \
                 `serve_from_args` and `StatePolicy::keys_from_env` read, or call `StatePolicy::keys`"
            );
        }
    }

    /// Warns about it when a state is first sealed: for a server that may never ask.
    pub(crate) fn warn_about_random_key_when_used(&self) {
        self.warns_when_used.store(self.policy.keys.is_none(), Ordering::Relaxed);
    }

    /// Mentions it: for a transport that only this machine reaches.
    pub(crate) fn mention_random_key(&self) {
        if self.policy.keys.is_none() {
            tracing::info!("states are sealed with a random key of this process, which is fine for a single process");
        }
    }
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seal").field("keys", &self.keys).finish_non_exhaustive()
    }
}

/// Without the state, which contains what users answered.
impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened").field("expires", &self.expires).finish_non_exhaustive()
    }
}

/// For benchmarks: seals a state as one round does and opens it as the next one does, each with its own binding. Returns the
/// length of the state.
///
/// # Panics
///
/// If the state is too large.
#[cfg(feature = "__bench")]
#[doc(hidden)]
pub fn measured_seal() -> impl Fn(&[u8]) -> usize {
    let seal = Seal::new("measured", &StatePolicy::default()).expect("valid options");
    let binding = || Binding::new("tools/call", "remove", Some(r#"{"path":"photos/2019"}"#));
    move |state| {
        let token = seal.seal_until(&binding(), state, None).expect("it is small enough");
        seal.open_for("tools/call", &token, binding).expect("what was sealed opens").state.len()
    }
}
