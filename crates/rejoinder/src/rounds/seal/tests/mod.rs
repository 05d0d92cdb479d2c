//! The numbers are those of the catalogue of behaviours that other implementations have: S for the seal itself, B for
//! what it is bound to.

mod bound;
mod form;
mod keyring;
mod log;
mod props;
mod quiet;
mod single_use;

use std::{
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

pub(crate) use log::Log;

use super::{Binding, Opened, Seal, StateKeys, StatePolicy, StateRefusal, policy::Clock, token};
use crate::{auth::Principal, error::CallError};

const ONE: [u8; 32] = *b"the first of two keys, 32 bytes.";
const TWO: [u8; 32] = *b"the second one, also of 32 bytes";

/// A clock that a test sets.
#[derive(Clone)]
struct Hands(Arc<Mutex<SystemTime>>);

impl Hands {
    fn new() -> Self {
        Self(Arc::new(Mutex::new(SystemTime::now())))
    }

    fn clock(&self) -> Clock {
        let hands = self.clone();
        Arc::new(move || hands.now())
    }

    fn now(&self) -> SystemTime {
        *self.0.lock().unwrap()
    }

    fn forward(&self, by: Duration) {
        *self.0.lock().unwrap() += by;
    }

    fn back(&self, by: Duration) {
        *self.0.lock().unwrap() -= by;
    }
}

impl Seal {
    fn seal(&self, binding: &Binding, state: &[u8]) -> Result<String, CallError> {
        self.seal_until(binding, state, None)
    }

    fn open(&self, binding: &Binding, token: &str) -> Result<Opened, StateRefusal> {
        self.open_for("tools/call", token, || binding)
    }
}

fn options(keys: &[[u8; 32]]) -> StatePolicy {
    StatePolicy { keys: Some(StateKeys::new(keys).unwrap()), ..StatePolicy::default() }
}

fn with_keys(keys: &[[u8; 32]]) -> Seal {
    Seal::new("shop", &options(keys)).unwrap()
}

fn with_clock(hands: &Hands) -> Seal {
    Seal::new("shop", &StatePolicy { clock: hands.clock(), ..options(&[ONE]) }).unwrap()
}

fn call() -> Binding {
    Binding::new("tools/call", "buy", Some(r#"{"item":"tea","count":1}"#))
}

/// Why a seal does not open a token for a call.
#[track_caller]
fn refusal(opened: Result<Opened, StateRefusal>) -> StateRefusal {
    opened.expect_err("it must not open")
}

fn bytes(token: &str) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(&token[token::PREFIX.len()..]).unwrap()
}

fn text(bytes: &[u8]) -> String {
    format!("{}{}", token::PREFIX, URL_SAFE_NO_PAD.encode(bytes))
}
