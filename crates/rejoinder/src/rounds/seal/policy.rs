//! How states are sealed, as the author of the server configures it.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use super::{
    StateKeysError,
    keys::{StateKeys, VARIABLE},
    replay_store::ReplayStore,
    shortest,
};

const MAX_TTL: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// How the state of a call is sealed while it waits for an answer; see [`Server::state`](crate::Server::state).
///
/// In the stateless era that state travels with the client, in `requestState`.
///
/// ```
/// use std::time::Duration;
///
/// use rejoinder::{Server, state::{StateKeys, StatePolicy}};
///
/// # fn main() -> rejoinder::Result<()> {
/// let (new, old) = ("a new secret, at least 32 bytes long", "the old secret, which still opens states");
/// let policy = StatePolicy::new().keys(StateKeys::new([new, old])?).ttl(Duration::from_secs(300));
/// let server = Server::new("shop", "1.0.0").state(policy);
/// # assert!(server.check().is_ok());
/// # Ok(())
/// # }
/// ```
#[must_use = "pass it to `Server::state`"]
#[derive(Clone)]
pub struct StatePolicy {
    /// `None`: a random key, made when the server is built.
    pub(crate) keys: Option<StateKeys>,
    pub(crate) ttl: Duration,
    /// `None`: the server's name.
    pub(crate) audience: Option<String>,
    pub(crate) limit: usize,
    pub(crate) rounds: u32,
    pub(crate) spent: Option<Arc<dyn ReplayStore>>,
    pub(crate) clock: Clock,
}

impl StatePolicy {
    /// The default policy: a random key for each process, and 10 minutes for each answer.
    pub fn new() -> Self {
        Self {
            keys: None,
            ttl: Duration::from_secs(10 * 60),
            audience: None,
            limit: 64 * 1024,
            rounds: 64,
            spent: None,
            clock: Arc::new(SystemTime::now),
        }
    }

    /// The keys that seal the state of calls: the same in every process that answers for this server.
    ///
    /// By default each process makes a random key when it starts.
    pub fn keys(mut self, keys: StateKeys) -> Self {
        self.keys = Some(keys);
        self
    }

    /// Takes the keys from the environment variable `REJOINDER_STATE_KEYS`, if it is set and no keys were given before.
    ///
    /// [`Server::serve_from_args`](crate::Server::serve_from_args) does so too. Use [`StateKeys::from_env`] in a program
    /// that must not start without them.
    ///
    /// # Errors
    ///
    /// If the value of the variable is not a list of keys.
    ///
    /// ```
    /// use rejoinder::{Server, state::StatePolicy};
    ///
    /// # fn main() -> rejoinder::Result<()> {
    /// let server = Server::new("shop", "1.0.0").state(StatePolicy::new().keys_from_env()?);
    /// # assert!(server.check().is_ok());
    /// # Ok(())
    /// # }
    /// ```
    pub fn keys_from_env(self) -> Result<Self, StateKeysError> {
        if self.keys.is_some() || std::env::var_os(VARIABLE).is_none() {
            return Ok(self);
        }
        Ok(self.keys(StateKeys::from_env()?))
    }

