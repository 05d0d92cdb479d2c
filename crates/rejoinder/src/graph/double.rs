use std::{
    any::{Any, TypeId},
    collections::HashMap,
    fmt,
    sync::Arc,
};

use super::{Edge, Instance, Resolver};

/// What stands in for resolvers in a test.
#[derive(Clone, Default)]
pub(crate) struct Doubles(HashMap<TypeId, Arc<dyn Any + Send + Sync>>);

/// What stands in for one.
struct Double<T>(Box<dyn Fn() -> T + Send + Sync>);

impl Doubles {
    /// Lets `value` stand in for the resolver.
    pub(crate) fn insert<R: Resolver>(&mut self, value: impl Fn() -> R::Output + Send + Sync + 'static) {
        self.insert_for(TypeId::of::<R>(), value);
    }

    /// The same for a resolver of that type. If it makes something else than `value` does, that stands in for nothing.
    pub(crate) fn insert_for<T: 'static>(&mut self, resolver: TypeId, value: impl Fn() -> T + Send + Sync + 'static) {
        self.0.insert(resolver, Arc::new(Double::<T>(Box::new(value))));
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

/// The first resolver of that kind that these edges lead to. The graph has no cycles.
pub(crate) fn find_below(edges: &[Edge], is: &dyn Fn(&Instance) -> bool) -> Option<&'static Instance> {
    edges.iter().find_map(|edge| {
        let instance = (edge.instance)();
        if is(instance) { Some(instance) } else { find_below(instance.edges, is) }
    })
}
