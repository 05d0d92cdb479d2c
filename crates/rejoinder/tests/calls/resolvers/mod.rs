//! Parameters that resolvers fill: the same functions, for clients of both eras.

#![expect(
    clippy::unwrap_used,
    clippy::ptr_arg,
    reason = "tests may panic; a parameter has the type that its resolver makes"
)]

mod asking;
mod at_run_time;
mod borrowing;
mod computed;
mod doubles;
mod failing;
mod generic;
mod injected_first;
mod names;
mod outcomes;
mod pipes;
mod prompts_and_resources;
mod pure;
mod together;

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
};

use rejoinder::testing::in_both_eras;
use rejoinder::{Call, FromCall, call::Era, prelude::*, testing::Client};
use serde_json::json;
use tokio::sync::Barrier;

#[derive(Elicit, Debug, Clone, PartialEq)]
struct Name {
    name: String,
}

#[derive(Elicit, Debug)]
struct Confirm {
    yes: bool,
}

/// Counts what ran.
#[derive(Default)]
struct Runs(Mutex<BTreeMap<&'static str, u32>>);

impl Runs {
    fn count(&self, name: &'static str) {
        *self.0.lock().unwrap().entry(name).or_default() += 1;
    }

    fn of(&self, name: &str) -> u32 {
        self.0.lock().unwrap().get(name).copied().unwrap_or_default()
    }
}

/// A parameter of our own, which resolvers take like any other.
struct Version(String);

impl FromCall for Version {
    async fn from_call(call: &Call, _: &'static str) -> Result<Self, CallError> {
        Ok(Self(call.request().protocol_version.to_string()))
    }
}

fn ada() -> Name {
    Name { name: "Ada".into() }
}
