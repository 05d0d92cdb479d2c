//! The secrets that seal states.

use std::{collections::HashSet, fmt, sync::Arc};

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use ring::{
    error::Unspecified,
    hkdf::{HKDF_SHA256, Salt},
    rand::{SecureRandom, SystemRandom},
};
use zeroize::Zeroizing;

/// The variable that [`StateKeys::from_env`] reads.
pub(super) const VARIABLE: &str = "REJOINDER_STATE_KEYS";

/// Where a key comes from, in errors.
const EXAMPLE: &str = "`openssl rand -base64 32`";

/// The fewest bytes a secret may have.
const SHORTEST: usize = 32;

/// The fewest different bytes a secret may have: 32 random ones have about 30. It catches a key of zeros and other
/// placeholders, not a bad password.
const FEWEST_DIFFERENT: usize = 8;

/// The secrets that seal `requestState`, for a server that runs in more than one process.
///
/// The first key seals, and all of them open. Each has at least 32 random bytes (`openssl rand -base64 32`). Every process
/// of the server needs the same keys. Without keys, each process makes a random one when it starts, and a call that begins
/// in one process cannot continue in another.
///
/// ```
/// use rejoinder::{Server, state::{StateKeys, StatePolicy}};
///
/// # fn main() -> Result<(), rejoinder::state::StateKeysError> {
/// let keys = StateKeys::new([b"32 bytes that nobody could guess"])?;
/// let server = Server::new("files", "1.0.0").state(StatePolicy::new().keys(keys));
/// # Ok(())
/// # }
/// ```
///
/// # Rotation
///
/// Rotate in three steps. Roll out each step everywhere before the next one, and wait before the last until the states that
/// the old key sealed have expired ([`StatePolicy::ttl`](crate::state::StatePolicy::ttl)):
///
/// 1. `[old, new]`: every process can open what the new key seals, and none seals with it yet.
/// 2. `[new, old]`: the new key seals, and what the old key sealed still opens.
/// 3. `[new]`.
///
/// Remove a leaked key at once instead; calls that wait for an answer start over.
#[derive(Clone)]
pub struct StateKeys(Arc<[StateKey]>);

/// What is derived from one secret. The secret itself is not kept.
pub(super) struct StateKey {
    pub(super) id: KeyId,
    secret: Box<Secret>,
}

/// Wiped when it is dropped, and so are the text and the bytes that it came from. It is boxed, because a move leaves a copy
/// behind. The state of the hash inside HKDF and the stack of the cipher are not wiped: that would cost too much for every
/// state.
pub(super) type Secret = Zeroizing<[u8; 32]>;

/// Identifies in a token the key that opens it.
pub(super) type KeyId = [u8; 4];

/// Why keys cannot be used. The message never contains a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StateKeysError(String);

impl StateKeys {
    /// Keys from their bytes; the first one seals. Of a string the bytes count.
    ///
    /// # Errors
    ///
    /// The list is empty, a key is shorter than 32 bytes or clearly not random, or the same key occurs twice.
    ///
    /// ```
    /// use rejoinder::state::StateKeys;
    ///
    /// let mistake = StateKeys::new(["too short"]).unwrap_err();
    /// assert!(mistake.to_string().starts_with("key 1 has 9 bytes: a key has at least 32"));
    /// ```
    pub fn new<K>(keys: impl IntoIterator<Item = K>) -> Result<Self, StateKeysError>
    where
        K: AsRef<[u8]>,
    {
        let mut derived: Vec<StateKey> = Vec::new();
        for (index, secret) in keys.into_iter().enumerate() {
            let (secret, position) = (secret.as_ref(), index + 1);
            if secret.len() < SHORTEST {
                return Err(StateKeysError(format!(
                    "key {position} has {} bytes: a key has at least {SHORTEST}, for example from {EXAMPLE}",
                    secret.len()
                )));
            }
            if secret.iter().collect::<HashSet<_>>().len() < FEWEST_DIFFERENT {
                return Err(StateKeysError(format!(
                    "key {position} has fewer than {FEWEST_DIFFERENT} different bytes: use random bytes, for example from \
                     {EXAMPLE}"
                )));
            }
            let key = StateKey::derive(secret);
            if let Some(first) = derived.iter().position(|other| other.expose() == key.expose()) {
                return Err(StateKeysError(format!("key {position} is the same as key {}", first + 1)));
            }
            derived.push(key);
        }
        if derived.is_empty() {
            return Err(StateKeysError(format!("no key was given: give at least one, for example from {EXAMPLE}")));
        }
        Ok(Self(derived.into()))
    }

