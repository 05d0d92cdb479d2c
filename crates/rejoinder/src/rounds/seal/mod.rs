//! The seal of `requestState`.
//!
//! In the stateless era a server remembers nothing between two rounds of a call: the record of the call is in
//! `requestState`, and the client carries it. [`Seal`] makes it unreadable, unforgeable and short-lived, and it opens only for
//! the same call, caller and server. `docs/threat-model.md` describes what that protects and what it does not.
//!
//! * [`policy`]: what can be configured.
//! * [`keys`]: the secrets, and how they are rotated.
//! * [`token`]: the text on the wire, the cipher, and the envelope inside.
//! * [`binding`] and [`canonical`]: which call a state belongs to.
//! * [`refused`]: why a state is refused.
//! * [`replay_store`]: states that can be used once only.

mod binding;
mod canonical;
mod keys;
mod policy;
mod refused;
mod replay_store;
mod token;

#[cfg(test)]
mod tests;

use std::{
    fmt,
    sync::{
        Arc, Once,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

pub(crate) use binding::Binding;
pub use keys::{StateKeys, StateKeysError};
pub use policy::StatePolicy;
pub(crate) use refused::{REASON, Refused, SENTENCE};
pub use replay_store::{MemoryReplayStore, ReplayStore};
#[cfg(test)]
pub(crate) use tests::Log;

use binding::audience_digest;
use policy::{Clock, nanoseconds};
use refused::Reason;
use token::StateEnvelope;

/// How far apart the clocks of servers that share keys may be.
const SKEW: Duration = Duration::from_secs(60);

/// Seals states and opens them again. To the client every failure to open looks the same.
pub(crate) struct Seal {
    keys: StateKeys,
    keys_are_random: bool,
    /// Whether to warn of a random key when something is first sealed with it.
    warns_when_used: AtomicBool,
    warned: Once,
    audience: [u8; 16],
    ttl: Duration,
    limit: usize,
    spent: Option<Arc<dyn ReplayStore>>,
    clock: Clock,
}

/// A state that was opened.
pub(crate) struct Opened {
    /// What was sealed.
    pub(crate) state: Vec<u8>,
    /// Unique among all states.
    pub(crate) id: [u8; 16],
    /// When it expires.
    pub(crate) expires: SystemTime,
}

/// A state whose seal is intact. Which call it belongs to is not checked yet.
pub(crate) struct Unsealed {
    envelope: StateEnvelope,
    state: Vec<u8>,
}

/// Why a state could not be sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CannotSeal {
    /// It is larger than the limit.
    #[error(
        "the state of this call takes {length} bytes, and the limit is {limit} (`StatePolicy::limit`); ask for less, or \
         store large values elsewhere and keep a reference"
    )]
    TooLarge {
        /// What the token would take.
        length: usize,
        /// What it may take.
        limit: usize,
    },
    /// The system returned no random numbers.
    #[error("the system returned no random numbers")]
    Random(#[from] getrandom::Error),
}

