//! Questions that go out with the reply of a round. Their answers come back with a retry of the request, together with the
//! record of the call in a sealed `requestState`.

use std::{
    sync::{Arc, OnceLock},
    time::SystemTime,
};

use futures_util::future::BoxFuture;
use serde_json::value::RawValue;

use super::seal::{Binding, Opened, Seal, StateRefusal};
use crate::{
    ask::Question,
    auth::Principal,
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
    principal: Option<Principal>,
    /// Made when a state is opened or sealed: most calls do neither.
    binding: OnceLock<Binding>,
    /// When the state of this round expires.
    expires: Option<SystemTime>,
}

impl StatelessCarrier {
    pub(crate) fn new(
        seal: Arc<Seal>,
        method: &'static str,
        target: Utf8Bytes,
        arguments: Option<Utf8Bytes>,
        principal: Option<Principal>,
    ) -> Self {
        Self { seal, method, target, arguments, principal, binding: OnceLock::new(), expires: None }
    }

    #[cfg(test)]
    pub(crate) fn for_tests() -> Self {
        let seal = Seal::new("test", &super::seal::StatePolicy::default()).expect("good options");
        Self::new(Arc::new(seal), "tools/call", "test".into(), None, None)
    }

    /// Opens the state that a request brings.
    pub(crate) fn open(&mut self, token: &str) -> Result<Opened, StateRefusal> {
        let opened = self.seal.open_for(self.method, token, || self.binding())?;
        self.expires = Some(opened.expires);
        Ok(opened)
    }

    fn binding(&self) -> &Binding {
        self.binding.get_or_init(|| {
            let binding = Binding::new(self.method, &self.target, self.arguments.as_deref());
            binding.principal(self.principal.clone())
        })
    }
}

impl Carrier for StatelessCarrier {
    fn ask<'a>(&'a self, _: &'a str, _: &'a Question) -> Option<BoxFuture<'a, Result<Box<RawValue>, CallError>>> {
        None
    }

    fn park(&self, questions: Vec<(Arc<str>, Question)>, record: &mut CallRecord) -> Result<Parked, CallError> {
        // A round that brings nothing new must not extend the life of an earlier consent.
        let until = self.expires.filter(|_| !record.has_progressed());
        let state = self.seal.seal_until(self.binding(), &record.write(self.seal.record_limit()), until)?;
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
            assert!(bound.binding.get().is_none(), "{forged:.10}");
        }
    }
}
