use std::{
    any::{Any, TypeId, type_name},
    borrow::Cow,
    collections::HashSet,
    panic::{AssertUnwindSafe, catch_unwind},
};

use super::{Complete, Resolver};
use crate::{
    argument::{Argument, ByName},
    form::Form,
    inject::{FromCall, Need, Parameter, source},
};

/// A resolver in the graph: one static value, which constant evaluation can walk.
///
/// Nodes point at each other, in a cycle too if the author wrote one; the checks look for that. A generic resolver has one
/// node for all its [`Instance`]s, which need the same.
#[derive(Debug)]
pub struct Node {
    /// Identifies the node in constant evaluation.
    pub id: u64,
    /// The function's name.
    pub name: &'static str,
    /// The key it asks under, if the author chose one.
    pub key: Option<&'static str>,
    /// Where it is written: `file:line`.
    pub at: &'static str,
    /// Its parameters that are not filled by resolvers.
    pub arguments: &'static [NodeArgument<'static>],
    /// The resolvers it needs.
    pub below: &'static [&'static Node],
    /// What it returns, as written.
    pub returns: &'static str,
    /// Whether it may ask.
    pub asks: bool,
    /// Whether its value is kept for the other parameters of the round.
    pub cached: bool,
}

impl Node {
    /// A number that identifies the function of that name, which is numbered, in that module and at that place.
    pub const fn id(module: &str, name: &str, at: &str) -> u64 {
        // Never 0, which is an empty place in a set.
        hash(hash(hash(EMPTY, module), name), at) | 1
    }
}

/// What is not a resolver in the graph: a tool, prompt or resource, or a pipe or completion function that one names.
#[derive(Debug)]
pub struct ItemNode<'a> {
    /// `tool`, `prompt`, `resource`, `pipe` or `completion function`; `gate` for the place where a resolver is one.
    pub(crate) kind: &'static str,
    /// Its name.
    pub(crate) name: &'a str,
    /// Its parameters that are not filled by resolvers. The value of a pipe is not among them.
    pub(crate) arguments: &'a [NodeArgument<'a>],
    /// The resolvers it needs.
    pub(crate) edges: &'a [Edge],
    /// Whether it makes its rounds by hand.
    pub(crate) by_hand: bool,
}

impl<'a> ItemNode<'a> {
    /// A node of that kind.
    pub const fn new(
        kind: &'static str,
        name: &'a str,
        arguments: &'a [NodeArgument<'a>],
        edges: &'a [Edge],
        by_hand: bool,
    ) -> Self {
        Self { kind, name, arguments, edges, by_hand }
    }

    /// Whether its resolvers may ask.
    pub(super) const fn may_ask(&self) -> bool {
        !matches!(self.kind.as_bytes(), b"completion function" | b"gate")
    }

    /// Why its resolvers cannot take arguments by name, if they cannot.
    pub(super) const fn without_arguments(&self) -> Option<&'static str> {
        match self.kind.as_bytes() {
            b"pipe" | b"completion function" => Some("runs before arguments can be taken by name"),
            b"gate" => Some("runs without arguments"),
            _ => None,
        }
    }
}

/// A parameter that no resolver fills.
#[derive(Debug, Clone, Copy)]
pub struct NodeArgument<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its type, as written.
    pub written: &'a str,
    /// Whether it is an argument; otherwise the call supplies it.
    pub is_argument: bool,
    /// The header that it is, if it is one.
    pub header: Option<&'a str>,
    /// The pipes that it passes through.
    pub pipes: &'a [&'static ItemNode<'static>],
    /// Whether it is `Rounds`.
    pub(super) by_hand: bool,
    /// Whether what it takes of the call is known.
    is_ours: bool,
    /// What it needs to have been provided.
    pub(super) need: fn() -> Option<Need>,
    /// How it is read where only its name is known, if it is an argument.
    pub(super) by_name: Option<ByName>,
    /// `#[arg(complete = ..)]`.
    pub(crate) complete: Option<Complete>,
}

