//! The events of a test, in order.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

/// What functions have noted.
#[derive(Clone, Default)]
pub(crate) struct Journal(Arc<Mutex<Vec<String>>>);

impl Journal {
    pub(crate) fn note(&self, text: impl Into<String>) {
        self.0.lock().expect("no panic").push(text.into());
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().expect("no panic"))
    }

    /// Waits until there are that many events.
    pub(crate) async fn wait_for(&self, events: usize) -> Vec<String> {
        let there = async {
            while self.0.lock().expect("no panic").len() < events {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        let waited = tokio::time::timeout(Duration::from_secs(30), there).await;
        assert!(waited.is_ok(), "only {:?}", self.take());
        self.take()
    }
}
