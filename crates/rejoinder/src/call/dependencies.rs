//! Provided services.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    fmt,
    sync::Arc,
};

use crate::graph::Doubles;

/// The services that were provided when the server was built, by type.
#[derive(Default, Clone)]
pub(crate) struct Dependencies {
    /// An `Arc` of each, because `dyn Trait` is not `Any` but an `Arc` of it is.
    services: HashMap<TypeId, Arc<dyn Any + Send + Sync>>,
    doubles: Option<Doubles>,
}

impl Dependencies {
    /// Provides `value`, in place of an earlier one of the same type.
    pub(crate) fn insert<T: ?Sized + Send + Sync + 'static>(&mut self, value: Arc<T>) {
        self.services.insert(TypeId::of::<T>(), Arc::new(value));
    }

    /// The provided `T`.
    pub(crate) fn get<T: ?Sized + Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.services.get(&TypeId::of::<T>())?.downcast_ref().cloned()
    }

    /// Whether something of that type was provided.
    pub(crate) fn contains(&self, id: TypeId) -> bool {
        self.services.contains_key(&id)
    }

    /// The replacements of resolvers, in a test.
    pub(crate) fn doubles(&self) -> Option<&Doubles> {
        self.doubles.as_ref()
    }

    /// The same, to add to them.
    pub(crate) fn doubles_mut(&mut self) -> &mut Doubles {
        self.doubles.get_or_insert_default()
    }
}

impl fmt::Debug for Dependencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Dependencies({})", self.services.len())
    }
}
