use std::{
    any::{Any, TypeId},
    collections::HashMap,
    fmt,
    sync::Arc,
};

/// The services that were provided when the server was built, by type.
#[derive(Default, Clone)]
pub struct Dependencies(HashMap<TypeId, Arc<dyn Any + Send + Sync>>);

impl Dependencies {
    /// Provides `value`, in place of an earlier one of the same type.
    pub fn insert<T: Send + Sync + 'static>(&mut self, value: Arc<T>) {
        self.0.insert(TypeId::of::<T>(), value);
    }

    /// The provided `T`.
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.0.get(&TypeId::of::<T>())?.clone().downcast().ok()
    }

    /// Whether something of that type was provided.
    pub fn contains(&self, id: TypeId) -> bool {
        self.0.contains_key(&id)
    }
}

impl fmt::Debug for Dependencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Dependencies({})", self.0.len())
    }
}