impl<'a> NodeArgument<'a> {
    /// A parameter of type `P`, which decides where it comes from.
    pub const fn of<P: Parameter<SOURCE>, const SOURCE: u8>(name: &'a str, written: &'a str) -> Self {
        let plain = Self::untyped(name, written, SOURCE);
        Self { by_hand: P::BY_HAND, is_ours: P::IS_OURS, need: P::need, by_name: P::BY_NAME, ..plain }
    }

    /// A parameter that is a header.
    pub const fn header(name: &'a str, written: &'a str, header: &'a str) -> Self {
        Self { header: Some(header), is_ours: true, ..Self::untyped(name, written, source::INJECTED) }
    }

    /// The same, where the author says that the model supplies it.
    pub const fn argument<P: Argument>(name: &'a str, written: &'a str) -> Self {
        Self::of::<P, { source::ARGUMENT }>(name, written)
    }

    /// The same, where the author says that the server supplies it.
    pub const fn injected<P: FromCall>(name: &'a str, written: &'a str) -> Self {
        Self::of::<P, { source::INJECTED }>(name, written)
    }

    /// An argument that a resolver borrows. Where a pipe makes it, the model may not be able to supply it.
    pub const fn borrowed(name: &'a str, written: &'a str, by_name: Option<ByName>) -> Self {
        Self { by_name, ..Self::untyped(name, written, source::ARGUMENT) }
    }

    /// The same parameter, which passes through these pipes.
    pub const fn through(self, pipes: &'a [&'static ItemNode<'static>]) -> Self {
        Self { pipes, ..self }
    }

    /// The same parameter, whose values this completion function proposes.
    pub const fn completed_by(self, complete: Complete) -> Self {
        Self { complete: Some(complete), ..self }
    }

    /// A number for a name: constant generics take no strings.
    pub const fn id(name: &str) -> u64 {
        hash(EMPTY, name)
    }

    /// A parameter whose type depends on type parameters, or is known at run time only.
    pub const fn untyped(name: &'a str, written: &'a str, source: u8) -> Self {
        let is_argument = source == source::ARGUMENT;
        Self {
            name,
            written,
            is_argument,
            header: None,
            pipes: &[],
            by_hand: false,
            is_ours: is_argument,
            need: || None,
            by_name: None,
            complete: None,
        }
    }
}

/// A parameter that is filled by a resolver.
#[derive(Debug, Clone, Copy)]
pub struct Edge {
    /// The parameter's name.
    pub(crate) parameter: &'static str,
    /// Its type, as written.
    pub(crate) written: &'static str,
    /// The resolver.
    pub(crate) node: &'static Node,
    /// The resolver with its types.
    pub(crate) instance: fn() -> &'static Instance,
}

impl Edge {
    /// The edge to the resolver with this node and [`instance`](Resolver::instance).
    pub const fn to(
        node: &'static Node,
        instance: fn() -> &'static Instance,
        parameter: &'static str,
        written: &'static str,
    ) -> Self {
        Self { parameter, written, node, instance }
    }
}

/// The [`hash`] of nothing.
const EMPTY: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a, which constant evaluation can compute, with a byte after each text that no text has.
const fn hash(mut hash: u64, text: &str) -> u64 {
    let bytes = text.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0100_0000_01b3);
        i += 1;
    }
    (hash ^ 0xff).wrapping_mul(0x0100_0000_01b3)
}

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
    /// The type of its function, which identifies a method: a method has no type of its name.
    pub(crate) function: fn() -> TypeId,
    /// The type of its value.
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

