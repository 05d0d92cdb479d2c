use std::{
    borrow::Cow,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::ask::Question;

/// Which resolvers ran, in order, and what could not be asked: for a test, which puts it into the request's extensions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ran(Arc<Mutex<Noted>>);

#[derive(Debug, Default)]
struct Noted {
    ran: Vec<Cow<'static, str>>,
    unasked: Vec<Unasked>,
}

/// What a client could not be asked.
#[derive(Debug, Clone)]
pub(crate) struct Unasked {
    /// Its key.
    pub key: String,
    /// The question itself.
    pub question: Question,
    /// Whether a type says how to read the answer.
    pub is_typed: bool,
}

impl Ran {
    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn note(&self, resolver: Cow<'static, str>) {
        self.noted().ran.push(resolver);
    }

    pub(crate) fn note_unasked(&self, unasked: Unasked) {
        self.noted().unasked.push(unasked);
    }

    /// The resolvers' names.
    pub(crate) fn take(&self) -> Vec<Cow<'static, str>> {
        std::mem::take(&mut self.noted().ran)
    }

    /// What the client cannot be asked.
    pub(crate) fn unasked(&self) -> Vec<Unasked> {
        self.noted().unasked.clone()
    }
}
