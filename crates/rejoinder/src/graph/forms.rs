use std::{
    any::{Any, TypeId},
    collections::HashSet,
    panic::{AssertUnwindSafe, catch_unwind},
};

use super::{Edge, Instance};

/// What is wrong with the forms that the resolvers which these edges reach ask the user to fill in.
///
/// A form is made when it is first asked for, and panics if a default does not fit its field: here it is made before.
pub(crate) fn bad_forms(edges: &[Edge]) -> Vec<String> {
    let (mut seen, mut bad) = (HashSet::new(), Vec::new());
    edges.iter().for_each(|edge| add((edge.instance)(), &mut seen, &mut bad));
    bad
}

fn add(instance: &Instance, seen: &mut HashSet<TypeId>, bad: &mut Vec<String>) {
    if !seen.insert((instance.type_id)()) {
        return;
    }
    if let Some(form) = instance.form
        && let Err(panic) = catch_unwind(AssertUnwindSafe(form))
    {
        bad.push(format!("resolver `{}` asks with a form that cannot be made: {}", instance.shown(), said(&*panic)));
    }
    instance.edges.iter().for_each(|edge| add((edge.instance)(), seen, bad));
}

fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it panics")
}