    /// Keys from the variable `REJOINDER_STATE_KEYS`: base64 (either alphabet), separated by commas. The first one seals.
    ///
    /// # Errors
    ///
    /// The variable is not set, or its value is not a list of keys. The error never contains the value.
    ///
    /// ```no_run
    /// use rejoinder::{Server, state::{StateKeys, StatePolicy}};
    ///
    /// # fn main() -> rejoinder::Result<()> {
    /// let server = Server::new("files", "1.0.0").state(StatePolicy::new().keys(StateKeys::from_env()?));
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_env() -> Result<Self, StateKeysError> {
        let Some(value) = std::env::var_os(VARIABLE) else {
            return Err(StateKeysError(format!(
                "{VARIABLE} is not set: set it to keys of at least {SHORTEST} bytes in base64 ({EXAMPLE}), separated by \
                 commas; the first one seals"
            )));
        };
        Self::from_text(&Zeroizing::new(value.to_string_lossy().into_owned()))
    }

    /// Keys from the value of the variable.
    pub(super) fn from_text(text: &str) -> Result<Self, StateKeysError> {
        let decode = |(index, key): (usize, &str)| {
            let engine = if key.contains(['-', '_']) { URL_SAFE } else { STANDARD };
            let not_base64 = |_| StateKeysError(format!("key {} is not base64: use keys from {EXAMPLE}", index + 1));
            engine.decode(key.trim()).map(Zeroizing::new).map_err(not_base64)
        };
        let listed = Some(text).filter(|text| !text.trim().is_empty()).into_iter().flat_map(|text| text.split(','));
        let keys = listed.enumerate().map(decode).collect::<Result<Vec<_>, _>>().and_then(Self::new);
        keys.map_err(|StateKeysError(reason)| StateKeysError(format!("{VARIABLE}: {reason}")))
    }

    /// One random key.
    pub(super) fn random() -> Result<Self, Unspecified> {
        let mut secret = Zeroizing::new([0; SHORTEST]);
        SystemRandom::new().fill(secret.as_mut_slice())?;
        Ok(Self([StateKey::derive(secret.as_slice())].into()))
    }

    /// The key that seals.
    pub(super) fn first(&self) -> &StateKey {
        &self.0[0]
    }

    /// Every key with that id: two secrets may have the same one by chance.
    pub(super) fn named(&self, id: KeyId) -> impl Iterator<Item = &StateKey> {
        self.0.iter().filter(move |key| key.id == id)
    }
}

impl StateKey {
    /// HKDF-SHA256 without a salt, with one output for the cipher and one for the id.
    fn derive(secret: &[u8]) -> Self {
        let source = Salt::new(HKDF_SHA256, &[]).extract(secret);
        let expand = |info: &str| {
            let mut out = Box::new(Secret::default());
            let expanded = source.expand(&[info.as_bytes()], HKDF_SHA256).and_then(|output| output.fill(&mut out[..]));
            expanded.expect("HKDF-SHA256 yields up to 8,160 bytes");
            out
        };
        let id = expand("rejoinder/state/v1/key-id");
        Self { id: std::array::from_fn(|index| id[index]), secret: expand("rejoinder/state/v1/chacha20-poly1305") }
    }

    pub(super) fn expose(&self) -> &[u8; 32] {
        &self.secret
    }
}

/// Shows how many there are, and nothing else.
impl fmt::Debug for StateKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StateKeys({})", self.0.len())
    }
}

const PADDED_OR_NOT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, PADDED_OR_NOT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, PADDED_OR_NOT);
