//! `requestState` on the wire: `v1.` and, in base64url without padding, key id, nonce, ciphertext and tag.
//!
//! The cipher is ChaCha20-Poly1305. Each state has its own key, which HKDF-SHA256 derives from the server's key and the
//! nonce. The nonce has 24 bytes, so a random one does not repeat, even if many servers share the key. A token has exactly
//! one spelling, so that one state cannot pass for two.
//!
//! Inside is an envelope, in bytes because a client sends it back with every round, and then the record of the call:
//!
//! ```text
//! version 1 | issued 8 | expires 8 | id 16 | request 20 | arguments 20 | audience 20 | caller 20 | record
//! ```
//!
//! Times are nanoseconds since 1970, big-endian.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, Tag},
    error::Unspecified,
    hkdf::{HKDF_SHA256, Prk},
    rand::{SecureRandom, SystemRandom},
};

use super::{
    StateRefusal,
    binding::Digest,
    keys::{KeyId, StateKey, StateKeys},
};

pub(super) const PREFIX: &str = "v1.";
const ID: usize = size_of::<KeyId>();

/// How many bytes a token has besides what is sealed in it.
pub(super) const OVERHEAD: usize = ID + NONCE + TAG;

/// The length of a token with that many bytes sealed in it.
pub(super) const fn length(inside: usize) -> usize {
    // Four characters for three bytes, and one more than the bytes left over.
    let bytes = OVERHEAD + inside;
    PREFIX.len() + bytes / 3 * 4 + if bytes.is_multiple_of(3) { 0 } else { bytes % 3 + 1 }
}

/// What is sealed with the state although it is not secret.
fn associated(id: KeyId) -> Vec<u8> {
    [PREFIX.as_bytes(), &id].concat()
}

/// Seals what `write` appends to the buffer it is given.
pub(super) fn seal(key: &StateKey, nonce: [u8; NONCE], size: usize, write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut bytes = Vec::with_capacity(OVERHEAD + size);
    bytes.extend_from_slice(&key.id);
    bytes.extend_from_slice(&nonce);
    write(&mut bytes);
    let tag = encrypt(key.expose(), &nonce, &associated(key.id), &mut bytes[ID + NONCE..]);
    bytes.extend_from_slice(&tag);
    let mut token = String::with_capacity(length(size));
    token.push_str(PREFIX);
    URL_SAFE_NO_PAD.encode_string(&bytes, &mut token);
    token
}

/// What was sealed in a token.
pub(super) fn open(keys: &StateKeys, token: &str) -> Result<Vec<u8>, StateRefusal> {
    let text = token.strip_prefix(PREFIX).ok_or(StateRefusal::Malformed)?;
    let mut bytes = Vec::with_capacity(text.len());
    URL_SAFE_NO_PAD.decode_vec(text, &mut bytes).map_err(|_| StateRefusal::Malformed)?;
    let (id, rest) = bytes.split_first_chunk::<ID>().ok_or(StateRefusal::Malformed)?;
    let (nonce, rest) = rest.split_first_chunk::<NONCE>().ok_or(StateRefusal::Malformed)?;
    let (sealed, tag) = rest.split_last_chunk::<TAG>().ok_or(StateRefusal::Malformed)?;

    let mut reason = StateRefusal::UnknownKey;
    let opened = keys.named(*id).find_map(|key| {
        reason = StateRefusal::Broken;
        // A copy for each key: a failed attempt destroys it.
        let mut inside = sealed.to_vec();
        decrypt(key.expose(), nonce, &associated(*id), &mut inside, *tag).then_some(inside)
    });
    opened.ok_or(reason)
}

/// A random nonce, and a random id for the state.
pub(super) fn fresh() -> Result<([u8; NONCE], [u8; 16]), Unspecified> {
    // Both with one system call.
    let mut drawn = [0; NONCE + 16];
    SystemRandom::new().fill(&mut drawn)?;
    Ok((std::array::from_fn(|index| drawn[index]), std::array::from_fn(|index| drawn[NONCE + index])))
}

pub(super) const NONCE: usize = 24;
pub(super) const TAG: usize = 16;

