use sha2::{Digest, Sha256};

use super::{canonical::canonical, refused::Reason, token::StateEnvelope};

/// The call a state belongs to. It opens for this call only, in the round in which it comes back.
///
/// What the client may choose is digested in full; what it cannot, to 16 bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Binding<'a> {
    pub(super) method: &'a str,
    request: [u8; 32],
    arguments: [u8; 32],
    principal: Option<&'a [&'a str]>,
}

impl<'a> Binding<'a> {
    /// A call of a method, its target (the name of a tool or prompt, or a URI) and its arguments as JSON.
    ///
    /// No arguments, `null` and `{}` are the same.
    pub(crate) fn new(method: &'a str, target: &str, arguments: Option<&str>) -> Self {
        let request = digest("request", [method, target]);
        let arguments = match arguments.map(str::trim_ascii) {
            None | Some("null") => digest("arguments", ["{}"]),
            Some(arguments) => digest("arguments", [canonical(arguments)]),
        };
        Self { method, request, arguments, principal: None }
    }

    /// Who calls, in as many parts as name it: client, issuer and subject, say. Each part counts.
    pub(crate) fn principal(mut self, parts: Option<&'a [&'a str]>) -> Self {
        self.principal = parts;
        self
    }

    pub(super) fn is_named(&self) -> bool {
        self.principal.is_some()
    }

    /// What goes into an envelope that is sealed for this call.
    pub(super) fn envelope(&self, audience: [u8; 16], id: [u8; 16], (issued, expires): (u64, u64)) -> StateEnvelope {
        let principal = self.principal.map(|parts| principal_digest(id, parts));
        StateEnvelope { issued, expires, id, request: self.request, arguments: self.arguments, audience, principal }
    }

    /// Whether an envelope was sealed for this call.
    ///
    /// Plain comparisons: nobody can put a digest of their own choice into a sealed envelope, so there is nothing to
    /// learn from how long one takes.
    pub(super) fn check(&self, envelope: &StateEnvelope, audience: [u8; 16]) -> Result<(), Reason> {
        if envelope.request != self.request {
            return Err(Reason::Request);
        }
        if envelope.arguments != self.arguments {
            return Err(Reason::Arguments);
        }
        if envelope.audience != audience {
            return Err(Reason::Audience);
        }
        match (envelope.principal, self.principal) {
            (None, None) => Ok(()),
            (Some(_), None) => Err(Reason::PrincipalGone),
            (None, Some(_)) => Err(Reason::PrincipalCame),
            (Some(digest), Some(parts)) if digest == principal_digest(envelope.id, parts) => Ok(()),
            (Some(_), Some(_)) => Err(Reason::Principal),
        }
    }
}

/// The server a state belongs to.
pub(super) fn audience_digest(audience: &str) -> [u8; 16] {
    short(digest("audience", [audience]))
}

/// The id of the state is the salt.
fn principal_digest(id: [u8; 16], parts: &[&str]) -> [u8; 16] {
    short(digest("principal", [&id[..]].into_iter().chain(parts.iter().map(|part| part.as_bytes()))))
}

/// SHA-256 of parts, each with its length before it, so that no two lists of parts are the same bytes.
fn digest<P: AsRef<[u8]>>(label: &str, parts: impl IntoIterator<Item = P>) -> [u8; 32] {
    let mut hash = Sha256::new_with_prefix("rejoinder/state/v1/");
    hash.update(label);
    hash.update(b"\0");
    for part in parts {
        let part = part.as_ref();
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

fn short(digest: [u8; 32]) -> [u8; 16] {
    let mut short = [0; 16];
    short.copy_from_slice(&digest[..16]);
    short
}
