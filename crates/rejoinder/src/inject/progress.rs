use std::future::IntoFuture;

use crate::{
    BoxFuture,
    call::{Call, Emitted},
};

/// A progress report that is on its way; `.await` sends it. See [`Context::progress`](super::Context::progress).
#[must_use = "progress is sent when it is awaited"]
#[derive(Debug)]
pub struct Progress {
    call: Call,
    progress: f64,
    total: Option<f64>,
    message: Option<String>,
}

impl Progress {
    pub(super) fn new(call: Call, progress: f64) -> Self {
        Self { call, progress, total: None, message: None }
    }

    /// Says where it ends.
    pub fn total(mut self, total: f64) -> Self {
        self.total = Some(total);
        self
    }

    /// Says it in words.
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }
}

impl IntoFuture for Progress {
    type Output = ();
    type IntoFuture = BoxFuture<'static, ()>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let Self { call, progress, total, message } = self;
            if call.facts().progress_token.is_some() {
                call.outbox().send(Emitted::Progress { progress, total, message }).await;
            }
        })
    }
}
