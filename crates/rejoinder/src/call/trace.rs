//! What a test sees of a call.

use std::{
    borrow::Cow,
    sync::{Arc, Mutex, MutexGuard},
};

use crate::{ask::Question, lock};

/// What happened in a call. A test puts it into the request's extensions.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallTrace(Arc<Mutex<Traced>>);

/// What a [`CallTrace`] has seen.
#[derive(Debug, Default)]
pub(crate) struct Traced {
    /// The names of the resolvers that ran, in order.
    pub(crate) ran: Vec<Cow<'static, str>>,
    pub(crate) unasked: Vec<Unasked>,
    /// How often the body of the function started.
    pub(crate) runs: usize,
    /// What earlier runs recorded and the last one did not reach.
    pub(crate) unreached: Vec<String>,
}

/// A question that the client could not be asked.
#[derive(Debug, Clone)]
pub(crate) struct Unasked {
    /// Its key.
    pub(crate) key: String,
    /// The question itself.
    pub(crate) question: Question,
    /// Whether a type says how to read the answer.
    pub(crate) is_typed: bool,
}

impl CallTrace {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Traced> {
        lock(&self.0)
    }
}
