//! What a test puts in the place of resolvers, and what it sees of a call.

use std::{
    any::{Any, TypeId},
    borrow::Cow,
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::Resolver;
use crate::ask::Question;

/// The values that replace resolvers in a test.
#[derive(Clone, Default)]
pub(crate) struct Doubles(HashMap<TypeId, Arc<dyn Any + Send + Sync>>);

/// The value that replaces one resolver.
struct Double<T>(Box<dyn Fn() -> T + Send + Sync>);

impl Doubles {
    /// Replaces the resolver of that type. A `value` of another type than the resolver's replaces nothing.
    pub(crate) fn insert_for<T: 'static>(&mut self, resolver: TypeId, value: impl Fn() -> T + Send + Sync + 'static) {
        self.0.insert(resolver, Arc::new(Double::<T>(Box::new(value))));
    }

    /// The value that replaces a resolver's, if it is replaced.
    pub(super) fn value<R: Resolver>(&self) -> Option<R::Output> {
        let double = self.0.get(&TypeId::of::<R>())?.downcast_ref::<Double<R::Output>>()?;
        Some((double.0)())
    }
}

impl fmt::Debug for Doubles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Doubles({})", self.0.len())
    }
}

/// Which resolvers ran, in order, and what the client could not be asked. A test puts it into the request's extensions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ran(Arc<Mutex<Noted>>);

#[derive(Debug, Default)]
struct Noted {
    ran: Vec<Cow<'static, str>>,
    unasked: Vec<Unasked>,
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

    /// The names of the resolvers that ran.
    pub(crate) fn take(&self) -> Vec<Cow<'static, str>> {
        std::mem::take(&mut self.noted().ran)
    }

    /// What the client could not be asked.
    pub(crate) fn unasked(&self) -> Vec<Unasked> {
        self.noted().unasked.clone()
    }
}
