//! Keys that the operator hands out.

use std::fmt;

use subtle::ConstantTimeEq;

use super::{Principal, authenticate::digest_of};

/// The keys of a server. Only their digests are kept.
#[derive(Clone, Default)]
pub(super) struct ApiKeys(pub(super) Vec<([u8; 32], Principal)>);

impl ApiKeys {
    /// The owner of a key. All keys are compared, each in constant time, so that the time says nothing.
    pub(super) fn owner(&self, key: &str) -> Option<Principal> {
        let sent = digest_of(key);
        let mut owner = None;
        for (digest, caller) in &self.0 {
            if bool::from(digest.ct_eq(&sent)) {
                owner = Some(caller);
            }
        }
        owner.cloned()
    }
}

impl fmt::Debug for ApiKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} keys", self.0.len())
    }
}

/// A digest, as 64 hexadecimal digits.
pub(super) fn digest_from_hex(hex: &str) -> Option<[u8; 32]> {
    let digits: Vec<u8> = hex.chars().map(|digit| digit.to_digit(16)?.try_into().ok()).collect::<Option<_>>()?;
    let bytes: Vec<u8> = digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect();
    bytes.try_into().ok().filter(|_| digits.len() == 64)
}
