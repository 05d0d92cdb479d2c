//! The text on the wire: `v1.` and, in base64url without padding, key id, nonce, ciphertext and tag.
//!
//! XChaCha20-Poly1305 has a nonce of 24 bytes: drawn at random it never repeats, however many servers share the key.
//! One token has one text: a decoder that tolerates another spelling would let one state pass for two.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

use super::{
    cipher::{self, NONCE, TAG},
    keys::{Key, KeyId, StateKeys},
    refused::Reason,
};

pub(super) const PREFIX: &str = "v1.";
const ID: usize = size_of::<KeyId>();

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
    let tag = cipher::encrypt(key.expose(), &nonce, &associated(key.id), &mut bytes[ID + NONCE..]);
    bytes.extend_from_slice(&tag);
    let mut token = String::with_capacity(length(size));
    token.push_str(PREFIX);
    URL_SAFE_NO_PAD.encode_string(&bytes, &mut token);
    token
}

/// What was sealed in a token.
pub(super) fn open(keys: &StateKeys, token: &str) -> Result<Vec<u8>, Reason> {
    let text = token.strip_prefix(PREFIX).ok_or(Reason::Malformed)?;
    let mut bytes = Vec::with_capacity(text.len());
    URL_SAFE_NO_PAD.decode_vec(text, &mut bytes).map_err(|_| Reason::Malformed)?;
    let (id, rest) = bytes.split_first_chunk::<ID>().ok_or(Reason::Malformed)?;
    let (nonce, rest) = rest.split_first_chunk::<NONCE>().ok_or(Reason::Malformed)?;
    let (sealed, tag) = rest.split_last_chunk::<TAG>().ok_or(Reason::Malformed)?;

    let mut reason = Reason::UnknownKey;
    let opened = keys.named(*id).find_map(|key| {
        reason = Reason::Broken;
        // A copy for each key: one that does not open it leaves nothing for the next.
        let mut inside = sealed.to_vec();
        cipher::decrypt(key.expose(), nonce, &associated(*id), &mut inside, *tag).then_some(inside)
    });
    opened.ok_or(reason)
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
