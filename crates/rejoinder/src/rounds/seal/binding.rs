//! Which call a state belongs to.

use ring::digest::{Context, SHA256};

use super::{StateRefusal, canonical::canonical, token::StateEnvelope};
use crate::auth::Principal;

/// The call that a state belongs to: the state opens for this call only.
#[derive(Debug)]
pub(crate) struct Binding {
    request: Digest,
    arguments: Digest,
    pub(super) principal: Option<Principal>,
}

impl Binding {
    /// A call of a method, its target (the name of a tool or prompt, or a URI) and its arguments as JSON.
    ///
    /// No arguments, `null` and `{}` are the same.
    pub(crate) fn new(method: &str, target: &str, arguments: Option<&str>) -> Self {
        let request = digest("request", [method, target]);
        let arguments = match arguments.map(str::trim_ascii) {
            None | Some("null") => digest("arguments", ["{}"]),
            Some(arguments) => digest("arguments", [canonical(arguments)]),
        };
        Self { request, arguments, principal: None }
    }

    /// The same call by this caller.
    pub(crate) fn principal(self, principal: Option<Principal>) -> Self {
        Self { principal, ..self }
    }

    /// What a state with that id is bound to, in the order of [`REFUSALS`].
    pub(super) fn digests(&self, audience: Digest, id: [u8; 16]) -> [Digest; 4] {
        // The id is a salt: two envelopes do not show that they belong to the same caller. Without a caller nothing is hashed.
        let principal = self.principal.as_ref().map_or(Digest::default(), |caller| {
            let names = caller.issuer().into_iter().chain([caller.subject()]);
            digest("principal", std::iter::once(&id[..]).chain(names.map(str::as_bytes)))
        });
        [self.request, self.arguments, audience, principal]
    }

    /// Whether an envelope was sealed for this call.
    ///
    /// The comparisons need not take constant time, because nobody can choose a digest inside a sealed envelope.
    pub(super) fn check(&self, envelope: &StateEnvelope, audience: Digest) -> Result<(), StateRefusal> {
        let expected = self.digests(audience, envelope.id);
        let other = expected.iter().zip(&envelope.bound).position(|(expected, bound)| expected != bound);
        other.map_or(Ok(()), |other| Err(REFUSALS[other]))
    }
}

/// Why a state that is bound to something else is refused.
const REFUSALS: [StateRefusal; 4] =
    [StateRefusal::Request, StateRefusal::Arguments, StateRefusal::Audience, StateRefusal::Principal];

/// The first bytes of a SHA-256. The client carries them in every round; to find two calls with one digest, somebody would
/// have to try 2^80 of them.
pub(super) type Digest = [u8; 20];

/// The digest of parts, each after its length, so that no two lists of parts have the same digest. What is hashed is short, so
/// that it usually takes one block.
pub(super) fn digest<P: AsRef<[u8]>>(label: &str, parts: impl IntoIterator<Item = P>) -> Digest {
    let mut hash = Context::new(&SHA256);
    hash.update(label.as_bytes());
    hash.update(b"\0");
    for part in parts {
        let part = part.as_ref();
        hash.update(&(part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    *hash.finish().as_ref().first_chunk().expect("SHA-256 has 32 bytes")
}
