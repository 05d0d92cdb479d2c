use std::{any::TypeId, collections::HashSet};

use super::{Edge, Instance};
use crate::inject::Need;

/// What the resolvers that these edges reach need to have been provided, after what the item itself needs.
pub fn needs_below(mut own: Vec<(&'static str, Need)>, edges: &[Edge]) -> Vec<(&'static str, Need)> {
    let mut seen = HashSet::new();
    edges.iter().for_each(|edge| add((edge.instance)(), &mut seen, &mut own));
    own
}

fn add(instance: &Instance, seen: &mut HashSet<TypeId>, needs: &mut Vec<(&'static str, Need)>) {
    if seen.insert((instance.type_id)()) {
        let of_resolver = |need| Need { resolver: Some(instance.node.name), ..need };
        needs.extend((instance.needs)().into_iter().map(|(parameter, need)| (parameter, of_resolver(need))));
        instance.edges.iter().for_each(|edge| add((edge.instance)(), seen, needs));
    }
}
