use std::sync::{Arc, Mutex, PoisonError};

/// Which resolvers ran, in order: for a test, which puts it into the request's extensions.
#[derive(Debug, Clone, Default)]
pub struct Ran(Arc<Mutex<Vec<&'static str>>>);

impl Ran {
    pub(super) fn note(&self, resolver: &'static str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(resolver);
    }

    /// Their names.
    pub fn take(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