/// What the parameters of an item, of these pipes, and of the resolvers that it reaches need to have been provided.
pub(crate) fn needs_of(
    arguments: &[NodeArgument<'static>],
    pipes: &[&'static ItemNode<'static>],
    edges: &[Edge],
) -> Vec<(&'static str, Need)> {
    let needs = |arguments: &[NodeArgument<'static>], of| {
        let need = |argument: &NodeArgument<'static>| Some((argument.name, Need { of, ..(argument.need)()? }));
        arguments.iter().filter_map(need).collect::<Vec<_>>()
    };
    let mut all = needs(arguments, None);
    for node in pipes {
        all.extend(needs(node.arguments, Some((node.kind, node.name))));
    }
    all.extend(
        below(edges).into_iter().flat_map(|instance| needs(instance.arguments, Some(("resolver", instance.node.name)))),
    );
    all
}

/// Whether a state that these parameters, pipes and resolvers take once may have other users in the call: a type of the
/// program, or a resolver that runs for each parameter.
pub(crate) fn may_share_states(
    arguments: &[NodeArgument<'static>],
    pipes: &[&'static ItemNode<'static>],
    edges: &[Edge],
) -> bool {
    let is_foreign = |arguments: &[NodeArgument<'static>]| arguments.iter().any(|argument| !argument.is_ours);
    is_foreign(arguments)
        || pipes.iter().any(|node| is_foreign(node.arguments))
        || below(edges).into_iter().any(|instance| is_foreign(instance.arguments) || !instance.node.cached)
}

/// The headers that a function with these parameters, pipes and resolvers reads.
pub(crate) fn headers_of(
    arguments: &[NodeArgument<'static>],
    pipes: &[&'static ItemNode<'static>],
    edges: &[Edge],
) -> Vec<&'static str> {
    let of_resolvers = below(edges).into_iter().flat_map(|instance| instance.arguments);
    let all = arguments.iter().chain(pipes.iter().flat_map(|node| node.arguments)).chain(of_resolvers);
    all.filter_map(|argument| argument.header).collect()
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
    use std::marker::PhantomData;

    use super::*;
    use crate::{ask::Outcome, call::Halt, graph::Walk};
    use futures_util::future::BoxFuture;

    static NODE: Node = Node {
        id: Node::id("tests", "layer", "here"),
        name: "layer",
        key: None,
        at: "here",
        arguments: &[],
        below: &[],
        returns: "()",
        asks: false,
        cached: true,
    };

    /// A resolver that needs the one below it twice.
    struct Layer<T>(PhantomData<T>);

    impl<T: Resolver> Layer<T> {
        const INSTANCE: &'static Instance = &Instance {
            node: &NODE,
            arguments: &[],
            edges: &[Edge::to(&NODE, T::instance, "one", "()"), Edge::to(&NODE, T::instance, "other", "()")],
            form: None,
            types: Instance::types::<Self, ()>(&()),
        };
    }

    impl<T: Resolver> Resolver for Layer<T> {
        type Output = ();

        fn instance() -> &'static Instance {
            Self::INSTANCE
        }

        fn run<'a>(_: &'a Walk<'a>) -> BoxFuture<'a, Result<Outcome<()>, Halt>> {
            unreachable!("the test does not run it")
        }
    }

    struct Bottom;

    impl Resolver for Bottom {
        type Output = ();

        fn instance() -> &'static Instance {
            static INSTANCE: Instance = Instance {
                node: &NODE,
                arguments: &[],
                edges: &[],
                form: None,
                types: Instance::types::<Bottom, ()>(&()),
            };
            &INSTANCE
        }

        fn run<'a>(_: &'a Walk<'a>) -> BoxFuture<'a, Result<Outcome<()>, Halt>> {
            unreachable!("the test does not run it")
        }
    }

    /// There are 2 to the power of 64 paths to the bottom.
    #[test]
    fn r_l4_a_resolver_is_visited_once_however_many_paths_lead_to_it() {
        type Four<T> = Layer<Layer<Layer<Layer<T>>>>;
        type Sixteen<T> = Four<Four<Four<Four<T>>>>;
        let top = [Edge::to(&NODE, Sixteen::<Sixteen<Sixteen<Sixteen<Bottom>>>>::instance, "top", "()")];
        assert_eq!(below(&top).len(), 65);
    }

    #[test]
    fn types_are_shown_without_their_modules() {
        assert_eq!(without_modules("alloc::vec::Vec<shop::User>, 3>"), "Vec<User>, 3>");
        assert_eq!(without_modules("(u8, &[core::option::Option<i32>])>"), "(u8, &[Option<i32>])>");
    }
}
