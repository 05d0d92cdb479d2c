//! Questions that go out with the reply of a round. Their answers come back with a retry of the request, together with the
//! record of the call in a sealed `requestState`.

use std::{sync::Arc, time::SystemTime};

use super::seal::{Binding, CannotSeal, Opened, Refused, Seal};
use crate::{
    BoxFuture,
    ask::{Question, RawAnswer},
    call::{CallRecord, Carrier, Parked, Utf8Bytes},
    error::CallError,
};

/// The carrier of a stateless call. The states that it seals open for this call only.
#[derive(Debug)]
pub(crate) struct StatelessCarrier {
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

impl StatelessCarrier {
    pub(crate) fn new(
        seal: Arc<Seal>,
        method: &'static str,
        target: Utf8Bytes,
        arguments: Option<Utf8Bytes>,
        principal: Option<String>,
    ) -> Self {
        Self { seal, method, target, arguments, principal, binding: None, expires: None }
    }

    #[cfg(test)]
    pub(crate) fn for_tests() -> Self {
        let seal = Seal::new("test", &super::seal::StatePolicy::default()).expect("good options");
        Self::new(Arc::new(seal), "tools/call", "test".into(), None, None)
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

impl Carrier for StatelessCarrier {
    fn ask<'a>(&'a self, _: &'a str, _: &'a Question) -> Option<BoxFuture<'a, Result<RawAnswer, CallError>>> {
        None
    }

    fn park(&self, questions: Vec<(Arc<str>, Question)>, record: &CallRecord) -> Result<Parked, CallError> {
        // A round that brings nothing new must not extend the life of an earlier consent.
        let until = self.expires.filter(|_| !record.has_progressed());
        let sealed = self.with(|binding| self.seal.seal_until(binding, &record.write(), until));
        let state = sealed.map_err(|error| match error {
            CannotSeal::TooLarge { .. } => CallError::protocol(-32603, error.to_string(), None),
            CannotSeal::Random(_) => CallError::internal(error),
        })?;
        Ok(Parked::InputRequired { questions, state })
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
            let mut bound = StatelessCarrier::new(Arc::clone(&seal), "tools/call", "buy".into(), arguments, None);
            assert!(bound.open(forged).is_err());
            assert!(bound.binding.is_none(), "{forged:.10}");
        }
    }
}
