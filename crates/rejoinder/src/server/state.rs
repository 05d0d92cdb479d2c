use std::{fmt, sync::Arc, time::Duration};

use crate::call::RequestInfo;

use super::Server;
use crate::rounds::seal::{ReplayStore, StateKeys, StateKeysError};

/// What rides in `requestState` while a call waits for an answer is sealed; this is what can be set about it.
impl Server {
    /// The keys that seal the state of calls, the same in every process that answers for this server.
    ///
    /// Unless set, each process makes one of its own when it starts.
    ///
    /// ```
    /// use rejoinder::{Server, StateKeys};
    ///
    /// # fn main() -> rejoinder::Result<()> {
    /// let (new, old) = ("a new secret from `openssl rand`, say", "an old one that still opens, until it is gone");
    /// let server = Server::new("shop", "1.0.0").state_keys(StateKeys::new([new, old])?);
    /// # assert!(server.check().is_ok());
    /// # Ok(())
    /// # }
    /// ```
    pub fn state_keys(mut self, keys: StateKeys) -> Self {
        self.options.state.keys = Some(keys);
        self
    }

    /// Takes the keys from `REJOINDER_STATE_KEYS`, if there is such a variable and no keys were set: for a program that runs
    /// by itself on one machine, and as one of several on others.
    ///
    /// [`Server::serve_from_args`] does so too. [`StateKeys::from_env`] is for a program that is not to run without them.
    ///
    /// # Errors
    ///
    /// What the variable holds are not keys.
    ///
    /// ```
    /// use rejoinder::Server;
    ///
    /// # fn main() -> rejoinder::Result<()> {
    /// let server = Server::new("shop", "1.0.0").state_keys_from_env()?;
    /// # assert!(server.check().is_ok());
    /// # Ok(())
    /// # }
    /// ```
    pub fn state_keys_from_env(self) -> Result<Self, StateKeysError> {
        if self.options.state.keys.is_some() {
            return Ok(self);
        }
        match StateKeys::from_env() {
            Ok(keys) => Ok(self.state_keys(keys)),
            Err(StateKeysError::NotSet) => Ok(self),
            Err(bad) => Err(bad),
        }
    }

    /// How long a user may think about a question before the call has to start over; 10 minutes unless set.
    ///
    /// Each round that gets further has that long; one that brings nothing new has what the last one left of it. It is also
    /// for how long a state that somebody copied can be used again: keep it short.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use rejoinder::Server;
    ///
    /// let mistakes = Server::new("shop", "1.0.0").state_ttl(Duration::ZERO).check().unwrap_err();
    /// assert!(mistakes.to_string().contains("state_ttl"));
    /// ```
    pub fn state_ttl(mut self, ttl: Duration) -> Self {
        self.options.state.ttl = ttl;
        self
    }

    /// Which server a state is for; the server's name unless set.
    ///
    /// Servers that share keys but not calls need different ones; replicas of one server the same.
    ///
    /// ```
    /// use rejoinder::Server;
    ///
    /// let staging = Server::new("shop", "1.0.0").state_audience("shop, staging");
    /// assert!(staging.check().is_ok());
    /// ```
    pub fn state_audience(mut self, audience: impl Into<String>) -> Self {
        self.options.state.audience = Some(audience.into());
        self
    }

    /// How long a `requestState` may become, in bytes; 64 KiB unless set.
    ///
    /// A call that would need a longer one fails with an error that says so, instead of with a request that the client
    /// cannot send. Stay well below [`Server::body_limit`].
    ///
    /// ```
    /// use rejoinder::Server;
    ///
    /// assert!(Server::new("shop", "1.0.0").state_limit(8 * 1024).check().is_ok());
    /// ```
    pub fn state_limit(mut self, bytes: usize) -> Self {
        self.options.state.limit = bytes;
        self
    }

    /// What says how late it is, in a test.
    #[cfg(test)]
    pub(crate) fn clock(mut self, now: impl Fn() -> std::time::SystemTime + Send + Sync + 'static) -> Self {
        self.options.state.clock = crate::rounds::seal::Clock::new(now);
        self
    }

    /// Lets each state be redeemed once, and keeps in this store which ones were.
    ///
    /// Without it, whoever has a state and the answers can repeat the last round of a call until the state expires.
    /// With it, a client that lost a reply cannot simply send its request again: the call starts over.
    ///
    /// ```
    /// use rejoinder::{Server, MemoryReplayStore};
    ///
    /// assert!(Server::new("shop", "1.0.0").single_use(MemoryReplayStore::default()).check().is_ok());
    /// ```
    pub fn single_use(mut self, store: impl ReplayStore + 'static) -> Self {
        self.options.state.spent = Some(Arc::new(store));
        self
    }

    /// Who calls, as far as what is kept between requests is concerned: what one caller was asked, no other may answer,
    /// and the session that one caller began, no other may use.
    ///
    /// Take it from what your authentication layer has left in the request's extensions.
    ///
    /// ```
    /// use rejoinder::Server;
    ///
    /// #[derive(Clone)]
    /// struct User { id: String }
    ///
    /// let server = Server::new("shop", "1.0.0")
    ///     .principal(|facts| facts.extensions()?.get::<User>().map(|user| user.id.clone()));
    /// assert!(server.check().is_ok());
    /// ```
    pub fn principal(mut self, who: impl Fn(&RequestInfo) -> Option<String> + Send + Sync + 'static) -> Self {
        self.options.principal = Principal(Some(Arc::new(who)));
        self
    }
}

/// How the server tells callers apart; without it, they are all one.
#[derive(Clone, Default)]
pub(crate) struct Principal(Option<Arc<Who>>);

type Who = dyn Fn(&RequestInfo) -> Option<String> + Send + Sync;

impl Principal {
    /// Whether callers are told apart at all.
    pub(crate) fn is_known(&self) -> bool {
        self.0.is_some()
    }

    /// The author's function.
    pub(super) fn function(&self) -> Option<&Who> {
        self.0.as_deref()
    }
}

impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Principal")
    }
}
