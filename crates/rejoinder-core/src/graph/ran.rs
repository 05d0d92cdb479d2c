use std::{
    borrow::Cow,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Which resolvers ran, in order, and what could not be asked: for a test, which puts it into the request's extensions.
#[derive(Debug, Clone, Default)]
pub struct Ran(Arc<Mutex<Noted>>);

#[derive(Debug, Default)]
struct Noted {
    ran: Vec<Cow<'static, str>>,
    unasked: Vec<String>,
}

impl Ran {
    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn note(&self, resolver: Cow<'static, str>) {
        self.noted().ran.push(resolver);
    }

    pub(crate) fn note_unasked(&self, key: &str) {
        self.noted().unasked.push(key.to_owned());
    }

    /// The resolvers' names.
    pub fn take(&self) -> Vec<Cow<'static, str>> {
        std::mem::take(&mut self.noted().ran)
    }

    /// The keys of what the client cannot be asked.
    pub fn unasked(&self) -> Vec<String> {
        self.noted().unasked.clone()
    }
}
