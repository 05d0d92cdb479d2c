//! The text on the wire: `v1.` and, in base64url without padding, key id, nonce, ciphertext and tag.
//!
//! XChaCha20-Poly1305 has a nonce of 24 bytes: drawn at random it never repeats, however many servers share the key.
//! One token has one text: a decoder that tolerates another spelling would let one state pass for two.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use chacha20poly1305::{AeadInOut, Tag, XNonce};

use super::{
    keys::{Key, KeyId, StateKeys},
    refused::Reason,
};

pub(super) const PREFIX: &str = "v1.";
const ID: usize = size_of::<KeyId>();
const NONCE: usize = 24;
const TAG: usize = 16;

/// How many bytes of a token are not what is sealed in it.
pub(super) const OVERHEAD: usize = ID + NONCE + TAG;

/// How long a token is that has so many bytes sealed in it.
pub(super) const fn length(inside: usize) -> usize {
    // Four characters for three bytes, and one more than the bytes left over. No slice is long enough to overflow.
    let bytes = OVERHEAD + inside;
    PREFIX.len() + bytes / 3 * 4 + if bytes.is_multiple_of(3) { 0 } else { bytes % 3 + 1 }
}

/// What is sealed along without being secret: a key id or a version that was changed breaks the seal.
fn associated(id: KeyId) -> [u8; PREFIX.len() + ID] {
    let mut data = [0; PREFIX.len() + ID];
    data[..PREFIX.len()].copy_from_slice(PREFIX.as_bytes());
    data[PREFIX.len()..].copy_from_slice(&id);
    data
}

/// Seals what `write` appends to the buffer it is given.
pub(super) fn seal(key: &Key, nonce: [u8; NONCE], size: usize, write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut bytes = Vec::with_capacity(OVERHEAD + size);
    bytes.extend_from_slice(&key.id);
    bytes.extend_from_slice(&nonce);
    write(&mut bytes);
    let inside = (&mut bytes[ID + NONCE..]).into();
    let tag = key
        .cipher()
        .encrypt_inout_detached(&XNonce::from(nonce), &associated(key.id), inside)
        .expect("a state is shorter than the 256 GiB that one nonce may seal");
    bytes.extend_from_slice(&tag);
    let mut token = String::with_capacity(length(size));
    token.push_str(PREFIX);
    URL_SAFE_NO_PAD.encode_string(&bytes, &mut token);
    token
}

/// What was sealed in a token.
pub(super) fn open(keys: &StateKeys, token: &str) -> Result<Vec<u8>, Reason> {
    let text = token.strip_prefix(PREFIX).ok_or(Reason::Malformed)?;
    let mut bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| Reason::Malformed)?;
    let (head, rest) = bytes.split_first_chunk_mut::<{ ID + NONCE }>().ok_or(Reason::Malformed)?;
    let (inside, tag) = rest.split_last_chunk_mut::<TAG>().ok_or(Reason::Malformed)?;
    let (id, nonce) = head.split_first_chunk::<ID>().ok_or(Reason::Malformed)?;
    let (id, nonce, tag) = (*id, XNonce::try_from(nonce).map_err(|_| Reason::Malformed)?, Tag::from(*tag));

    let mut reason = Reason::UnknownKey;
    let opened = keys.named(id).any(|key| {
        reason = Reason::Broken;
        // The tag is checked before a byte is changed, so the next key finds what this one found.
        key.cipher().decrypt_inout_detached(&nonce, &associated(id), (&mut *inside).into(), &tag).is_ok()
    });
    if !opened {
        return Err(reason);
    }
    bytes.truncate(bytes.len() - TAG);
    bytes.drain(..ID + NONCE);
    Ok(bytes)
}

/// A fresh nonce and a fresh number for the state.
pub(super) fn fresh() -> Result<([u8; NONCE], [u8; 16]), getrandom::Error> {
    const NUMBER: usize = 16;
    // Drawn at once: the system charges by the call.
    let mut drawn = [0; NONCE + NUMBER];
    getrandom::fill(&mut drawn)?;
    let (mut nonce, mut number) = ([0; NONCE], [0; NUMBER]);
    nonce.copy_from_slice(&drawn[..NONCE]);
    number.copy_from_slice(&drawn[NONCE..]);
    Ok((nonce, number))
}
