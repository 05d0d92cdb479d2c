use std::{sync::Arc, time::SystemTime};

use super::seal::{Binding, CannotSeal, Opened, Refused, Seal};
use crate::{ask::Parked, call::Utf8Bytes, error::CallError};

/// The call that a state belongs to: it opens for no other.
#[derive(Debug)]
pub(crate) struct Bound {
    seal: Arc<Seal>,
    method: &'static str,
    target: Utf8Bytes,
    arguments: Option<Utf8Bytes>,
    principal: Option<String>,
    /// Made when a state came: a round that continues a call and asks again needs it twice.
    binding: Option<Box<Binding<'static>>>,
    /// When the state of this round expires.
    expires: Option<SystemTime>,
}

impl Bound {
    pub(crate) fn new(
        seal: Arc<Seal>,
        method: &'static str,
        target: Utf8Bytes,
        arguments: Option<Utf8Bytes>,
        principal: Option<String>,
    ) -> Self {
        Self { seal, method, target, arguments, principal, binding: None, expires: None }
    }

    /// Opens the state that a request brings.
    pub(crate) fn open(&mut self, token: &str) -> Result<Opened, Refused> {
        // Before the arguments are hashed, which costs as much as they are long.
        let unsealed = self.seal.unseal(self.method, token)?;
        self.binding = Some(Box::new(self.binding()));
        let opened = self.with(|binding| self.seal.admit(binding, unsealed))?;
        self.expires = Some(opened.expires);
        Ok(opened)
    }

    /// Seals the state of a round that ends in questions.
    pub(crate) fn seal(&self, parked: &Parked) -> Result<String, CallError> {
        // A round that brings nothing new must not extend the life of what was agreed to before.
        let until = self.expires.filter(|_| !parked.further);
        self.with(|binding| self.seal.seal_until(binding, &parked.state, until)).map_err(|error| match error {
            CannotSeal::TooLarge { .. } => CallError::protocol(-32603, error.to_string(), None),
            CannotSeal::Random(_) => CallError::internal(error),
        })
    }

    fn binding(&self) -> Binding<'static> {
        Binding::new(self.method, &self.target, self.arguments.as_deref())
    }

    fn with<T>(&self, run: impl FnOnce(&Binding<'_>) -> T) -> T {
        let binding = self.binding.as_deref().copied().unwrap_or_else(|| self.binding());
        match self.principal.as_deref() {
            None => run(&binding),
            Some(principal) => run(&binding.principal(Some(&[principal]))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::seal::StatePolicy, *};

    #[test]
    fn a_forged_state_is_refused_before_the_arguments_are_hashed() {
        let options = StatePolicy::default();
        let long = "x".repeat(options.limit + 1);
        let seal = Arc::new(Seal::new("shop", &options).expect("good options"));
        for forged in ["", "junk", "v1.", "v1.AAAA", &long] {
            let arguments = Some(r#"{"item":"tea"}"#.into());
            let mut bound = Bound::new(Arc::clone(&seal), "tools/call", "buy".into(), arguments, None);
            assert!(bound.open(forged).is_err());
            assert!(bound.binding.is_none(), "{forged:.10}");
        }
    }
}
