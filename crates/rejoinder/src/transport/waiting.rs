//! A tool that never returns and has something to clean up, for the tests of transports that stop.

use std::sync::Mutex;

use tokio::sync::Notify;

use crate::{CallEnd, prelude::*};

/// What is seen of the tool.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) begun: Notify,
    ending: Mutex<Option<CallEnd>>,
}

impl Seen {
    /// How it was told that its call has ended, once it was.
    pub(super) fn ending(&self) -> Option<CallEnd> {
        *self.ending.lock().expect("nobody panics")
    }
}

#[tool]
pub(super) async fn wait(scope: Scope, seen: Dep<Seen>) {
    let told = seen.clone();
    scope.defer(move |ending| async move {
        tokio::task::yield_now().await;
        *told.ending.lock().expect("nobody panics") = Some(ending);
    });
    seen.begun.notify_one();
    std::future::pending::<()>().await;
}
