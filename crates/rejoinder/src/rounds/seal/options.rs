use std::{fmt, sync::Arc, time::Duration};

use super::{clock::Clock, keys::StateKeys, sealing::shortest, spent::ReplayStore};

/// The longest that a state may be good for.
const LONGEST: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// What can be set about `requestState`.
#[derive(Clone)]
pub(crate) struct StateOptions {
    /// None: one at random when the server is built.
    pub(crate) keys: Option<StateKeys>,
    pub(crate) ttl: Duration,
    /// None: the server's name.
    pub(crate) audience: Option<String>,
    /// How long a token may be, in bytes.
    pub(crate) limit: usize,
    pub(crate) spent: Option<Arc<dyn ReplayStore>>,
    pub(crate) clock: Clock,
}

impl StateOptions {
    /// What is wrong with them, for a server of that name.
    pub(super) fn mistakes(&self, name: &str) -> Vec<String> {
        let mut mistakes = Vec::new();
        if self.ttl.is_zero() || self.ttl > LONGEST {
            mistakes.push("a state is good for more than no time and at most 30 days: `.state_ttl(..)`".to_owned());
        }
        if self.limit < shortest() {
            let shortest = shortest();
            mistakes
                .push(format!("the shortest state has {shortest} bytes, so the limit is higher: `.state_limit(..)`"));
        }
        if self.keys.is_some() && self.audience.as_deref().unwrap_or(name).is_empty() {
            mistakes.push(
                "keys may be shared with other servers, so this one needs a name, or an audience: \
                 `.state_audience(..)`"
                    .to_owned(),
            );
        }
        mistakes
    }
}

impl Default for StateOptions {
    fn default() -> Self {
        Self {
            keys: None,
            ttl: Duration::from_secs(10 * 60),
            audience: None,
            limit: 64 * 1024,
            spent: None,
            clock: Clock::default(),
        }
    }
}

impl fmt::Debug for StateOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateOptions")
            .field("keys", &self.keys)
            .field("ttl", &self.ttl)
            .field("audience", &self.audience)
            .field("limit", &self.limit)
            .field("single_use", &self.spent.is_some())
            .finish_non_exhaustive()
    }
}
