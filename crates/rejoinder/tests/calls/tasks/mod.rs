//! Tasks: calls that go on after the reply to their request. Cases carry the number of their item in the protocol.

mod births;
mod deaths;
mod methods;
mod runs;

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use rejoinder::{form::ConfirmForm, prelude::*, testing::Client};

use crate::journal::Journal;

/// Counts.
#[derive(Debug, Default)]
struct Counter(AtomicU32);

impl Counter {
    fn next(&self) -> u32 {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }
}

fn yes() -> ConfirmForm {
    ConfirmForm { yes: true }
}

/// A client that follows tasks, and can be asked.
fn client(server: Server) -> Client {
    let server = server.provide(Journal::default()).provide(Counter::default());
    Client::new(server).tasks().capabilities(askable())
}

fn askable() -> rejoinder::model::ClientCapabilities {
    serde_json::from_value(serde_json::json!({ "elicitation": { "form": {}, "url": {} } })).expect("capabilities")
}

fn journal(client: &Client) -> Arc<Journal> {
    client.dependency()
}
