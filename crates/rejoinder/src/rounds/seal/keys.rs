use std::{fmt, sync::Arc};

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use hkdf::Hkdf;
use secrecy::{ExposeSecret, SecretBox};
use sha2::Sha256;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// Where [`StateKeys::from_env`] looks.
const VARIABLE: &str = "REJOINDER_STATE_KEYS";

/// The fewest bytes a secret may have.
const SHORTEST: usize = 32;

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
pub struct StateKeys(Arc<[Key]>);

/// What is derived from one secret; the secret itself is not kept.
pub(super) struct Key {
    pub(super) id: KeyId,
    secret: Secret,
}

type Secret = SecretBox<[u8; 32]>;

/// Wiped when they are dropped: where a key is kept, and the text and bytes that it came as. The hash inside HKDF is not:
/// every state would pay for that. Nor is the stack of what makes a key for one state of it, and the cipher that gets that.
const _: () = {
    const fn wiped<T: ZeroizeOnDrop>() {}
    wiped::<Secret>();
    wiped::<Zeroizing<String>>();
    wiped::<Zeroizing<Vec<u8>>>();
    wiped::<Zeroizing<[u8; SHORTEST]>>();
};

/// Says in a token which key opens it.
pub(super) type KeyId = [u8; 4];

/// Why keys cannot be used. It never repeats any of them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StateKeysError {
    /// There is none.
    #[error("there is no key: give at least one of 32 bytes, from `openssl rand -base64 32`, say")]
    Empty,
    /// One is too easily guessed.
    #[error("key {position} has {length} bytes: a key has at least 32, from `openssl rand -base64 32`, say")]
    TooShort {
        /// Which one, counted from 1.
        position: usize,
        /// How many bytes it has.
        length: usize,
    },
    /// One is there twice.
    #[error("key {position} is the same as key {first}")]
    Duplicate {
        /// Which one, counted from 1.
        position: usize,
        /// Which one it repeats.
        first: usize,
    },
    /// One is not base64.
    #[error(
        "key {position} in REJOINDER_STATE_KEYS is not base64: a key has at least 32 bytes, from `openssl rand -base64 32`, \
         say"
    )]
    NotBase64 {
        /// Which one, counted from 1.
        position: usize,
    },
    /// The variable is missing.
    #[error(
        "REJOINDER_STATE_KEYS is not set: give it keys of at least 32 bytes in base64 (`openssl rand -base64 32`), separated \
         by commas, the first of which seals"
    )]
    NotSet,
    /// The variable has nothing in it.
    #[error(
        "REJOINDER_STATE_KEYS is empty: give it keys of at least 32 bytes in base64 (`openssl rand -base64 \
         32`), separated by commas"
    )]
    Blank,
    /// The variable is not text.
    #[error(
        "REJOINDER_STATE_KEYS is not text: give it keys of at least 32 bytes in base64 (`openssl rand -base64 32`), \
         separated by commas"
    )]
    NotText,
    /// What the variable holds is base64, but no keys.
    #[error("REJOINDER_STATE_KEYS: {0}")]
    InVariable(Box<Self>),
}

impl StateKeys {
    /// Keys from their bytes, the first of which seals. A string counts as its bytes.
    ///
    /// # Errors
    ///
    /// There is none, one is shorter than 32 bytes, or one is there twice.
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
        let mut derived: Vec<Key> = Vec::new();
        for (index, secret) in keys.into_iter().enumerate() {
            let (secret, position) = (secret.as_ref(), index + 1);
            if secret.len() < SHORTEST {
                return Err(StateKeysError::TooShort { position, length: secret.len() });
            }
            let key = Key::derive(secret);
            if let Some(first) = derived.iter().position(|other| other.expose() == key.expose()) {
                return Err(StateKeysError::Duplicate { position, first: first + 1 });
            }
            derived.push(key);
        }
        if derived.is_empty() { Err(StateKeysError::Empty) } else { Ok(Self(derived.into())) }
    }

    /// Keys from the variable `REJOINDER_STATE_KEYS`: base64 (either alphabet), separated by commas, the first seals.
    ///
    /// # Errors
    ///
    /// The variable is not set, or what it holds are not keys. The error never repeats the value.
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
        let value = std::env::var_os(VARIABLE).ok_or(StateKeysError::NotSet)?.into_string();
        Self::from_text(&Zeroizing::new(value.map_err(|_| StateKeysError::NotText)?))
    }

    /// What the variable holds.
    pub(super) fn from_text(text: &str) -> Result<Self, StateKeysError> {
        if text.trim().is_empty() {
            return Err(StateKeysError::Blank);
        }
        let decode = |(index, key): (usize, &str)| {
            let engine = if key.contains(['-', '_']) { URL_SAFE } else { STANDARD };
            let decoded = engine.decode(key.trim()).map_err(|_| StateKeysError::NotBase64 { position: index + 1 })?;
            Ok(Zeroizing::new(decoded))
        };
        let keys = text.split(',').enumerate().map(decode).collect::<Result<Vec<_>, _>>()?;
        Self::new(keys.iter()).map_err(|bad| StateKeysError::InVariable(Box::new(bad)))
    }

    /// One key that nobody else has.
    pub(super) fn random() -> Result<Self, getrandom::Error> {
        let mut secret = Zeroizing::new([0; SHORTEST]);
        getrandom::fill(secret.as_mut_slice())?;
        Ok(Self([Key::derive(secret.as_slice())].into()))
    }

    /// The key that seals.
    pub(super) fn first(&self) -> &Key {
        &self.0[0]
    }

    /// Every key of that id. Two secrets may have the same one by chance.
    pub(super) fn named(&self, id: KeyId) -> impl Iterator<Item = &Key> {
        self.0.iter().filter(move |key| key.id == id)
    }
}

impl Key {
    /// HKDF-SHA256 without a salt, one output for the cipher and one for the name.
    fn derive(secret: &[u8]) -> Self {
        let (mut extracted, source) = Hkdf::<Sha256>::extract(None, secret);
        extracted.as_mut_slice().zeroize();
        let expand = |info: &str, out: &mut [u8]| {
            source.expand(info.as_bytes(), out).expect("HKDF-SHA256 yields up to 8,160 bytes");
        };
        let mut id = KeyId::default();
        expand("rejoinder/state/v1/key-id", &mut id);
        let secret = Secret::init_with_mut(|key: &mut [u8; 32]| {
            expand("rejoinder/state/v1/xchacha20-poly1305", key);
        });
        Self { id, secret }
    }

    pub(super) fn expose(&self) -> &[u8; 32] {
        self.secret.expose_secret()
    }
}

/// How many there are, and nothing else.
impl fmt::Debug for StateKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StateKeys({})", self.0.len())
    }
}

const PADDED_OR_NOT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, PADDED_OR_NOT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, PADDED_OR_NOT);
