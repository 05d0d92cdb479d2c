//! What a server writes down about a task, sealed with its own keys.
//!
//! It is sealed if the keys were set: a random key dies with its process, and what outlives the process could not be opened
//! again. What is sealed opens only in the same place: another task, another column or another server breaks the seal.
//!
//! ```text
//! 0 | plain        1 | key id | nonce 24 | ciphertext | tag 16
//! ```

use bytes::Bytes;

use super::{
    Seal,
    binding::digest,
    keys::KeyId,
    token::{NONCE, TAG, decrypt, encrypt, fresh},
};
use crate::{
    auth::Principal,
    tasks::{TaskId, TaskOwner},
};

const PLAIN: u8 = 0;
const SEALED: u8 = 1;

/// Where something of a task is kept: its column, and its key in there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeptAt<'a>(pub(crate) TaskId, pub(crate) &'static str, pub(crate) &'a str);

impl Seal {
    /// Whether the keys were set, so that they outlive the process.
    pub(crate) fn has_own_keys(&self) -> bool {
        self.policy.keys.is_some()
    }

    /// Whose tasks those of this caller are.
    pub(crate) fn owner(&self, caller: Option<&Principal>) -> TaskOwner {
        let names = caller.into_iter().flat_map(|caller| caller.issuer().into_iter().chain([caller.subject()]));
        TaskOwner(digest("owner", std::iter::once(&self.audience[..]).chain(names.map(str::as_bytes))))
    }

    /// Prepares something to be kept there.
    pub(crate) fn seal_at_rest(&self, place: KeptAt<'_>, plain: &[u8]) -> Bytes {
        if !self.has_own_keys() {
            return [&[PLAIN], plain].concat().into();
        }
        let (key, (nonce, _)) = (self.keys.first(), fresh().expect("the system has randomness"));
        let mut out = [&[SEALED], &key.id[..], &nonce, plain].concat();
        let begin = out.len() - plain.len();
        let tag = encrypt(key.expose(), &nonce, &self.associated(place, key.id), &mut out[begin..]);
        out.extend_from_slice(&tag);
        out.into()
    }

    /// Reads what was kept there; `None` if it was not sealed there with a key of this server.
    pub(crate) fn open_at_rest(&self, place: KeptAt<'_>, kept: &Bytes) -> Option<Bytes> {
        if !self.has_own_keys() {
            return (kept.first() == Some(&PLAIN)).then(|| kept.slice(1..));
        }
        let (&SEALED, rest) = kept.split_first()? else { return None };
        let (id, rest) = rest.split_first_chunk::<{ size_of::<KeyId>() }>()?;
        let (nonce, rest) = rest.split_first_chunk::<NONCE>()?;
        let (sealed, tag) = rest.split_last_chunk::<TAG>()?;
        self.keys.named(*id).find_map(|key| {
            // A copy for each key: a failed attempt destroys it.
            let mut inside = sealed.to_vec();
            let is_whole = decrypt(key.expose(), nonce, &self.associated(place, *id), &mut inside, *tag);
            is_whole.then(|| inside.into())
        })
    }

    fn associated(&self, KeptAt(task, column, key): KeptAt<'_>, id: KeyId) -> Vec<u8> {
        [b"task 1 ", &id[..], &self.audience, task.as_bytes(), column.as_bytes(), b" ", key.as_bytes()].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounds::seal::{StateKeys, StatePolicy};

    fn seal(name: &str, keys: Option<&[u8; 32]>) -> Seal {
        let keys = keys.map(|key| StateKeys::new([key.to_vec()]).expect("a good key"));
        let policy = keys.map_or_else(StatePolicy::new, |keys| StatePolicy::new().keys(keys));
        Seal::new(name, &policy).expect("good options")
    }

    const KEY: [u8; 32] = *b"the first of two keys, 32 bytes!";
    const OTHER: [u8; 32] = *b"another one that is also 32 long";

    #[test]
    fn what_is_kept_opens_in_its_place_only() {
        let (here, task) = (seal("studio", Some(&KEY)), TaskId::new());
        let place = KeptAt(task, "step", "charge");
        let kept = here.seal_at_rest(place, b"4242");
        assert!(!kept.windows(4).any(|part| part == b"4242"));
        assert_eq!(here.open_at_rest(place, &kept).as_deref(), Some(&b"4242"[..]));
        let elsewhere =
            [KeptAt(TaskId::new(), "step", "charge"), KeptAt(task, "answer", "charge"), KeptAt(task, "step", "refund")];
        for other in elsewhere {
            assert_eq!(here.open_at_rest(other, &kept), None, "{other:?}");
        }
        for other in [seal("shop", Some(&KEY)), seal("studio", Some(&OTHER)), seal("studio", None)] {
            assert_eq!(other.open_at_rest(place, &kept), None);
        }
        let mut forged = kept.to_vec();
        *forged.last_mut().expect("a tag") ^= 1;
        assert_eq!(here.open_at_rest(place, &forged.into()), None);
    }

    #[test]
    fn without_keys_it_is_plain_and_with_keys_plain_text_is_refused() {
        let place = KeptAt(TaskId::new(), "record", "");
        let plain = seal("studio", None).seal_at_rest(place, b"{}");
        assert_eq!(seal("studio", None).open_at_rest(place, &plain).as_deref(), Some(&b"{}"[..]));
        assert_eq!(seal("studio", Some(&KEY)).open_at_rest(place, &plain), None);
        assert_eq!(seal("studio", None).open_at_rest(place, &Bytes::new()), None);
    }

    #[test]
    fn every_caller_is_an_owner_of_its_own() {
        let (seal, ada) = (seal("studio", None), Principal::new("ada"));
        let owners = [
            seal.owner(None),
            seal.owner(Some(&ada)),
            seal.owner(Some(&Principal::new(""))),
            seal.owner(Some(&ada.clone().with_issuer("https://a.example"))),
            seal.owner(Some(&ada.clone().with_issuer("https://b.example"))),
        ];
        for (index, owner) in owners.iter().enumerate() {
            assert_eq!(owners.iter().position(|other| other == owner), Some(index));
        }
        assert_eq!(seal.owner(Some(&ada)), seal.owner(Some(&Principal::new("ada"))));
    }
}
