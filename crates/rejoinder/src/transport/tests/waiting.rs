//! A tool that never returns and has deferred work, for the tests of transports that stop.

use std::sync::Mutex;

use tokio::sync::Notify;

use crate::{call::CallEnd, prelude::*};

/// What a test sees of the tool.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) begun: Notify,
    ending: Mutex<Option<CallEnd>>,
}

impl Seen {
    /// The end that its deferred work was given.
    pub(crate) fn ending(&self) -> Option<CallEnd> {
        *self.ending.lock().expect("nobody panics")
    }
}

#[tool]
pub(crate) async fn wait(scope: Scope, seen: Dep<Seen>) {
    let observed = seen.clone();
    scope.defer(move |ending| async move {
        tokio::task::yield_now().await;
        *observed.ending.lock().expect("nobody panics") = Some(ending);
    });
    seen.begun.notify_one();
    std::future::pending::<()>().await;
}
