//! Provided services.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use super::CallTraces;

/// The services that were provided when the server was built, by type.
#[derive(Debug, Default, Clone)]
pub(crate) struct Dependencies {
    /// An `Arc` of each, because `dyn Trait` is not `Any` but an `Arc` of it is; or the place for one that is made when the
    /// server starts.
    services: HashMap<TypeId, Arc<dyn Any + Send + Sync>>,
    /// What replaces each resolver that a test replaces, by the type of the resolver.
    doubles: HashMap<TypeId, Arc<dyn Any + Send + Sync>>,
    /// The calls that tests follow, once there is a test.
    traces: OnceLock<CallTraces>,
}

impl Dependencies {
    /// Provides `value`, in place of an earlier one of the same type.
    pub(crate) fn insert<T: ?Sized + Send + Sync + 'static>(&mut self, value: Arc<T>) {
        self.services.insert(TypeId::of::<T>(), Arc::new(value));
    }

    /// Provides a `T` that is made when the server starts: the place where it is put then.
    pub(crate) fn insert_later<T: ?Sized + Send + Sync + 'static>(&mut self) -> Arc<OnceLock<Arc<T>>> {
        let place: Arc<OnceLock<Arc<T>>> = Arc::default();
        self.services.insert(TypeId::of::<T>(), Arc::clone(&place) as Arc<dyn Any + Send + Sync>);
        place
    }

    /// Whether the `T` is made when the server starts.
    pub(crate) fn is_later<T: ?Sized + Send + Sync + 'static>(&self) -> bool {
        self.services.get(&TypeId::of::<T>()).is_some_and(|service| service.is::<OnceLock<Arc<T>>>())
    }

    /// The provided `T`.
    pub(crate) fn get<T: ?Sized + Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let service = self.services.get(&TypeId::of::<T>())?;
        service.downcast_ref().or_else(|| service.downcast_ref::<OnceLock<Arc<T>>>()?.get()).cloned()
    }

    /// Whether something of that type was provided.
    pub(crate) fn contains(&self, id: TypeId) -> bool {
        self.services.contains_key(&id)
    }

    /// Replaces the resolver of that type.
    pub(crate) fn replace_resolver(&mut self, resolver: TypeId, double: impl Any + Send + Sync) {
        self.doubles.insert(resolver, Arc::new(double));
    }

    /// What replaces the resolver of that type, if it has the type `D`.
    pub(crate) fn replaced<D: 'static>(&self, resolver: TypeId) -> Option<&D> {
        self.doubles.get(&resolver)?.downcast_ref()
    }

    /// Where a test follows calls.
    pub(crate) fn traces(&self) -> &CallTraces {
        self.traces.get_or_init(CallTraces::default)
    }

    /// Where tests follow calls, if there is a test.
    pub(super) fn traces_of_tests(&self) -> Option<&CallTraces> {
        self.traces.get()
    }
}
