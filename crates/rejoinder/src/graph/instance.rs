use std::{
    any::{Any, TypeId, type_name},
    borrow::Cow,
    collections::HashSet,
    panic::{AssertUnwindSafe, catch_unwind},
};

use super::{Edge, Node, NodeArgument, Resolver};
use crate::{form::Form, inject::Need};

/// A resolver as a call runs it: a [`Node`] with its types.
#[derive(Debug)]
pub struct Instance {
    /// Its place in the graph.
    pub node: &'static Node,
    /// Its parameters that are not filled by resolvers.
    pub arguments: &'static [NodeArgument<'static>],
    /// The resolvers it needs.
    pub edges: &'static [Edge],
    /// The form that it asks the user to fill in, if its type shows one.
    pub form: Option<fn() -> Form>,
    /// Its types.
    pub types: ResolverTypes,
}

/// The types of a resolver.
#[derive(Debug)]
pub struct ResolverTypes {
    /// Its own, under which its outcome is kept.
    pub(crate) resolver: fn() -> TypeId,
    name: fn() -> &'static str,
    /// That of its function, by which a method is found that has no type of its name.
    pub(crate) function: fn() -> TypeId,
    /// That of its value.
    pub(crate) output: fn() -> TypeId,
    /// The name of that type.
    pub(crate) output_name: fn() -> &'static str,
}

impl Instance {
    /// The types of `R`, whose function is an `F`.
    pub const fn types<R: Resolver, F: Any>(_function: &F) -> ResolverTypes {
        ResolverTypes {
            resolver: TypeId::of::<R>,
            name: type_name::<R>,
            function: TypeId::of::<F>,
            output: TypeId::of::<R::Output>,
            output_name: type_name::<R::Output>,
        }
    }

    /// Its type, under which its outcome is kept.
    pub(crate) fn type_id(&self) -> TypeId {
        (self.types.resolver)()
    }

    /// Its name as it is written in `#[resolve(..)]`: `load::<User>`.
    pub(crate) fn shown(&self) -> Cow<'static, str> {
        let name = self.node.name;
        match (self.types.name)().split_once('<') {
            Some((_, types)) => Cow::Owned(format!("{name}::<{}", without_modules(types))),
            None => Cow::Borrowed(name),
        }
    }
}

/// Every resolver that these edges reach, each once, in the order in which a depth-first walk meets them.
pub(crate) fn below(edges: &[Edge]) -> Vec<&'static Instance> {
    fn add(edges: &[Edge], seen: &mut HashSet<TypeId>, found: &mut Vec<&'static Instance>) {
        for instance in edges.iter().map(|edge| (edge.instance)()) {
            if seen.insert(instance.type_id()) {
                found.push(instance);
                add(instance.edges, seen, found);
            }
        }
    }
    let (mut seen, mut found) = (HashSet::new(), Vec::new());
    add(edges, &mut seen, &mut found);
    found
}

/// What the parameters of an item and of the resolvers that it reaches need to have been provided.
pub(crate) fn needs_of(arguments: &[NodeArgument<'static>], edges: &[Edge]) -> Vec<(&'static str, Need)> {
    let needs = |arguments: &[NodeArgument<'static>], resolver| {
        let need = |argument: &NodeArgument<'static>| Some((argument.name, Need { resolver, ..(argument.need)()? }));
        arguments.iter().filter_map(need).collect::<Vec<_>>()
    };
    let mut all = needs(arguments, None);
    all.extend(below(edges).into_iter().flat_map(|instance| needs(instance.arguments, Some(instance.node.name))));
    all
}

/// What is wrong with the forms of the resolvers that these edges reach.
///
/// A form is made when it is first asked for, and panics if a default does not fit its field. Here it is made earlier.
pub(crate) fn bad_forms(edges: &[Edge]) -> Vec<String> {
    let check = |instance: &'static Instance| {
        let panic = catch_unwind(AssertUnwindSafe(instance.form?)).err()?;
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it panics");
        Some(format!("the form of resolver `{}` cannot be made: {text}", instance.shown()))
    };
    below(edges).into_iter().filter_map(check).collect()
}

/// The names of types without the paths to them.
fn without_modules(types: &str) -> String {
    let mut shown = String::with_capacity(types.len());
    let mut word = 0;
    let mut rest = types.chars().peekable();
    while let Some(c) = rest.next() {
        if c == ':' && rest.next_if_eq(&':').is_some() {
            shown.truncate(word);
            continue;
        }
        shown.push(c);
        if !(c.is_alphanumeric() || c == '_') {
            word = shown.len();
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_shown_without_their_modules() {
        assert_eq!(without_modules("alloc::vec::Vec<shop::User>, 3>"), "Vec<User>, 3>");
        assert_eq!(without_modules("(u8, &[core::option::Option<i32>])>"), "(u8, &[Option<i32>])>");
    }
}