/// How long the shortest token is.
const fn shortest() -> usize {
    token::length(token::envelope_size(true))
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
            keys: keys.map_err(|error| vec![format!("the system gives no random key: {error}")])?,
            keys_are_random: options.keys.is_none(),
            warns_when_used: AtomicBool::new(false),
            warned: Once::new(),
            audience: audience_digest(options.audience.as_deref().unwrap_or(name)),
            ttl: options.ttl,
            limit: options.limit,
            spent: options.spent.clone(),
            clock: options.clock.clone(),
        })
    }

    /// How many bytes the record of a call may take, so that its state is not too large to be sealed.
    pub(crate) fn record_limit(&self) -> usize {
        (self.limit - shortest()) / 4 * 3
    }

    /// Seals the state of a call, for as long as states are good for.
    pub(crate) fn seal(&self, binding: &Binding<'_>, state: &[u8]) -> Result<String, CannotSeal> {
        self.seal_until(binding, state, None)
    }

    /// Seals the state of a call, for no longer than until then.
    pub(crate) fn seal_until(
        &self,
        binding: &Binding<'_>,
        state: &[u8],
        until: Option<SystemTime>,
    ) -> Result<String, CannotSeal> {
        let size = token::envelope_size(binding.is_named()) + state.len();
        let length = token::length(size);
        if length > self.limit {
            return Err(CannotSeal::TooLarge { length, limit: self.limit });
        }
        let (nonce, id) = token::fresh()?;
        let issued = self.clock.now();
        let expires = until.map_or(issued + self.ttl, |until| until.min(issued + self.ttl));
        let times = (nanoseconds(issued), nanoseconds(expires));
        let envelope = binding.envelope(self.audience, id, times);
        if self.warns_when_used.load(Ordering::Relaxed) {
            self.warned.call_once(|| self.warns_about_keys());
        }
        Ok(token::seal(self.keys.first(), nonce, size, |out| envelope.write(state, out)))
    }

    /// Opens the state of a call. It may have been opened before: see [`Seal::spend`].
    pub(crate) fn open(&self, binding: &Binding<'_>, token: &str) -> Result<Opened, Refused> {
        self.admit(binding, self.unseal(binding.method, token)?)
    }

    /// Takes off the seal.
    ///
    /// Done before the binding is made: hashing the arguments costs time, and only a client with a valid state should
    /// cause it.
    pub(crate) fn unseal(&self, method: &str, token: &str) -> Result<Unsealed, Refused> {
        self.try_unseal(token).map_err(|reason| Refused::because(reason, method))
    }

    /// Opens a state for the call that it was sealed for.
    pub(crate) fn admit(&self, binding: &Binding<'_>, unsealed: Unsealed) -> Result<Opened, Refused> {
        let Unsealed { envelope, state } = unsealed;
        binding.check(&envelope, self.audience).map_err(|reason| Refused::because(reason, binding.method))?;
        let expires = UNIX_EPOCH + Duration::from_nanos(envelope.expires);
        Ok(Opened { state, id: envelope.id, expires })
    }

    /// Opens the state of a call, and sees to it that a server with a store opens it once only.
    ///
    /// To be done before anything of the round runs: whatever becomes of the round, the state is spent.
    #[cfg(test)]
    pub(crate) async fn redeem(&self, binding: &Binding<'_>, token: &str) -> Result<Opened, Refused> {
        let opened = self.open(binding, token)?;
        self.spend(binding.method, &opened).await?;
        Ok(opened)
    }

    /// Whether a state may be redeemed once only.
    pub(crate) fn is_single_use(&self) -> bool {
        self.spent.is_some()
    }

    /// Spends a state that was opened.
    pub(crate) async fn spend(&self, method: &str, opened: &Opened) -> Result<(), Refused> {
        let Some(store) = &self.spent else { return Ok(()) };
        // Another server may think it a little earlier, and open the state a little longer.
        let reason = match store.spend(opened.id, opened.expires + SKEW).await {
            Ok(true) => return Ok(()),
            Ok(false) => Reason::Spent,
            Err(error) => {
                tracing::error!(%error, "the store of spent states failed");
                Reason::Store
            }
        };
        Err(Refused::because(reason, method))
    }

    fn try_unseal(&self, token: &str) -> Result<Unsealed, Reason> {
        if token.len() > self.limit {
            return Err(Reason::TooLong);
        }
        let mut bytes = token::open(&self.keys, token)?;
        let (envelope, begin) = StateEnvelope::read(&bytes).ok_or(Reason::Envelope)?;
        let now = self.clock.now();
        if envelope.issued > nanoseconds(now + SKEW) {
            return Err(Reason::FromTheFuture);
        }
        if envelope.expires <= nanoseconds(now) {
            return Err(Reason::Expired);
        }
        bytes.drain(..begin);
        Ok(Unsealed { envelope, state: bytes })
    }

    /// Warns of keys that die with the process, if it is with them that this seals: for a transport over which a call
    /// may go on in another process than it began in.
    pub(crate) fn warns_about_keys(&self) {
        if self.keys_are_random {
            tracing::warn!(
                "states are sealed with a random key of this process: a call that asks the user starts over if its next \
                 round reaches another process. Give all of them the same keys: set REJOINDER_STATE_KEYS, which \
                 `serve_from_args` and `StatePolicy::keys_from_env` read, or call `StatePolicy::keys`"
            );
        }
    }

    /// Warns of them when a state is first sealed: for a server that may never ask anything.
    pub(crate) fn warns_about_keys_when_used(&self) {
        self.warns_when_used.store(self.keys_are_random, Ordering::Relaxed);
    }

    /// Mentions them: for a transport that only this machine reaches.
    pub(crate) fn mentions_keys(&self) {
        if self.keys_are_random {
            tracing::info!("states are sealed with a random key of this process, which is fine for a single process");
        }
    }
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seal")
            .field("keys", &self.keys)
            .field("ttl", &self.ttl)
            .field("limit", &self.limit)
            .field("single_use", &self.spent.is_some())
            .finish_non_exhaustive()
    }
}

