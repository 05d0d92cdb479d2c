//! One round of a call: what it brings from the last one, and what it hands to the next.

use std::{panic::AssertUnwindSafe, sync::Arc, time::SystemTime};

use crate::{
    BoxFuture,
    ask::Parked,
    call::{Carriage, RequestInfo},
};
use bytes::Bytes;
use futures_util::FutureExt;
use serde_json::json;

use super::{
    RpcError,
    facts::keep,
    failure::incident,
    input_response::input_responses,
    params::{Field, Params},
    write::{Reply, error_reply, question_reply},
};
use crate::{
    rounds::{
        Progress, Round,
        seal::{Binding, CannotSeal, Opened, REASON, Refused, SENTENCE},
    },
    server::{Engine, PRINCIPAL, Panicked},
};

/// The call that a round belongs to: its state opens for no other.
#[derive(Debug)]
pub(super) struct Bound {
    method: &'static str,
    target: Bytes,
    arguments: Option<Bytes>,
    principal: Option<String>,
    /// Made when a state came: a round that goes on and asks again needs it twice.
    binding: Option<Box<Binding<'static>>>,
    /// When the state that it came with ends.
    expires: Option<SystemTime>,
}

/// A round that may begin, once its state is spent where it may be used once only.
pub(super) struct Begun {
    pub(super) carriage: Carriage,
    /// Whether it continues a call.
    pub(super) continues: bool,
    pub(super) spend: Option<BoxFuture<'static, Result<(), RpcError>>>,
}

impl Bound {
    pub(super) fn new(
        engine: &Engine,
        body: &Bytes,
        (method, target): (&'static str, &str),
        arguments: Option<&str>,
        facts: &RequestInfo,
    ) -> Result<Self, RpcError> {
        Ok(Self {
            method,
            target: keep(body, target),
            arguments: arguments.map(|arguments| keep(body, arguments)),
            principal: engine
                .options
                .principal
                .of(facts)
                .map_err(|panicked| RpcError::panicked(PRINCIPAL, panicked))?,
            binding: None,
            expires: None,
        })
    }

    /// The tool, prompt or resource that is called.
    pub(super) fn target(&self) -> &str {
        text(&self.target)
    }

    /// Whether the arguments were looked at.
    #[cfg(test)]
    pub(super) fn is_made(&self) -> bool {
        self.binding.is_some()
    }

    fn binding(&self) -> Binding<'static> {
        let arguments = self.arguments.as_deref().map(text);
        Binding::new(self.method, self.target(), arguments)
    }

    fn with<T>(&self, run: impl FnOnce(&Binding<'_>) -> T) -> T {
        let binding = self.binding.as_deref().copied().unwrap_or_else(|| self.binding());
        match self.principal.as_deref() {
            None => run(&binding),
            Some(principal) => run(&binding.principal(Some(&[principal]))),
        }
    }

    /// Opens what the round brings. A bad state is refused whether the item ever asks or not.
    pub(super) fn begin(&mut self, engine: &Arc<Engine>, params: &Params<'_>) -> Result<Begun, RpcError> {
        let opened = match &params.request_state {
            Field::Absent => None,
            Field::Wrong => return Err(refused(Refused::not_text(self.method))),
            Field::Given(token) => {
                let unsealed = engine.seal.unseal(self.method, token).map_err(refused)?;
                self.binding = Some(Box::new(self.binding()));
                Some(self.with(|binding| engine.seal.admit(binding, unsealed)).map_err(refused)?)
            }
        };
        self.expires = opened.as_ref().map(|opened| opened.expires);
        let answers = params.input_responses.map(input_responses).transpose()?;
        let continues = opened.is_some() || answers.is_some();
        let progress = opened.as_ref().map(|opened| Progress::read(&opened.state)).unwrap_or_default();
        let carriage = if continues {
            Carriage::With(Arc::new(Round::new(progress, answers.unwrap_or_default())))
        } else {
            Carriage::Fresh(|| Arc::new(Round::default()))
        };
        let spend = opened.filter(|_| engine.seal.is_single_use()).map(|opened| self.spend(engine, opened));
        Ok(Begun { carriage, continues, spend })
    }

    fn spend(&self, engine: &Arc<Engine>, opened: Opened) -> BoxFuture<'static, Result<(), RpcError>> {
        let (engine, method) = (Arc::clone(engine), self.method);
        Box::pin(async move {
            let spending = AssertUnwindSafe(engine.seal.spend(method, &opened)).catch_unwind();
            let spent = spending.await.map_err(|_| RpcError::panicked("the store of spent states", Panicked))?;
            spent.map_err(refused)
        })
    }

    /// The reply of a round that ends in questions.
    pub(super) fn input_required(&self, engine: &Engine, id: &str, parked: Parked) -> Reply {
        // Or a client could keep what was once agreed to alive for ever, by sending it again and again.
        let until = self.expires.filter(|_| !parked.further);
        let token = match self.with(|binding| engine.seal.seal_until(binding, &parked.state, until)) {
            Ok(token) => token,
            Err(error) => return error_reply(Some(id), &cannot_seal(&error)),
        };
        question_reply(id, &parked.questions, &token, &engine.info_json)
    }
}

/// A part of the body, which is text.
fn text(part: &[u8]) -> &str {
    std::str::from_utf8(part).expect("what is not text is refused before anything of it is read")
}

pub(super) fn refused(_: Refused) -> RpcError {
    RpcError::invalid_params(SENTENCE).with_data(json!({ "reason": REASON }))
}

fn cannot_seal(error: &CannotSeal) -> RpcError {
    let id = incident();
    tracing::error!(%error, id, "the state of a call could not be sealed");
    match error {
        CannotSeal::TooLarge { .. } => RpcError::new(RpcError::INTERNAL, error.to_string()),
        CannotSeal::Random(_) => RpcError::internal(&id),
    }
}
