//! XChaCha20-Poly1305: ChaCha20-Poly1305 with a key that is made for one nonce only, from the first 16 bytes of it.

use chacha20::{R20, hchacha};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, Tag, UnboundKey};
use zeroize::Zeroizing;

pub(super) const NONCE: usize = 24;
pub(super) const TAG: usize = 16;

/// Encrypts in place, and gives the tag that only the key can make.
pub(super) fn encrypt(key: &[u8; 32], nonce: &[u8; NONCE], associated: &[u8], inside: &mut [u8]) -> [u8; TAG] {
    let (key, nonce) = once(key, nonce);
    let tag = key.seal_in_place_separate_tag(nonce, Aad::from(associated), inside);
    let tag = tag.expect("a state is shorter than the 256 GiB that one nonce may seal");
    let mut bytes = [0; TAG];
    bytes.copy_from_slice(tag.as_ref());
    bytes
}

/// Decrypts in place; `false` if the tag is not the key's, and then what is in place is of no use.
pub(super) fn decrypt(
    key: &[u8; 32],
    nonce: &[u8; NONCE],
    associated: &[u8],
    inside: &mut [u8],
    tag: [u8; TAG],
) -> bool {
    let (key, nonce) = once(key, nonce);
    key.open_in_place_separate_tag(nonce, Aad::from(associated), Tag::from(tag), inside, 0..).is_ok()
}

/// The key for one nonce, and what is left of the nonce.
fn once(key: &[u8; 32], nonce: &[u8; NONCE]) -> (LessSafeKey, Nonce) {
    let (first, rest) = nonce.split_at(16);
    let first = first.try_into().expect("half of a block has 16 bytes");
    let once = Zeroizing::new(<[u8; 32]>::from(hchacha::<R20>(key.into(), first)));
    let key = UnboundKey::new(&CHACHA20_POLY1305, once.as_slice()).expect("a key of ChaCha20 has 32 bytes");
    let mut left = [0; 12];
    left[4..].copy_from_slice(rest);
    (LessSafeKey::new(key), Nonce::assume_unique_for_key(left))
}

#[cfg(test)]
mod tests {
    use chacha20poly1305::{AeadInOut, KeyInit, XChaCha20Poly1305};
    use proptest::prelude::*;

    use super::*;

    /// The example of draft-irtf-cfrg-xchacha-03, A.3.1.
    #[test]
    fn it_is_the_cipher_of_the_draft() {
        let key = std::array::from_fn(|index| 0x80 + u8::try_from(index).expect("32 bytes"));
        let nonce = std::array::from_fn(|index| 0x40 + u8::try_from(index).expect("24 bytes"));
        let associated = [0x50, 0x51, 0x52, 0x53, 0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7];
        let plain = b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, \
            sunscreen would be it.";
        let mut inside = plain.to_vec();
        let tag = encrypt(&key, &nonce, &associated, &mut inside);
        assert_eq!(u128::from_be_bytes(tag), 0xc087_5924_c1c7_9879_47de_afd8_780a_cf49);
        assert_eq!(inside[..8], [0xbd, 0x6d, 0x17, 0x9d, 0x3e, 0x83, 0xd4, 0x3b]);
        assert!(decrypt(&key, &nonce, &associated, &mut inside, tag));
        assert_eq!(inside, plain);
    }

    proptest! {
        #[test]
        fn another_that_is_written_in_rust_makes_the_same_of_everything(
            key: [u8; 32],
            nonce: [u8; NONCE],
            associated: Vec<u8>,
            mut inside in proptest::collection::vec(any::<u8>(), 0..2000),
        ) {
            let mut other = inside.clone();
            let tag = encrypt(&key, &nonce, &associated, &mut inside);
            let cipher = XChaCha20Poly1305::new(&key.into());
            let other_tag = cipher.encrypt_inout_detached(&nonce.into(), &associated, other.as_mut_slice().into());
            prop_assert_eq!(tag, <[u8; TAG]>::from(other_tag.expect("it is short")));
            prop_assert_eq!(inside, other);
        }
    }
}
