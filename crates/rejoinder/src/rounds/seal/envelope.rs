//! What is sealed in a token, in bytes: a client sends it back with every round, so each one counts.
//!
//! ```text
//! version 1 | issued 8 | expires 8 | id 16 | request 32 | arguments 32 | audience 16 | who 1 [digest 16] | state
//! ```
//!
//! Times are nanoseconds since 1970, big-endian.

const VERSION: u8 = 1;
const UNNAMED: u8 = 0;
const NAMED: u8 = 1;

/// Everything but the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Envelope {
    pub(super) issued: u64,
    pub(super) expires: u64,
    /// A random number: so that a state can be redeemed once only, and as the salt of the principal.
    pub(super) id: [u8; 16],
    /// Method and target.
    pub(super) request: [u8; 32],
    pub(super) arguments: [u8; 32],
    pub(super) audience: [u8; 16],
    /// Salted: nobody sees from two envelopes that they belong to the same caller.
    pub(super) principal: Option<[u8; 16]>,
}

/// How long an envelope is, without the state.
pub(super) const fn size(principal: bool) -> usize {
    1 + 8 + 8 + 16 + 32 + 32 + 16 + 1 + if principal { 16 } else { 0 }
}

impl Envelope {
    pub(super) fn write(&self, state: &[u8], out: &mut Vec<u8>) {
        out.push(VERSION);
        out.extend_from_slice(&self.issued.to_be_bytes());
        out.extend_from_slice(&self.expires.to_be_bytes());
        out.extend_from_slice(&self.id);
        out.extend_from_slice(&self.request);
        out.extend_from_slice(&self.arguments);
        out.extend_from_slice(&self.audience);
        match self.principal {
            None => out.push(UNNAMED),
            Some(digest) => {
                out.push(NAMED);
                out.extend_from_slice(&digest);
            }
        }
        out.extend_from_slice(state);
    }

    /// The envelope, and where the state begins; `None` if these are not the bytes of one.
    pub(super) fn read(bytes: &[u8]) -> Option<(Self, usize)> {
        let mut rest = bytes;
        if take(&mut rest)? != [VERSION] {
            return None;
        }
        let envelope = Self {
            issued: u64::from_be_bytes(take(&mut rest)?),
            expires: u64::from_be_bytes(take(&mut rest)?),
            id: take(&mut rest)?,
            request: take(&mut rest)?,
            arguments: take(&mut rest)?,
            audience: take(&mut rest)?,
            principal: match take(&mut rest)? {
                [UNNAMED] => None,
                [NAMED] => Some(take(&mut rest)?),
                _ => return None,
            },
        };
        Some((envelope, bytes.len() - rest.len()))
    }
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*taken)
}