    /// How long a user may take to answer before the call has to start over; 10 minutes by default, 30 days at most.
    ///
    /// Each round with a new answer or a new step gets this long, also if the user has to correct the answer; a round without
    /// one gets what is left of the last one's time.
    /// A copied state can be used again for as long: keep it short.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use rejoinder::{Server, state::StatePolicy};
    ///
    /// let server = Server::new("shop", "1.0.0").state(StatePolicy::new().ttl(Duration::ZERO));
    /// assert!(server.check().unwrap_err().to_string().contains("`ttl` must be"));
    /// ```
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self
    }

    /// Which server a state is for; the server's name by default.
    ///
    /// Servers that share keys but not calls need different audiences; replicas of one server need the same.
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.audience = Some(audience.into());
        self
    }

    /// The largest `requestState`, in bytes; 64 KiB by default.
    ///
    /// A call that needs a larger one fails with an error that says so, instead of with a request that the client cannot
    /// send. Stay well below [`Limits::message_size`](crate::server::Limits::message_size). An answer has at most about
    /// 60 % of it: see [`Limits::answers_size`](crate::server::Limits::answers_size).
    pub fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// How many rounds of a call may follow one another without a new step (`ctx.once`) or a changed state of a function
    /// that makes its rounds by hand; 64 by default. Then the call ends with an error.
    ///
    /// It ends calls that would ask without end. Raise it for a function that asks more questions than that, one after the
    /// other, or that resumes with the same state until something has happened.
    ///
    /// ```
    /// use rejoinder::{form::ConfirmForm, prelude::*, state::StatePolicy, testing::Client};
    /// # use serde_json::json;
    ///
    /// #[tool]
    /// async fn quiz(ctx: Context) -> Result<&'static str, CallError> {
    ///     for number in 1..=3 {
    ///         ctx.ask(&format!("question {number}"), Ask::confirm(format!("Is {number} a prime number?"))).await?;
    ///     }
    ///     Ok("done")
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let quiz = |rounds| Server::new("quiz", "1.0.0").tools(tools![quiz]).state(StatePolicy::new().rounds(rounds));
    /// let client = |rounds| (1..=3).fold(Client::new(quiz(rounds)), |client, number| {
    ///     client.answer(&format!("question {number}"), ConfirmForm { yes: true })
    /// });
    /// assert_eq!(client(3).call_tool("quiz", json!({})).await?.text(), "done");
    /// let ended = client(2).call_tool("quiz", json!({})).await?;
    /// assert!(ended.text().starts_with("the call has no result after 2 rounds"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn rounds(mut self, most: u32) -> Self {
        self.rounds = most;
        self
    }

    /// Lets each state be used once, and records the used ones in this store.
    ///
    /// Without it, a client can repeat the last round of a call until its state expires.
    /// With it, a client that lost a reply cannot send its request again: the call starts over.
    ///
    /// ```
    /// use rejoinder::{Server, state::{MemoryReplayStore, StatePolicy}};
    ///
    /// let policy = StatePolicy::new().single_use(MemoryReplayStore::default());
    /// assert!(Server::new("shop", "1.0.0").state(policy).check().is_ok());
    /// ```
    pub fn single_use(mut self, store: impl ReplayStore + 'static) -> Self {
        self.spent = Some(Arc::new(store));
        self
    }

    /// The clock of a test.
    #[cfg(test)]
    pub(crate) fn clock(mut self, now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.clock = Arc::new(now);
        self
    }

    /// Everything that is wrong with the policy, for a server of that name.
    pub(super) fn mistakes(&self, name: &str) -> Vec<String> {
        let mut mistakes = Vec::new();
        if self.ttl.is_zero() || self.ttl > MAX_TTL {
            mistakes.push("`ttl` must be between 1 ns and 30 days".to_owned());
        }
        if self.limit < shortest() {
            mistakes.push(format!("`limit` must be at least {} bytes, the size of the smallest state", shortest()));
        }
        if self.rounds == 0 {
            mistakes.push("`rounds` must be at least 1".to_owned());
        }
        if self.keys.is_some() && self.audience.as_deref().unwrap_or(name).is_empty() {
            mistakes.push(
                "a server with keys needs a name or an `audience`, because other servers may have the same keys"
                    .to_owned(),
            );
        }
        mistakes
    }
}

impl Default for StatePolicy {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for StatePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StatePolicy")
            .field("keys", &self.keys)
            .field("ttl", &self.ttl)
            .field("audience", &self.audience)
            .field("limit", &self.limit)
            .field("rounds", &self.rounds)
            .field("single_use", &self.spent.is_some())
            .finish_non_exhaustive()
    }
}

/// Returns the current time; tests set their own.
pub(crate) type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// Nanoseconds since 1970, which reach the year 2554; a time outside of that counts as the nearer end.
pub(super) fn nanoseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
