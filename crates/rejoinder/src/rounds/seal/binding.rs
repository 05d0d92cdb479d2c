//! Which call a state belongs to.

use ring::digest::{Context, SHA256};

use super::{StateRefusal, canonical::canonical, token::StateEnvelope};
use crate::auth::Principal;

/// The call that a state belongs to: the state opens for this call only.
///
/// Digests of what the client chooses have 32 bytes, the others 16.
#[derive(Debug)]
pub(crate) struct Binding {
    pub(super) method: &'static str,
    request: [u8; 32],
    arguments: [u8; 32],
    pub(super) principal: Option<Principal>,
}

impl Binding {
    /// A call of a method, its target (the name of a tool or prompt, or a URI) and its arguments as JSON.
    ///
    /// No arguments, `null` and `{}` are the same.
    pub(crate) fn new(method: &'static str, target: &str, arguments: Option<&str>) -> Self {
        let request = digest("request", [method, target]);
        let arguments = match arguments.map(str::trim_ascii) {
            None | Some("null") => digest("arguments", ["{}"]),
            Some(arguments) => digest("arguments", [canonical(arguments)]),
        };
        Self { method, request, arguments, principal: None }
    }

    /// The same call by this caller.
    pub(crate) fn principal(self, principal: Option<Principal>) -> Self {
        Self { principal, ..self }
    }

    /// The envelope of a state that is sealed for this call.
    pub(super) fn envelope(&self, audience: [u8; 16], id: [u8; 16], (issued, expires): (u64, u64)) -> StateEnvelope {
        let principal = self.principal.as_ref().map(|principal| principal_digest(id, principal));
        StateEnvelope { issued, expires, id, request: self.request, arguments: self.arguments, audience, principal }
    }

    /// Whether an envelope was sealed for this call.
    ///
    /// The comparisons need not take constant time, because nobody can choose a digest inside a sealed envelope.
    pub(super) fn check(&self, envelope: &StateEnvelope, audience: [u8; 16]) -> Result<(), StateRefusal> {
        if envelope.request != self.request {
            return Err(StateRefusal::Request);
        }
        if envelope.arguments != self.arguments {
            return Err(StateRefusal::Arguments);
        }
        if envelope.audience != audience {
            return Err(StateRefusal::Audience);
        }
        match (envelope.principal, self.principal.as_ref()) {
            (None, None) => Ok(()),
            (Some(_), None) => Err(StateRefusal::PrincipalMissing),
            (None, Some(_)) => Err(StateRefusal::PrincipalAdded),
            (Some(digest), Some(principal)) if digest == principal_digest(envelope.id, principal) => Ok(()),
            (Some(_), Some(_)) => Err(StateRefusal::Principal),
        }
    }
}

/// The server that a state belongs to.
pub(super) fn audience_digest(audience: &str) -> [u8; 16] {
    short(digest("audience", [audience]))
}

/// The id of the state is the salt.
fn principal_digest(id: [u8; 16], principal: &Principal) -> [u8; 16] {
    let who = principal.issuer().into_iter().chain([principal.subject()]);
    short(digest("principal", std::iter::once(&id[..]).chain(who.map(str::as_bytes))))
}

/// SHA-256 of parts, each after its length, so that no two lists of parts have the same digest. What is hashed is short, so
/// that it usually takes one block.
fn digest<P: AsRef<[u8]>>(label: &str, parts: impl IntoIterator<Item = P>) -> [u8; 32] {
    let mut hash = Context::new(&SHA256);
    hash.update(label.as_bytes());
    hash.update(b"\0");
    for part in parts {
        let part = part.as_ref();
        hash.update(&(part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finish().as_ref().try_into().expect("SHA-256 has 32 bytes")
}

fn short(digest: [u8; 32]) -> [u8; 16] {
    std::array::from_fn(|index| digest[index])
}