/// Encrypts in place, and returns the tag.
pub(super) fn encrypt(key: &[u8; 32], nonce: &[u8; NONCE], associated: &[u8], inside: &mut [u8]) -> [u8; TAG] {
    let tag = once(key, nonce).seal_in_place_separate_tag(unused(), Aad::from(associated), inside);
    let tag = tag.expect("a state is shorter than the 256 GiB that one nonce may seal");
    tag.as_ref().try_into().expect("a tag has 16 bytes")
}

/// Decrypts in place; `false` if the tag does not match, and then the contents are destroyed.
pub(super) fn decrypt(
    key: &[u8; 32],
    nonce: &[u8; NONCE],
    associated: &[u8],
    inside: &mut [u8],
    tag: [u8; TAG],
) -> bool {
    once(key, nonce).open_in_place_separate_tag(unused(), Aad::from(associated), Tag::from(tag), inside, 0..).is_ok()
}

/// The key for one nonce.
fn once(key: &[u8; 32], nonce: &[u8; NONCE]) -> LessSafeKey {
    let (key, info) = (Prk::new_less_safe(HKDF_SHA256, key), [nonce.as_slice()]);
    let expanded = key.expand(&info, &CHACHA20_POLY1305).expect("HKDF-SHA256 yields up to 8,160 bytes");
    LessSafeKey::new(expanded.into())
}

/// The nonce of the cipher, which each key is used with once.
fn unused() -> Nonce {
    Nonce::assume_unique_for_key([0; 12])
}

const VERSION: u8 = 3;

/// Everything in a token but the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StateEnvelope {
    pub(super) issued: u64,
    pub(super) expires: u64,
    /// Random: identifies the state in a replay store.
    pub(super) id: [u8; 16],
    /// See [`Binding::digests`](super::Binding::digests).
    pub(super) bound: [Digest; 4],
}

/// The size of an envelope, without the record.
pub(super) const ENVELOPE: usize = 1 + 8 + 8 + 16 + size_of::<[Digest; 4]>();

impl StateEnvelope {
    pub(super) fn write(&self, state: &[u8], out: &mut Vec<u8>) {
        let (issued, expires) = (self.issued.to_be_bytes(), self.expires.to_be_bytes());
        for part in [&[VERSION][..], &issued, &expires, &self.id, self.bound.as_flattened(), state] {
            out.extend_from_slice(part);
        }
    }

    /// The envelope, and where the state begins; `None` if this is not an envelope.
    pub(super) fn read(bytes: &[u8]) -> Option<(Self, usize)> {
        let mut rest = bytes;
        if take(&mut rest)? != [VERSION] {
            return None;
        }
        let envelope = Self {
            issued: u64::from_be_bytes(take(&mut rest)?),
            expires: u64::from_be_bytes(take(&mut rest)?),
            id: take(&mut rest)?,
            bound: [take(&mut rest)?, take(&mut rest)?, take(&mut rest)?, take(&mut rest)?],
        };
        Some((envelope, bytes.len() - rest.len()))
    }
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*taken)
}

#[cfg(test)]
mod tests {
    use chacha20poly1305::{AeadInOut, ChaCha20Poly1305, KeyInit};
    use hkdf::Hkdf;
    use proptest::prelude::*;
    use sha2::Sha256;

    use super::*;

    proptest! {
        #[test]
        fn other_crates_encrypt_the_same(
            key: [u8; 32],
            nonce: [u8; NONCE],
            associated: Vec<u8>,
            mut inside in proptest::collection::vec(any::<u8>(), 0..2000),
        ) {
            let (plain, mut other, mut once) = (inside.clone(), inside.clone(), [0; 32]);
            let tag = encrypt(&key, &nonce, &associated, &mut inside);
            Hkdf::<Sha256>::from_prk(&key).expect("32 bytes").expand(&nonce, &mut once).expect("32 bytes");
            let cipher = ChaCha20Poly1305::new(&once.into());
            let other_tag = cipher.encrypt_inout_detached(&[0; 12].into(), &associated, other.as_mut_slice().into());
            prop_assert_eq!(tag, <[u8; TAG]>::from(other_tag.expect("it is short")));
            prop_assert_eq!(&inside, &other);
            prop_assert!(decrypt(&key, &nonce, &associated, &mut inside, tag));
            prop_assert_eq!(inside, plain);
        }
    }
}