/// Not the state: it holds what users answered.
impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened").field("expires", &self.expires).finish_non_exhaustive()
    }
}

/// What must hold whatever comes in: nothing panics, nothing foreign opens, and what is sealed opens as it was.
///
/// The input is a token as it is; and, up to the first byte 0, the arguments of a call whose state is the rest.
#[doc(hidden)]
pub fn fuzz(input: &[u8]) {
    let keys = StateKeys::new([[7; 32], [8; 32]]).expect("two keys of 32 bytes");
    let options = StatePolicy { keys: Some(keys), limit: usize::MAX, ..StatePolicy::default() };
    let seal = Seal::new("fuzz", &options).expect("the options are right");

    let text = String::from_utf8_lossy(input);
    let split = input.iter().position(|byte| *byte == 0).unwrap_or(input.len());
    let (arguments, state) = input.split_at(split);
    let arguments = String::from_utf8_lossy(arguments);
    let binding = Binding::new("tools/call", "fuzz", Some(&arguments)).principal(Some(&["client", "subject"]));
    assert!(seal.open(&binding, &text).is_err(), "nobody can forge a state");

    let Ok(token) = seal.seal(&binding, state) else { return };
    let opened = seal.open(&binding, &token).expect("what was sealed opens");
    assert!(opened.state == state, "and is what was sealed");
    assert!(seal.open(&binding, &format!("{token}{text}")).is_err() || text.is_empty(), "and nothing longer");
    assert!(seal.open(&Binding::new("tools/call", "fuzz", Some(&arguments)), &token).is_err(), "for nobody else");
}

/// The seal by itself, for whoever measures what it costs.
#[doc(hidden)]
#[derive(Debug)]
pub struct MeasuredSeal(Seal);

impl MeasuredSeal {
    /// With a key of its own.
    #[expect(clippy::new_without_default, reason = "not a value with a default, but a door")]
    pub fn new() -> Self {
        let keys = StateKeys::new([[7; 32]]).expect("a key of 32 bytes");
        let options = StatePolicy { keys: Some(keys), ..StatePolicy::default() };
        Self(Seal::new("measured", &options).expect("the options are right"))
    }

    /// Seals a state as the reply of a round does, and opens it as the next one does; how long it was.
    ///
    /// Each of the two finds out by itself which call the state is for, as each is another request.
    pub fn there_and_back(&self, state: &[u8]) -> usize {
        let binding = || Binding::new("tools/call", "remove", Some(r#"{"path":"photos/2019"}"#));
        let token = self.0.seal(&binding(), state).expect("it is small enough");
        self.0.open(&binding(), &token).expect("what was sealed opens").state.len()
    }
}
