use std::{
    fmt,
    sync::{
        Arc, Once,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use super::{
    binding::{Binding, audience_digest},
    clock::{Clock, nanoseconds},
    envelope::{self, Envelope},
    keys::StateKeys,
    policy::StatePolicy,
    refused::{Reason, Refused},
    spent::ReplayStore,
    token,
};

/// How far the clocks of servers that share keys may be apart.
const SKEW: Duration = Duration::from_secs(60);

/// Seals states and opens them again. Every failure to open is the same to the client.
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

/// A state that came back as it had left.
pub(crate) struct Opened {
    /// What was sealed.
    pub(crate) state: Vec<u8>,
    /// A number that no other state has.
    pub(crate) id: [u8; 16],
    /// When it would not have opened any more.
    pub(crate) expires: SystemTime,
}

/// A state whose seal is whole. For which call it was sealed has not been looked at.
pub(crate) struct Unsealed {
    envelope: Envelope,
    state: Vec<u8>,
}

/// Why a state could not be sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CannotSeal {
    /// A client could not be expected to send it back.
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
    /// The system has no randomness to give.
    #[error("the system gives no random numbers")]
    Random(#[from] getrandom::Error),
}

/// How long the shortest token is.
pub(super) const fn shortest() -> usize {
    token::length(envelope::size(true))
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
        let size = envelope::size(binding.is_named()) + state.len();
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
    /// To be done before the binding is made: that costs as much as the client's arguments are long, and this tells
    /// who has a state from whoever only says so.
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
        let (envelope, begin) = Envelope::read(&bytes).ok_or(Reason::Envelope)?;
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
                "states are sealed with a key of this process alone: a call that asks something starts over when its \
                 next round meets another process. Give all of them the same keys: set REJOINDER_STATE_KEYS, which \
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
            tracing::info!("states are sealed with a key of this process alone, which is right for one process");
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
