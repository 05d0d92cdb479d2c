use std::{
    any::TypeId,
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use super::{Edge, Instance};

/// The key under which each resolver of one item asks: its name, numbered where two that ask have the same.
///
/// The numbers follow the order in which the resolvers are met, so every replica finds the same ones.
#[derive(Debug, Default)]
pub struct Keys {
    keys: HashMap<TypeId, Cow<'static, str>>,
    resolvers: usize,
}

impl Keys {
    /// The keys of everything that these edges reach.
    pub fn of(edges: &[Edge]) -> Self {
        let mut keys = Self::default();
        let (mut seen, mut taken) = (HashSet::new(), HashMap::new());
        edges.iter().for_each(|edge| keys.add((edge.instance)(), &mut seen, &mut taken));
        keys.resolvers = seen.len();
        keys
    }

    fn add(&mut self, instance: &Instance, seen: &mut HashSet<TypeId>, taken: &mut HashMap<&'static str, usize>) {
        let (node, id) = (instance.node, (instance.type_id)());
        if !seen.insert(id) {
            return;
        }
        if node.asks {
            let name = node.key.unwrap_or(node.name);
            let count = taken.entry(name).or_insert(0);
            let key = if *count == 0 { Cow::Borrowed(name) } else { Cow::Owned(format!("{name}#{count}")) };
            *count += 1;
            self.keys.insert(id, key);
        }
        instance.edges.iter().for_each(|edge| self.add((edge.instance)(), seen, taken));
    }

    /// The key of a resolver.
    pub fn get(&self, instance: &Instance) -> &str {
        self.keys.get(&(instance.type_id)()).map_or(instance.node.name, |key| key)
    }

    /// How many resolvers the item has, those that ask nothing among them.
    pub(super) fn resolvers(&self) -> usize {
        self.resolvers
    }
}
