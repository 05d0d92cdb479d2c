use std::{
    any::{Any, TypeId},
    collections::HashMap,
    fmt,
    sync::Arc,
};

use super::{Edge, Resolver};

/// What stands in for resolvers in a test.
#[derive(Clone, Default)]
pub struct Doubles(HashMap<TypeId, Arc<dyn Any + Send + Sync>>);

/// What stands in for one.
struct Double<T>(Box<dyn Fn() -> T + Send + Sync>);

impl Doubles {
    /// Lets `value` stand in for the resolver.
    pub fn insert<R: Resolver>(&mut self, value: impl Fn() -> R::Output + Send + Sync + 'static) {
        self.0.insert(TypeId::of::<R>(), Arc::new(Double::<R::Output>(Box::new(value))));
    }

    /// What the stand-in of a resolver makes, if it has one.
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

/// Whether these edges lead to a resolver. The graph has no cycles.
pub fn leads_to(edges: &[Edge], resolver: TypeId) -> bool {
    edges.iter().any(|edge| {
        let instance = (edge.instance)();
        (instance.type_id)() == resolver || leads_to(instance.edges, resolver)
    })
}
